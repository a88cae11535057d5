"""
Greedy methods against the optimum
==================================

AA generalizes step by step from below, mHgHs cuts and suppresses from above, and an
integer program proves the optimum. All satisfy the same guarantee; they differ in what
they lose.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Words of 1,200 short notes, in a hierarchy of three levels.

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
# ``Exact(suppress=False)`` is the optimum of the releases that AA may choose,
# ``Exact()`` of those that mHgHs may choose.

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
# The figure mixes two effects: the quality of the search, and whether suppression is
# allowed. Compare methods with the same freedom.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), style in zip(
    losses.items(), ("C1o--", "C1o-", "C0s--", "C0s-"), strict=True
):
    axes.plot(ks, values, style, label=name)
axes.set(xlabel="k", ylabel="loss (LM)", xticks=ks, ylim=(0, None))
axes.legend(frameon=False)
plt.show()
