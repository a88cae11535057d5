"""Reports about guarantees, compared with brute force: losses, bounds, the front, figures of a release.

Searches are stopped early in several ways, so that they report bounds and releases of stronger guarantees
too.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import needs_compiled
from naive import exact as by_cuts
from naive import exact_rho as by_releases
from naive import explore as naive
from naive import risk, rt_items, rt_search, rt_verify
from naive.anonymize import up_from
from naive.km import is_km
from naive.rho import is_km_rho, rules
from rho_problems import Problem, draw_problem
from setveil.base.errors import InfeasibleError
from setveil.releases.published import publish
from setveil.releases.published.tables import publish as publish_table
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text
from setveil.work.studies.explore.cells import Cell
from setveil.work.studies.explore.promises import require_grid, require_triples
from setveil.work.studies.explore.record import record
from setveil.work.studies.explore.rows import Exploration, SensitiveItems, explore
from setveil.work.studies.explore.tables import explore_table
from strategies import Case, examples, random_case, seeded, transactions
from tables import fast, hierarchy, losses, random_table, shown_by

Row = frozenset[str]
Line = dict[str, Any]

pytestmark = needs_compiled


class Stopping:
    """A listener that requests a stop after this many questions; never, if the number is None."""

    def __init__(self, after: int | None) -> None:
        self.left, self.stoppable = after, False

    def __call__(self, phase: str, done: float | None = None) -> None:
        pass

    def stop_requested(self) -> bool:
        if self.left is not None:
            self.left -= 1
        return self.left is not None and self.left < 0


def ended_early(rng: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw how a search is ended, if at all: parameters of `exact`, and of `explore`."""
    way = rng.choice(("", "", "limit", "gap", "budget", "stop"))
    of_search: Any = {"limit": {"time_limit": 1e-9}, "gap": {"gap": 0.5}}.get(way, {})
    options: Any = {"time_budget": 0.02 if way == "budget" else 3600.0}
    return of_search, {**options, "progress": Stopping(rng.randint(0, 90) if way == "stop" else None)}


def lines_of(found: Exploration) -> dict[Any, Line]:
    """List the reported line of each guarantee, after checks of all lines together."""
    summary: Any = record(found, inputs=["x"])
    lines: dict[Any, Line] = dict(zip((cell.promise for cell in found.cells), summary["cells"], strict=True))
    shown = {promise: line["loss"] for promise, line in lines.items() if line["loss"] is not None}
    for weak, strong in itertools.permutations(shown, 2):
        assert not naive.keeps(strong, weak) or shown[weak] <= shown[strong]
    if found.secrets is not None:
        ahead = naive.front(shown)
        assert all(lines[promise]["front"] == (promise in ahead) for promise in shown)
    assert explored_text(summary)
    assert explored_html(summary)
    return {promise: line for promise, line in lines.items() if line["loss"] is not None}


def release_of(found: Exploration, line: Line) -> tuple[Any, Cell]:
    """Find the guarantee that a release was made for, and its cell."""
    made = line["made_for"]
    (cell,) = (
        cell
        for cell in found.cells
        if (cell.k, cell.m) == (made["k"], float(made["m"]))
        and (cell.rho is None or cell.rho == Fraction(str(made["rho"])))
    )
    return cell.promise, cell


def check_bounds(line: Line, least: Fraction | float | None, *, exactly: float = 1e-9) -> None:
    """Compare a loss and its proven bound with the least loss."""
    assert least is not None
    assert line["lower_bound"] <= float(least) + exactly
    assert line["loss"] >= float(least) - exactly
    if line["proven"]:
        assert line["loss"] == pytest.approx(float(least), abs=exactly)


def known_of(promise: tuple[Any, ...], known: int | None) -> int | None:
    return known or (None if promise[1] == math.inf else promise[1] + 1)


def unique(rows: list[Row], known: int | None) -> tuple[int | str, int]:
    return ("inf", 0) if known is None else (known, risk.best(rows, known, 2))


# --- rows with sensitive items


def drawn(rng: Random) -> Problem:
    while True:
        problem = draw_problem(rng, rng.choice(("occurrences", "occurrences", "items", "any known")), 4, 8)
        occurring = {item for row in problem.rows for item in row}
        if problem.promise.sensitive and occurring - set(problem.promise.sensitive):
            return problem


def image_of(problem: Problem, item: str, row: Row) -> str | None:
    """Return the label of an item in a published row; None if it has none."""
    secret = problem.promise.sensitive
    if item in secret:
        return item if item in row else None
    assert problem.tree is not None
    above = up_from(by_releases.restricted(problem.tree, secret), item)
    return next((label for label in above if label in row), None)


def test_with_sensitive_items() -> None:
    rng = seeded(281)
    for _ in range(examples(30, 3)):
        problem, (how, limits), known = drawn(rng), ended_early(rng), rng.choice((None, None, 1))
        ks, ms, rhos = (
            rng.sample((1, 2, 3), 2),
            rng.sample((1, 2, math.inf), 2),
            rng.sample(("1/2", "1/3"), 2),
        )
        secret, knows = problem.promise.sensitive, problem.promise.knows
        grid = require_triples(ks, ms, rhos)
        least: dict[Any, Fraction | None] = {
            one: replace(problem, promise=by_releases.Promise(*one, secret, knows)).least_loss()[0]
            for one in grid
        }
        try:
            found = explore(
                transactions(problem.rows), grid, secrets=SensitiveItems(secret, knows), known=known,
                hierarchy=problem.hierarchy, algorithm=sv.Exact(**problem.parameters, **how), **limits,
            )  # fmt: skip
        except InfeasibleError:
            if limits["time_budget"] == 3600 and limits["progress"].left is None:
                assert set(least.values()) == {None}
            continue
        for cell in found.cells:
            assert cell.status in {"done", "infeasible", "unsearched"}
            if cell.status != "unsearched":
                assert (cell.status == "done") == (least[cell.promise] is not None)
        for promise, line in lines_of(found).items():
            check_bounds(line, least[promise])
            check_hidden(problem, promise, line, release_of(found, line)[1], known)


def check_hidden(problem: Problem, promise: Any, line: Line, cell: Cell, known: int | None) -> None:
    """Compare the reported line of a release with its rows."""
    secret, knows = set(problem.promise.sensitive), problem.promise.knows
    release = publish(transactions(problem.rows), cell.recoding, 0, {})
    rows = list(map(frozenset, release.exposed().rows()))
    assert is_km_rho(rows, secret, promise[0], promise[1], promise[2], knows)
    to = [
        (item, image_of(problem, item, rows[release.row_map[at]]))
        for at, row in enumerate(problem.rows)
        for item in row
    ]
    lost = by_releases.Losses.of(problem.rows, problem.tree, tuple(secret), problem.terms)
    units = sum(
        lost.weight[x] * lost.units[None if x in secret else y] for x, y in to if x != y or x not in secret
    )
    assert float(lost.share(Fraction(units))) == pytest.approx(line["loss"], abs=1e-9)
    gone = [item for item, label in to if label is None]
    assert (len(gone), sum(item in secret for item in gone)) == (
        line["suppressed_occurrences"], line["hidden_occurrences"],
    )  # fmt: skip
    own = {x for x, y in to if x == y} - {x for x, y in to if y not in (x, None)}
    assert line["items_kept"] == len(own)
    assert line["occurrences_kept"] == sum(x == y for x, y in to if x in own)
    if line["unique_rows"] is None:  # of a borrowed release, if the time was over
        assert cell.promise != promise
        assert line["greatest_confidence"] is None
        return
    learned = rules(rows, secret, promise[1], knows).values()
    assert line["greatest_confidence"] == float(max(learned, default=Fraction(0)))
    seen = rows if knows == "any" else [row - secret for row in rows]
    assert (line["known"], line["unique_rows"]) == unique(seen, known_of(promise, known))


# --- rows


def terms_of(rng: Random, case: Case) -> by_cuts.Terms:
    terms = by_cuts.Terms(rng.choice(("lm", "ncp", "entropy-max")), suppress=rng.random() < 0.7)
    if terms.suppress and rng.random() < 0.3:
        terms = replace(terms, max_suppressed=rng.choice((Fraction(1, 3), 0.1)))
    if rng.random() < 0.2:
        terms = replace(terms, keep=(rng.choice(sorted({item for row in case.rows for item in row})),))
    return terms


def test_without() -> None:
    rng = seeded(282)
    for _ in range(examples(30, 3)):
        case = random_case(rng, most_leaves=6, most_rows=12, most_items=3)
        if not any(case.rows):
            continue
        (how, limits), known, terms = ended_early(rng), rng.choice((None, None, 1)), terms_of(rng, case)
        grid = require_grid(rng.sample((2, 3, 4), 2), rng.sample((1, 2, math.inf), 2))
        enough = [one for one in grid if sum(map(bool, case.rows)) >= one[0]]
        least = {one: by_cuts.least_loss(case.rows, case.parents, *one, terms) for one in enough}
        settings = sv.Exact(
            objective=terms.objective, suppress=terms.suppress, keep=terms.keep,  # type: ignore[arg-type]
            max_suppressed=terms.max_suppressed, **how,
        )  # fmt: skip
        try:
            found = explore(case.data, grid, hierarchy=case.tree, algorithm=settings, known=known, **limits)
        except InfeasibleError:
            if limits["time_budget"] == 3600 and limits["progress"].left is None:
                assert set(least.values()) <= {None}
            continue
        for promise, line in lines_of(found).items():
            nearly = 2e-6 if terms.objective == "entropy-max" else 1e-9
            check_bounds(line, least[promise], exactly=nearly)
            recoding = release_of(found, line)[1].recoding
            to: dict[str, str | None] = dict.fromkeys(case.tree.labels[: case.tree.n_leaves])
            to |= {item: label for label, some in recoding.members().items() for item in some}
            assert float(by_cuts.loss(case.rows, to, terms)) == pytest.approx(line["loss"], abs=nearly)
            rows = list(map(frozenset, publish(case.data, recoding, 0, {}).published.rows()))
            assert is_km(rows, promise[0], promise[1])
            if line["unique_rows"] is None:  # of a borrowed release, if the time was over
                assert limits["time_budget"] < 3600
                assert line["made_for"] != {"k": line["k"], "m": line["m"]}
            else:
                assert (line["known"], line["unique_rows"]) == unique(rows, known_of(promise, known))


# --- tables


def test_of_tables() -> None:
    rng = seeded(283)
    for _ in range(examples(15, 2)):
        slow = random_table(rng, most_rows=9, most_columns=2, most_leaves=4)
        if slow.n < 2:
            continue
        share, known = rng.choice((Fraction(1, 4), Fraction(1, 3), Fraction(1))), rng.choice((None, 1))
        limits = ended_early(rng)[1]
        grid = require_grid([2, rng.choice((3, 4))], rng.sample((1, 2, math.inf), 2))
        try:
            found = explore_table(
                fast(slow), grid, hierarchy=hierarchy(slow), share=share, known=known, **limits
            )
        except InfeasibleError:
            continue
        for promise, line in lines_of(found).items():
            made_for, cell = release_of(found, line)
            release = publish_table(fast(slow), cell.recoding, 0, {})
            rows = shown_by(release.table)
            assert rt_verify.is_kkm(rows, promise[0], promise[1])
            columns, items = losses(slow, fast(slow), cell.recoding, made_for[0], made_for[1])
            assert line["loss"] == pytest.approx(float(share * columns + (1 - share) * items), abs=1e-12)
            assert line["classes"] == len({labels for labels, _ in rows})
            size = known_of(promise, known)
            alone = 0 if size is None else sum(is_found(rows, row, size) for row in rows)
            if line["unique_rows"] is None:  # of a borrowed release, if the time was over
                assert line["made_for"] != {"k": line["k"], "m": line["m"]}
            else:
                assert (line["known"], line["unique_rows"]) == (size or "inf", alone)
            if cell.promise == promise:
                seen = slow.with_cells(promise[0])
                valuer = rt_search.Valuer(seen, promise[0], promise[1], share, rt_items.exact)
                best = rt_search.best_of(rt_search.sweep(valuer))
                assert best is not None
                assert line["loss"] == pytest.approx(float(best.f), abs=1e-12)


def is_found(rows: list[rt_verify.Row], row: rt_verify.Row, size: int) -> bool:
    """Return whether some items of a row, together with its columns, are in no other row."""
    known = itertools.chain.from_iterable(
        itertools.combinations(row[1], n) for n in range(min(size, len(row[1])) + 1)
    )
    return any(rt_verify.support(rows, row[0], frozenset(some)) == 1 for some in known)
