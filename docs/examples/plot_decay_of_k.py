"""
Matching rows by the number of known items
==========================================

Every single item is in many rows. How many rows match if an attacker knows two or three
items of a person, and how does a release change that?
"""

# %%
# 2,000 baskets of a made-up shop, and the groups of its products.

import matplotlib.pyplot as plt

import setveil as sv
from setveil.rows.data.sample import grocery_sample

baskets, paths = grocery_sample(2000, seed=1)
products = sv.Hierarchy.from_paths(paths)
print(baskets)

# %%
# In this release, anyone who knows up to two items of a person finds at least five
# matching rows, or none.

release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
print(release.verdict)

# %%
# `setveil.risk` counts, for 1 to 4 known items, the people with fewer than 2, 5 and 10
# matching rows. The known items are the most identifying ones of each row: the worst
# case.


def shares_of(rows):
    """Share of the rows with few matching rows, by the number of known items."""
    counts = sv.risk(rows, m=range(1, 5), thresholds=[2, 5, 10]).to_polars()
    worst = counts.filter(counts["choice"] == "best").sort("m")
    shares = {}
    for below in (2, 5, 10):
        shares[below] = (worst[f"below_{below}"] / baskets.n_rows * 100).to_list()
    return shares


names = {2: "unique", 5: "fewer than 5 matching rows", 10: "fewer than 10"}
titles = {"the original": baskets, "the release (k = 5, m = 2)": release.published}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
for axis, (title, rows) in zip(axes, titles.items(), strict=True):
    for below, shares in shares_of(rows).items():
        axis.plot([1, 2, 3, 4], shares, marker="o", label=names[below])
    axis.set(title=title, xlabel="known items of a person", xticks=[1, 2, 3, 4])
axes[0].set_ylabel("rows (%)")
axes[0].legend()
plt.show()

# %%
# The guarantee covers two items: up to there everyone has at least five matching rows.
# With three or four known items some people have fewer again, but far fewer people than
# before. `setveil.explore` shows the cost of a greater m.
