// Work under way: how it stands, as the server tells it; and on to what comes when it is over.

const places = [...document.querySelectorAll("[data-job]")];
const told = new Map();

function show(place, job) {
  const begun = told.get(place) ?? { words: "", at: 0 };
  place.querySelector("h2").textContent = job.cancelling ? "Ending" : job.state === "waiting" ? "Waiting for other work" : "At work";
  place.querySelector("[data-words]").textContent = job.finishing ? `Finishing with the best so far. ${job.words}` : job.words;
  place.dataset.since = performance.now() - job.seconds * 1000;
  place.dataset.running = job.state === "running" ? "yes" : "";
  const bar = place.querySelector("progress");
  if (job.share === null) bar.removeAttribute("value"); else bar.value = job.share;
  place.querySelector("[data-finish]").hidden = !job.stoppable;
  const now = performance.now();
  if (job.words !== begun.words && now - begun.at > 5000) {
    place.querySelector("[data-status]").textContent = job.words;
    told.set(place, { words: job.words, at: now });
  }
}

function tick() {
  for (const place of places) {
    if (!place.dataset.running) continue;
    const seconds = Math.floor((performance.now() - place.dataset.since) / 1000);
    place.querySelector("[data-seconds]").textContent = `${seconds} s`;
  }
}

if (places.length) {
  const events = new EventSource(places[0].dataset.events);
  events.addEventListener("message", (event) => {
    const jobs = JSON.parse(event.data).jobs;
    for (const place of places) {
      const job = jobs.find((one) => String(one.id) === place.dataset.job);
      if (job && (job.state === "running" || job.state === "waiting")) {
        show(place, job);
      } else {
        events.close();
        const next = new URL(place.dataset.done, location.href);
        const here = next.pathname === location.pathname && next.search === location.search;
        if (job?.state === "done" && !here) location.assign(next); else location.reload();
        return;
      }
    }
  });
  setInterval(tick, 1000);
}
