"""
What does one more known item cost?
===================================

m is the number of items that an attacker may know of a person. Each step is mostly
the dearest part of a promise: with m = 3 every three items that someone holds
together must be held by k people. What that costs depends on how many people there
are.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# The places that people visited in a week, up to five each: of 500 people, and of
# 5,000.

rng = np.random.default_rng(4)
places = [f"place {number}" for number in range(40)]
popularity = 1 / np.arange(1, 41)
popularity /= popularity.sum()
districts = {place: f"district {number % 8}" for number, place in enumerate(places)}


def visits(people: int) -> list[list[str]]:
    """Draw the places of so many people."""
    return [
        rng.choice(places, rng.integers(1, 6), replace=False, p=popularity).tolist()
        for _ in range(people)
    ]


# %%
# ``items_kept`` counts the places that are published under their own names.

ms = [1, 2, 3, 4, 5]
kept = {}
for people in (500, 5000):
    explored = sv.explore(visits(people), k=[5], m=ms, hierarchy=districts)
    kept[people] = [(cell["loss"], cell["items_kept"]) for cell in explored["cells"]]

# %%
# Among ten times as many people it is easier to hide: at every m less is lost.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for people, values in kept.items():
    losses, names = zip(*values, strict=True)
    left.plot(ms, losses, "o-", label=f"{people:,} people")
    right.plot(ms, names, "o-")
left.set(xlabel="m", ylabel="least loss possible (LM)", xticks=ms, ylim=(0, None))
right.set(
    xlabel="m", ylabel="places that stay unchanged, of 40", xticks=ms, ylim=(0, 41)
)
left.legend(frameon=False)
plt.show()
