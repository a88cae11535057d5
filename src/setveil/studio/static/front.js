// The page Promise: sliders that move over the table of losses, which is computed meanwhile.

const place = document.getElementById("front");
const table = document.getElementById("costs");
const fields = { k: document.getElementById("k"), m: document.getElementById("m") };
const ranges = [...document.querySelectorAll("input[type=range][data-steps]")];
const here = document.getElementById("here");
const computing = document.getElementById("computing");
const SVG = "http://www.w3.org/2000/svg";
let front = null;

const steps = (range) => range.dataset.steps.split(",");

function element(name, text, className) {
  const one = document.createElement(name);
  if (text !== undefined) one.textContent = text;
  if (className) one.className = className;
  return one;
}

// Where the sliders stand: at the values of the fields, or at the nearest below.
function setRanges() {
  for (const range of ranges) {
    const values = steps(range).map(Number);
    const wanted = fields[range.dataset.sets].value.trim() === "inf" ? Infinity : Number(fields[range.dataset.sets].value);
    let at = 0;
    values.forEach((value, i) => { if (value <= wanted) at = i; });
    range.value = at;
    range.setAttribute("aria-valuetext", `${range.dataset.sets} = ${values[at]}`);
  }
}

// What is promised and what is not, in the server's words.
let asking = null;
async function sentence() {
  asking?.abort();
  asking = new AbortController();
  const asked = new URLSearchParams({ k: fields.k.value.trim(), m: fields.m.value.trim() });
  try {
    const answer = await fetch(`${place.dataset.words}?${asked}`, { signal: asking.signal });
    const told = await answer.json();
    document.getElementById("sentence").textContent = told.promise;
    document.getElementById("not-covered").replaceChildren(...told.not_covered.map(([title, text]) => {
      const line = element("li");
      line.append(element("b", title), ` ${text}`);
      return line;
    }));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

function show() {
  const k = fields.k.value.trim(), m = fields.m.value.trim();
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    const known = front?.cells[`${cell.dataset.k},${cell.dataset.m}`];
    cell.textContent = known ? known.shown : front?.complete ? "-" : "...";
    const current = cell.dataset.k === k && cell.dataset.m === m;
    cell.classList.toggle("current", current);
    if (current) cell.setAttribute("aria-current", "true"); else cell.removeAttribute("aria-current");
  }
  const cell = front?.cells[`${k},${m}`];
  const tiles = element("dl", undefined, "tiles");
  if (cell && cell.loss !== null) {
    for (const head of front.heads) {
      if (!cell.texts[head]) continue;
      const pair = element("div");
      pair.append(element("dd", cell.texts[head]), element("dt", meaning(head, m)));
      tiles.append(pair);
    }
    here.replaceChildren(element("p", `At k = ${k} and m = ${m}:`), tiles);
  } else if (cell) {
    here.replaceChildren(element("p", `k = ${k} and m = ${m}: ${cell.error || "not possible."}`));
  } else {
    const known = [...table.tBodies[0].querySelectorAll("td")].some((one) => one.dataset.k === k && one.dataset.m === m);
    here.replaceChildren(element("p", known && !front?.complete
      ? `k = ${k} and m = ${m} is not computed yet. It can be taken all the same.`
      : `k = ${k} and m = ${m} is not in the table. It can be taken all the same.`));
  }
  sentence();
  mark();
}

function meaning(head, m) {
  return {
    "loss": table.dataset.loss,
    "names kept": "of the items keep their names",
    "occurrences": "of all entries stay as they are",
    "left out": "of all entries are left out",
    "query error": "query error: random counts are typically off by that much",
    "unique rows": `of the rows are found alone by ${Number(m) + 1} items, which is not promised`,
    "classes": "classes",
    "R": "loss of the columns (R)",
    "T": "loss of the items (T)",
    "gap": "may be more than the least loss",
    "hidden": "sensitive entries left out",
    "learned": "is the greatest chance to be right",
  }[head] ?? head;
}

// The chart: a line for each m, at places of our own.
function draw() {
  const figure = document.getElementById("chart");
  const width = Math.min(Math.max(figure.parentElement.clientWidth, 260), 480), height = 240, left = 44, right = 60, top = 12, bottom = 34;
  const ks = steps(ranges[0]), ms = steps(ranges[1]);
  const losses = Object.values(front?.cells ?? {}).map((cell) => cell.loss).filter((loss) => loss !== null);
  if (!losses.length) { figure.hidden = true; return; }
  const most = Math.max(...losses, 1e-6);
  const x = (i) => left + (width - left - right) * i / (ks.length - 1);
  const y = (loss) => top + (height - top - bottom) * (1 - loss / most);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "The losses of the table above as lines, one for each m");
  const add = (name, values, text) => {
    const one = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(values)) one.setAttribute(key, value);
    if (text !== undefined) one.textContent = text;
    svg.append(one);
    return one;
  };
  for (const share of [0, 0.5, 1]) {
    add("line", { x1: left, x2: width - right, y1: y(most * share), y2: y(most * share), class: "grid" });
    add("text", { x: left - 6, y: y(most * share) + 4, "text-anchor": "end" }, (most * share).toPrecision(2).replace(/\.?0+$/, ""));
  }
  ks.forEach((k, i) => add("text", { x: x(i), y: height - 14, "text-anchor": "middle" }, i ? k : `k = ${k}`));
  const ends = [];
  ms.forEach((m, line) => {
    const points = ks.map((k, i) => [i, front.cells[`${k},${m}`]?.loss]).filter(([, loss]) => loss !== null && loss !== undefined);
    if (!points.length) return;
    add("polyline", { points: points.map(([i, loss]) => `${x(i)},${y(loss)}`).join(" "), class: `line line${line}` });
    const [i, loss] = points.at(-1);
    ends.push({ m, x: x(i) + 6, y: y(loss) + 4 });
  });
  ends.sort((a, b) => a.y - b.y).forEach((end, i, all) => {
    if (i && end.y < all[i - 1].y + 14) end.y = all[i - 1].y + 14;
    add("text", { x: end.x, y: end.y }, `m = ${end.m}`);
  });
  add("circle", { r: 6, class: "at", id: "at", visibility: "hidden" });
  figure.replaceChildren(svg, element("figcaption", "Loss for each k, a line for each m.", "small"));
  figure.hidden = false;
  figure.place = (k, loss) => [x(ks.indexOf(k)), y(loss)];
}

function mark() {
  const at = document.getElementById("at"), figure = document.getElementById("chart");
  if (!at) return;
  const k = fields.k.value.trim(), cell = front?.cells[`${k},${fields.m.value.trim()}`];
  at.setAttribute("visibility", cell && cell.loss !== null ? "visible" : "hidden");
  if (!cell || cell.loss === null) return;
  const [x, y] = figure.place(k, cell.loss);
  at.setAttribute("cx", x);
  at.setAttribute("cy", y);
}

async function load() {
  const answer = await fetch(place.dataset.front, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const told = await answer.json();
  front = told.front;
  tell(told.job);
  draw();
  show();
  const said = document.getElementById("said");
  said.replaceChildren(...(front?.said ?? []).map((line) => element("p", line)));
  return told;
}

function tell(job) {
  const over = !job || ["done", "failed", "cancelled"].includes(job.state);
  document.getElementById("compute").hidden = !(over && !front?.complete);
  computing.hidden = Boolean(front?.complete);
  if (front?.complete) return;
  if (over) {
    computing.textContent = job?.error ? [job.error.message, job.error.hint].filter(Boolean).join(" ") : "Not computed yet.";
  } else {
    computing.textContent = job.state === "waiting" ? "Waits for other work." : `Still computing. ${job.words}`;
  }
}

function listen() {
  const events = new EventSource(place.dataset.events);
  let last = "";
  events.addEventListener("message", async (event) => {
    const jobs = JSON.parse(event.data).jobs.filter((job) => job.kind === "explore");
    const open = jobs.find((job) => job.state === "running") ?? jobs.at(-1);
    const states = jobs.map((job) => `${job.id}${job.state}`).join();
    if (states !== last) { last = states; await load(); }
    if (!front?.complete) tell(open);
    if (front?.complete) events.close();
  });
}

async function compute() {
  await fetch(place.dataset.compute, { method: "POST", headers: { Accept: "application/json" } });
}

for (const range of ranges) {
  range.hidden = false;
  range.addEventListener("input", () => {
    fields[range.dataset.sets].value = steps(range)[range.value];
    range.setAttribute("aria-valuetext", `${range.dataset.sets} = ${steps(range)[range.value]}`);
    show();
  });
}
for (const field of Object.values(fields)) field.addEventListener("input", () => { setRanges(); show(); });
for (const button of document.querySelectorAll("button.choose")) {
  button.addEventListener("click", () => {
    fields.k.value = button.dataset.k;
    fields.m.value = button.dataset.m;
    setRanges();
    show();
  });
}
document.getElementById("share")?.addEventListener("input", () => {
  document.querySelector("input[name=left_out][value=share]").checked = true;
});
addEventListener("resize", () => { draw(); mark(); });
setRanges();
load().then(async (told) => {
  if (front?.complete) return;
  if (told?.job?.state !== "failed") await compute();
  listen();
});
