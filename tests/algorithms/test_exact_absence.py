"""The exact algorithm if an absent item is known, compared with every cut and set of suppressed items."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import setveil, write
from naive import exact as naive_exact
from naive import lacking as naive
from naive.anonymize import up_from
from naive.exact import Terms
from naive.km import Rows
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import silent
from setveil.kernels.rows import distinct_rows
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.exact._candidates import contracted
from setveil.methods.algorithms.exact._clauses import Separator
from setveil.releases.recipients import CHECK
from strategies import Case, enough, random_cases, seeded

MODELS = [
    (False, "ncp"),
    (False, "lm"),
    (True, "lm"),
    (True, "ncp"),
    (True, "entropy"),
    (True, "entropy-max"),
]


def terms_of(rng: Random, case: Case) -> Terms:
    suppress, objective = rng.choice(MODELS)
    shown = sorted(set().union(*case.rows))
    keep = tuple(rng.sample(shown, 1)) if shown and rng.random() < 0.25 else ()
    weights = {item: rng.choice((0, 1, 2, 7, 0.3)) for item in shown if rng.random() < 0.2}
    most = rng.choice((None, 0.1, 0.3)) if suppress else None
    return Terms(objective, suppress, weights, keep, most)


@pytest.mark.parametrize(("seed", "n"), [(72, 130), pytest.param(73, 270, marks=pytest.mark.exhaustive)])
def test_the_loss_is_the_least_of_all_releases(seed: int, n: int) -> None:
    """Check the optimum also with leaves that never occur, or whose siblings never occur."""
    rng, dearer, refused = seeded(71), 0, 0
    for case in random_cases(enough(n), seed, most_leaves=6, most_rows=24):
        m = int(min(case.m, 3))
        terms = terms_of(rng, case)
        best = naive.least_loss(case.rows, case.parents, case.k, m, terms)
        options: dict[str, Any] = {
            "hierarchy": case.tree, "algorithm": "exact", "objective": terms.objective, "keep": terms.keep,
            "suppress": terms.suppress, "weights": terms.weights, "max_suppressed": terms.max_suppressed,
            "counts": False, "details": False,
        }  # fmt: skip
        promise = sv.KmAnonymity(case.k, m, absent=1)
        if best is None or (case.tree.n_leaves == 1 and _lack(case.rows, case.k)):
            with pytest.raises(InfeasibleError):
                sv.anonymize(case.data, promise, **options)
            refused += 1
            continue
        release = sv.anonymize(case.data, promise, **options)
        found = release.report["optimality"]
        assert found["proven"], (case, terms)
        assert found["loss"] == pytest.approx(float(best), rel=2e-6, abs=1e-9), (case, m, terms)
        to = release.release.image()
        assert naive.is_valid(case.rows, to, case.k, m), (case, m, terms)
        alone = naive_exact.least_loss(case.rows, case.parents, case.k, m, terms)
        dearer += alone is not None and best > alone
    assert dearer > n / 20
    assert refused > 0


def _lack(rows: Rows, k: int) -> bool:
    return 0 < sum(not row for row in rows) < k


# SPEC: publishing Y for y alone hides that y is there.
ROWS = [["x", "y"], ["x", "y"], ["x"]]
TREE = [["y", "Y", "*"], ["y0", "Y", "*"], ["x", "*"]]


def released(**more: Any) -> Any:
    tree = sv.Hierarchy.from_paths(TREE)
    return sv.anonymize(ROWS, sv.KmAnonymity(2, 2, absent=1), hierarchy=tree, **more)


def test_a_label_for_several_items_tells_nothing_of_the_one_that_occurs() -> None:
    """Counts would say that both rows of Y hold y: there are none, and a warning says why."""
    release = released()
    assert sorted(release.published.rows()) == [("x",), ("x", "Y"), ("x", "Y")]
    assert release.counts is None
    assert "all rows of a label contain one of its items" in release.details["warnings"][0]
    assert (release.verdict.absent, release.verdict.greatest_k) == (1, 2)
    record = release.report["guarantee"]
    assert {key: record[key] for key in ("absent", "absence", "holds")} == {
        "absent": 1, "absence": "items", "holds": True,
    }  # fmt: skip
    assert not sv.verify(
        sv.anonymize(ROWS, sv.KmAnonymity(2, 2), hierarchy=sv.Hierarchy.from_paths(TREE)), absent=1
    )


def test_a_folder_is_checked_for_what_it_promises(tmp_path: Path) -> None:
    released().write(tmp_path / "run")
    about = json.loads((tmp_path / "run/published/about.json").read_text("utf-8"))
    assert about["guarantee"] == {"model": "km-anonymity", "k": 2, "m": 2, "absent": 1}
    result = setveil("verify", tmp_path / "run").ok()
    assert "Yes: (k,m,a)-anonymity (k=2, m=2, a=1, absent items) holds." in result.out
    assert sv.verify(tmp_path / "run").as_dict()["absent"] == 1
    # Forged: y in place of Y.
    data = tmp_path / "run/published/data.csv"
    data.write_text(data.read_text("utf-8").replace("Y", "y"), "utf-8")
    assert setveil("verify", tmp_path / "run").code == 1
    assert setveil("verify", tmp_path / "run", "--k", "2", "--m", "2").code == 0


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"absent": 2}, "1 absent item at most, got 2"),
        ({"absent": -1}, "absent"),
        ({"absent": 1, "m": math.inf}, "m must be one number of items"),
        ({"absent": 1, "m": {"code": 1, "drug": 2}}, "m must be one number of items"),
    ],
)
def test_what_cannot_be_promised(promise: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        sv.KmAnonymity(2, **promise)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-a", "aa"), "aa guarantees nothing of items that a person is known not to have; exact does"),
        (("--classes",), "classes guarantees nothing"),
        (("--certificate",), "Certificates are of k^m-anonymity alone"),
        (("--engine", "parts"), "--absent does not apply in parts"),
        (("--engine", "spark"), "With --engine spark there is no --absent"),
        (("--rho", "1/2", "--sensitive", "y"), "km-rho has no --absent: only km-anonymity"),
        (("--absent", "2"), "1 absent item at most, got 2"),
        (("--checker",), "with an absent item"),
    ],
)
def test_who_cannot_promise_it_says_so(more: tuple[str, ...], words: str, tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.csv", "x,y\nx,y\nx\n")
    tree = write(tmp_path / "tree.csv", "y;Y;*\ny0;Y;*\nx;*\n")
    out = tmp_path / "out"
    command = ("anonymize", rows, "--format", "basket", "-H", tree, "-k", "2", "-m", "2", "--absent", "1")
    done = setveil(*command, *more, "-o", out)
    assert done.code == 2, done
    assert words in done.err.replace("\n", " ")
    assert "Traceback" not in done.err
    assert not out.exists()


def test_what_asks_or_repeats_such_a_run_says_that_it_cannot(tmp_path: Path) -> None:
    run = tmp_path / "run"
    rows = write(tmp_path / "rows.csv", "x,y\nx,y\nx\n")
    tree = write(tmp_path / "tree.csv", "y;Y;*\ny0;Y;*\nx;*\n")
    words = ("anonymize", rows, "--format", "basket", "-H", tree, "-k", "2", "-m", "2", "--absent", "1")
    setveil(*words, "-o", run).ok()
    for command, message in (
        (("certify", run), "Certificates are of k^m-anonymity alone"),
        (("why", run, "Y"), "of items that a person has, not of absent ones"),
        (("apply", run, rows, "--out", tmp_path / "new"), "about items that a person has"),
        (
            ("apply", run, rows, "--repair", "--union", run, "--out", tmp_path / "new"),
            "about items that a person has",
        ),
        (("checker", run), "with an absent item"),
    ):
        done = setveil(*map(str, command))
        assert (done.code, "Traceback" in done.err) == (2, False), done
        assert message in done.err.replace("\n", " "), done
    for union in (None, run):
        with pytest.raises(RequestError, match="about items that a person has"):
            sv.apply(run, [["x"], ["x"]], repair=union is not None, union=union)
    program = subprocess.run(
        [sys.executable, "-I", CHECK, run], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert program.returncode == 2, program
    assert "not checked here" in program.stdout + program.stderr
    assert "1 item that is not in" in (run / "internal/report.html").read_text("utf-8")
    setveil("evidence", run, "--out", tmp_path / "page.html").ok()
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "The guarantee also covers an attacker who knows one item that a person does not have" in page


def test_items_that_nothing_can_hide_are_infeasible() -> None:
    promise = sv.KmAnonymity(2, 1, absent=1)
    with pytest.raises(InfeasibleError, match="lack the only item that there is"):
        sv.anonymize([["x"], ["x"], []], promise, hierarchy=sv.Hierarchy.from_paths([["x", "*"]]))
    with pytest.raises(InfeasibleError, match="forbids publishing 'y' as itself: too few rows lack it"):
        released(keep=["y"])


def test_every_generalized_clause_is_kept_by_every_valid_release() -> None:
    """No clause that a threat proves is broken by any valid release of a tiny case."""
    kept = 0
    for case in random_cases(enough(60), 74, most_leaves=5, most_rows=12):
        m = int(min(case.m, 2))
        tree = case.tree
        if tree.n_leaves == 1 or not case.data.n_items:
            continue
        small = contracted(tree, set(case.data.vocabulary.labels), telling=True)
        separator = Separator(Cut(case.data, small), case.k, m, absent=True)
        absence = separator.absence
        assert absence is not None
        leaves = [small.labels[leaf] for leaf in range(small.n_leaves)]
        valid = [
            to
            for to in naive.by_loss(case.rows, case.parents, Terms("lm", True))
            if naive.is_valid(case.rows, to, case.k, m)
        ]
        published = np.arange(small.n_nodes) < small.n_leaves
        rows = distinct_rows(*separator.rows, separator.weights)
        for threat in absence.threats(rows, published, silent):
            for above, out in absence.clauses(threat, True):
                named = {small.labels[v] for v in above}
                for to in valid:
                    up = any(
                        _lies_at_or_above(case.parents, to[x], v)
                        for v in named
                        for x in leaves
                        if _under(case.parents, x, v)
                    )
                    assert up or any(to[leaves[leaf]] is None for leaf in out), (case, threat, to)
                    kept += 1
    assert kept > 100


def _under(parents: Any, x: str, v: str) -> bool:
    return v in up_from(parents, x)


def _lies_at_or_above(parents: Any, label: str | None, v: str) -> bool:
    """Return whether an item under v is published as v or higher."""
    return label is not None and label in up_from(parents, v)
