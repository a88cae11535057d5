// The editor of groups: a window on the lines of a tree, by mouse and by keyboard alike.
// The server makes every edit; what it answers changes the tree here.

import { Groups } from "./groups.js";

const LINE = 32; // px, as in hierarchy.css
const MORE = 6; // lines drawn beyond the window
const CHOICES = 30; // groups offered at once to move to

const page = document.getElementById("editor");
const at = (name) => `${page.dataset.at}/${name}`;
const box = document.getElementById("tree");
const paper = document.getElementById("lines");
const said = document.getElementById("said");
const refusal = document.getElementById("refusal");
const $ = (id) => document.getElementById(id);

let groups = null;
let version = "";
let active = null; // the line that keys act on
let anchor = null; // where a selection with Shift began
const chosen = new Set();
let cut = []; // marked to be moved by Ctrl+V
let rowsOf = null; // rows that contain each item, once known
const rare = Number(page.dataset.rare);
const thing = page.dataset.thing; // what is grouped: "item", or "value" of a column
let found = [];
let waiting = Promise.resolve(); // edits go one after the other

const number = (value) => value.toLocaleString("en-US");
const many = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

async function ask(name, sent) {
  const options = { headers: { accept: "application/json" } };
  if (sent !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(sent);
  }
  let answer;
  let content;
  try {
    answer = await fetch(at(name), options);
    content = await answer.json();
  } catch {
    throw new Error("The studio does not answer. Is it still running? Your changes so far are kept.");
  }
  if (!answer.ok) throw new Error([content.error?.message, content.error?.hint].filter(Boolean).join(" "));
  return content;
}

function tell(text) {
  said.textContent = text;
  refusal.hidden = true;
}

function refuse(text) {
  refusal.textContent = text;
  refusal.hidden = false;
}

// What is drawn.

const drawn = new Map(); // the element of each drawn node

function draw() {
  if (!groups) return;
  const lines = groups.lines;
  paper.style.height = `${lines.length * LINE}px`;
  const first = Math.max(0, Math.floor(box.scrollTop / LINE) - MORE);
  const last = Math.min(lines.length, Math.ceil((box.scrollTop + box.clientHeight) / LINE) + MORE);
  const keep = new Set(lines.slice(first, last));
  for (const [node, element] of drawn) {
    if (!keep.has(node)) {
      element.remove();
      drawn.delete(node);
    }
  }
  let before = null;
  for (let i = last - 1; i >= first; i -= 1) {
    const element = drawLine(lines[i]);
    if (element.parentNode !== paper || element.nextSibling !== before) paper.insertBefore(element, before);
    before = element;
  }
  if (active && drawn.has(active)) box.setAttribute("aria-activedescendant", drawn.get(active).id);
  else box.removeAttribute("aria-activedescendant");
}

let ids = 0;

function drawLine(node) {
  let element = drawn.get(node);
  if (!element) {
    element = make("div", undefined, "line");
    element.id = `line-${(ids += 1)}`;
    element.setAttribute("role", "treeitem");
    element.draggable = node.up !== null;
    element.append(make("span", "", "turn"), make("span", "", "name"), make("span", "", "size"));
    element.node = node;
    drawn.set(node, element);
  }
  const siblings = node.up ? node.up.below : [node];
  element.style.top = `${node.line * LINE}px`;
  element.style.paddingLeft = `${Math.min(node.depth - 1, 12) * 18 + 4}px`;
  element.setAttribute("aria-level", node.depth);
  element.setAttribute("aria-setsize", siblings.length);
  element.setAttribute("aria-posinset", placeOf(node) + 1);
  element.setAttribute("aria-selected", String(chosen.has(node)));
  if (node.below) element.setAttribute("aria-expanded", String(node.open));
  else element.removeAttribute("aria-expanded");
  element.classList.toggle("active", node === active);
  element.classList.toggle("group", node.below !== null);
  element.classList.toggle("cut", cut.includes(node));
  const [turn, name, size] = element.children;
  turn.textContent = node.below ? (node.open ? "\u25be" : "\u25b8") : "";
  name.textContent = node.label;
  size.textContent = node.below ? (node.size ? many(node.size, thing) : "empty") : rowsText(node);
  return element;
}

function rowsText(node) {
  if (!rowsOf) return cut.includes(node) ? "to be moved" : "";
  const rows = rowsOf.get(node.label);
  if (rows === undefined) return "not in the data";
  return rows < rare ? `rare: ${many(rows, "row")}` : many(rows, "row");
}

const places = new WeakMap(); // a group's list -> the place of each node in it

function placeOf(node) {
  if (!node.up) return 0;
  const list = node.up.below;
  let known = places.get(list);
  if (!known || known.length !== list.length || known.at.get(node) === undefined || list[known.at.get(node)] !== node) {
    known = { length: list.length, at: new Map(list.map((one, i) => [one, i])) };
    places.set(list, known);
  }
  return known.at.get(node);
}

function show(node) {
  groups.reveal(node);
  const top = node.line * LINE;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + LINE > box.scrollTop + box.clientHeight) box.scrollTop = top + LINE - box.clientHeight;
}

function activate(node, { keep = false } = {}) {
  active = node;
  if (!keep) {
    chosen.clear();
    chosen.add(node);
    anchor = node;
  }
  show(node);
  draw();
  describe();
}

// The panel next to the tree.

function named() {
  return chosen.size ? [...chosen] : active ? [active] : [];
}

function describe() {
  const nodes = named();
  const one = nodes.length === 1 ? nodes[0] : null;
  const groupsChosen = nodes.filter((node) => node.below);
  const hasRoot = nodes.includes(groups.root);
  $("what").textContent = one ? one.label : many(nodes.length, "line") + " selected";
  $("where").textContent = one
    ? [kindOf(one), one.up ? `in: ${groups.above(one).map((up) => up.label).join(" > ")}` : "the topmost group"].join(", ")
    : groupsChosen.length === nodes.length && nodes.length ? `Merging puts all into ${mergedInto(nodes).label}.` : "";
  $("rows").textContent = "";
  if (one) countRows(one);
  enable("move", nodes.length > 0 && !hasRoot);
  enable("rename", one !== null);
  enable("group", nodes.length > 0 && !hasRoot);
  enable("merge", groupsChosen.length > 1 && groupsChosen.length === nodes.length);
  enable("dissolve", one !== null && one.below !== null && one.up !== null);
  enable("sort", one !== null && one.below !== null && one.below.length > 1);
  enable("remove", nodes.length > 0 && nodes.every((node) => removable(node)));
}

function mergedInto(nodes) {
  return nodes.includes(active) ? active : nodes[0];
}

function kindOf(node) {
  if (!node.below) return "an item";
  return node.size ? `a group of ${many(node.size, thing)}` : "an empty group";
}

function removable(node) {
  if (!node.up) return false;
  return node.below ? node.below.length === 0 : rowsOf !== null && !rowsOf.has(node.label);
}

function enable(id, possible) {
  $(id).disabled = !possible;
}

let counting = 0;

function countRows(node) {
  counting += 1;
  const mine = counting;
  if (!rowsOf) return;
  if (!node.below) {
    $("rows").textContent = rowsText(node).replace(/^rare: /, "Rare: in ");
    return;
  }
  if (!node.size) return;
  setTimeout(async () => {
    if (mine !== counting) return;
    try {
      const answer = await ask(`rows?label=${encodeURIComponent(node.label)}`);
      if (mine === counting && answer.rows !== null) {
        $("rows").textContent = `${many(answer.rows, "row")} contain something of it`;
      }
    } catch {
      // The tree is being changed: the next line that is chosen asks again.
    }
  }, 150);
}

// Edits.

function send(edit, words) {
  const begun = { lines: groups.lines.length, line: active ? active.line : 0, label: active?.label };
  waiting = waiting.then(async () => {
    try {
      const answer = await ask("edit", { edit, version });
      await take(answer, edit, begun);
      tell(answer.trouble || words);
    } catch (error) {
      refuse(error.message);
    }
  });
  return waiting;
}

async function take(answer, edit, begun) {
  if (answer.steps === null) {
    await load();
  } else {
    for (const step of answer.steps) groups.take(step);
    settle(answer.steps, edit, begun);
  }
  keepState(answer);
  draw();
  describe();
  askProblems();
}

// After an edit: forget nodes that are gone, and go to what it was about.
function settle(steps, edit, begun) {
  cut = cut.filter((node) => groups.get(node.label) === node);
  for (const node of [...chosen]) if (groups.get(node.label) !== node) chosen.delete(node);
  if (active && groups.get(active.label) !== active) active = null;
  const goTo = target(steps.at(-1), edit);
  if (goTo) {
    activate(goTo);
  } else if (!active || active.line < 0) {
    activate(groups.lines[Math.min(begun.line, groups.lines.length - 1)]);
  }
}

function target(step, edit) {
  if (!step) return null;
  const label = {
    undo: () => (step.do === "place" ? step.places.find((place) => place[2] !== null)?.[0] : (step.name ?? step.group)),
    group: () => edit.name,
    rename: () => edit.name,
    merge: () => edit.into,
    add: () => edit.items[0],
  };
  label.redo = label.undo;
  return label[edit.do] ? (groups.get(label[edit.do]()) ?? null) : null;
}

function keepState(answer) {
  version = answer.version;
  $("undo").disabled = !answer.undo;
  $("redo").disabled = !answer.redo;
  $("state").textContent = answer.edits ? `${many(answer.edits, "change")}, saved` : "No changes yet";
  $("from").textContent = answer.from ? `Begun with: ${answer.from}` : "";
}

const listed = (nodes) => (nodes.length === 1 ? nodes[0].label : many(nodes.length, "line"));

function moveTo(nodes, under, before = null) {
  const edit = { do: "move", nodes: nodes.map((node) => node.label), under: under.label };
  if (before) edit.before = before.label;
  return send(edit, `Moved ${listed(nodes)} into ${under.label}.`);
}

// Lines in tree order, without those that go along with a group above them.
function topmost(nodes) {
  const all = new Set(nodes);
  return nodes
    .filter((node) => !groups.above(node).some((up) => all.has(up)))
    .sort((a, b) => a.line - b.line);
}

const acts = {
  undo: () => send({ do: "undo" }, "Undone."),
  redo: () => send({ do: "redo" }, "Done again."),
  move: () => askWhere(topmost(named()), "Move"),
  rename: () => {
    const [node] = named();
    askName(`Rename ${node.label}`, node.label, (name) =>
      name === node.label ? null : send({ do: "rename", node: node.label, name }, `Renamed ${node.label} to ${name}.`));
  },
  group: () => {
    const nodes = topmost(named());
    askName("Name of the new group", "", (name) =>
      send({ do: "group", name, nodes: nodes.map((node) => node.label) }, `Put ${listed(nodes)} into the new group ${name}.`));
  },
  empty: () => {
    const under = active ? (active.below ? active : active.up) : groups.root;
    askName(`Name of a new, empty group in ${under.label}`, "", (name) =>
      send({ do: "group", name, nodes: [], under: under.label }, `Made the group ${name} in ${under.label}.`));
  },
  merge: () => {
    const nodes = named();
    const into = mergedInto(nodes);
    send({ do: "merge", nodes: nodes.map((node) => node.label), into: into.label }, `Merged ${many(nodes.length, "group")} into ${into.label}.`);
  },
  dissolve: () => {
    const [node] = named();
    send({ do: "dissolve", group: node.label }, `Dissolved ${node.label}.`);
  },
  sort: () => {
    const [node] = named();
    send({ do: "sort", group: node.label }, `Sorted ${node.label}.`);
  },
  remove: () => {
    const nodes = named();
    send({ do: "remove", nodes: nodes.map((node) => node.label) }, `Deleted ${listed(nodes)}.`);
  },
};

function act(name) {
  const button = $(name);
  if (!button || !button.disabled) acts[name]();
}

// Dialogs.

function askName(title, value, then) {
  const dialog = $("naming");
  $("naming-title").textContent = title;
  const input = $("new-name");
  input.value = value;
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue === "yes" && input.value.trim()) then(input.value.trim());
    box.focus();
  };
  dialog.showModal();
  input.select();
}

let placing = null;

function askWhere(nodes, verb, then = (under) => moveTo(nodes, under)) {
  const inside = new Set(nodes);
  const possible = groups.groups().filter((node) => !inside.has(node) && !groups.above(node).some((up) => inside.has(up)));
  placing = { possible, then };
  $("placing-title").textContent = `${verb} ${nodes.length ? listed(nodes) : "them"} to which group?`;
  $("group-search").value = "";
  offer();
  const dialog = $("placing");
  dialog.returnValue = "";
  dialog.onclose = () => {
    const picked = document.querySelector("#offers input:checked");
    if (dialog.returnValue === "yes" && picked) placing.then(groups.get(picked.value));
    box.focus();
  };
  dialog.showModal();
  $("group-search").focus();
}

function offer() {
  const text = $("group-search").value.toLowerCase();
  const fit = placing.possible.filter((node) => node.label.toLowerCase().includes(text));
  const offers = $("offers");
  offers.replaceChildren();
  for (const [i, node] of fit.slice(0, CHOICES).entries()) {
    const label = make("label", undefined, "choice");
    const input = make("input");
    input.type = "radio";
    input.name = "under";
    input.value = node.label;
    input.checked = i === 0;
    const words = make("span", node.label);
    const way = groups.above(node).map((up) => up.label).join(" > ");
    if (way) words.append(make("span", ` in ${way}`, "small"));
    label.append(input, words);
    offers.append(label);
  }
  $("offered").textContent = fit.length > CHOICES ? `The first ${CHOICES} of ${number(fit.length)} groups: write more of the name.` : many(fit.length, "group");
}

$("group-search")?.addEventListener("input", offer);

// Problems, found again after each edit.

const PROBLEMS = {
  missing: (n) => `${many(n, thing)} of the data ${n === 1 ? "is" : "are"} in no group. Nothing can be published before ${n === 1 ? "it is" : "they are"}.`,
  group: (n) => `${many(n, "group")} ${n === 1 ? "is" : "are"} called like an item of the data. A run puts the item below the group, whose name gets a star.`,
  unknown: (n) => `${many(n, thing)} of the groups ${n === 1 ? "is" : "are"} not in the data. This does no harm.`,
  alone: (n, of) => `${number(n)} of ${many(of.of, thing)} are alone below the top${of.rare ? `: ${of.rare === n ? "all" : number(of.rare)} of them, in fewer than ${of.k} rows, will be suppressed` : ""}.`,
  empty: (n) => `${many(n, "group")} ${n === 1 ? "is" : "are"} empty and will be removed.`,
  single: (n) => `${many(n, "group")} ${n === 1 ? "has" : "have"} only one thing in ${n === 1 ? "it" : "them"}: a step that changes nothing.`,
  uneven: (n) => `${many(n, "group")} ${n === 1 ? "has" : "have"} more than nine tenths of ${n === 1 ? "its" : "their"} items in one part.`,
};
let asking = 0;

function askProblems() {
  asking += 1;
  const mine = asking;
  setTimeout(async () => {
    if (mine !== asking) return;
    try {
      const answer = await ask("problems");
      if (mine === asking) drawProblems(answer.problems);
    } catch (error) {
      $("problem-count").textContent = error.message;
    }
  }, groups.byLabel.size > 20000 ? 700 : 60);
}

function drawProblems(problems) {
  const list = $("problems");
  list.replaceChildren();
  $("problem-count").textContent = problems.length ? "" : "None.";
  for (const problem of problems) {
    const item = make("li", PROBLEMS[problem.kind](problem.count, problem));
    item.dataset.kind = problem.kind;
    const names = make("div", undefined, "names");
    for (const label of problem.nodes.slice(0, 5)) {
      const node = groups.get(label);
      const button = make("button", label, "name-button");
      button.type = "button";
      if (node) button.addEventListener("click", () => goTo(node));
      else button.addEventListener("click", () => putMissing([label]));
      names.append(button);
    }
    if (problem.count > 5) names.append(make("span", `and ${number(problem.count - 5)} more`, "small"));
    item.append(names);
    if (problem.kind === "missing") item.append(mending(problem.count > 1 ? "Put all under..." : "Put under...", () => putMissing(null)));
    if (problem.kind === "alone" && problem.lengths.length) item.append(mending("Group them by their first characters", groupAlone));
    if (problem.kind === "empty" && problem.count <= problem.nodes.length) {
      item.append(mending("Delete", () => send({ do: "remove", nodes: problem.nodes }, "Deleted the empty groups.")));
    }
    list.append(item);
  }
}

function mending(text, then) {
  const button = make("button", text);
  button.type = "button";
  button.addEventListener("click", then);
  return button;
}

function putMissing(labels) {
  askWhere([], "Put", (under) => {
    if (labels) return send({ do: "add", items: labels, under: under.label }, `Put ${labels[0]} into ${under.label}.`);
    waiting = waiting.then(async () => {
      try {
        const answer = await ask("missing", { under: under.label, version });
        await take(answer, { do: "missing" }, { line: 0 });
        tell(answer.trouble || `Put all into ${under.label}.`);
        groups.get(under.label).open = true;
        groups.layOut();
        activate(groups.get(under.label));
      } catch (error) {
        refuse(error.message);
      }
    });
    return waiting;
  });
}

function groupAlone() {
  waiting = waiting.then(async () => {
    try {
      await take(await ask("alone", {}), { do: "start" }, { line: 0 });
      tell("Grouped by their first characters.");
    } catch (error) {
      refuse(error.message);
    }
  });
  return waiting;
}

function goTo(node) {
  activate(node);
  box.focus();
}

// Find.

function find() {
  const text = $("find").value.trim();
  found = text ? groups.find(text) : [];
  $("found").textContent = text ? `${number(found.length)} found` : "";
  enable("previous", found.length > 0);
  enable("next", found.length > 0);
  if (found.length) activate(groups.get(text) ?? found[0]);
}

function step(by) {
  if (!found.length) return;
  const now = found.indexOf(active);
  activate(found[(now + by + found.length) % found.length]);
}

// Keys.

let typed = "";
let typedAt = 0;

function onKey(event) {
  if (!groups || !active) return;
  const lines = groups.lines;
  const shown = Math.max(1, Math.floor(box.clientHeight / LINE) - 1);
  const to = (line) => {
    const node = lines[Math.max(0, Math.min(lines.length - 1, line))];
    if (event.shiftKey) extend(node);
    else activate(node);
  };
  const control = event.ctrlKey || event.metaKey;
  if (control) {
    const keys = {
      x: markCut,
      v: paste,
      arrowdown: () => walk(1),
      arrowup: () => walk(-1),
      " ": pick,
    };
    const key = event.key.toLowerCase();
    if (!keys[key]) return;
    typed = "";
    keys[key]();
    event.preventDefault();
    return;
  }
  const keys = {
    ArrowDown: () => to(active.line + 1),
    ArrowUp: () => to(active.line - 1),
    PageDown: () => to(active.line + shown),
    PageUp: () => to(active.line - shown),
    Home: () => to(0),
    End: () => to(lines.length - 1),
    ArrowRight: () => {
      if (active.below && !active.open) toggle(active);
      else if (active.below && active.below.length) activate(active.below[0]);
    },
    ArrowLeft: () => {
      if (active.below && active.open) toggle(active);
      else if (active.up) activate(active.up);
    },
    Enter: () => active.below && toggle(active),
    " ": pick,
    F2: () => act("rename"),
    Delete: () => act("remove"),
    Escape: () => {
      cut = [];
      chosen.clear();
      chosen.add(active);
      draw();
      describe();
    },
    "*": () => {
      for (const node of active.up ? active.up.below : [active]) if (node.below) node.open = true;
      groups.layOut();
      show(active);
      draw();
    },
  };
  if (event.key === " " && isTyping()) {
    event.preventDefault(); // a space in a name
    seek(event.key);
  } else if (keys[event.key]) {
    event.preventDefault();
    typed = "";
    keys[event.key]();
  } else if (event.key.length === 1 && !event.altKey) {
    event.preventDefault();
    seek(event.key);
  }
}

// Go to the next line and leave selected what is.
function walk(by) {
  const { lines } = groups;
  activate(lines[Math.max(0, Math.min(lines.length - 1, active.line + by))], { keep: true });
}

// Select the line, or no longer.
function pick() {
  if (chosen.has(active)) chosen.delete(active);
  else chosen.add(active);
  anchor = active;
  draw();
  describe();
}

function extend(node) {
  const from = anchor && anchor.line >= 0 ? anchor : active;
  chosen.clear();
  const [low, high] = [from.line, node.line].sort((a, b) => a - b);
  for (const one of groups.lines.slice(low, high + 1)) chosen.add(one);
  anchor = from;
  activate(node, { keep: true });
}

function isTyping() {
  return typed !== "" && performance.now() - typedAt < 700;
}

function seek(key) {
  typed = (isTyping() ? typed : "") + key.toLowerCase();
  typedAt = performance.now();
  const { lines } = groups;
  const from = active.line + (typed.length > 1 ? 0 : 1);
  for (let i = 0; i < lines.length; i += 1) {
    const node = lines[(from + i) % lines.length];
    if (node.label.toLowerCase().startsWith(typed)) {
      activate(node);
      return;
    }
  }
}

function toggle(node) {
  node.open = !node.open;
  groups.layOut();
  if (active && active.line < 0) activate(node);
  draw();
}

function markCut() {
  cut = topmost(named()).filter((node) => node.up);
  draw();
  if (cut.length) tell(`${listed(cut)}: go to a group and press Ctrl+V to move it there.`);
}

function paste() {
  const nodes = cut.filter((node) => groups.get(node.label) === node);
  if (!nodes.length) {
    refuse("Nothing is marked to be moved: press Ctrl+X on a line first.");
    return;
  }
  cut = [];
  if (active.below) moveTo(nodes, active);
  else if (!nodes.includes(active)) moveTo(nodes, active.up, active);
}

// The mouse.

function nodeAt(event) {
  return event.target.closest?.(".line")?.node ?? null;
}

let dragged = [];
let over = null;
let opening = 0;

function mark(element) {
  over?.classList.remove("over");
  over = element;
  over?.classList.add("over");
}

function listen() {
  box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  box.addEventListener("keydown", onKey);
  box.addEventListener("click", (event) => {
    const node = nodeAt(event);
    if (!node) return;
    if (node.below && event.target.className === "turn") {
      activate(node);
      toggle(node);
    } else if (event.shiftKey) extend(node);
    else if (event.ctrlKey || event.metaKey) {
      if (chosen.has(node)) chosen.delete(node);
      else chosen.add(node);
      anchor = node;
      activate(node, { keep: true });
    } else activate(node);
  });
  box.addEventListener("dblclick", (event) => {
    const node = nodeAt(event);
    if (node?.below && event.target.className !== "turn") toggle(node);
  });
  box.addEventListener("dragstart", (event) => {
    const node = nodeAt(event);
    if (!node) return;
    if (!chosen.has(node)) activate(node);
    dragged = topmost(named()).filter((one) => one.up);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.map((one) => one.label).join("\n"));
  });
  box.addEventListener("dragover", (event) => {
    const node = nodeAt(event);
    if (!node || !dragged.length || dragged.includes(node)) {
      mark(null);
      return;
    }
    event.preventDefault();
    const element = event.target.closest(".line");
    if (element !== over) {
      mark(element);
      clearTimeout(opening);
      if (node.below && !node.open) opening = setTimeout(() => over === element && toggle(node), 800);
    }
  });
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    const node = nodeAt(event);
    const nodes = dragged;
    endDrag();
    if (!node || !nodes.length || nodes.includes(node)) return;
    if (node.below) moveTo(nodes, node);
    else moveTo(nodes, node.up, node);
  });
  box.addEventListener("dragend", endDrag);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.closest("input, textarea, select, dialog")) return;
    const key = event.key.toLowerCase();
    if (key === "z" || key === "y") {
      event.preventDefault();
      act(key === "y" || event.shiftKey ? "redo" : "undo");
    }
  });
  for (const name of Object.keys(acts)) $(name).addEventListener("click", () => acts[name]());
  $("find").addEventListener("input", find);
  $("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    }
  });
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  new ResizeObserver(draw).observe(box);
}

function endDrag() {
  clearTimeout(opening);
  mark(null);
  dragged = [];
}

async function load() {
  const sent = await ask("tree");
  const before = groups;
  groups = new Groups(sent);
  if (before) groups.openAs(before);
  else if (groups.root.below) {
    // Small trees are shown down to their groups.
    if (groups.byLabel.size < 400) for (const node of groups.root.below) node.open = node.below !== null && groups.root.below.length < 12;
    groups.layOut();
  }
  for (const element of drawn.values()) element.remove();
  drawn.clear();
  chosen.clear();
  cut = [];
  active = null;
  keepState(sent);
  activate(groups.root);
}

async function begin() {
  try {
    await load();
  } catch (error) {
    refuse(error.message);
    $("loading").hidden = true;
    return;
  }
  $("loading").hidden = true;
  listen();
  askProblems();
  const wanted = new URLSearchParams(location.search).get("find") || $("find").value; // or typed meanwhile
  if (wanted) {
    $("find").value = wanted;
    find();
  }
  try {
    const sent = await ask("items");
    if (sent.items) {
      rowsOf = new Map(sent.items.map((label, i) => [label, sent.rows[i]]));
      draw();
      describe();
    }
  } catch (error) {
    refuse(error.message);
  }
}

begin();
