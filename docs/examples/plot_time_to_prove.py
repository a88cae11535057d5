"""
What if there is no time for the proof?
=======================================

:class:`setveil.Exact` has a release early, and then works on the proof that nothing
loses less. It can be ended at any time (``time_limit``, ``gap``, Ctrl-C), and says
how far from the optimum the release can be at most. A ``progress`` function hears how
far it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Rows in which many items are about equally frequent are the hard ones.

rng = np.random.default_rng(11)
parts = [f"part {number}" for number in range(120)]
orders = [
    rng.choice(parts[at : at + 60], 5, replace=False).tolist()
    for at in rng.integers(0, 61, 1500)
]
bins = {part: f"bin {number // 4}" for number, part in enumerate(parts)}
bins |= {f"bin {number}": f"rack {number // 5}" for number in range(30)}

# %%
# Each call says how much of the best loss so far is proven to be necessary; 1 minus
# that is the gap.

gaps = []


def hear(phase: str, done: float | None = None) -> None:
    """Note the gap."""
    if phase.startswith("proving") and done is not None:
        gaps.append(1 - done)


release = sv.anonymize(orders, k=5, m=2, hierarchy=bins, progress=hear)
print(release.details["optimality"])

# %%
# The gap falls quickly at first. ``gap=0.01`` is content with one per cent.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.step(np.arange(1, len(gaps) + 1), np.multiply(gaps, 100), where="post")
axes.set(xlabel="steps of the search", ylabel="gap (% of the loss)", ylim=(0, None))
plt.show()
