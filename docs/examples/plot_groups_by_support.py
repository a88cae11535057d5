"""
Groups of items by support
==========================

One rare item can cause its whole group to be generalized. If you can choose the groups
inside a department, items with similar support are often a good choice: rare items
merge with each other, and frequent items have small labels.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Eight departments of twelve products. The catalogue lists frequent and rare products
# in mixed order.

rng = np.random.default_rng(8)
departments = [f"department {letter}" for letter in "ABCDEFGH"]
catalogue = {
    name: [f"{name[-1]}{number:02}" for number in range(12)] for name in departments
}
products = [product for inside in catalogue.values() for product in inside]
popularity = rng.permutation(1 / np.arange(1, 97) ** 1.2)
popularity /= popularity.sum()
baskets = sv.Transactions.from_rows(
    rng.choice(products, rng.integers(1, 8), replace=False, p=popularity).tolist()
    for _ in range(3000)
)
supports = dict(
    zip(baskets.vocabulary.labels, baskets.supports().tolist(), strict=True)
)

# %%
# Inside each department three products form a group, and of the four groups three form
# a larger one: once in the order of the catalogue, once by the number of baskets.


def in_threes(order: list[str], department: str) -> list[list[str]]:
    """Make a path from each product over its three and its nine to the root."""
    threes = [" ".join(order[at : at + 3]) for at in range(0, 12, 3)]
    nines = [" ".join(order[:9]), " ".join(order[9:])]
    return [
        [product, *dict.fromkeys([threes[at // 3], nines[at // 9], department, "all"])]
        for at, product in enumerate(order)
    ]


orders = {
    "as listed": catalogue,
    "by support": {
        name: sorted(inside, key=supports.get) for name, inside in catalogue.items()
    },
}
releases = {}
for name, order in orders.items():
    paths = [
        path
        for department, inside in order.items()
        for path in in_threes(inside, department)
    ]
    tree = sv.Hierarchy.from_paths(paths)
    releases[name] = sv.anonymize(baskets, k=5, m=2, hierarchy=tree)

# %%
# Each point is a product. By support, frequent products have smaller labels, and fewer
# products are suppressed. This does not always help: on very sparse data such groups
# may lose more, so try both. The groups also reveal the order of the supports. If that
# matters, derive them from last year's rows.

figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
for axes, (name, release) in zip(panels, releases.items(), strict=True):
    recoding = release.recoding
    behind = np.where(recoding.image < 0, 0, recoding.member_counts[recoding.image])
    rows = np.array([supports[label] for label in recoding.items.labels])
    axes.plot(rows[behind > 0], behind[behind > 0], "C0o", alpha=0.5)
    axes.plot(rows[behind == 0], behind[behind == 0], "C3x", label="suppressed")
    axes.set(
        xscale="log",
        xticks=[10, 100, 1000],
        title=f"{name}: loss (LM) {release.utility['lm']:.3f}",
    )
    axes.set(xlabel="baskets with the product", yticks=[1, 3, 9, 12])
panels[0].set(ylabel="products under its label")
panels[0].legend(frameon=False)
plt.show()
