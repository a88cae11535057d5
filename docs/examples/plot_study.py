"""
Methods compared in a study
===========================

:func:`setveil.compare` runs algorithms over data and parameters, each run in its own
process, and collects loss, errors, risk, time and memory in one table. The same study
file runs on the command line: ``setveil compare study.toml --out DIR``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv

# %%
# A file of rows and a hierarchy, as a study reads them.

rng = np.random.default_rng(24)
dishes = [f"dish {number}" for number in range(32)]
popularity = rng.permutation(1 / np.arange(1, 33))
popularity /= popularity.sum()
guests = [
    rng.choice(dishes, rng.integers(1, 5), replace=False, p=popularity).tolist()
    for _ in range(600)
]
sv.convert(guests, "guests.csv")
menu = [
    [dish, f"page {number // 4}", f"course {number // 8}", "menu"]
    for number, dish in enumerate(dishes)
]
courses = sv.Hierarchy.from_paths(menu)
sv.write_hierarchy(courses, "menu.csv")

# %%
# Two algorithms and two values of k make four runs.

Path("study.toml").write_text("""\
name = "Guests"
data = [{path = "guests.csv", format = "basket", hierarchy = "menu.csv"}]
algorithms = ["exact", "aa"]
k = [5, 20]
m = 2
queries = 200
""")
runs = sv.compare("study.toml", "study", jobs=2)
for run in runs:
    print(run["method"], run["k"], run["status"], run["lm"], run["risk_below_5"])

# %%
# The risk is that of an attacker who knows three dishes, one more than the guarantee
# covers. ``study/report.html`` has many more figures, and shows which method loses
# least at each guarantee.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for method, style in (("exact", "C0o-"), ("aa", "C1s-")):
    points = [run for run in runs if run["method"] == method]
    axes.plot(
        [run["lm"] for run in points],
        [run["risk_below_5"] for run in points],
        style,
        label=method,
    )
    for run in points:
        axes.text(run["lm"], run["risk_below_5"] + 0.5, f"k = {run['k']}")
axes.margins(0.2)
axes.set(xlabel="loss (LM)", ylabel="rows with fewer than 5 matches", ylim=(0, None))
axes.legend(frameon=False)
plt.show()
