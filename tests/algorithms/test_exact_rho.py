"""The exact algorithm for guarantees about sensitive items against every release that the twin tries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product

import pytest

import setveil as sv
from naive import coherence as by_moles
from naive import exact as by_cuts
from naive import exact_rho as naive
from naive.anonymize import leaves, up_from
from naive.exact_rho import ITEMS, NOTHING, OCCURRENCES, Promise, Terms
from naive.km import Rows, is_km
from real_data import DATA
from rho_problems import EVERY_SETTING, SETTINGS, Problem, draw_problem
from setveil.base.errors import InfeasibleError, RequestError
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import COMPILED, enough, examples, seeded, transactions

# --- the twin itself


def literally_least(problem: Problem) -> Fraction | None:
    """Try every set of nodes as a cut, suppress every subset, also of inner nodes, and hide row by row."""
    rows, promise, terms = problem.rows, problem.promise, problem.terms
    secret = set(promise.sensitive)
    tree = problem.tree or {item: None for row in rows for item in row}
    public = [leaf for leaf in leaves(tree) if leaf not in secret]
    below = {node: {leaf for leaf in public if node in up_from(tree, leaf)} for node in tree}
    supports = Counter(chain.from_iterable(rows))
    weight = {x: by_cuts.exactly(terms.weights.get(x, 1)) for x in supports}
    if terms.objective == "items":
        weight = {x: w / supports[x] for x, w in weight.items()}
    whole = sum(weight[x] * n for x, n in supports.items())
    fewer = 0 if terms.objective == "ncp" else 1
    least = None
    for cut in subsets([node for node in tree if below[node]]):
        if sorted(chain.from_iterable(below[node] for node in cut)) != sorted(public):
            continue
        for out in subsets(cut) if terms.suppress else [()]:
            to = {leaf: node for node in set(cut) - set(out) for leaf in below[node]}
            if any(to.get(item) != item for item in set(terms.keep) - secret):
                continue
            for hidden in literally_hidden(problem):
                lost, gone = Fraction(0), 0
                published = []
                for at, row in enumerate(rows):
                    labels = set()
                    for x in row:
                        label = (None if (at, x) in hidden else x) if x in secret else to.get(x)
                        if label is None:
                            lost, gone = lost + weight[x], gone + 1
                            continue
                        labels.add(label)
                        if x not in secret and len(below[label]) > 1:
                            lost += weight[x] * Fraction(len(below[label]) - fewer, len(public) - fewer)
                    published.append(frozenset(labels))
                share = by_cuts.share(rows, gone)
                if terms.max_suppressed is not None and share > by_cuts.exactly(terms.max_suppressed):
                    continue
                if (least is None or lost < least) and literally_private(published, problem):
                    least = lost
    return None if least is None else Fraction(least) / (whole or 1)


def subsets(nodes: Collection[str]) -> list[tuple[str, ...]]:
    return [some for size in range(len(nodes) + 1) for some in combinations(sorted(nodes), size)]


def literally_hidden(problem: Problem) -> Iterator[set[tuple[int, str]]]:
    """Every set of sensitive occurrences, row and item, or all of those of every set of items."""
    hide = problem.terms.hide
    free = set(problem.promise.sensitive) - set(problem.terms.keep)
    places = [(at, x) for at, row in enumerate(problem.rows) for x in row & free]
    if hide == NOTHING:
        yield set()
    elif hide == ITEMS:
        for some in subsets(free):
            yield {(at, x) for at, x in places if x in some}
    else:
        for chosen in product((False, True), repeat=len(places)):
            yield {place for place, is_hidden in zip(places, chosen, strict=True) if is_hidden}


def literally_private(rows: Rows, problem: Problem) -> bool:
    promise = problem.promise
    secret = set(promise.sensitive)
    shown = frozenset(chain.from_iterable(rows))
    if problem.model == "coherence" and 0 < len(rows) < promise.k:
        return False
    for known in subsets(shown if promise.knows == "any" else shown - secret):
        have = [row for row in rows if set(known) <= row]
        if len(known) > promise.m or not have:
            continue
        if known and len(have) < promise.k:
            return False
        counts = (sum(s in row for row in have) for s in secret - set(known))
        if any(Fraction(n, len(have)) > promise.rho for n in counts):
            return False
    return True


@EVERY_SETTING
def test_tried_otherwise(setting: str) -> None:
    rng = seeded(90)
    seen = Counter[str]()
    for _ in range(enough(60)):
        problem = draw_problem(rng, setting, most_public=3, most_rows=5)
        if 0 < sum(map(bool, problem.public_rows)) < problem.promise.k and problem.model == "km-rho":
            continue
        least = literally_least(problem)
        found, release = problem.least_loss()
        assert found == least, problem
        seen["infeasible" if least is None else "free" if least == 0 else "at a loss"] += 1
        seen["hidden"] += release is not None and any(way.rows for way in release.hidden)
        if release is not None and problem.model != "coherence":
            assert naive.is_private(release.published(problem.rows), problem.promise), problem
    assert seen["infeasible"] > 0
    assert min(seen["free"], seen["at a loss"]) > 5
    assert (seen["hidden"] > 0) == (SETTINGS[setting][2] != NOTHING)


def test_nothing_sensitive_is_km_anonymity() -> None:
    rng = seeded(91)
    for _ in range(100):
        drawn = draw_problem(rng, "occurrences", most_public=5)
        terms = replace(drawn.terms, objective=rng.choice(("lm", "ncp")))
        problem = replace(drawn, promise=replace(drawn.promise, sensitive=(), k=2), terms=terms)
        other = by_cuts.Terms(
            terms.objective, terms.suppress, terms.weights, terms.keep, terms.max_suppressed
        )
        assert problem.tree is not None
        least = by_cuts.least_loss(problem.rows, problem.tree, 2, problem.promise.m, other)
        assert naive.least_loss(problem.rows, problem.tree, problem.promise, terms)[0] == least, problem


@pytest.mark.parametrize("setting", [name for name, (model, *_) in SETTINGS.items() if model == "coherence"])
def test_coherence_is_one_of_these_promises(setting: str) -> None:
    rng = seeded(92)
    for _ in range(100):
        problem = draw_problem(rng, setting)
        if len(problem.rows) >= problem.promise.k:
            same = naive.least_loss(problem.rows, problem.tree, problem.promise, problem.terms)[0]
            assert problem.least_loss()[0] == same, problem


@EVERY_SETTING
def test_every_valid_release_is_listed(setting: str) -> None:
    rng = seeded(93)
    for _ in range(60):
        problem = draw_problem(rng, setting, most_public=4, most_rows=6)
        rows, tree, promise, terms = problem.rows, problem.tree, problem.promise, problem.terms
        listed = list(naive.every_valid_release(rows, tree, promise, terms))
        tried = [
            replace(candidate, hidden=hidden)
            for candidate in naive.candidates(rows, tree, promise.sensitive, terms)
            for hidden in product(*naive.hiding_of(rows, promise, terms))
        ]
        assert listed == [
            found
            for found in tried
            if naive.is_allowed(rows, found, terms) and naive.is_private(found.published(rows), promise)
        ], problem
        losses = naive.Losses.of(rows, tree, promise.sensitive, terms)
        costs = [losses.share(losses.of_found(found)) for found in listed]
        assert min(costs, default=None) == naive.least_loss(rows, tree, promise, terms)[0], problem


# --- worked examples

# SPEC2-MODELS §4.7.
PAPER = Problem(
    [frozenset(row.split()) for row in (
        "a1 b1 H", "a1 b1 H", "a2 b1", "a2 b2 H", "a2 b2", "a1 b2", "b1", "b2", "a2 b1", "a1 b2 H",
    )],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "H": "X", "A": "ALL", "B": "ALL", "X": "ALL", "ALL": None},
    Promise(2, 2, Fraction(1, 2), ("H",)),
)  # fmt: skip
PAPER_CASES = pytest.mark.parametrize(
    ("knows", "hide", "rho", "units"),
    [
        ("public", OCCURRENCES, "1/2", 3),
        ("public", ITEMS, "1/2", 8),
        ("any", ITEMS, "1/2", 8),
        ("public", ITEMS, "2/5", 12),
        ("any", ITEMS, "2/5", 12),
    ],
)


def paper(knows: str, hide: str, rho: str) -> Problem:
    promise = replace(PAPER.promise, rho=Fraction(rho), knows=knows)
    return replace(PAPER, promise=promise, terms=Terms(hide))


def test_worked_example_by_hand() -> None:
    assert PAPER.tree is not None
    rows = PAPER.rows
    assert set(naive.restricted(PAPER.tree, ("H",))) == {"a1", "a2", "b1", "b2", "A", "B", "ALL"}
    losses = naive.Losses.of(rows, PAPER.tree, ("H",), Terms())
    assert losses.units[None] == 3
    assert losses.whole() == 66
    assert is_km(PAPER.public_rows, 2, 2)
    known = naive.holders(rows, "H", 2)
    confidences = [(len(known[x]), sum("H" in rows[i] for i in known[x])) for x in map(frozenset, (
        {"a1"}, {"a1", "b1"},
    ))]  # fmt: skip
    assert confidences == [(4, 3), (2, 2)]

    def units(**to: str | None) -> Fraction:
        whole = {"a1": "a1", "a2": "a2", "b1": "b1", "b2": "b2"}
        return losses.of_found(naive.Found(None, whole | to))

    assert units(a1="A", a2="A") == 8
    assert units(b1="B", b2="B") == 10
    assert units(a1="ALL", a2="ALL", b1="ALL", b2="ALL") == 8 + 10 + 36
    suppressed = [units(a1=None), units(a2=None), units(b1=None), units(b2=None)]
    assert suppressed == [12, 12, 15, 15]
    sizes = {group: len(rows) for group, rows in naive.groups_of(rows, "H", ("H",)).items()}
    assert sizes == {frozenset({"a1", "b1"}): 2, frozenset({"a1", "b2"}): 1, frozenset({"a2", "b2"}): 1}


@PAPER_CASES
def test_worked_example_by_trying(knows: str, hide: str, rho: str, units: int) -> None:
    problem = paper(knows, hide, rho)
    least, found = problem.least_loss()
    assert found is not None
    assert least == Fraction(units, 66)
    if units == 3:
        assert found.to == {x: x for x in ("a1", "a2", "b1", "b2")}
        (way,) = found.hidden
        assert {group: n for group, n in way.counts.items() if n} == {frozenset({"a1", "b1"}): 1}
    if units == 8:
        assert found.cut == frozenset({"A", "b1", "b2"})


@PAPER_CASES
def test_worked_example(knows: str, hide: str, rho: str, units: int) -> None:
    problem = paper(knows, hide, rho)
    release = problem.solve()
    assert assert_sound(release, problem) == Fraction(units, 66)
    assert release.details["optimality"]["gap"] == 0
    published = by_input_row(release)
    if units == 3:
        lost = [row - shown for row, shown in zip(problem.rows, published, strict=True)]
        assert sorted(map(sorted, lost)) == [[]] * 9 + [["H"]]
        assert [at for at, items in enumerate(lost) if items] in ([0], [1])
    if units == 8:
        assert published[0] == {"A", "b1", "H"}
    if units == 12:
        assert published == problem.public_rows


# SPEC2-MODELS §4.1: neither finer nor coarser cuts inherit a bound.
HOLE = Problem(
    [frozenset(row.split()) for row in ("a1 s", "a2 s", "a1 a2", "b")],
    {"a1": "A", "a2": "A", "b": "ALL", "s": "ALL", "A": "ALL", "ALL": None},
    Promise(1, 1, Fraction(1, 2), ("s",)),
    Terms(ITEMS),
)


def test_no_bound_is_inherited() -> None:
    assert HOLE.tree is not None
    rows, kept = HOLE.rows, {"a1": "a1", "a2": "a2", "b": "b"}
    merged = naive.Found(None, kept | {"a1": "A", "a2": "A"}).published(rows)
    whole = naive.Found(None, dict.fromkeys(kept, "ALL")).published(rows)
    valid = [naive.is_private(published, HOLE.promise) for published in (rows, merged, whole)]
    assert valid == [True, False, True]
    at = naive.holders(merged, "s", 1)[frozenset({"A"})]
    assert (len(at), sum("s" in merged[i] for i in at)) == (3, 2)
    assert HOLE.least_loss()[0] == 0
    must = replace(
        HOLE, terms=Terms(ITEMS, keep=("s",), weights={"b": 0}), promise=replace(HOLE.promise, k=2)
    )
    listed = naive.every_valid_release(
        must.rows, must.tree, must.promise, replace(must.terms, suppress=False)
    )
    assert [found.cut for found in listed] == [frozenset({"ALL"})]


def test_a_coarser_cut_is_not_taken_for_a_finer_one() -> None:
    release = HOLE.solve()
    assert assert_sound(release, HOLE) == 0
    problem = replace(
        HOLE, promise=replace(HOLE.promise, k=2), terms=Terms(ITEMS, suppress=False, keep=("s",))
    )
    release = problem.solve()
    assert assert_sound(release, problem) == problem.least_loss()[0]
    assert by_input_row(release)[0] == {"ALL", "s"}


# --- the algorithm


def by_input_row(release: sv.VerifiedRelease) -> list[frozenset[str]]:
    published = [frozenset(row) for row in release.published]
    return [published[at] for at in release.row_map.tolist()]


def assert_sound(release: sv.VerifiedRelease, problem: Problem) -> Fraction:
    """Check everything but optimality, from the published rows; the loss of the release."""
    rows, promise, terms = problem.rows, problem.promise, problem.terms
    published, what = by_input_row(release), (problem, release.details)
    secret = set(promise.sensitive)
    tree = naive.restricted(problem.tree, secret) if problem.tree is not None else None
    public = sorted({item for row in rows for item in row - secret})
    labels = {label for row in published for label in row - secret}
    to: dict[str, str | None] = {}
    for item in public:  # no label is above another
        above = [item] if tree is None else up_from(tree, item)
        at = [label for label in above if label in labels]
        assert len(at) <= 1, what
        to[item] = at[0] if at else None
    hidden = []
    for s in promise.sensitive:
        gone = frozenset(i for i, row in enumerate(rows) if s in row - published[i])
        hidden.append(naive.Way(s, {}, gone))
        many_rows = sum(s in row for row in rows)
        if s in terms.keep or terms.hide == NOTHING:
            assert not gone, what
        if terms.hide == ITEMS:
            assert len(gone) in (0, many_rows), what
    found = naive.Found(None, to, tuple(hidden))
    assert found.published(rows) == published, what
    assert terms.suppress or None not in to.values(), what
    assert all(to.get(item, item) == item for item in terms.keep), what
    assert naive.is_allowed(rows, found, terms), what
    if problem.model == "coherence":
        assert by_moles.is_coherent(published, promise.sensitive, promise.rho, promise.k, promise.m), what
    else:
        assert naive.is_private(published, promise), what
    losses = naive.Losses.of(rows, problem.tree, secret, terms)
    loss = losses.share(losses.of_found(found))
    assert release.details["optimality"]["loss"] == float(loss), what
    assert release.details["optimality"]["objective"] == terms.objective, what
    return loss


def assert_optimal(problem: Problem) -> Fraction | None:
    """Compare with all releases; the least loss, None if there is none."""
    least, _ = problem.least_loss()
    if least is None:
        with pytest.raises(InfeasibleError):
            problem.solve()
        return None
    release = problem.solve()
    assert assert_sound(release, problem) == least, (problem, release.details)
    found = release.details["optimality"]
    assert (found["lower_bound"], found["gap"]) == (float(least), 0), (problem, found)
    return least


@EVERY_SETTING
@pytest.mark.parametrize(("seed", "n"), [(94, 80), pytest.param(97, 90, marks=pytest.mark.exhaustive)])
def test_no_release_loses_less(setting: str, seed: int, n: int) -> None:
    rng = seeded(seed)
    seen = Counter[str]()
    for _ in range(enough(n)):
        least = assert_optimal(draw_problem(rng, setting))
        seen["infeasible" if least is None else "free" if least == 0 else "at a loss"] += 1
    assert seen["infeasible"] > 0
    assert 2 * seen["at a loss"] > seen["free"] > 0


@pytest.mark.parametrize("setting", ["occurrences", "items"])
def test_nothing_sensitive_loses_as_much_as_km_anonymity(setting: str) -> None:
    rng = seeded(95)
    for _ in range(examples(30, 8)):
        drawn = draw_problem(rng, setting)
        problem = replace(
            drawn, promise=replace(drawn.promise, sensitive=(), k=2), terms=Terms(drawn.terms.hide)
        )
        least = assert_optimal(problem)
        if least is not None:
            assert problem.tree is not None
            m = problem.promise.m
            assert least == by_cuts.least_loss(problem.rows, problem.tree, 2, m, by_cuts.Terms())


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", ["occurrences", "items", "any known"])
def test_loss_without_regard_to_sensitive_items(setting: str) -> None:
    """Check that the bound is that of the public part, as a share of the weight of all occurrences."""
    rng, n_cases = seeded(738), 0
    for _ in range(60):
        problem = draw_problem(rng, setting)
        promise = problem.promise
        terms = replace(problem.terms, objective=rng.choice(("lm", "ncp")), keep=(), max_suppressed=None)
        problem = replace(problem, terms=terms)
        try:
            release = problem.solve()
        except (InfeasibleError, RequestError):
            continue
        if not release.details.get("alone"):
            continue
        public, tree = problem.public_rows, problem.tree
        assert tree is not None
        tree = naive.restricted(tree, promise.sensitive)
        least, _ = naive.least_loss(public, tree, Promise(promise.k, promise.m, promise.rho), terms)
        assert least is not None
        whole = naive.Losses.of(problem.rows, problem.tree, promise.sensitive, terms).whole()
        part = naive.Losses.of(public, tree, (), terms).whole()
        assert release.details["alone"] == {"loss": float(least * part / (whole or 1)), "proven": True}, (
            problem
        )
        assert release.details["optimality"]["loss"] >= release.details["alone"]["loss"]
        n_cases += any(Fraction(str(terms.weights.get(s, 1))).denominator > 1 for s in promise.sensitive)
    assert n_cases


def test_time_limit_leaves_a_valid_release_and_bound() -> None:
    rng = seeded(96)
    ended = 0
    for n in range(examples(90, 12)):
        problem = draw_problem(rng, list(SETTINGS)[n % len(SETTINGS)])
        if problem.terms.keep:  # it may not be known yet whether these can be kept
            problem = replace(problem, terms=replace(problem.terms, keep=(), max_suppressed=None))
        least, _ = problem.least_loss()
        if least is None:
            continue
        release = problem.solve(time_limit=1e-6)
        loss, found = assert_sound(release, problem), release.details["optimality"]
        assert found["lower_bound"] <= float(least) <= found["loss"], (problem, found)
        gap = float(1 - Fraction(found["lower_bound"]) / loss) if loss else 0
        assert found["gap"] == pytest.approx(gap, abs=1e-12), (problem, found)
        ended += found["gap"] > 0
    assert ended, "no search was ended early"


@pytest.mark.parametrize(("knows", "hide", "units"), [("public", OCCURRENCES, 3), ("any", ITEMS, 8)])
def test_what_is_hidden_by_default(knows: str, hide: str, units: int) -> None:
    problem = paper(knows, hide, "1/2")
    release = sv.anonymize(
        transactions(problem.rows), problem.guarantee, hierarchy=Hierarchy(PAPER.tree or {}),
        algorithm=sv.Exact(), details=False,
    )  # fmt: skip
    assert assert_sound(release, problem) == Fraction(units, 66)


def test_single_occurrences_are_not_hidden_from_who_knows_sensitive_items() -> None:
    with pytest.raises(RequestError, match="occurrences"):
        paper("any", OCCURRENCES, "1/2").solve()
    with pytest.raises(RequestError, match="occurrences"):
        replace(paper("any", OCCURRENCES, "1/2"), model="rho-uncertainty").solve()


# --- real data

GROCERIES = ("liquor", "brandy", "female sanitary products", "hygiene articles", "cookware")


@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED or not DATA.is_dir(), reason=f"real data, compiled (here: {DATA})")
@pytest.mark.parametrize(
    ("rho", "knows", "hide", "units"),
    [
        ("1/2", "public", OCCURRENCES, 297_028),
        ("1/2", "public", ITEMS, 297_028),
        ("1/5", "public", OCCURRENCES, 299_310),
        ("1/5", "public", ITEMS, 361_176),
        ("1/5", "any", ITEMS, 388_471),
    ],
)
def test_proven_on_real_data(rho: str, knows: str, hide: str, units: int) -> None:
    data = sv.read(DATA / "groceries.csv")
    tree = sv.read_hierarchy(DATA / "groceries_hierarchy.csv")
    guarantee = sv.KmRho(5, 2, rho, GROCERIES, knows)
    release = sv.anonymize(data, guarantee, hierarchy=tree, algorithm="exact", hide=hide, details=False)
    found = release.details["optimality"]
    worst = tree.n_leaves - len(GROCERIES) - 1
    assert (found["loss"], found["gap"]) == (float(Fraction(units, data.n_occurrences * worst)), 0)
