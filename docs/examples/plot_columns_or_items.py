"""
Exact ages against many codes
=============================

A table of people has a set of codes for each person, and columns for age and sex. More
exact columns leave fewer codes. :class:`setveil.RT` tries classes of several sizes and
returns all results.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import setveil as sv

# %%
# Six hundred patients, with codes that depend on the age.

rng = np.random.default_rng(16)
codes = [f"{chapter}{number}" for chapter in "EIJM" for number in range(10, 16)]
ages = rng.integers(20, 90, 600)
weights = 1 / np.arange(1, 25)
weights /= weights.sum()
diagnoses = []
for age in ages:
    likely = np.roll(weights, age // 12)
    some = rng.choice(codes, rng.integers(1, 4), replace=False, p=likely)
    diagnoses.append(some.tolist())
frame = pl.DataFrame(
    {"age": ages, "sex": rng.choice(["F", "M"], 600), "codes": diagnoses}
)
chapters = {code: code[0] for code in codes}

# %%
# ``share`` is the weight of the columns. ``frontier`` contains every release that the
# search tried, for any weight.

table = sv.read_table(frame, qi=["age", "sex"], set="codes")
release = sv.anonymize(table, k=5, m=2, hierarchy=chapters)
print(release.to_polars().head(4))
frontier = release.details["frontier"]
print(frontier[0])

# %%
# From left to right, classes become larger, columns broader, and fewer codes are
# suppressed. A study that compares ages uses a point on the left, and one that counts
# codes a point on the right: ``share="1/2"``, or ``least=40`` for the size of the
# classes.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
tried = (("sweep", "C0o-", "classes of several sizes"), ("rt", "C1D", "split by gain"))
for search, style, name in tried:
    points = sorted(
        (point["relational_loss"], point["transaction_loss"])
        for point in frontier
        if point["search"] == search
    )
    axes.plot(*zip(*points, strict=True), style, label=name)
chosen = release.utility
axes.plot(
    chosen["relational_loss"], chosen["transaction_loss"], "kx", label="this release"
)
axes.set(xlabel="loss of the columns (R)", ylabel="loss of the codes (T)")
axes.legend(frameon=False)
plt.show()
