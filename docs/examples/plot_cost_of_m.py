"""
The cost of one more known item
===============================

m is the number of a person's items that an attacker may know. It is usually the most
expensive part of a guarantee: with m = 3, at least k people must share every three
items that anyone has. The cost depends on the number of people.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# The places that people visited in a week, up to five each, for 500 people and for
# 5,000.

rng = np.random.default_rng(4)
places = [f"place {number}" for number in range(40)]
popularity = 1 / np.arange(1, 41)
popularity /= popularity.sum()
districts = {place: f"district {number % 8}" for number, place in enumerate(places)}


def visits(people: int) -> list[list[str]]:
    """Draw the places of this number of people."""
    return [
        rng.choice(places, rng.integers(1, 6), replace=False, p=popularity).tolist()
        for _ in range(people)
    ]


# %%
# ``items_kept`` counts the places that are published unchanged.

ms = [1, 2, 3, 4, 5]
kept = {}
for people in (500, 5000):
    explored = sv.explore(visits(people), k=[5], m=ms, hierarchy=districts)
    kept[people] = [(cell["loss"], cell["items_kept"]) for cell in explored["cells"]]

# %%
# Ten times as many people hide each other more easily: at every m less is lost.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for people, values in kept.items():
    losses, unchanged = zip(*values, strict=True)
    left.plot(ms, losses, "o-", label=f"{people:,} people")
    right.plot(ms, unchanged, "o-")
left.set(xlabel="m", ylabel="least loss possible (LM)", xticks=ms, ylim=(0, None))
right.set(xlabel="m", ylabel="unchanged places, of 40", xticks=ms, ylim=(0, 41))
left.legend(frameon=False)
plt.show()
