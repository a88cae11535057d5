"""Certificates of the optimum: what audit.py accepts, against a search through all releases, and refuses."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from audit_cases import FORGERIES, OBJECTIVES, Run, audit_module, audited
from naive import certificate as naive
from naive.exact import Terms, exactly
from setveil.base.errors import InfeasibleError
from setveil.methods.algorithms.exact import exact
from strategies import Case, many, random_case, seeded

AUDITOR = audit_module()
WEIGHTS = (0, 1, 2, 7, Fraction(1, 3), Fraction(5, 7), 0.3, 1e-3)
SHARES = (0, 0.05, 0.1, 0.2, 0.5, Fraction(1, 3))


def drawn(rng: Random) -> tuple[Case, Terms]:
    """Draw a small case and its terms, each limit in some cases."""
    case = random_case(rng, rng.choice((4, 6)), rng.choice((6, 12, 30)), rng.choice((2, 4)))
    items = list(case.tree.labels[: case.tree.n_leaves])
    suppress = rng.random() < 0.7
    weighed = rng.sample(items, rng.randint(0, len(items))) if rng.random() < 0.4 else []
    return case, Terms(
        rng.choice(OBJECTIVES),
        suppress,
        weights={item: exactly(rng.choice(WEIGHTS)) for item in weighed},
        keep=tuple(rng.choices(items, k=rng.randint(1, 2))) if rng.random() < 0.3 else (),
        max_suppressed=exactly(rng.choice(SHARES)) if suppress and rng.random() < 0.4 else None,
    )


def certified(case: Case, terms: Terms, **more: Any) -> Run | None:
    """Make a release with its certificate; None if there is no valid one."""
    parameters = exact.Parameters(
        objective=terms.objective, suppress=terms.suppress, weights=terms.weights, keep=terms.keep,  # type: ignore[arg-type]
        max_suppressed=terms.max_suppressed, certificate=True, **more,
    )  # fmt: skip
    try:
        recoding, details = exact.anonymize(case.data, case.tree, case.guarantee, parameters)
    except InfeasibleError:
        return None
    labels = [None if to < 0 else recoding.published.labels[to] for to in recoding.image.tolist()]
    to = dict(zip(recoding.items.labels, labels, strict=True))
    return Run.of(case, to, details["certificate"])


def is_so(claimed: float, truth: float, objective: str) -> bool:
    """Return whether the claimed bound is at most the true least loss; losses in bits are rounded."""
    return claimed <= (truth if not objective.startswith("entropy") else truth * (1 + 1e-7) + 1000)


def test_every_proven_run_has_a_certificate_of_the_least_loss(tmp_path: Path) -> None:
    rng, seen = seeded(34), Counter[str]()
    for number in range(many(150)):
        case, terms = drawn(rng)
        run = certified(case, terms)
        least = naive.least(case.rows, case.parents, case.k, case.m, terms)
        assert (run is None) == (least is None), (case, terms)
        if run is None or least is None:
            continue
        certificate = run.certificate
        assert is_so(certificate["bound"], least, terms.objective), (case, terms, certificate)
        assert certificate["loss"] == pytest.approx(
            least, rel=2e-6, abs=1000 * terms.objective.startswith("entropy")
        )
        assert certificate["bound"] >= certificate["loss"] * (1 - 2e-6), (case, terms, certificate)
        code, said = audited(AUDITOR, run.write(tmp_path / str(number)))
        assert (code, said.startswith("Accepted")) == (0, True), (said, case, terms, certificate)
        seen[terms.objective] += 1
        seen["kept"] += bool(terms.keep)
        seen["limited"] += terms.max_suppressed is not None
        seen["branched"] += len(certificate["tree"]) > 1
        seen["empty branches"] += any("none" in end for end in certificate["tree"])
        seen["at a loss"] += certificate["loss"] > 0
    assert all(seen[name] for name in (*OBJECTIVES, "kept", "limited", "at a loss")), seen


def test_a_forged_certificate_is_refused_unless_what_it_says_is_true(tmp_path: Path) -> None:
    rng, seen = seeded(35), Counter[tuple[str, int]]()
    while sum(seen.values()) < many(320):
        case, terms = drawn(rng)
        run = certified(case, terms)
        if run is None or not any(case.rows):
            continue
        for forge in rng.sample(FORGERIES, 4):
            false = run.copy()
            forge(rng, false)
            if (false.certificate, false.rows, false.published, false.recoding) == (
                run.certificate, run.rows, run.published, run.recoding,
            ):  # fmt: skip
                continue
            code, said = audited(AUDITOR, false.write(tmp_path))
            seen[forge.__name__, code] += 1
            assert code in (0, 1, 4), said
            if code == 0:
                assert_true(false, said)
    assert all(seen[forge.__name__, 1] for forge in FORGERIES), seen
    assert sum(seen[forge.__name__, 0] for forge in FORGERIES) > 0, seen  # some are true all the same


def assert_true(run: Run, said: str) -> None:
    certificate, terms = run.certificate, run.terms
    to = {item: label or None for item, label in run.recoding}
    what = (said, run)
    assert naive.is_release(run.rows, run.parents, to, run.k, run.m, terms), what
    assert sorted(run.published) == sorted(
        sorted({str(to[item]) for item in row if to[item] is not None}) for row in run.rows
    ), what
    loss = naive.units(run.rows, to, terms)
    assert certificate["loss"] == pytest.approx(
        loss, rel=1e-7, abs=1000 * terms.objective.startswith("entropy")
    ), what
    least = naive.least(run.rows, run.parents, run.k, run.m, terms)
    assert least is not None, what
    assert is_so(certificate["bound"], least, terms.objective), what


def test_a_run_that_ended_early_certifies_the_bound_that_it_has(tmp_path: Path) -> None:
    rng, gaps = seeded(36), 0
    for number in range(many(40)):
        case, terms = drawn(rng)
        run = certified(case, terms, time_limit=1e-9)
        least = naive.least(case.rows, case.parents, case.k, case.m, terms)
        if run is None or least is None:
            continue
        certificate = run.certificate
        assert is_so(certificate["bound"], least, terms.objective)
        gaps += certificate["bound"] < certificate["loss"]
        assert audited(AUDITOR, run.write(tmp_path / str(number)))[0] == 0
    assert gaps


WORKED = Case(
    [frozenset(row) for row in (("a1", "b1", "b2"), ("a2", "b1"), ("a2", "b1", "b2"), ("a1", "a2", "b2"))],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None},
    2,
    2,
)


def by_hand(p: int, bound: int) -> Run:
    """The worked example: one clause, a scale of 1."""
    run = certified(WORKED, Terms("lm"))
    assert run is not None
    assert (run.certificate["loss"], run.certificate["bound"]) == (5, 5)
    run.certificate |= {
        "scale": 1,
        "bound": bound,
        "clauses": [{"nodes": ["a1", "a2"], "leaves": ["a1", "a2"]}],
        "multipliers": [{"clauses": [[0, p]]}],
        "tree": [{"bound": 0}],
    }
    return run


@pytest.mark.parametrize(("p", "proves"), [(5, 5), (4, 4), (6, 5), (9, 5), (1, 1)])
def test_the_worked_example(tmp_path: Path, p: int, proves: int) -> None:
    assert audited(AUDITOR, by_hand(p, proves).write(tmp_path))[0] == 0
    code, said = audited(AUDITOR, by_hand(p, proves + 1).write(tmp_path))
    assert (code, said) == (1, f"Refused: branch 0 proves {proves} only.")


def test_the_worked_example_of_an_empty_branch(tmp_path: Path) -> None:
    # No release keeps a1 and a2 without suppression; so nothing can be accepted as one.
    run = by_hand(1, 5)
    run.certificate |= {"keep": ["a1", "a2"], "suppress": False, "tree": [{"none": 0}]}
    code, said = audited(AUDITOR, run.write(tmp_path))
    assert (code, said) == (1, "Refused: an item to keep is not published as itself.")
    module = AUDITOR
    hierarchy = module.Hierarchy(WORKED.parents, {"a1", "a2", "b1", "b2"})
    request = module.Request(2, 2, "lm", {}, {"a1", "a2"}, suppress=False, most=math.inf)
    zero = dict.fromkeys(WORKED.parents, 0)
    clauses = [module.Clause({"A"}, [])]
    problem = module.Problem(request, hierarchy, clauses, Counter(), module.Losses(zero, zero))
    assert module.least_of_branch(problem, {"clauses": [[0, 1]]}, {}, 0) == 1


BAD: tuple[tuple[str, bytes | None, int], ...] = tuple(
    (name, content, 4)
    for name in (
        "internal/certificate.json", "internal/report.json", "internal/recoding.csv", "published/about.json",
        "published/data.jsonl", "original.jsonl", "tree.csv",
    )
    for content in (None, b"", b"\xff\xfe\x00\x80", b"\x1f\x8b", b"[" * 9999, b"[1]", b"{}", b"null", b'"')
)  # fmt: skip


def test_what_cannot_be_read_ends_without_a_traceback(tmp_path: Path) -> None:
    run = by_hand(5, 5)
    for name, content, _ in BAD:
        run.write(tmp_path)
        if content is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(content)
        code, said = audited(AUDITOR, tmp_path)
        assert code in (1, 4), (name, content, said)
        assert said.startswith(("No verdict: ", "Refused: ")), (name, content, said)


@pytest.mark.parametrize("name", ["../../original.jsonl", "..", "", "/etc/passwd", "a\\b.jsonl"])
def test_it_reads_no_published_rows_elsewhere(tmp_path: Path, name: str) -> None:
    by_hand(5, 5).write(tmp_path)
    file = tmp_path / "published" / "about.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "file": name}))
    assert audited(AUDITOR, tmp_path) == (1, "Refused: about.json names a file elsewhere.")


def test_cut_off_files_are_refused(tmp_path: Path) -> None:
    run, rng = by_hand(5, 5), seeded(37)
    run.write(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "report.json"]
    for file in files:
        whole = file.read_bytes()
        for at in rng.sample(range(len(whole) - 1), min(6, len(whole) - 1)):
            file.write_bytes(whole[:at])
            code, said = audited(AUDITOR, tmp_path)
            assert code in (1, 4), (file, at, said)
        file.write_bytes(whole)
    assert audited(AUDITOR, tmp_path)[0] == 0


def test_values_of_other_types_are_refused(tmp_path: Path) -> None:
    for key in by_hand(5, 5).certificate:
        others: tuple[Any, ...] = (None, [], {}, "x", -1, 1.5, True, [[]], math.nan, math.inf, 10**400)
        for value in (*others, [{"nodes": []}]):
            run = by_hand(5, 5)
            if run.certificate[key] == value or (key == "max_suppressed" and value == 10**400):
                continue
            run.certificate[key] = value
            code, said = audited(AUDITOR, run.write(tmp_path))
            true = [("keep", {}), ("bound", -1)]  # no item, and a bound that says nothing
            assert code in (1, 4) or (key, value) in true, (key, value, said)


def test_the_program_uses_the_standard_library_alone() -> None:
    from setveil.releases.recipients import AUDIT

    lines = AUDIT.read_text("utf-8").splitlines()
    imported = [line for line in lines if line.startswith(("import ", "from "))]
    assert "setveil" not in "".join(imported)
