"""
Labels of diagnosis codes
=========================

Codes such as ``E11.9`` consist of prefixes: chapter letter, category, detail. A
hierarchy of prefixes needs no list of names, and readers who know the codes understand
its labels.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv
from setveil.rows.hierarchy.build import by_prefix

# %%
# Codes of 2,500 stays.

rng = np.random.default_rng(22)
codes = [
    f"{letter}{category}.{detail}"
    for letter, categories in (
        ("E", (10, 11, 78)),
        ("I", (10, 20, 48, 50)),
        ("J", (18, 44, 45)),
        ("N", (18, 39)),
    )
    for category in categories
    for detail in range(4)
]
popularity = rng.permutation(1 / np.arange(1, len(codes) + 1) ** 1.4)
popularity /= popularity.sum()
stays = sv.Transactions.from_rows(
    rng.choice(codes, rng.integers(1, 4), replace=False, p=popularity).tolist()
    for _ in range(2500)
)

# %%
# Cut after one character and after three. On the command line: ``setveil hierarchy
# build --by prefix --lengths 1,3``.

tree = by_prefix(stays, lengths=(1, 3))
print(tree.paths()[0])

# %%
# With a greater k codes become their category, then their chapter, or are suppressed.

fates = ["code", "category", "chapter", "all codes", "suppressed"]
ks = [2, 5, 10, 20, 50]
shares = []
for k in ks:
    recoding = sv.anonymize(stays, k=k, m=2, hierarchy=tree).recoding
    image = dict(zip(recoding.items.labels, recoding.image.tolist(), strict=True))
    rows = dict.fromkeys(fates, 0)
    for code, support in zip(
        stays.vocabulary.labels, stays.supports().tolist(), strict=True
    ):
        label = recoding.published.labels[image[code]] if image[code] >= 0 else ""
        fate = {
            "": "suppressed",
            "*": "all codes",
            code[0]: "chapter",
            code[:3]: "category",
            code: "code",
        }[label]
        rows[fate] += support
    shares.append([100 * rows[fate] / stays.n_occurrences for fate in fates])
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
colours = ["C0", "#7fb2d9", "#c6dbef", "0.85", "C3"]
axes.stackplot(range(len(ks)), np.transpose(shares), labels=fates, colors=colours)
axes.set(
    xticks=range(len(ks)),
    xticklabels=ks,
    xlabel="k (m = 2)",
    ylabel="occurrences (%)",
    ylim=(0, 100),
)
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()
