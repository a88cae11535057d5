"""
The cost of bounded inference
=============================

k^m-anonymity hides which row is a person's. If all matching rows contain the same
diagnosis, it is known anyway. *rho* is the greatest allowed chance of a correct guess
of a sensitive item. :func:`setveil.explore` shows the cost of each.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Purchases of 1,500 customers of a pharmacy. A test, and a medicine that is often
# bought with two other items, are sensitive.

rng = np.random.default_rng(13)
shelf = [
    "plasters",
    "tea",
    "vitamins",
    "soap",
    "sun lotion",
    "toothpaste",
    "cough drops",
    "bath salt",
]
weights = np.array([8, 7, 6, 6, 5, 5, 4, 3]) / 44
customers = []
for _ in range(1500):
    row = rng.choice(shelf, rng.integers(1, 4), replace=False, p=weights).tolist()
    if rng.random() < (0.35 if {"tea", "bath salt"} <= set(row) else 0.06):
        row.append("sleeping pills")
    if rng.random() < (0.12 if "vitamins" in row else 0.02):
        row.append("pregnancy test")
    customers.append(row)
tree = {
    item: "care"
    if item in ("soap", "sun lotion", "toothpaste", "bath salt")
    else "remedies"
    for item in shelf
}
tree |= {"sleeping pills": "remedies", "pregnancy test": "remedies"}

# %%
# ``hidden_occurrences`` counts the suppressed sensitive items, and
# ``greatest_confidence`` is the greatest remaining chance.

sensitive = ["sleeping pills", "pregnancy test"]
rhos = ["1/2", "1/3", "1/5", "1/8", "1/10", "1/12"]
explored = sv.explore(
    customers,
    k=[5],
    m=[2],
    rho=rhos,
    sensitive=sensitive,
    hierarchy=tree,
    time_budget=600,
)
cells = explored["cells"]
for cell in cells:
    print(
        cell["rho"],
        cell["loss"],
        cell["hidden_occurrences"],
        cell["greatest_confidence"],
    )

# %%
# A large rho costs next to nothing. If rho is below the share of customers who bought
# an item, its occurrences must be suppressed for that reason alone.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(len(rhos))
hidden = [cell["hidden_occurrences"] for cell in cells]
total = sum(item in sensitive for row in customers for item in row)
bars = axes.bar(places, np.array(hidden) / total * 100, color="C3")
learned = [f"learned: {cell['greatest_confidence']:.0%}" for cell in cells]
axes.bar_label(bars, labels=learned)
axes.set(
    xticks=places,
    xticklabels=rhos,
    xlabel="rho",
    ylabel="sensitive items suppressed (%)",
    ylim=(0, 20),
)
plt.show()
