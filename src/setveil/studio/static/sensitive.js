// Items to tick: found by a part of their names; those ticked stay below, and are sent with the form.

const search = document.getElementById("items");
const find = document.getElementById("find");
const found = document.getElementById("found");
const ticks = document.getElementById("ticks");
const ticked = document.getElementById("ticked");
let waiting;

function line(item, rows, checked) {
  const made = document.createElement("li");
  const label = document.createElement("label");
  label.className = "choice";
  const input = document.createElement("input");
  input.type = "checkbox";
  input.value = item;
  input.checked = checked;
  const text = document.createElement("span");
  text.textContent = rows === undefined ? item : `${item}, in ${rows.toLocaleString("en")} row${rows === 1 ? "" : "s"}`;
  label.append(input, " ", text);
  made.append(label);
  return made;
}

const chosen = () => [...ticked.querySelectorAll("input")].filter((input) => input.checked).map((input) => input.value);

async function look() {
  const text = find.value.trim();
  if (!text) {
    ticks.replaceChildren();
    found.textContent = "";
    return;
  }
  const answer = await fetch(`${search.dataset.from}?text=${encodeURIComponent(text)}`, { headers: { accept: "application/json" } });
  const content = await answer.json();
  if (text !== find.value.trim()) return;
  const known = new Set(chosen());
  const shown = content.items.filter((one) => !known.has(one.item));
  found.textContent = `${content.total.toLocaleString("en")} found${shown.length < content.total ? `, ${shown.length} shown` : ""}`;
  ticks.replaceChildren(...shown.map((one) => line(one.item, one.rows, false)));
}

find.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, 150);
});
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // the form is not meant
});
ticks.addEventListener("change", (event) => {
  const made = line(event.target.value, undefined, true);
  made.querySelector("input").name = "sensitive";
  ticked.append(made);
  event.target.closest("li").remove();
  (ticks.querySelector("input") ?? find).focus();
});
look(); // what was typed before this was here
