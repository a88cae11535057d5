"""
Pairs of items in a release with classes
========================================

With one recoding for all rows, counts make single items exact but blur combinations of
items. ``classes`` splits the rows into published classes, each with its own counts.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Guests of a festival. Fans of a style hear its bands and few others.

rng = np.random.default_rng(25)
bands = {
    style: [f"{style} {number}" for number in range(1, 7)]
    for style in ("brass", "choir", "metal", "samba")
}
falling = 1 / np.arange(1, 7)
falling /= falling.sum()
guests = []
for _ in range(1600):
    style = rng.choice(list(bands))
    heard = rng.choice(
        bands[style], rng.integers(2, 4), replace=False, p=falling
    ).tolist()
    if rng.random() < 0.1:
        heard.append(rng.choice(bands[rng.choice(list(bands))]).item())
    guests.append(sorted(set(heard)))
stages = sv.Hierarchy.from_paths(
    [[band, style, "all"] for style, inside in bands.items() for band in inside]
)

# %%
# :func:`setveil.query` estimates the rows of every pair of bands, in a release with one
# recoding and in one with classes.

names = [band for inside in bands.values() for band in inside]
pairs = [[one, other] for place, one in enumerate(names) for other in names[:place]]
truth = np.array([sum(set(pair) <= set(row) for row in guests) for pair in pairs])
releases = {
    "one recoding": sv.anonymize(guests, k=5, m=2, hierarchy=stages),
    "in classes": sv.anonymize(guests, k=5, m=2, hierarchy=stages, classes=True),
}

# %%
# Classes bring the estimates closer to the truth, and publish the class of each row.
# For tables of counts, one label for each item in all rows is better.

figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for axes, (name, release) in zip(panels, releases.items(), strict=True):
    estimates = sv.query(release, pairs)
    axes.axline((0, 0), slope=1, color="0.8")
    axes.plot(truth, [answer.estimate for answer in estimates], "C0.", alpha=0.5)
    error = np.mean(
        [
            abs(answer.estimate - rows)
            for answer, rows in zip(estimates, truth, strict=True)
        ]
    )
    axes.set(
        title=f"{name}: off by {error:.1f} rows", xlabel="rows with a pair of bands"
    )
panels[0].set(ylabel="estimated rows")
plt.show()
