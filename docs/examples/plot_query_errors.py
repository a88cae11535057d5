"""
Errors of queries on a release
==============================

:func:`setveil.measure` asks the original and the release the same questions (how many
rows contain some items) and reports the relative errors. They depend on the question at
least as much as on the release.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Two thousand reading lists, eighty books in twenty subjects.

rng = np.random.default_rng(19)
books = [f"book {number}" for number in range(80)]
popularity = rng.permutation(1 / np.arange(1, 81))
popularity /= popularity.sum()
readers = [
    rng.choice(books, rng.integers(2, 7), replace=False, p=popularity).tolist()
    for _ in range(2000)
]
subjects = {book: f"subject {number // 4}" for number, book in enumerate(books)}
release = sv.anonymize(readers, k=5, m=2, hierarchy=subjects)

# %%
# Five hundred random queries each of one, two and three books, and of two books that at
# least 20 rows contain. ``estimator="uniform"`` uses the rows alone, without their
# counts.

queries = {
    "one book": {"query_size": 1},
    "two books": {"query_size": 2},
    "two, in 20 rows or more": {"query_size": 2, "query_support": 20},
    "three books": {"query_size": 3},
}
medians = {
    estimator: [
        sv.measure(readers, release, queries=500, estimator=estimator, **question)[
            "are"
        ]["median"]
        for question in queries.values()
    ]
    for estimator in ("uniform", "entropy")
}

# %%
# Counts make single books exact and improve all frequent combinations. The guarantee
# hides rare combinations.

figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
places = np.arange(len(queries))
for shift, name, estimator in (
    (-0.2, "without counts", "uniform"),
    (0.2, "with the counts", "entropy"),
):
    bars = axes.bar(
        places + shift, np.multiply(medians[estimator], 100), 0.38, label=name
    )
    axes.bar_label(bars, fmt="%.0f")
axes.set(xticks=places, xticklabels=queries, ylabel="median relative error (%)")
axes.legend(frameon=False)
plt.show()
