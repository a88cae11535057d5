// The columns of a table: how many of its values each level of a column's groups keeps, as they are chosen.

const form = document.getElementById("roles");
const USUAL = { prefix: "3,2", ranges: "5,10,20", dates: "month,quarter,year", file: "" };
const HELP = { prefix: "Lengths, such as 3,2", ranges: "Widths, such as 5,10,20", dates: "day, month, quarter, year, 5-year, decade", file: "Path of a csv: value;group;...;top" };

for (const become of form.querySelectorAll(".become")) {
  const kind = become.querySelector("select");
  const steps = become.querySelector("input");
  const keep = become.querySelector(".keep");
  const proposed = { [kind.value]: steps.value };
  let asked = 0;

  async function ask() {
    const mine = (asked += 1);
    steps.placeholder = HELP[kind.value] ?? "";
    const query = new URLSearchParams({ column: become.dataset.column, kind: kind.value, steps: steps.value });
    for (const given of form.querySelectorAll("input[type=hidden]:not([name^=column])")) query.set(given.name, given.value);
    try {
      const answer = await fetch(`${form.dataset.levels}?${query}`, { headers: { accept: "application/json" } });
      const found = await answer.json();
      if (mine === asked) keep.textContent = found.keep ?? found.error?.message ?? found.error ?? "";
    } catch {
      if (mine === asked) keep.textContent = "";
    }
  }

  steps.placeholder = HELP[kind.value] ?? "";
  kind.addEventListener("change", () => {
    steps.value = proposed[kind.value] ?? USUAL[kind.value] ?? "";
    ask();
  });
  steps.addEventListener("change", () => {
    proposed[kind.value] = steps.value;
    ask();
  });
  // What was chosen before this script ran, or what the browser remembered, differs from what the page came with.
  const chosen = !kind.selectedOptions[0]?.defaultSelected || steps.value !== steps.defaultValue;
  if (kind.value && (chosen || !keep.textContent.trim())) ask();
}
