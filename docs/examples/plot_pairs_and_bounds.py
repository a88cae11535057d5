"""
Bounds for the count of a pair
==============================

With counts, single items are exact. The number of rows with two items together is an
estimate, and :func:`setveil.query` bounds it: no original of this release has a number
outside the bounds.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Orders of a café. Some things are ordered together far more often than others.

rng = np.random.default_rng(6)
menu = {
    "hot drinks": ["coffee", "tea", "cocoa"],
    "cold drinks": ["juice", "cola", "water"],
    "sweet": ["cake", "scone", "muffin", "waffle"],
    "savoury": ["sandwich", "soup", "quiche", "salad"],
}
items = [item for group in menu.values() for item in group]
weights = np.array([9, 6, 3, 4, 4, 3, 7, 4, 3, 3, 6, 3, 3, 3]) / 61
orders = [
    rng.choice(items, rng.integers(1, 5), replace=False, p=weights).tolist()
    for _ in range(600)
]
groups = sv.Hierarchy.from_paths(
    [[item, group, "all"] for group, inside in menu.items() for item in inside]
)

# %%
# k = 20 is more than such rows need. It makes labels broad enough to show the effect.

release = sv.anonymize(orders, k=20, m=2, hierarchy=groups)
pairs = [["coffee", item] for item in items if item != "coffee"]
answers = sv.query(release, pairs)
truth = [sum(set(pair) <= set(order) for order in orders) for pair in pairs]
for answer in answers[:3]:
    print(answer)

# %%
# Every true number is within its bounds. The estimates are much closer than the bounds,
# which no reader can narrow.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
places = np.arange(len(pairs))
axes.hlines(
    places,
    [a.least for a in answers],
    [a.greatest for a in answers],
    "0.75",
    linewidth=6,
    label="possible",
)
axes.plot([a.estimate for a in answers], places, "C0o", label="estimate")
axes.plot(truth, places, "k|", markersize=12, label="truth")
axes.set(
    xlabel="orders with coffee and ...",
    yticks=places,
    yticklabels=[pair[1] for pair in pairs],
)
axes.invert_yaxis()
axes.legend(frameon=False)
plt.show()
