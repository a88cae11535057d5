// The way in: gives back the code of the address, once, and goes on to the projects.

const said = document.getElementById("said");
const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const answer = await fetch("/enter", { method: "POST", body: code });
const content = await answer.json();
if (answer.ok) {
  location.replace(content.go);
} else {
  said.textContent = `${content.message} Run setveil studio again: it opens a new page.`;
}
