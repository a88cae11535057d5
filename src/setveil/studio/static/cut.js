// The page Release: the tree of the hierarchy with what became of it, opened group by group.

const place = document.getElementById("cut");
const STATES = { closed: "published as this", inside: "", kept: "as it is", out: "suppressed", open: "" };

function why(name) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = place.dataset.why;
  form.className = "inline";
  for (const [key, value] of [["run", place.dataset.run], ["name", name]]) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: key, value });
    form.append(field);
  }
  const button = document.createElement("button");
  button.textContent = "Why?";
  button.setAttribute("aria-label", `Why ${name}?`);
  form.append(button);
  return form;
}

function words(node) {
  const said = node.leaf ? [] : [`${node.items.toLocaleString("en")} item${node.items === 1 ? "" : "s"}`];
  if (STATES[node.state]) said.push(STATES[node.state]);
  if (!node.leaf && node.left_out && node.state !== "out") said.push(`${node.left_out.toLocaleString("en")} suppressed`);
  if (node.leaf && node.state === "inside") said.push(`published as ${node.label}`);
  return said.length ? ` (${said.join(", ")})` : "";
}

function line(node) {
  const name = document.createElement(node.state === "closed" || node.state === "kept" ? "b" : "span");
  name.textContent = node.name;
  const all = document.createElement("span");
  if (node.state === "out") all.className = "out";
  all.append(name, words(node));
  return all;
}

function item(node) {
  const one = document.createElement("li");
  if (node.leaf) {
    one.append(line(node));
    if (node.state === "out" && place.dataset.why) one.append(" ", why(node.name));
    return one;
  }
  const details = document.createElement("details"), summary = document.createElement("summary");
  summary.append(line(node));
  details.append(summary);
  if (node.state === "closed" && place.dataset.why) details.append(why(node.name));
  details.addEventListener("toggle", () => {
    if (details.open && !details.dataset.filled) { details.dataset.filled = "yes"; fill(details, node.name, 0); }
  });
  one.append(details);
  return one;
}

async function fill(into, name, first) {
  const asked = name === null ? "" : `&node=${encodeURIComponent(name)}`;
  const answer = await fetch(`${place.dataset.from}${asked}&first=${first}`, { headers: { Accept: "application/json" } });
  const found = await answer.json();
  if (!answer.ok) {
    const problem = document.createElement("p");
    problem.textContent = [found.error.message, found.error.hint].filter(Boolean).join(" ");
    into.append(problem);
    return;
  }
  let list = into.querySelector(":scope > ul");
  if (!list) { list = document.createElement("ul"); into.append(list); }
  list.append(...found.nodes.map(item));
  const shown = first + found.nodes.length;
  if (shown < found.all) {
    const more = document.createElement("button");
    more.type = "button";
    more.textContent = `Show more of ${found.all.toLocaleString("en")}`;
    more.addEventListener("click", () => { more.remove(); fill(into, name, shown); });
    into.append(more);
  }
}

if (place) fill(place, null, 0);
