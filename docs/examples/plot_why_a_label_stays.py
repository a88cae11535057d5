"""
The reason for a broad label
============================

:func:`setveil.why` splits a label, lets the verifier list the violations, and finds the
fewest items that cause them. Its answer comes from the original rows and is internal.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Eight hundred orders of a bakery. Rye bread is rare, and its buyers buy all kinds of
# things.

rng = np.random.default_rng(10)
bakery = {
    "bread": ["white bread", "brown bread", "rye bread", "toast"],
    "cake": ["apple pie", "cheese cake", "brownie"],
    "drinks": ["coffee", "tea", "juice"],
}
items = [item for group in bakery.values() for item in group]
weights = np.array([30, 20, 1, 8, 10, 8, 6, 20, 10, 6]) / 119
orders = [
    rng.choice(items, rng.integers(1, 5), replace=False, p=weights).tolist()
    for _ in range(800)
]
tree = sv.Hierarchy.from_paths(
    [[item, group, "all"] for group, inside in bakery.items() for item in inside]
)

# %%
# Without suppression the rare bread must hide among others, so all bread is
# generalized.

release = sv.anonymize(
    orders, k=5, m=2, hierarchy=tree, algorithm=sv.Exact(suppress=False)
)
print(release.recoding.members())
answer = sv.why(release, "bread", data=orders, hierarchy=tree)
print(answer["text"])

# %%
# The itemsets in too few orders if bread is split. All of them contain rye bread.

first = answer["tries"][0]["first"]
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.barh(
    [", ".join(entry["itemset"]) for entry in first],
    [entry["support"] for entry in first],
    color="C3",
)
axes.axvline(5, color="k", linestyle=":", linewidth=0.8)
axes.set(xlabel="orders with the set (k = 5 are needed)", xlim=(0, 6))
axes.invert_yaxis()
plt.show()
