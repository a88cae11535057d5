// What all pages need: where to look after an error, and a sign of life while a page is open.

document.getElementById("errors")?.focus();

const alive = document.body.dataset.alive;
setInterval(() => fetch(alive).catch(() => {}), 4 * 60 * 1000);

// Fields of some methods only are shown with these.
const method = document.getElementById("algorithm");
const fields = document.querySelectorAll("[data-methods]");
const fit = () => fields.forEach((field) => { field.hidden = !field.dataset.methods.split(" ").includes(method.value); });
if (method && fields.length) {
  method.addEventListener("change", fit);
  fit();
}
