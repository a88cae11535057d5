// The page Release: of the releases that were tried or made, the one that loses least for a share of the columns.

const place = document.getElementById("share-of");

if (place) {
  const points = JSON.parse(place.dataset.points);
  const slider = document.getElementById("percent");
  const said = document.getElementById("share-said");
  const lines = [...document.querySelectorAll("[data-point]")];
  place.hidden = false;

  const choose = () => {
    const share = Number(slider.value) / 100;
    const losses = points.map((point) => share * point.R + (1 - share) * point.T);
    const least = Math.min(...losses);
    const at = losses.indexOf(least);
    lines.forEach((line, i) => line.classList.toggle("current", i === at));
    const near = [points[at - 1], points[at + 1]].filter(Boolean).map((point) => point.name);
    said.textContent = `Columns ${slider.value}%, items ${100 - slider.value}%: ${points[at].name} loses least of these, ` +
      `${least.toPrecision(3)}. Columns ${points[at].cells[0]}, items ${points[at].cells[1]}, ` +
      `${points[at].cells[2]} of the occurrences suppressed.` + (near.length ? ` Next to it: ${near.join("; ")}.` : "");
  };
  slider.addEventListener("input", choose);
  choose();
}
