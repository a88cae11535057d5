"""
How far from the optimum are greedy methods?
============================================

AA generalizes step by step from below, mHgHs cuts and suppresses from above, and the
optimum is proven by an integer program. All keep the same promise; they differ in
what they lose.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Words of 1,200 short notes, in a tree of three levels.

rng = np.random.default_rng(12)
words = [f"word {number}" for number in range(64)]
popularity = rng.permutation(1 / np.arange(1, 65))
popularity /= popularity.sum()
notes = [
    rng.choice(words, rng.integers(1, 6), replace=False, p=popularity).tolist()
    for _ in range(1200)
]
topics = {word: f"topic {number // 4}" for number, word in enumerate(words)}
topics |= {f"topic {number}": f"field {number // 4}" for number in range(16)}

# %%
# ``Exact(suppress=False)`` is the optimum of what AA may do, ``Exact()`` that of what
# mHgHs may do.

methods = {
    "AA": sv.AA(),
    "optimum without suppression": sv.Exact(suppress=False),
    "mHgHs": sv.MHgHs(),
    "optimum with suppression": sv.Exact(),
}
ks = [2, 5, 10, 20]
losses = {
    name: [
        sv.anonymize(notes, k=k, m=2, hierarchy=topics, algorithm=method).utility["lm"]
        for k in ks
    ]
    for name, method in methods.items()
}

# %%
# Two questions hide in one figure: how good is the search, and may items be suppressed?
# Compare methods that may do the same.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), style in zip(
    losses.items(), ("C1o--", "C1o-", "C0s--", "C0s-"), strict=True
):
    axes.plot(ks, values, style, label=name)
axes.set(xlabel="k", ylabel="loss (LM)", xticks=ks, ylim=(0, None))
axes.legend(frameon=False)
plt.show()
