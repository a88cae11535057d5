// The page Compare: results of a study that runs, as they come.

for (const place of document.querySelectorAll(".study[data-running]")) {
  const rows = place.querySelector("tbody").rows;
  const look = async () => {
    try {
      const answer = await fetch(place.dataset.results, { headers: { accept: "application/json" } });
      const found = await answer.json();
      found.lines.forEach((cells, i) => cells.forEach((text, j) => {
        if (rows[i].cells[j].textContent !== text) rows[i].cells[j].textContent = text;
      }));
      place.querySelector("[data-count]").textContent = found.done;
      if (!found.complete) setTimeout(look, 1000);
    } catch {
      setTimeout(look, 5000);
    }
  };
  look();
}
