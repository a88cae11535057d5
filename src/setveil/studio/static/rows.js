// The rows of the data: only those in sight are in the page. Next to them: who could be found, and items to tick.

const HIGH = 32; // pixels of a row
const TALLEST = 12_000_000; // browsers draw no taller boxes
const SPARE = 10; // rows above and below those in sight

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const numbers = (value) => value.toLocaleString("en");

// --- rows

const box = document.getElementById("rows");
const total = Number(box.dataset.total);
const columns = JSON.parse(box.dataset.columns);
const tall = Math.min(total * HIGH, TALLEST);
const space = element("div", undefined, { class: "space" });
const table = element("div", undefined, { role: "table", class: "window", "aria-label": "Rows", "aria-rowcount": String(total) });
space.style.height = `${tall}px`;
space.append(table);
box.append(space);
let wanted = "";

function firstInSight() {
  const most = Math.max(tall - box.clientHeight, 1);
  const rows = total - Math.floor(box.clientHeight / HIGH);
  return tall < TALLEST ? Math.floor(box.scrollTop / HIGH) : Math.floor((box.scrollTop / most) * Math.max(rows, 0));
}

async function draw() {
  const sight = firstInSight();
  const first = Math.max(sight - SPARE, 0);
  const count = Math.ceil(box.clientHeight / HIGH) + 2 * SPARE;
  const asked = `${first} ${count}`;
  if (asked === wanted) return;
  wanted = asked;
  const answer = await fetch(`${box.dataset.from}?first=${first}&count=${count}`, { headers: { accept: "application/json" } });
  const found = await answer.json();
  if (wanted !== asked) return; // a later answer has overtaken this one
  if (!answer.ok) {
    wanted = ""; // asked once more with the next scroll
    return;
  }
  const top = tall < TALLEST ? first * HIGH : box.scrollTop - (sight - first) * HIGH;
  table.style.top = `${top}px`;
  table.replaceChildren(...found.rows.map((row, at) => {
    const number = found.first + at + 1;
    const line = element("div", undefined, { role: "row", class: "row", "aria-rowindex": String(number) });
    line.append(element("span", numbers(number), { role: "rowheader", class: "number" }));
    row.values.forEach((value, of) => line.append(element("span", `${columns[of]}: ${value}`, { role: "cell", class: "value" })));
    line.append(element("span", row.items.join(", "), { role: "cell", title: row.items.join(", ") }));
    return line;
  }));
  table.dataset.first = String(found.first + 1);
}

box.addEventListener("scroll", draw);
new ResizeObserver(draw).observe(box);
const go = document.getElementById("go");

function jump() {
  const row = Math.min(Math.max(Number(go.value) || 1, 1), total) - 1;
  const most = Math.max(tall - box.clientHeight, 1);
  const last = Math.max(total - Math.floor(box.clientHeight / HIGH), 1);
  box.scrollTop = tall < TALLEST ? row * HIGH : (row / last) * most;
}

go.addEventListener("change", jump);
if (go.value) jump(); // it was typed before this was here
draw();

// --- who could be found

const risk = document.getElementById("risk");

function told(found) {
  const parts = [];
  const list = element("ul");
  for (const one of found.alone) {
    const items = one.m === 1 ? "one item" : `${one.m} items`;
    const known = [found.known, one.m ? items : ""].filter(Boolean).join(" and ");
    const about = one.exact ? "" : "about ";
    const line = element("li");
    line.append(element("b", `${about}${numbers(Math.round(one.rows))}`), ` of ${numbers(found.rows)} rows, by ${known}`);
    list.append(line);
  }
  parts.push(list);
  if (found.items.length) {
    const box = element("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": "Most identifying items" });
    const table = element("table");
    const head = element("tr");
    ["Item", "In rows", "Exposed"].forEach((text, at) => head.append(element("th", text, { scope: "col", ...(at ? { class: "number" } : {}) })));
    const body = element("tbody");
    for (const item of found.items) {
      const row = element("tr");
      row.append(element("th", item.item, { scope: "row" }), element("td", numbers(item.support), { class: "number" }), element("td", numbers(item.rows), { class: "number" }));
      body.append(row);
    }
    table.append(element("caption", `The ${found.items.length} most identifying items`), element("thead"), body);
    table.querySelector("thead").append(head);
    box.append(table);
    parts.push(box, element("p", `Exposed: rows that this item, alone or with one other, narrows down to fewer than ${found.below}.`, { class: "small" }));
  }
  return parts;
}

async function count() {
  const counted = await fetch(risk.dataset.from, { method: "POST", headers: { accept: "application/json" } });
  const answer = await counted.json();
  if (answer.error) {
    risk.replaceChildren(element("p", `${answer.error.message} ${answer.error.hint ?? ""}`));
  } else if (answer.text) { // of facts
    const box = element("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": "Who could be found" });
    box.append(element("pre", answer.text));
    risk.replaceChildren(box);
  } else {
    risk.replaceChildren(...told(answer));
  }
  risk.dataset.ready = "yes";
}

if (risk) count();
