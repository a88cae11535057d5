"""
How fast does the crowd shrink?
===============================

Everybody in a file shares each single item with many others. How many rows are left when someone knows two or three
items of a person, and what does a release change about that?
"""

# %%
# 2,000 baskets of a made-up shop, and the groups that its products are in.

import matplotlib.pyplot as plt

import setveil as sv
from setveil.data.sample import grocery_sample

baskets, paths = grocery_sample(2000, seed=1)
products = sv.Hierarchy.from_paths(paths)
print(baskets)

# %%
# A release in which everybody who knows up to two items finds at least five rows that fit, or none.

release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
print(release.verdict)

# %%
# `setveil.risk` counts, for 1 to 4 known items, the rows that are found among fewer than 2, 5 and 10. The known items
# are the most identifying ones of each row: the worst case.


def found(rows):
    """Share of the rows that are found, by the number of known items."""
    told = sv.risk(rows, m=range(1, 5), thresholds=[2, 5, 10]).to_polars()
    worst = told.filter(told["choice"] == "best").sort("m")
    shares = {}
    for below in (2, 5, 10):
        shares[below] = (worst[f"below_{below}"] / baskets.n_rows * 100).to_list()
    return shares


names = {2: "alone", 5: "among fewer than 5", 10: "among fewer than 10"}
titles = {"the original": baskets, "the release (k = 5, m = 2)": release.published}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
for axis, (title, rows) in zip(axes, titles.items(), strict=True):
    for below, shares in found(rows).items():
        axis.plot([1, 2, 3, 4], shares, marker="o", label=names[below])
    axis.set(title=title, xlabel="items known of a person", xticks=[1, 2, 3, 4])
axes[0].set_ylabel("rows found (%)")
axes[0].legend()
plt.show()

# %%
# The promise speaks of two items: up to there nobody is found among fewer than five rows. Anyone who knows three or four finds
# some people again, though far fewer than before. `setveil.explore` shows what a greater m costs.
