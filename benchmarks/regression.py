"""Logistic regressions of a published and an original table: readmission by age and emergency.

    pip install scikit-learn
    python benchmarks/regression.py [--data FOLDER] [--share SHARE ...]

The table is diabetes_rt: 71,518 patients; age, gender, race, admission and days are quasi-identifiers,
readmission is kept; k = 5, m = 2. Readmitted (at all) is explained by age, in decades, and by whether the
admission was an emergency. A reader replaces a broader label with the mean over its values, weighted by how
often the release shows each by itself. `rt` is run with several shares of the columns in the loss. Each line
prints the coefficients of a model, and its mean log loss for the original patients.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import setveil as sv

COLUMNS = ("age", "gender", "race", "admission")


def values_of(tree: sv.Hierarchy) -> dict[str, list[str]]:
    """List the values under each label."""
    return {
        label: [tree.labels[leaf] for leaf in tree.leaves(node)] for node, label in enumerate(tree.labels)
    }


def expected(
    column: pl.Series, under: dict[str, list[str]], number: dict[str, float]
) -> np.ndarray[Any, Any]:
    """Take the number of each label: of a broader one the mean of its values, as often as they show."""
    alone = dict(column.value_counts().rows())

    def of(label: str) -> float:
        inside = under[label]
        weights = [alone.get(value, 0) for value in inside]
        if not sum(weights):
            weights = [1] * len(inside)
        return float(np.average([number[value] for value in inside], weights=weights))

    means = {str(label): of(str(label)) for label in column.unique().to_list()}
    return column.replace_strict(means).to_numpy()


def main() -> None:
    """Print a table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--data", type=Path, default=here / "shared" / "data")
    parser.add_argument("--share", nargs="*", default=["1/4", "1/2", "3/4", "9/10"])
    arguments = parser.parse_args()
    trees = {name: sv.read_hierarchy(arguments.data / f"diabetes_rt_{name}.csv") for name in COLUMNS}
    table = sv.read_table(
        arguments.data / "diabetes_rt.csv",
        qi=[*COLUMNS, "days"],
        set="diagnoses",
        keep=["readmitted"],
        ranges=["days"],
        hierarchies={**trees, "diagnoses": arguments.data / "diabetes_rt_diagnoses.csv"},
    )
    ages = values_of(trees["age"])
    decade = {value: int(value.partition("-")[0]) / 10 + 0.5 for value in ages["*"]}
    admissions = values_of(trees["admission"])
    emergency = {value: float(value == "Emergency") for value in admissions["*"]}

    def explained(frame: pl.DataFrame) -> tuple[Any, Any]:
        x = np.column_stack(
            [expected(frame["age"], ages, decade), expected(frame["admission"], admissions, emergency)]
        )
        return x, (frame["readmitted"] != "NO").to_numpy()

    known = {"age": decade, "admission": emergency}
    x, y = explained(table.to_polars())
    print("data | R | T | age as it was | admission as it was | age | emergency | intercept | log loss")

    def show(name: str, own: pl.DataFrame, losses: str) -> None:
        model = LogisticRegression(C=np.inf).fit(*explained(own))
        shown = {column: own[column].is_in(list(values)).sum() for column, values in known.items()}
        kept = [f"{rows / own.height:.0%}" for rows in shown.values()]
        loss = log_loss(y, model.predict_proba(x)[:, 1])
        line = " | ".join(f"{value:.5f}" for value in (*model.coef_[0], model.intercept_[0], loss))
        print(f"{name} | {losses} | {' | '.join(kept)} | {line}", flush=True)

    show("original", table.to_polars(), "0 | 0")
    for share in arguments.share:
        release = sv.anonymize(table, k=5, m=2, algorithm=sv.RT(share=share))
        losses = f"{release.utility['relational_loss']:.3f} | {release.utility['lm']:.3f}"
        show(f"rt, share {share}", release.to_polars(), losses)


if __name__ == "__main__":
    main()
