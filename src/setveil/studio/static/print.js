// A page to print.

document.getElementById("print").addEventListener("click", () => window.print());
