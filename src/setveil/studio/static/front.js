// The page Promise: sliders that move over the table of losses, which is computed meanwhile.

const place = document.getElementById("front");
const table = document.getElementById("costs");
const fields = { k: document.getElementById("k"), m: document.getElementById("m") };
const ranges = [...document.querySelectorAll("input[type=range][data-steps]")];
const here = document.getElementById("here");
const computing = document.getElementById("computing");
const SVG = "http://www.w3.org/2000/svg";
let front = null;
let jobs = [];
let events = null;

const over = (job) => ["done", "failed", "cancelled"].includes(job.state);

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
const absent = document.getElementById("absent");  // not there where rows are tables
absent?.addEventListener("change", sentence);
let asking = null;
async function sentence() {
  asking?.abort();
  asking = new AbortController();
  const asked = new URLSearchParams({ k: fields.k.value.trim(), m: fields.m.value.trim() });
  if (absent?.checked) asked.set("absent", "1");
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

const one = document.getElementById("one");
const longest = 4;  // tries of one promise

function show() {
  const k = fields.k.value.trim(), m = fields.m.value.trim();
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    const known = front?.cells[`${cell.dataset.k},${cell.dataset.m}`];
    cell.textContent = known ? known.shown : front?.complete ? "?" : "...";
    cell.classList.toggle("bound", Boolean(known?.bound));
    const current = cell.dataset.k === k && cell.dataset.m === m;
    cell.classList.toggle("current", current);
    if (current) cell.setAttribute("aria-current", "true"); else cell.removeAttribute("aria-current");
  }
  const cell = front?.cells[`${k},${m}`];
  const tiles = element("dl", undefined, "tiles");
  const said = [];
  if (cell && Object.keys(cell.texts).length) {
    for (const head of front.heads) {
      if (!cell.texts[head]) continue;
      const pair = element("div");
      pair.append(element("dd", cell.texts[head]), element("dt", meaning(head, m)));
      tiles.append(pair);
    }
    said.push(element("p", `At k = ${k} and m = ${m}:`), tiles);
    if (cell.bound) said.push(element("p", "The search was not finished: a release may lose less.", "small"));
  } else if (cell && cell.loss !== null) {
    const pair = element("div");
    pair.append(element("dd", cell.shown.replace("≤", "at most")), element("dt", meaning("loss", m)));
    tiles.append(pair);
    said.push(element("p", `At k = ${k} and m = ${m}:`), tiles,
      element("p", `That much a release for ${cell.made_for} loses, which keeps this promise, too. This promise itself is not computed.`, "small"));
  } else if (cell && cell.error) {
    said.push(element("p", `k = ${k} and m = ${m}: ${cell.error}`));
  } else {
    said.push(element("p", `k = ${k} and m = ${m} is not computed yet. You can choose it anyway.`));
  }
  here.replaceChildren(...said);
  offer(k, m, cell);
  for (const name of ["k", "m"]) {
    for (const form of [one, document.getElementById("compute"), document.getElementById("try-groups")]) if (form) form.elements[name].value = fields[name].value.trim();
  }
  sentence();
  mark();
}

// A promise can be asked for by itself as long as less may be found, and its values can be what they are.
function offer(k, m, cell) {
  const fits = /^[0-9]+$/.test(k) && Number(k) > 1 && (m === "inf" || (/^[0-9]+$/.test(m) && Number(m) > 0));
  const label = `what k = ${k}, m = ${m} costs`;
  const asked = jobs.filter((job) => job.label === label);
  const open = asked.some((job) => !over(job));
  const enough = cell && (cell.loss === null ? cell.error : !cell.bound);
  one.hidden = !fits || Boolean(enough) || open || asked.length >= longest;
  one.querySelector("button").textContent = cell && Object.keys(cell.texts).length ? "Look for less, for longer" : "Compute this one";
}

function meaning(head, m) {
  return {
    "loss": table.dataset.loss,
    "unchanged": "of the items are unchanged",
    "occurrences": "of all items in rows are unchanged",
    "suppressed": "of all items in rows are suppressed",
    "query error": "counts are typically off by that much",
    "unique rows": `of the rows are unique by ${Number(m) + 1} items (not promised)`,
    "classes": "classes",
    "R": "loss of the columns",
    "T": "loss of the items",
    "gap": "may be more than the least loss",
    "hidden": "sensitive occurrences suppressed",
    "learned": "is the greatest chance to be right",
  }[head] ?? head;
}

// The chart: a line for each m, at places of our own.
function draw() {
  const figure = document.getElementById("chart");
  figure.hidden = false;  // else it has no width
  const width = Math.min(Math.max(figure.clientWidth, 240), 480), height = 240, left = 44, right = 60, top = 12, bottom = 34;
  const ks = steps(ranges[0]), ms = steps(ranges[1]);
  const losses = Object.values(front?.cells ?? {}).map((cell) => cell.loss).filter((loss) => loss !== null);
  if (!losses.length) { figure.hidden = true; return; }
  const most = Math.max(...losses, 1e-6);
  const bounds = Object.values(front.cells).some((cell) => cell.bound);
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
    const known = ks.map((k, i) => [i, front.cells[`${k},${m}`]]).filter(([, cell]) => cell && cell.loss !== null);
    if (!known.length) return;
    const points = known.map(([i, cell]) => [i, cell.loss]);
    const certain = known.filter(([, cell]) => !cell.bound).map(([i, cell]) => `${x(i)},${y(cell.loss)}`);
    add("polyline", { points: certain.join(" "), class: `line line${line}` });
    for (const [i, cell] of known) {
      if (cell.bound) add("path", { d: `M${x(i) - 5},${y(cell.loss) - 4}h10l-5,9z`, class: "bound" });
    }
    const [i, loss] = points.at(-1);
    ends.push({ m, x: x(i) + 6, y: y(loss) + 4 });
  });
  ends.sort((a, b) => a.y - b.y).forEach((end, i, all) => {
    if (i && end.y < all[i - 1].y + 14) end.y = all[i - 1].y + 14;
    add("text", { x: end.x, y: end.y }, `m = ${end.m}`);
  });
  add("circle", { r: 6, class: "at", id: "at", visibility: "hidden" });
  figure.replaceChildren(svg, element("figcaption", bounds ? "Loss for each k, a line for each m. Triangles: upper bounds." : "Loss for each k, a line for each m.", "small"));
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
  const done = !job || over(job);
  document.getElementById("compute").hidden = !(done && !front?.complete);
  computing.hidden = done && Boolean(front?.complete) && !job?.error;
  if (done) {
    computing.textContent = job?.error ? [job.error.message, job.error.hint].filter(Boolean).join(" ") : "Not computed yet.";
  } else {
    computing.textContent = job.state === "waiting" ? "Waits for other work." : `Computing ${job.label}. ${job.words ?? ""}`;
  }
}

function listen() {
  events?.close();
  events = new EventSource(place.dataset.events);
  let last = "";
  events.addEventListener("message", async (event) => {
    jobs = JSON.parse(event.data).jobs.filter((job) => job.kind === "explore");
    const states = jobs.map((job) => `${job.id}${job.state}`).join();
    if (states !== last) { last = states; await load(); }
    else tell(jobs.find((job) => job.state === "running") ?? jobs.at(-1));
    if (front?.complete && jobs.every(over)) events.close();
  });
}

async function compute(form) {
  await fetch(place.dataset.compute, { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(new FormData(form)) });
  listen();
}

// The choice stays in the address: reloading the page, or coming back to it, does not lose it.
function choose(values) {
  for (const [name, value] of Object.entries(values)) fields[name].value = value;
  chosen();
}

function chosen() {
  const address = new URL(location.href);
  for (const name of ["k", "m"]) address.searchParams.set(name, fields[name].value.trim());
  history.replaceState(null, "", address);
  setRanges();
  show();
}

for (const range of ranges) {
  range.hidden = false;
  range.addEventListener("input", () => choose({ [range.dataset.sets]: steps(range)[range.value] }));
}
for (const field of Object.values(fields)) field.addEventListener("input", chosen);
for (const button of document.querySelectorAll("button.choose")) {
  button.addEventListener("click", () => choose({ k: button.dataset.k, m: button.dataset.m }));
}
table.tBodies[0].addEventListener("click", (event) => {
  const cell = event.target.closest("td");
  if (cell) choose({ k: cell.dataset.k, m: cell.dataset.m });
});
for (const form of [one, document.getElementById("compute")]) {
  form.addEventListener("submit", (event) => { event.preventDefault(); compute(form); });
}
document.getElementById("share")?.addEventListener("input", () => {
  document.querySelector("input[name=left_out][value=share]").checked = true;
});
addEventListener("resize", () => { draw(); mark(); });
setRanges();
load().then(async (told) => {
  if (!front?.complete && told?.job?.state !== "failed") await compute(document.getElementById("compute"));
  else listen();
});
