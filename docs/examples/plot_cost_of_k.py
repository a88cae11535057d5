"""
The cost of a greater k
=======================

k is the number of rows in which each person hides. :func:`setveil.explore` finds the
least possible loss for each k, and proves it.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# A thousand library members and the titles they borrowed: sixty titles on twelve
# shelves, a few of them popular.

rng = np.random.default_rng(3)
titles = [f"title {number}" for number in range(60)]
popularity = rng.permutation(1 / np.arange(1, 61))
popularity /= popularity.sum()
members = [
    rng.choice(titles, rng.integers(1, 7), replace=False, p=popularity).tolist()
    for _ in range(1000)
]
shelves = {title: f"shelf {number // 5}" for number, title in enumerate(titles)}
shelves |= {f"shelf {number}": f"room {number // 4}" for number in range(12)}

# %%
# The answer has a cell for each k and m, with the loss (LM), the number of unchanged
# items, and more.

ks = [2, 3, 5, 8, 11, 15, 20, 30, 50]
explored = sv.explore(members, k=ks, m=[1, 2], hierarchy=shelves)
cells = explored["cells"]
print(
    {
        name: cells[0][name]
        for name in ("k", "m", "loss", "proven", "items_kept", "unique_rows")
    }
)

# %%
# With one known item, a greater k costs little: more rare titles are suppressed. With
# two, the loss rises in steps, and between the steps a greater k is nearly free. If a
# rule requires 10, check whether 11 costs more.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for m, marker in ((1, "o"), (2, "s")):
    losses = [cell["loss"] for cell in cells if cell["m"] == m]
    axes.step(ks, losses, f"{marker}-", where="post", label=f"m = {m}")
axes.set(xlabel="k", ylabel="least loss possible (LM)", ylim=(0, None))
axes.legend(title="known items", frameon=False)
plt.show()
