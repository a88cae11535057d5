"""
Statistics from synthetic rows
==============================

:func:`setveil.reconstruct` draws rows of items at random from all rows that a release
and its counts allow. Single items are exact in every draw. Pairs are guesses, and
several draws show how much the guesses vary.
"""

from collections import Counter
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Twelve hundred shopping lists, sixty products in groups of four.

rng = np.random.default_rng(17)
products = [f"product {number}" for number in range(60)]
popularity = rng.permutation(1 / np.arange(1, 61))
popularity /= popularity.sum()
lists = [
    rng.choice(products, rng.integers(2, 6), replace=False, p=popularity).tolist()
    for _ in range(1200)
]
groups = {product: f"group {number // 4}" for number, product in enumerate(products)}
release = sv.anonymize(lists, k=5, m=2, hierarchy=groups)

# %%
# Five draws, each with a row for every row of the release.


def pairs(rows: list[list[str]]) -> Counter:
    """Count the rows of each pair."""
    return Counter(pair for row in rows for pair in combinations(sorted(row), 2))


drawn = sv.reconstruct(release, draws=5, seed=0)
truth = pairs(lists)
frequent = [pair for pair, _ in truth.most_common(30)]
counted = np.array([[pairs(list(draw))[pair] for pair in frequent] for draw in drawn])

# %%
# The mean of the draws with their spread, next to the truth. The spread does not
# include the error of an assumption that all draws share: that items of different
# labels are independent.

figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
places = np.arange(len(frequent))
axes.errorbar(
    places,
    counted.mean(axis=0),
    counted.std(axis=0),
    fmt="C0o",
    label="five draws: mean and deviation",
)
axes.plot(
    places, [truth[pair] for pair in frequent], "k_", markersize=9, label="original"
)
axes.set(
    xlabel="the thirty most frequent pairs", ylabel="rows", xticks=[], ylim=(0, None)
)
axes.legend(frameon=False)
plt.show()
