"""
Known items that identify a row
===============================

Each row contains what one person bought. Someone who knows a few of these items looks
for the rows that contain them all. :func:`setveil.risk` counts the matching rows in two
ways: the known items are the most identifying ones, or random ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Two thousand made-up baskets of up to eight products. As in any shop, a few products
# are in very many baskets, and most in few.

rng = np.random.default_rng(1)
products = [f"product {number}" for number in range(1, 81)]
popularity = 1 / np.arange(1, 81)
popularity /= popularity.sum()
baskets = [
    rng.choice(products, rng.integers(2, 9), replace=False, p=popularity).tolist()
    for _ in range(2000)
]

# %%
# The answer is a dict that prints as tables, and a data frame. ``below_5`` is the
# number of people with fewer than five matching rows.

found = sv.risk(baskets, m=[1, 2, 3, 4])
frame = found.to_polars()
print(frame)

# %%
# A single product hardly identifies anyone. Two products identify many people. With
# three or more, most rows are unique if the most identifying products are known.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for choice, style, name in (
    ("best", "-", "most identifying"),
    ("random", "--", "picked at random"),
):
    lines = frame.filter(choice=choice)
    axes.plot(lines["m"], lines["below_2"] / 20, f"C3o{style}", label=f"unique, {name}")
    axes.plot(
        lines["m"], lines["below_5"] / 20, f"C0s{style}", label=f"fewer than 5, {name}"
    )
axes.set(
    xlabel="known products of a person",
    ylabel="rows (%)",
    xticks=[1, 2, 3, 4],
    ylim=(0, 100),
)
axes.legend(frameon=False)
plt.show()
