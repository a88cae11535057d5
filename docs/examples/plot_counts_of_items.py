"""
Counts of single items
======================

A label such as *shelf 3* represents several titles. From the rows alone, a reader can
only divide its count evenly among them. :doc:`The counts that a release publishes
</counts>` make single items exact and do not weaken the guarantee.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# A thousand library members, and shelves of five titles.

rng = np.random.default_rng(5)
titles = [f"title {number}" for number in range(60)]
popularity = rng.permutation(1 / np.arange(1, 61))
popularity /= popularity.sum()
members = sv.Transactions.from_rows(
    rng.choice(titles, rng.integers(1, 7), replace=False, p=popularity).tolist()
    for _ in range(1000)
)
shelves = {title: f"shelf {number // 5}" for number, title in enumerate(titles)}

# %%
# The same release with counts and without. :func:`setveil.query` answers any
# recipient's question from the published files.

with_counts = sv.anonymize(members, k=5, m=2, hierarchy=shelves)
without = sv.anonymize(members, k=5, m=2, hierarchy=shelves, counts=False)
labels = members.vocabulary.labels
truth = members.supports()
estimates = {
    "without counts": [
        answer.estimate for answer in sv.query(without, [[label] for label in labels])
    ],
    "with the counts": [
        answer.estimate
        for answer in sv.query(with_counts, [[label] for label in labels])
    ],
}

# %%
# With counts, every title is on the line. A title that fewer than k = 5 members
# borrowed would have no count.

figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
axes.axline((1, 1), slope=1, color="0.8")
for (name, values), style in zip(estimates.items(), ("C1x", "C0."), strict=True):
    axes.plot(truth, np.maximum(values, 0.5), style, label=name)
axes.set(
    xscale="log",
    yscale="log",
    xlabel="members who borrowed a title",
    ylabel="estimated members",
)
axes.legend(frameon=False)
plt.show()
