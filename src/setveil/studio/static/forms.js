// What all pages need: where to look after an error, and a sign of life while a page is open.

document.getElementById("errors")?.focus();

const alive = document.body.dataset.alive;
setInterval(() => fetch(alive).catch(() => {}), 4 * 60 * 1000);
