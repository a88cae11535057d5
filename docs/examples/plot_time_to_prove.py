"""
Loss and proof over time
========================

:class:`setveil.Exact` finds a release early, and then works on the proof that no
release loses less. It can stop at any time (``time_limit``, ``gap``, Ctrl-C), and
reports how far the release can be from the optimum. A ``progress`` function receives
the state of the search.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Rows in which many items have similar supports are the hardest.

rng = np.random.default_rng(11)
parts = [f"part {number}" for number in range(120)]
orders = [
    rng.choice(parts[at : at + 60], 5, replace=False).tolist()
    for at in rng.integers(0, 61, 1500)
]
bins = {part: f"bin {number // 4}" for number, part in enumerate(parts)}
bins |= {f"bin {number}": f"rack {number // 5}" for number in range(30)}

# %%
# Each call reports the share of the best loss so far that is proven necessary. The gap
# is 1 minus this share.

gaps = []


def hear(phase: str, done: float | None = None) -> None:
    """Note the gap."""
    if phase.startswith("proving") and done is not None:
        gaps.append(1 - done)


release = sv.anonymize(orders, k=5, m=2, hierarchy=bins, progress=hear)
print(release.details["optimality"])

# %%
# The gap falls quickly at first. ``gap=0.01`` accepts one per cent.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.step(np.arange(1, len(gaps) + 1), np.multiply(gaps, 100), where="post")
axes.set(xlabel="steps of the search", ylabel="gap (% of the loss)", ylim=(0, None))
plt.show()
