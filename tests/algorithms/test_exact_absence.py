"""The exact algorithm where an absent item may be known, against every cut and every set of items left out."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

import setveil as sv
from naive import exact as naive_exact
from naive import lacking as naive
from naive.exact import Terms
from naive.km import Rows
from setveil.errors import InfeasibleError, RequestError
from strategies import Case, enough, random_cases, seeded, transactions

MODELS = [(False, "ncp"), (False, "lm"), (True, "lm"), (True, "ncp"), (True, "entropy"), (True, "entropy-max")]


def terms_of(rng: Random, case: Case) -> Terms:
    suppress, objective = rng.choice(MODELS)
    shown = sorted(set().union(*case.rows))
    keep = tuple(rng.sample(shown, 1)) if shown and rng.random() < 0.25 else ()
    weights = {item: rng.choice((0, 1, 2, 7, 0.3)) for item in shown if rng.random() < 0.2}
    most = rng.choice((None, 0.1, 0.3)) if suppress else None
    return Terms(objective, suppress, weights, keep, most)


def test_the_loss_is_the_least_of_all_releases() -> None:
    """Also where leaves never occur, or are alone below a node that stands for others that never do."""
    rng, dearer, refused = seeded(71), 0, 0
    for case in random_cases(enough(400), 72, most_leaves=6, most_rows=24):
        m = int(min(case.m, 3))
        terms = terms_of(rng, case)
        best = naive.least_loss(case.rows, case.parents, case.k, m, terms)
        asked: dict[str, Any] = {
            "hierarchy": case.tree, "algorithm": "exact", "objective": terms.objective, "keep": terms.keep,
            "suppress": terms.suppress, "weights": terms.weights, "max_suppressed": terms.max_suppressed,
            "counts": False, "details": False,
        }  # fmt: skip
        promise = sv.KmAnonymity(case.k, m, absent=1)
        if best is None or (case.tree.n_leaves == 1 and _lack(case.rows, case.k)):
            with pytest.raises(InfeasibleError):
                sv.anonymize(case.data, promise, **asked)
            refused += 1
            continue
        release = sv.anonymize(case.data, promise, **asked)
        found = release.report["optimality"]
        assert found["proven"], (case, terms)
        assert found["loss"] == pytest.approx(float(best), rel=2e-6, abs=1e-9), (case, m, terms)
        to = release.release.image()
        assert naive.is_valid(case.rows, to, case.k, m), (case, m, terms)
        alone = naive_exact.least_loss(case.rows, case.parents, case.k, m, terms)
        dearer += alone is not None and best > alone
    assert dearer > 20
    assert refused > 0


def _lack(rows: Rows, k: int) -> bool:
    return 0 < sum(not row for row in rows) < k


# SPEC: publishing Y for y alone hides that y is there.
ROWS = [["x", "y"], ["x", "y"], ["x"]]
TREE = [["y", "Y", "*"], ["y0", "Y", "*"], ["x", "*"]]
