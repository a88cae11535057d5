"""
From data frame to data frame
=============================

Rows can be a frame of polars or pandas, or any Arrow stream. Every release converts
back to a frame.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import setveil as sv

# %%
# A long table with a line for each visit and treatment.

rng = np.random.default_rng(21)
wards = {
    "imaging": ["X-ray", "CT", "MRI", "ultrasound"],
    "laboratory": ["blood count", "glucose", "lipids", "culture"],
    "therapy": ["infusion", "physiotherapy", "dialysis", "dressing"],
}
things = [thing for inside in wards.values() for thing in inside]
weights = np.array([9, 4, 1, 6, 12, 8, 5, 1, 7, 4, 1, 6]) / 64
visits = [
    rng.choice(things, rng.integers(1, 6), replace=False, p=weights).tolist()
    for _ in range(500)
]
frame = pl.DataFrame(
    [(visit, thing) for visit, done in enumerate(visits) for thing in done],
    schema=["visit", "thing"],
    orient="row",
)
print(frame.head(3))

# %%
# Name the columns if a frame has more than these two. The hierarchy can be a frame,
# too.

data = sv.read(frame, id_column="visit", item_column="thing")
groups = pl.DataFrame(
    [(thing, ward) for ward, inside in wards.items() for thing in inside],
    schema=["thing", "ward"],
    orient="row",
)
release = sv.anonymize(data, k=10, m=2, hierarchy=groups)
published = release.to_polars(long=True)
print(published.head(3))

# %%
# The rest is polars: the number of rows of each pair of labels.

pairs = published.join(published, on="row").group_by("item", "item_right").len()
table = pairs.pivot("item_right", index="item", values="len").sort("item").fill_null(0)
labels = table["item"].to_list()
figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
axes.imshow(np.sqrt(table.select(labels).to_numpy()), cmap="Blues")
axes.set_xticks(range(len(labels)), labels, rotation=60, ha="right")
axes.set_yticks(range(len(labels)), labels)
for (row, column), rows in np.ndenumerate(table.select(labels).to_numpy()):
    axes.text(column, row, rows, ha="center", va="center", fontsize=8)
plt.show()
