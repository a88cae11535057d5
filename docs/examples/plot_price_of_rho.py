"""
What does it cost that nothing sensitive is learned?
====================================================

k^m-anonymity hides which row is a person's. If all rows that fit hold the same
diagnosis, it is known all the same. *rho* is the greatest chance with which a
sensitive item may be guessed right; :func:`setveil.explore` shows what each costs.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Purchases of 1,500 customers of a pharmacy. A test, and a medicine that is often
# bought with two others, are sensitive.

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
# ``hidden_occurrences`` counts the sensitive items that are suppressed,
# ``greatest_confidence`` the greatest chance that is left.

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
# A great rho costs next to nothing. Below the share of all customers who bought an
# item, its occurrences must be suppressed for that reason alone.

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
