"""
The cost of recoding in parts
=============================

:class:`setveil.LRA` splits the rows into parts of similar rows and anonymizes each part
separately. An item may have a different label in each part.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Two thousand people and forty interests in ten fields.

rng = np.random.default_rng(23)
interests = [f"interest {number}" for number in range(40)]
popularity = rng.permutation(1 / np.arange(1, 41))
popularity /= popularity.sum()
people = [
    rng.choice(interests, rng.integers(1, 6), replace=False, p=popularity).tolist()
    for _ in range(2000)
]
fields = {interest: f"field {number // 4}" for number, interest in enumerate(interests)}
fields |= {f"field {number}": f"area {number // 5}" for number in range(10)}

# %%
# Each part must satisfy the guarantee by itself, with fewer rows to hide each person.

parts = [1, 2, 4, 8, 16]
releases = [
    sv.anonymize(people, k=5, m=2, hierarchy=fields, algorithm=sv.LRA(parts=number))
    for number in parts
]
whole = sv.anonymize(
    people, k=5, m=2, hierarchy=fields, algorithm=sv.Exact(suppress=False)
)

# %%
# Parts are for data that are too large for one run. If one run is possible, it loses
# less, and its labels mean the same in all rows.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(
    parts, [release.utility["lm"] for release in releases], "o-", label="in parts (LRA)"
)
axes.axhline(whole.utility["lm"], color="C1", label="one cut, proven least")
axes.set(xscale="log", xlabel="parts", ylabel="loss (LM)", ylim=(0, None))
axes.set_xticks(parts, parts)
axes.minorticks_off()
axes.legend(frameon=False)
plt.show()
