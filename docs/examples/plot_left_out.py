"""
Suppressed items
================

Suppression can remove an item from all rows if it would cost its group more than it is
worth. These are mostly rare items, but not simply the rarest: the items that they occur
with matter, too.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Side effects in 1,200 reports, in six organ systems.

rng = np.random.default_rng(9)
systems = ["skin", "heart", "stomach", "nerves", "sleep", "joints"]
effects = [f"{system} {number}" for system in systems for number in range(1, 9)]
popularity = rng.permutation(1 / np.arange(1, 49) ** 1.3)
popularity /= popularity.sum()
reports = sv.Transactions.from_rows(
    rng.choice(effects, rng.integers(1, 5), replace=False, p=popularity).tolist()
    for _ in range(1200)
)
tree = sv.Hierarchy.from_paths(
    [[effect, effect.split()[0], "any effect"] for effect in effects]
)

# %%
# ``recoding`` contains the label of each item, or -1 if it was suppressed.

release = sv.anonymize(reports, k=5, m=2, hierarchy=tree)
image = dict(
    zip(release.recoding.items.labels, release.recoding.image.tolist(), strict=True)
)
kept = {
    label for label, items in release.recoding.members().items() if items == [label]
}
print("suppressed:", release.details["suppressed"])

# %%
# ``max_suppressed``, ``keep`` and ``weights`` of :class:`setveil.Exact` limit
# suppression, protect items, and weigh them.

figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
order = np.argsort(-reports.supports(), kind="stable")
colours = {"stays unchanged": "C0", "under a broader label": "0.7", "suppressed": "C3"}
for place, item in enumerate(order):
    label = reports.vocabulary.labels[item]
    fate = (
        "suppressed"
        if image[label] < 0
        else "stays unchanged"
        if label in kept
        else "under a broader label"
    )
    axes.bar(place, reports.supports()[item], color=colours[fate])
axes.axhline(5, color="k", linewidth=0.8, linestyle=":")
axes.text(len(order), 5, "k = 5", ha="right", va="center", backgroundcolor="w")
axes.set(
    yscale="log",
    xlabel="side effects, the most frequent first",
    ylabel="reports",
    xticks=[],
)
axes.legend(
    [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()],
    colours,
    frameon=False,
)
plt.show()
