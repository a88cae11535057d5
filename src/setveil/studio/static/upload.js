// Copies a file that was dropped, or chosen, into the project.

const drop = document.getElementById("drop");
const said = document.getElementById("copying");
const chosen = document.getElementById("copied");

async function copy(file) {
  if (!file) return;
  const large = file.size >= 1e9;
  if (large && !confirm(`${file.name} has ${(file.size / 1e9).toFixed(1)} GB. Copy it into the project?`)) return;
  said.textContent = `Copying ${file.name}.`;
  const answer = await fetch(`${drop.dataset.to}?name=${encodeURIComponent(file.name)}`, {
    method: "POST", body: file, headers: { accept: "application/json" },
  });
  const content = await answer.json();
  if (answer.ok) location.assign(content.go);
  else said.textContent = `${content.error.message} ${content.error.hint}`;
}

chosen.addEventListener("change", () => copy(chosen.files[0]));
drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  copy(event.dataTransfer.files[0]);
});
