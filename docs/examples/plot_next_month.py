"""
Comparable labels for the next month
====================================

If each month is anonymized separately, its labels differ. :func:`setveil.apply`
publishes next month's rows, of other people, under the labels of the first month, and
coarsens labels if they would identify someone.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# New customers in four months. Their taste shifts from the third month on.

rng = np.random.default_rng(18)
products = [f"product {number}" for number in range(48)]
popularity = rng.permutation(1 / np.arange(1, 49) ** 1.2)
shelves = {product: f"shelf {number // 3}" for number, product in enumerate(products)}
shelves |= {f"shelf {number}": f"floor {number // 4}" for number in range(16)}


def month(new: float) -> list[list[str]]:
    """Draw the baskets of 3,000 customers, whose taste is new to this share."""
    weights = (1 - new) * popularity + new * np.roll(popularity, 7)
    return [
        rng.choice(
            products, rng.integers(1, 6), replace=False, p=weights / weights.sum()
        ).tolist()
        for _ in range(3000)
    ]


months = [month(0), month(0), month(0.3), month(0.6)]

# %%
# ``repair=True`` searches for the least coarsening, and ``union`` also checks the
# guarantee for both months together.

january = sv.anonymize(months[0], k=5, m=2, hierarchy=shelves)
losses = {
    "labels of January": [january.utility["lm"]],
    "labels of its own": [january.utility["lm"]],
}
for rows in months[1:]:
    mapped = sv.apply(january, rows, hierarchy=shelves, repair=True, union=january)
    print(
        mapped.verdict,
        len(mapped.report["applied"]["changes"]),
        "labels were coarsened.",
    )
    losses["labels of January"].append(mapped.utility["lm"])
    losses["labels of its own"].append(
        sv.anonymize(rows, k=5, m=2, hierarchy=shelves).utility["lm"]
    )

# %%
# The difference between the two bars is the price of comparable labels. It is small
# here. If the same people are in both months, nothing is guaranteed: merge their rows
# and publish once.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, (name, values) in zip((-0.2, 0.2), losses.items(), strict=True):
    axes.bar(np.arange(4) + shift, values, 0.38, label=name)
axes.set(
    ylim=(0, 1.25 * max(losses["labels of January"])),
    xticks=range(4),
    xticklabels=["January", "February", "March", "April"],
    ylabel="loss (LM)",
)
axes.legend(frameon=False)
plt.show()
