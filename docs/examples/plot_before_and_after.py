"""
People found before and after a release
=======================================

A release for k = 5 and m = 2 guarantees that anyone who knows two items of a person
finds at least five matching rows, or none. It guarantees nothing about a third item.
:func:`setveil.risk` counts both in the original and in the release.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Films that 1,500 viewers liked, sixty films of six kinds. Most viewers keep to two
# kinds.

rng = np.random.default_rng(2)
kinds = ["comedy", "drama", "crime", "science fiction", "animation", "western"]
films = {kind: [f"{kind} {number}" for number in range(1, 11)] for kind in kinds}
falling = 1 / np.arange(1, 11)
falling /= falling.sum()
viewers = []
for _ in range(1500):
    liked = rng.choice(kinds, 2, replace=False, p=[0.3, 0.25, 0.2, 0.12, 0.09, 0.04])
    seen = [
        rng.choice(films[kind], 3, replace=False, p=falling).tolist() for kind in liked
    ]
    viewers.append([film for some in seen for film in some])
genres = sv.Hierarchy.from_paths(
    [[film, kind, "film"] for kind in kinds for film in films[kind]]
)

# %%
# With ``original``, both are counted, and the frame has a column ``data`` that says
# which is which.

release = sv.anonymize(viewers, k=5, m=2, hierarchy=genres)
frame = (
    sv.risk(release, m=[1, 2, 3], original=viewers).to_polars().filter(choice="best")
)
print(release)

# %%
# With one or two known films, no viewer matches fewer than five rows any more. With a
# third film some do, because the guarantee does not cover it. If people may know three
# films, choose m = 3.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, data, colour in ((-0.2, "before", "0.6"), (0.2, "after", "C0")):
    rows = frame.filter(data=data)
    bars = axes.bar(
        rows["m"] + shift, rows["below_5"] / 15, 0.38, color=colour, label=data
    )
    axes.bar_label(bars, fmt="%.0f %%")
axes.set(
    xlabel="known films of a viewer (the most identifying)",
    ylabel="viewers with fewer than 5 matching rows (%)",
)
axes.set(xticks=[1, 2, 3], ylim=(0, 110))
axes.legend(frameon=False, loc="upper left")
plt.show()
