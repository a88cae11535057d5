"""
Inference under k^m-anonymity and coherence
===========================================

The same rows under k^m-anonymity and under coherence, which bounds the chance of
learning a private item. The first hides which row is a person's. The second also hides
what all matching rows share.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# Symptoms of 1,500 patients, and one diagnosis, D, that nobody should be able to infer.
# Two of the symptoms together nearly always indicate it.

rng = np.random.default_rng(15)
symptoms = [
    "cough",
    "fever",
    "rash",
    "headache",
    "nausea",
    "dizziness",
    "fatigue",
    "cramps",
]
weights = np.array([9, 8, 3, 8, 5, 4, 7, 3]) / 47
patients = []
for _ in range(1500):
    row = rng.choice(symptoms, rng.integers(1, 4), replace=False, p=weights).tolist()
    if rng.random() < (0.9 if {"rash", "fatigue"} <= set(row) else 0.04):
        row.append("diagnosis D")
    patients.append(row)

# %%
# With ``private``, :func:`setveil.risk` also reports how certain an attacker can be of
# each private item.

hidden = sv.anonymize(patients, k=5, m=2)
coherent = sv.anonymize(
    patients, sv.Coherence(h=0.4, k=5, p=2, private=["diagnosis D"])
)
learned = {}
for name, rows in (
    ("as it is", patients),
    ("k^m-anonymous", hidden),
    ("coherent", coherent),
):
    risk = sv.risk(rows, m=[1, 2], private=["diagnosis D"])
    learned[name] = [entry["probability"] for entry in risk["inference"]]
print(learned)
print("suppressed for coherence:", coherent.details["suppressed"])

# %%
# k^m-anonymity does not prevent the inference: more than five patients have both
# symptoms, and most of them have D.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(3)
for shift, known in ((-0.2, 0), (0.2, 1)):
    bars = axes.bar(
        places + shift,
        [values[known] for values in learned.values()],
        0.38,
        label=f"{known + 1} known",
    )
    axes.bar_label(bars, fmt="{:.0%}")
axes.axhline(0.4, color="k", linestyle=":", linewidth=0.8)
axes.set(
    xticks=places,
    xticklabels=learned,
    ylabel="greatest chance of inferring D",
    ylim=(0, 1.1),
)
axes.legend(title="symptoms", frameon=False)
plt.show()
