"""The exact algorithm against every cut with every set of suppressed items, as fractions."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import exact as naive
from naive import measures
from naive.anonymize import up_from
from naive.exact import Terms
from naive.km import is_km
from real_data import DATA, load
from releases import released
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.utility.entropy import entropy
from setveil.methods.algorithms import aa, da, oa
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.exact import exact
from setveil.methods.algorithms.exact._clauses import Clause, Floats, Separator
from setveil.methods.algorithms.exact._losses import Losses
from setveil.methods.algorithms.exact._program import Program
from setveil.releases.published import Release
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import (
    COMPILED,
    Case,
    examples,
    random_case,
    random_cases,
    random_tree,
    seeded,
    seeds,
    transactions,
)

Images = dict[str, str | None]

WEIGHTS = (0, 0, 1, 2, 7, Fraction(1, 3), Fraction(5, 7), 0.3, 0.1, 1.5, 1e-3)
SHARES = (0, 1, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, Fraction(1, 3))
OBJECTIVES = ("ncp", "lm", "entropy", "entropy-max")
MODELS = pytest.mark.parametrize(
    ("suppress", "objective"), [(False, one) for one in OBJECTIVES[:3]] + [(True, one) for one in OBJECTIVES]
)

FLAT = {"a": "*", "b": "*", "c": "*", "*": None}
SMALL = Case([frozenset(row) for row in ("ab", "ac", "b", "a", "c")], FLAT, 2, 2)

# SPEC §4.
PAPER = Case(
    [frozenset(row) for row in ("bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i")],
    {
        **dict.fromkeys("PQei", "T"),
        **dict.fromkeys("HK", "P"),
        **dict.fromkeys("ab", "H"),
        **dict.fromkeys("cd", "K"),
        **dict.fromkeys("JM", "Q"),
        **dict.fromkeys("fg", "J"),
        **dict.fromkeys("xyz", "M"),
        "T": None,
    },
    k=2,
    m=math.inf,
)


def run(case: Case, terms: Terms, seed: int = 0, progress: Progress = silent, **more: Any) -> Release:
    return released(exact, case.data, case.tree, case.guarantee, parameters(terms, **more), seed, progress)


def parameters(terms: Terms, **more: Any) -> exact.Parameters:
    return exact.Parameters(
        objective=terms.objective,  # type: ignore[arg-type]
        suppress=terms.suppress,
        weights=terms.weights,
        keep=terms.keep,
        max_suppressed=terms.max_suppressed,
        **more,
    )


def images(release: Release) -> Images:
    recoding = release.recoding
    labels = [None if to < 0 else recoding.published.labels[to] for to in recoding.image.tolist()]
    return dict(zip(recoding.items.labels, labels, strict=True))


def least_loss(case: Case, terms: Terms) -> Fraction | float | None:
    return naive.least_loss(case.rows, case.parents, case.k, case.m, terms)


def about(loss: Fraction | float) -> Any:
    """A loss as floats give it; losses in bits are proven to one in a million."""
    return float(loss) if isinstance(loss, Fraction) else pytest.approx(loss, rel=2e-6, abs=1e-9)


def draw_case(rng: Random, suppress: bool) -> Case:
    return random_case(
        rng,
        most_leaves=rng.choice((4, 6, 7) if suppress else (6, 8, 11)),
        most_rows=rng.choice((8, 20, 50)),
        most_items=rng.choice((2, 4, 6)),
    )


def draw_terms(rng: Random, case: Case, objective: str, suppress: bool) -> Terms:
    """Draw what to minimize: each limit in some cases, so that many have none and few have all."""
    items = list(case.tree.labels[: case.tree.n_leaves])
    weighed = rng.sample(items, rng.randint(0, len(items))) if rng.random() < 0.4 else []
    return Terms(
        objective,
        suppress,
        weights={item: rng.choice(WEIGHTS) for item in weighed},
        keep=tuple(rng.choices(items, k=rng.randint(1, 2))) if rng.random() < 0.3 else (),
        max_suppressed=rng.choice(SHARES) if suppress and rng.random() < 0.4 else None,
    )


def assert_sound(release: Release, case: Case, terms: Terms) -> Fraction | float:
    """Check everything but optimality; the loss of the release."""
    to, what = images(release), (case, terms, release.details)
    assert list(to) == list(case.tree.labels[: case.tree.n_leaves])
    for label in set(to.values()) - {None}:
        assert label is not None
        under = {item for item in to if label in up_from(case.parents, item)}
        assert {item for item in to if to[item] == label} == under, what
    assert release.details["suppressed"] == [item for item in to if to[item] is None], what
    published = [frozenset(row) for row in release.published]
    assert [published[at] for at in release.row_map.tolist()] == measures.recode(case.rows, to), what
    assert is_km(published, case.k, case.m), what
    assert terms.suppress or None not in to.values(), what
    assert all(to[item] == item for item in terms.keep), what
    if terms.max_suppressed is not None:
        most = naive.exactly(terms.max_suppressed)
        assert naive.share(case.rows, naive.hidden(case.rows, to)) <= most, what
    loss = naive.loss(case.rows, to, terms)
    found = release.details["optimality"]
    assert found["loss"] == about(loss), what
    if terms.objective == "entropy" and not terms.weights:
        assert entropy(case.data, release.recoding)["share"] == about(loss), what
    assert found["objective"] == terms.objective
    assert found["model"] == ("cut with suppression" if terms.suppress else "cut")
    return loss


def assert_bounded(release: Release, loss: Fraction | float, least: Fraction | float, what: object) -> None:
    """Check a bound that may not be tight: rounding puts no float above the fraction that it represents."""
    found = release.details["optimality"]
    rounded = 0 if isinstance(loss, Fraction) else 2e-6 * loss + 1e-9
    assert found["lower_bound"] - rounded <= float(least) <= found["loss"] + rounded, what
    gap = float(1 - Fraction(found["lower_bound"]) / Fraction(loss)) if loss else 0
    assert found["gap"] == pytest.approx(gap, abs=1e-12 if isinstance(loss, Fraction) else 1e-6), what


def assert_optimal(case: Case, terms: Terms) -> Fraction | float | None:
    """Compare with all releases; the least loss, None if there is none."""
    least = least_loss(case, terms)
    if least is None:
        with pytest.raises(InfeasibleError):
            run(case, terms)
        with pytest.raises(InfeasibleError):
            exact.bound(case.data, case.tree, case.guarantee, parameters(terms))
        return None
    release = run(case, terms)
    loss = assert_sound(release, case, terms)
    assert loss == (least if isinstance(least, Fraction) else about(least)), (case, terms, release.details)
    found = release.details["optimality"]
    assert found["lower_bound"] == about(least), (case, terms, found)
    assert found["gap"] == 0, (case, terms, found)
    bound = exact.bound(case.data, case.tree, case.guarantee, parameters(terms))
    assert bound == found, (case, terms)
    return least


@MODELS
@seeds(2)
def test_no_release_loses_less(suppress: bool, objective: str, seed: int) -> None:
    rng = seeded(60 + seed)
    seen = Counter[str]()
    for _ in range(examples(150, 50)):
        case = draw_case(rng, suppress)
        terms = draw_terms(rng, case, objective, suppress)
        least = assert_optimal(case, terms)
        assert least is not None or terms.keep, (case, terms)
        seen["infeasible" if least is None else "free" if least == 0 else "at a loss"] += 1
    assert seen["infeasible"] > 0
    assert 3 * seen["at a loss"] > seen["free"]


@MODELS
def test_no_release_of_long_rows_loses_less(suppress: bool, objective: str) -> None:
    rng = seeded(62)
    for case in random_cases(examples(80, 8), 63, most_leaves=8, most_rows=80, most_items=8):
        assert_optimal(replace(case, m=rng.choice((3, 4, math.inf))), Terms(objective, suppress))


@given(data=st.data(), rng=st.randoms(use_true_random=False), suppress=st.booleans())
@settings(deadline=None, max_examples=examples(150, 15))
def test_no_release_loses_less_by_hypothesis(data: st.DataObject, rng: Random, suppress: bool) -> None:
    case = draw_case(rng, suppress)
    assert_optimal(case, draw_terms(rng, case, data.draw(st.sampled_from(OBJECTIVES)), suppress))


@pytest.mark.parametrize(("suppress", "objective"), [(True, "lm"), (False, "ncp")])
def test_what_is_minimized_by_default(suppress: bool, objective: str) -> None:
    without_suppression = exact.Parameters(suppress=suppress)
    assert exact.Parameters().suppress
    for case in random_cases(examples(20, 5), 64, most_leaves=6):
        release = released(exact, case.data, case.tree, case.guarantee, without_suppression)
        assert images(release) == images(run(case, Terms(objective, suppress)))
        assert release.details["optimality"]["objective"] == objective


def test_worked_example() -> None:
    terms = Terms("lm")
    release = run(PAPER, terms)
    loss = assert_sound(release, PAPER, terms)
    assert loss * sum(map(len, PAPER.rows)) == Fraction(56, 10)
    assert PAPER.tree.n_leaves == 11
    assert release.details["optimality"]["gap"] == 0
    assert least_loss(PAPER, terms) == loss


BITS = Case(
    [
        frozenset([item])
        for item, times in {"a1": 90, "a2": 10, "b1": 50, "b2": 50}.items()
        for _ in range(times)
    ],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None},
    k=2,
    m=2,
)


@pytest.mark.parametrize("objective", ["entropy", "entropy-max"])
def test_losses_in_bits_by_hand(objective: str) -> None:
    """LM sees no difference between A and B."""
    tree = BITS.tree
    losses = Losses.of(objective, tree, tree, BITS.data, {})
    bits = {label: losses.full[tree.id(label)] / 2**32 for label in tree.labels}
    of_leaves = dict.fromkeys(("a1", "a2", "b1", "b2"), 0)
    assert bits == pytest.approx({**of_leaves, "A": 46.9, "B": 100, "ALL": 346.9}, abs=0.05)
    hidden = {label: losses.hidden[tree.id(label)] / 2**32 for label in tree.labels}
    every = {"entropy": {"a1": 103.7, "a2": 43.2}, "entropy-max": {"a1": 687.95, "a2": 76.4}}[objective]
    assert {label: hidden[label] for label in every} == pytest.approx(every, abs=0.05)
    assert hidden["A"] == pytest.approx(hidden["a1"] + hidden["a2"])
    assert losses.whole == losses.full[tree.root]
    lm = Losses.of("lm", tree, tree, BITS.data, {})
    assert lm.full[tree.id("A")] == lm.full[tree.id("B")]


def test_losses_in_bits_are_the_same_integers_everywhere() -> None:
    """Computed apart, by squaring, with 400 binary places."""
    supports = [3, 10, 1000, 123_457, 2**20]
    parents: dict[str, str | None] = {f"i{n}": "*" for n in range(len(supports))} | {"*": None}
    indptr = np.arange(sum(supports) + 1)
    items = np.repeat(np.arange(len(supports), dtype=np.int32), supports)
    data = Transactions(indptr, items, Vocabulary(f"i{n}" for n in range(len(supports))))
    tree = Hierarchy(parents)
    plain, dear = (Losses.of(one, tree, tree, data, {}) for one in ("entropy", "entropy-max"))
    assert dear.hidden[:5] == [
        259783177697, 865943925656, 86594392565569, 10690683922967508, 90800801778834556
    ]  # fmt: skip
    assert [d - p for d, p in zip(dear.hidden[:5], plain.hidden[:5], strict=True)] == [
        20422086318, 142675725272, 42802717581614, 8968357196829137, 90071992547409920
    ]  # fmt: skip
    assert plain.full[tree.root] == dear.full[tree.root] == 2495890261838725


@given(
    supports=st.lists(st.integers(1, 60), min_size=1, max_size=11),
    weights=st.lists(st.sampled_from((0, 0, 1, 2, Fraction(1, 3), 1e-12, 1e12)), min_size=12, max_size=12),
    rng=st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=examples(200, 20))
def test_losses_in_bits_of_every_node(supports: list[int], weights: list[Any], rng: Random) -> None:
    names = list("abcdefghijkl")[: len(supports) + 1]  # the last one does not occur
    times = dict(zip(names, [*supports, 0], strict=True))
    weight = dict(zip(names, map(naive.exactly, weights), strict=False))
    tree = Hierarchy(random_tree(rng, names))
    data = transactions([frozenset([name]) for name in names for _ in range(times[name])])
    losses = Losses.of("entropy", tree, tree, data, weight)
    unit = 2**32 * math.lcm(*(w.denominator for w in weight.values()))
    for v in range(tree.n_nodes):
        below = [tree.labels[leaf] for leaf in tree.under(v).tolist() if times[tree.labels[leaf]]]
        whole = sum(times[name] for name in below)
        real = sum(float(weight[name]) * times[name] * math.log2(whole / times[name]) for name in below)
        assert losses.full[v] / unit == pytest.approx(real, rel=1e-9, abs=1e-8)
        assert losses.full[v] <= losses.hidden[v] + tree.n_nodes  # equal except for rounding under the root
        if children := tree.children(v):
            parts = [losses.full[child] for child in children]
            assert losses.full[v] >= sum(parts)
            occurring = [child for child in children if set(below) & names_under(tree, child)]
            if len(occurring) == 1:
                assert losses.full[v] == sum(parts)


def names_under(tree: Hierarchy, v: int) -> set[str]:
    return {tree.labels[leaf] for leaf in tree.under(v).tolist()}


def test_numbers_count_as_written() -> None:
    """One of a and b goes: 3 * 0.3 ties with 9 * 0.1, in fractions only."""
    rows = [frozenset(row) for row in ("ab", "a", "a", *["b"] * 8, *["c"] * 9)]
    losses = []
    for c in (0.1, Fraction(1, 10)):
        terms = Terms("lm", True, {"a": 0.3, "b": c, "c": 5})
        case = Case(rows, FLAT, 2, 2)
        assert assert_optimal(case, terms) is not None
        losses.append(run(case, terms).details["optimality"]["loss"])
    assert losses == [float(Fraction(9, 10) / (Fraction(18, 10) + 45))] * 2


@MODELS
def test_nothing_else_is_better(suppress: bool, objective: str) -> None:
    gained = 0
    for case in random_cases(examples(80, 20), 65, most_leaves=10, most_rows=25):
        terms = Terms(objective, suppress)
        problem = case.data, case.tree, case.guarantee
        loss = assert_sound(run(case, terms), case, terms)
        losses = {
            name: naive.loss(case.rows, images(refined), terms)
            for name, refined in (
                ("aa", released(aa, *problem, aa.Parameters(refine=True))),
                ("da", released(da, *problem, da.Parameters(refine=True))),
                ("oa", released(oa, *problem, oa.Parameters(refine=True))),
            )
        }
        best = min(losses.values())
        assert loss <= best or loss == about(best), (case, losses)
        if (suppress, objective) == (False, "ncp"):
            assert loss == losses["oa"], case
        gained += loss < naive.loss(case.rows, images(released(aa, *problem)), terms)
    assert gained, "plain AA was always optimal"


@pytest.mark.exhaustive
@MODELS
def test_recoding_depends_neither_on_row_order_nor_on_seed(suppress: bool, objective: str) -> None:
    rng = seeded(66)
    moved = 0
    for _ in range(examples(60, 10)):
        case = draw_case(rng, suppress)
        terms = replace(draw_terms(rng, case, objective, suppress), keep=())
        release = run(case, terms, seed=3)
        again, other = run(case.shuffled(rng), terms, seed=3), run(case, terms, seed=4)
        assert images(again) == images(other) == images(release), (case, terms)
        assert list(again.published) == list(release.published), (case, terms)
        moved += list(other.published) != list(release.published)
    assert moved, "no seed ever changed the order"


@MODELS
def test_private_data_come_back_unchanged(suppress: bool, objective: str) -> None:
    for drawn in random_cases(examples(60, 10), 67, most_rows=12):
        case = replace(drawn, rows=drawn.rows * drawn.k)
        release = run(case, Terms(objective, suppress))
        assert all(item == label for item, label in images(release).items()), case
        assert release.details["optimality"]["loss"] == release.details["optimality"]["gap"] == 0


# --- limits


def test_nothing_suppressed_is_the_best_cut() -> None:
    cheaper = 0
    for case in random_cases(examples(80, 10), 68, most_leaves=8, most_rows=25):
        limited, cut, free = (
            run(case, terms).details["optimality"]
            for terms in (Terms(max_suppressed=0), Terms(suppress=False), Terms())
        )
        assert (limited["loss"], limited["gap"]) == (cut["loss"], 0), case
        cheaper += free["loss"] < cut["loss"]
    assert cheaper, "suppression never helped"


def test_items_that_cannot_be_kept_together() -> None:
    """a and b occur together once."""
    for keep, suppress in ((("a", "b"), True), (("a", "b", "c"), False), (("c",), False)):
        with pytest.raises(InfeasibleError, match="forbids publishing"):
            run(SMALL, Terms(suppress=suppress, keep=keep))
    assert images(run(SMALL, Terms(keep=("a",)))) == {"a": "a", "b": None, "c": None}


@seeds(2)
def test_hinted_share_is_the_least_that_will_do(seed: int) -> None:
    rng = seeded(70 + seed)
    refused = 0
    for _ in range(examples(250, 25)):
        case = draw_case(rng, suppress=True)
        keep = tuple(rng.choices(case.tree.labels[: case.tree.n_leaves], k=rng.randint(1, 3)))
        objective = rng.choice(OBJECTIVES)
        terms = Terms(objective, True, {item: rng.choice(WEIGHTS) for item in keep}, keep)
        least = naive.least_suppressed(case.rows, case.parents, case.k, case.m, keep)
        if not least:
            continue
        refused += 1
        needed = naive.share(case.rows, least)
        for too_low in (0, needed * Fraction(999_999, 1_000_000), naive.share(case.rows, least - 1)):
            with pytest.raises(InfeasibleError, match="may be suppressed") as caught:
                run(case, replace(terms, max_suppressed=too_low))
        hint = re.search(r"max_suppressed=([0-9]\.[0-9]+)", caught.value.hint)
        assert hint, caught.value.hint
        hinted = Fraction(hint[1])
        assert needed <= hinted < needed + Fraction(2, 10**6), (case, keep)
        for enough in (needed, hinted):
            assert_sound(run(case, generous := replace(terms, max_suppressed=enough)), case, generous)
    assert refused > examples(250, 25) / 10


@pytest.mark.skipif(not COMPILED, reason="a million rows")
def test_limit_is_exact_where_millions_occur() -> None:
    """Check a case where one of each of six pairs must be suppressed; the cheapest choice is one occurrence
    above the limit. One in two million is less than a solver tolerates.
    """
    occurrences = [
        337177, 393481, 344134, 336890, 366255, 407958, 199563, 196815, 368387, 349436, 430239, 421891
    ]  # fmt: skip
    weights = [813, 191, 97, 458, 311, 146, 93, 552, 830, 912, 711, 650]
    pairs = [(i, i + 1) for i in range(0, 12, 2)]
    indptr, items = rows_with(pairs, occurrences)
    labels = "abcdefghijkl"
    data = Transactions(indptr, items, Vocabulary(labels))
    assert data.supports().tolist() == occurrences

    def total(choice: tuple[int, ...], values: list[int]) -> int:
        return sum(values[i] for i in choice)

    costs = [weight * times for weight, times in zip(weights, occurrences, strict=True)]
    choices = sorted(product(*pairs), key=lambda choice: total(choice, costs))
    most = total(choices[0], occurrences) - 1
    best = next(choice for choice in choices if total(choice, occurrences) <= most)
    found = exact.bound(
        data,
        Hierarchy({**dict.fromkeys((*labels, "m"), "*"), "*": None}),
        KmAnonymity(2, 2),
        exact.Parameters(
            weights=dict(zip(labels, weights, strict=True)), max_suppressed=Fraction(most, sum(occurrences))
        ),
    )
    least = float(Fraction(total(best, costs), sum(costs)))
    assert found["lower_bound"] <= least <= found["loss"], "claims to have proven what is not so"
    assert found["loss"] == least


def rows_with(
    pairs: list[tuple[int, int]], occurrences: list[int]
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int32]]]:
    """Rows in which each pair occurs once, and otherwise only the first items of pairs, or the second."""
    blocks = [np.array(pairs, np.int32)]
    for side in (0, 1):
        left = [pair[side] for pair in pairs]
        done = 0
        while left:
            least = min(occurrences[i] for i in left) - 1
            blocks.append(np.tile(np.array(left, np.int32), (least - done, 1)))
            left = [i for i in left if occurrences[i] - 1 > least]
            done = least
    lengths = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return indptr, np.concatenate([block.ravel() for block in blocks])


@pytest.mark.parametrize(
    "bad",
    [
        {"objective": "x"},
        {"gap": -0.1},
        {"gap": math.nan},
        {"gap": math.inf},
        {"time_limit": 0},
        {"time_limit": -1},
        {"time_limit": math.nan},
        {"max_suppressed": 1.5},
        {"max_suppressed": -0.1},
        {"max_suppressed": math.nan},
        {"max_suppressed": 0.5, "suppress": False},
        {"weights": {"a": -1}},
        {"weights": {"a": 1, "b": math.nan}},
        {"weights": {"a": math.inf}},
        {"weights": {"z": 1}},
        {"weights": {"*": 1}},
        {"keep": ("z",)},
        {"keep": ("a", "*")},
    ],
    ids=str,
)
def test_refuses(bad: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        released(exact, SMALL.data, SMALL.tree, SMALL.guarantee, exact.Parameters(**bad))


# --- ended early


class Impatient:
    """A listener that requests a stop at the (n + 1)-th question."""

    stoppable = False

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, phase: str, done: float | None = None) -> None:
        assert phase
        assert done is None or 0 <= done <= 1

    def stop_requested(self) -> bool:
        self.left -= 1
        return self.left < 0


def unfinished(how_many: int, seed: int) -> list[tuple[Case, Terms, Fraction | float]]:
    """Draw feasible cases without both items to keep and a limit (whose feasibility may not be known yet)."""
    rng = seeded(seed)
    out: list[tuple[Case, Terms, Fraction | float]] = []
    while len(out) < how_many:
        suppress = rng.random() < 0.6
        case = draw_case(rng, suppress)
        terms = draw_terms(rng, case, rng.choice(OBJECTIVES), suppress)
        if terms.keep:
            terms = replace(terms, max_suppressed=None)
        if least := least_loss(case, terms):
            out.append((case, terms, least))
    return out


def test_time_limit_leaves_a_valid_release_and_bound() -> None:
    unproven = 0
    for case, terms, least in unfinished(examples(150, 15), 80):
        release = run(case, terms, time_limit=1e-6)
        loss = assert_sound(release, case, terms)
        assert_bounded(release, loss, least, (case, terms))
        unproven += release.details["optimality"]["gap"] > 0
    assert unproven, "no search was ended early"


def test_stop_request_leaves_a_valid_release_and_bound() -> None:
    rng = seeded(81)
    seen = Counter[bool]()
    for case, terms, least in unfinished(examples(300, 30), 82):
        release = run(case, terms, progress=Impatient(rng.choice((0, 0, 1, 2, 3, 5, 8, 13, 20, 40))))
        loss = assert_sound(release, case, terms)
        assert_bounded(release, loss, least, (case, terms))
        seen[release.details["optimality"]["gap"] == 0] += 1
    assert min(seen[True], seen[False]) > 0, "all or none was ended early"


def test_a_solver_that_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search by one loss, ended by its share of the time, is followed by that by another."""
    monkeypatch.setattr(
        "setveil.methods.algorithms.exact._program.SOON", 0
    )  # small models are not interrupted
    rng, stops = seeded(85), iter((False, True, True))
    program = Program([rng.randint(1, 9) for _ in range(60)], lambda: next(stops, False))
    for _ in range(300):
        program.add(tuple(sorted(rng.sample(range(60), 3))))
    program.admit(np.zeros(60))
    assert program.relax() is None
    assert next(stops, None) is None, "it was not stopped while it solved"
    assert program.relax() is not None


def test_gap_is_proven() -> None:
    rng = seeded(83)
    early = 0
    for case, terms, least in unfinished(examples(200, 60), 84):
        gap = rng.choice((0.5, 0.5, 0.1, Fraction(1, 3), 1))
        release = run(case, terms, gap=gap)
        loss = assert_sound(release, case, terms)
        assert_bounded(release, loss, least, (case, terms))
        assert release.details["optimality"]["gap"] <= float(gap), (case, terms)
        early += release.details["optimality"]["gap"] > 0
    assert early, "no search was ended early"


# --- clauses


@pytest.mark.parametrize("enough", [1, 500])
def test_violated_clauses_are_found_if_there_are_any(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with all clauses: of every threat and every choice of leaves that a row holds."""
    monkeypatch.setattr("setveil.methods.algorithms.exact._clauses.ENOUGH", enough)
    rng = seeded(90)
    seen = Counter[bool]()
    for case in random_cases(examples(150, 20), 91, most_leaves=7, most_rows=15, most_items=5):
        tree = case.tree
        separator = Separator(Cut(case.data, tree), case.k, case.m)
        up = np.zeros(tree.n_nodes)
        for v in sorted(range(tree.n_leaves, tree.n_nodes), key=lambda v: int(tree.depth[v])):
            above = up[tree.parent[v]] if v != tree.root else 0.0
            up[v] = max(above, rng.choice((0, 0, 0.25, 0.5, 1)))
        hidden = np.array([rng.choice((0, 0, 0.25, 0.5, 1)) for _ in range(tree.n_leaves)], float)
        suppress = rng.random() < 0.7
        broken = {
            (above, leaves if suppress else ())
            for above, leaves in all_clauses(case)
            if sum(up[v] for v in above) + suppress * sum(hidden[leaf] for leaf in leaves) < 1
        }
        found = set(separator.violated(up, hidden if suppress else None))
        assert found <= broken, case
        assert bool(found) == bool(broken), case
        if found:
            least = min(value(clause, up, hidden) for clause in broken)
            assert min(value(clause, up, hidden) for clause in found) == least, case
        seen[bool(found)] += 1
    assert min(seen[True], seen[False]) > 0


def value(clause: Clause, up: Floats, hidden: Floats) -> float:
    return float(sum(up[v] for v in clause[0]) + sum(hidden[leaf] for leaf in clause[1]))


def all_clauses(case: Case) -> set[Clause]:
    tree = case.tree
    rows = [frozenset(tree.id(item) for item in row) for row in case.rows]
    out = set()
    for row in rows:
        for size in range(1, int(min(case.m, len(row))) + 1):
            for leaves in combinations(sorted(row), size):
                for nodes in product(*([leaf, *tree.ancestors(leaf)] for leaf in leaves)):
                    apart = not any(tree.covers(v, u) for v, u in permutations(nodes, 2))
                    support = sum(all(any(tree.covers(v, x) for x in held) for v in nodes) for held in rows)
                    if apart and tree.root not in nodes and support < case.k:
                        out.add((tuple(sorted({int(tree.parent[v]) for v in nodes})), leaves))
    return out


# --- real data


@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED or not DATA.is_dir(), reason=f"real data, compiled (here: {DATA})")
@pytest.mark.parametrize(
    ("name", "m", "suppress", "least"),
    [
        ("bms_webview1", 2, False, 0.026009),
        ("bms_webview1", 3, False, 0.108119),
        ("bms_webview1", 2, True, 0.024123),
        ("bms_webview2", 2, False, 0.016493),
        ("bms_webview1", 3, True, 0.073504),
        ("diabetes_icd9", 3, True, 0.174646),
    ],
)
def test_proven_on_real_data(name: str, m: int, suppress: bool, least: float) -> None:
    data, tree = load(name)
    release = released(exact, data, tree, KmAnonymity(5, m), exact.Parameters(suppress=suppress))
    found = release.details["optimality"]
    assert found["loss"] == pytest.approx(least, abs=1e-6)
    assert (found["gap"], found["lower_bound"]) == (0, found["loss"])
    assert verify_km(release.published, KmAnonymity(5, m)).holds


@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED or not DATA.is_dir(), reason=f"real data, compiled (here: {DATA})")
@pytest.mark.parametrize(
    ("name", "objective", "least", "labels"),
    [("bms_webview1", "entropy", 0.235271, 102), ("diabetes_icd9", "entropy-max", 0.392197, 33)],
)
def test_losses_in_bits_are_proven_on_real_data(
    name: str, objective: Literal["entropy", "entropy-max"], least: float, labels: int
) -> None:
    data, tree = load(name)
    release = released(exact, data, tree, KmAnonymity(5, 2), exact.Parameters(objective=objective))
    found = release.details["optimality"]
    assert found["loss"] == pytest.approx(least, abs=1e-6)
    assert (found["gap"], found["lower_bound"]) == (0, found["loss"])
    assert (release.published.supports() > 0).sum() == labels
    assert verify_km(release.published, KmAnonymity(5, 2)).holds
