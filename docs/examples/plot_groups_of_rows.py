"""
Unchanged rows with sensitive items in groups
=============================================

:class:`setveil.CAHD` publishes rows unchanged except for their sensitive items, which
are counted for groups of similar rows. It does not hide which row is a person's, but
nobody can tell whose the sensitive item of a group is.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Three kinds of customers, each with its own items. Some of each kind bought something
# sensitive.

rng = np.random.default_rng(14)
kinds = [[f"{letter}{number}" for number in range(10)] for letter in "abc"]
customers = []
for number in range(120):
    row = rng.choice(kinds[number % 3], rng.integers(4, 7), replace=False).tolist()
    row += rng.choice(kinds[(number + 1) % 3], rng.integers(0, 2)).tolist()
    if rng.random() < 0.12:
        row.append("sensitive")
    customers.append(row)

# %%
# With p = 4, at most one row in four of any group has the sensitive item.

release = sv.anonymize(customers, sv.PrivacyDegree(p=4, sensitive=["sensitive"]))
print(release.verdict)
groups = release.to_polars()
print(groups.head(4))

# %%
# Original rows, and published rows. Rows of a group are next to each other, and a red
# line begins each group with a sensitive item.

items = sorted(item for kind in kinds for item in kind)


def picture(rows: list[list[str]]) -> np.ndarray:
    """Make a matrix of rows and items."""
    return np.array([[item in row for item in items] for row in map(set, rows)])


figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 5), layout="constrained", sharey=True
)
left.imshow(picture(customers), cmap="Greys", aspect="auto", interpolation="none")
right.imshow(
    picture(groups["items"].to_list()),
    cmap="Greys",
    aspect="auto",
    interpolation="none",
)
numbers = groups["group"].to_numpy()
holding = {
    number
    for number, sensitive in zip(numbers, groups["sensitive"], strict=True)
    if len(sensitive)
}
for start in np.flatnonzero(np.diff(numbers, prepend=-1)):
    if numbers[start] in holding:
        right.axhline(start - 0.5, color="C3", linewidth=0.7)
left.set(title="original", xlabel="items", ylabel="rows", xticks=[])
right.set(title="in groups", xlabel="items", xticks=[])
plt.show()
