"""
Verification of another tool's file
===================================

:func:`setveil.verify` needs only the published rows, from any tool. Here a common
recipe made the file: it removed items in fewer than five rows.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# A recipe removed every rare item and wrote the rest into a file.

rng = np.random.default_rng(20)
products = [f"p{number:02}" for number in range(60)]
popularity = 1 / np.arange(1, 61) ** 1.2
popularity /= popularity.sum()
baskets = [
    rng.choice(products, rng.integers(1, 6), replace=False, p=popularity).tolist()
    for _ in range(800)
]
counts = {product: sum(product in basket for basket in baskets) for product in products}
lines = [
    ",".join(product for product in basket if counts[product] >= 5)
    for basket in baskets
]
Path("theirs.csv").write_text("\n".join(lines) + "\n")

# %%
# Single items are safe now. Pairs are not, and the result lists them. ``greatest_k`` is
# the guarantee that the file really satisfies.

rows = sv.read("theirs.csv", format="basket")
verdicts = {m: sv.verify(rows, k=5, m=m, show=100_000) for m in (1, 2, 3)}
for verdict in verdicts.values():
    print(verdict)

# %%
# The number of rows of each itemset that is in too few rows.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
sizes = np.array([len(items) for items, _ in verdicts[3].first])
supports = np.array([support for _, support in verdicts[3].first])
bottom = np.zeros(4)
for size, colour in ((2, "C1"), (3, "C3")):
    heights = np.bincount(supports[sizes == size], minlength=5)[1:5]
    axes.bar(
        range(1, 5), heights, bottom=bottom, color=colour, label=f"sets of {size} items"
    )
    bottom += heights
axes.set(
    xlabel="rows with the set",
    ylabel="sets in fewer than k = 5 rows",
    xticks=range(1, 5),
)
axes.legend(frameon=False)
plt.show()
