"""An earlier recoding on other rows, compared with its slow twin, and cases worked by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from naive import apply as naive
from naive.anonymize import all_cuts, up_from
from naive.anonymize import leaves as leaves_of
from naive.km import is_km
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.run import VerifiedRelease
from setveil.work.past.apply import apply
from setveil.work.past.run import PastRun
from strategies import ALPHABETS, Parents, Rows, examples, random_rows, random_tree, transactions

Image = dict[str, str | None]


def earlier(image: Mapping[str, str | None], k: int, m: float, tree: Hierarchy | None = None) -> PastRun:
    """Make an earlier run that has only a recoding and a guarantee."""
    report: Any = {
        "recoding": "global",
        "guarantee": {"model": "km-anonymity", "k": k, "m": "inf" if m == math.inf else m},
        "algorithm": {"name": "exact", "title": "Exact", "parameters": {"objective": None, "suppress": True}},
        "input": {"path": None},
        "hierarchy": tree and {"source": "given", "path": None, "sha256": None, "leaves": tree.n_leaves},
    }
    return PastRun("the earlier run", report, image)


@dataclass(frozen=True)
class Later:
    """A recoding of all leaves but some that are new, and rows of leaves, and of items that no tree knows."""

    old: Image
    rows: Rows
    parents: Parents
    k: int
    m: float

    def apply(self, **more: Any) -> VerifiedRelease:
        tree = Hierarchy(self.parents)
        run = earlier(self.old, self.k, self.m, tree)
        return apply(run, transactions(self.rows), hierarchy=tree, details=False, **more)

    def mapped(self) -> Image:
        items = {*leaves_of(self.parents), *self.old, *(x for row in self.rows for x in row)}
        return naive.mapped(self.old, items, self.parents)


def random_later(rng: Random, most_leaves: int = 9, most_rows: int = 26) -> Later:
    alphabet = rng.choice(ALPHABETS)
    leaves = rng.sample(alphabet, rng.randint(3, most_leaves))
    parents = random_tree(rng, leaves)
    cut = rng.choice(all_cuts(parents))
    gone = {node for node in cut if rng.random() < 0.25}
    old: Image = {}
    for leaf in leaves_of(parents):
        node = next(filter(cut.__contains__, up_from(parents, leaf)))
        if rng.random() < 0.8:
            old[leaf] = None if node in gone else node
    if not old:
        old[leaves[0]] = None
    written = {leaf.lower() for leaf in leaves}  # an item that is a leaf in another spelling is that leaf
    outside = [x for x in alphabet if x.lower() not in written][: rng.randint(0, 2)]
    rows = random_rows(rng, [*leaves, *outside], rng.randint(1, most_rows), 3)
    known = [leaf for leaf, label in old.items() if label is not None] or list(old)
    rows.append(frozenset([rng.choice(known)]))
    return Later(old, rows, parents, rng.randint(2, 4), rng.choice((1, 2, 2, 3, math.inf)))


laters = st.randoms(use_true_random=False).map(random_later)


def rows_of(release: VerifiedRelease) -> list[frozenset[str]]:
    return [frozenset(row) for row in release.published]


def in_order(release: VerifiedRelease) -> list[frozenset[str]]:
    published = rows_of(release)
    return [published[i] for i in release.row_map.tolist()]


@settings(max_examples=examples(120))
@given(laters)
def test_rows_become_what_their_items_become(later: Later) -> None:
    to = later.mapped()
    published = naive.apply_recoding(later.rows, to)
    if not is_km(published, later.k, later.m):
        with pytest.raises(sv.InfeasibleError, match="do not satisfy the guarantee"):
            later.apply()
        return
    release = later.apply()
    assert in_order(release) == published
    assert dict(release.release.image()) == to
    applied = release.report["applied"]
    occurring = {x for row in later.rows for x in row}
    unknown = occurring - set(later.old)
    assert {line["item"]: line["label"] for line in applied["items"]["labels"]} == {
        x: to[x] for x in unknown if to[x] is not None
    }
    assert {line["item"] for line in applied["items"]["lost"]} == {x for x in unknown if to[x] is None}
    assert sum(applied["items"][case]["occurrences"] for case in ("known", "under", "left_out")) == sum(
        map(len, later.rows)
    )
    assert applied["changes"] == []
    about = release.release.about(release.report)["labels"]
    assert about == {
        label: [x for x in release.recoding.items.labels if to[x] == label]
        for label in {label for row in published for label in row} - set(leaves_of(later.parents))
    }


@pytest.mark.parametrize(
    ("suppress", "objective"), [(True, "lm"), (True, "ncp"), (False, "ncp"), (False, "lm")]
)
@settings(max_examples=examples(150, 15))
@given(laters)
def test_a_repair_is_the_least_coarsening(suppress: bool, objective: str, later: Later) -> None:
    to = later.mapped()
    least = naive.least_coarsening(
        later.rows, to, later.parents, later.k, later.m, objective, suppress=suppress
    )
    search = sv.Exact(objective=objective, suppress=suppress)  # type: ignore[arg-type]
    if least is None:
        with pytest.raises(sv.InfeasibleError):
            later.apply(repair=search)
        return
    release = later.apply(repair=search)
    after = dict(release.release.image())
    assert is_km(rows_of(release), later.k, later.m)
    assert in_order(release) == naive.apply_recoding(later.rows, after)
    assert naive.is_coarser(to, after, later.parents)
    if is_km(naive.apply_recoding(later.rows, to), later.k, later.m):
        assert after == to
        return
    found = naive.loss(later.rows, after, later.parents, objective)
    assert found == least
    assert release.utility[objective] == pytest.approx(float(least))
    optimality = release.report.get("optimality")
    if optimality is not None:  # else nothing is left
        assert optimality["proven"]
        assert optimality["loss"] == pytest.approx(float(found))
        assert optimality["gap"] == pytest.approx(0)
    changed = {x for row in later.rows for x in row if to[x] != after[x]}
    changes = release.report["applied"]["changes"]
    assert sum(change["items"] for change in changes) == len(changed)
    assert {(change["from"], change["to"]) for change in changes} == {(to[x], after[x]) for x in changed}
    assert sum(change["occurrences"] for change in changes) == sum(len(row & changed) for row in later.rows)


@settings(max_examples=examples(60, 10))
@given(laters)
def test_a_repair_by_entropy_is_the_least(later: Later) -> None:
    to = later.mapped()
    least = naive.least_coarsening(later.rows, to, later.parents, later.k, later.m, "entropy", suppress=True)
    release = later.apply(repair=sv.Exact(objective="entropy"))
    after = dict(release.release.image())
    assert naive.is_coarser(to, after, later.parents)
    if release.report["applied"]["repaired"]:
        assert naive.bits(later.rows, after, later.parents) == pytest.approx(least, rel=1e-5, abs=1e-5)


@settings(max_examples=examples(80))
@given(laters)
def test_without_a_hierarchy_labels_are_suppressed(later: Later) -> None:
    data = transactions(later.rows)
    items = {*later.old, *data.vocabulary.labels}
    to = naive.mapped(later.old, items, None)
    run = earlier(later.old, later.k, later.m)
    if set(data.vocabulary.labels).isdisjoint(later.old):
        return
    if set(data.vocabulary.labels) & {x for x in later.old.values() if x is not None} - set(later.old):
        return  # an item has the name of a label
    release = apply(run, data, repair=True, details=False)
    order = list(dict.fromkeys(x for x in (to[i] for i in release.recoding.items.labels) if x is not None))
    assert dict(release.release.image()) == naive.suppressing(later.rows, to, later.k, later.m, order)
    assert release.verdict.holds


@settings(max_examples=examples(60))
@given(laters, laters)
def test_two_releases_of_different_people_keep_the_promise_together(one: Later, other: Later) -> None:
    first = one.apply(repair=True)
    rows = [*other_rows(one, other), frozenset(list(one.old)[:1])]
    second = Later(one.old, rows, one.parents, other.k, other.m).apply(repair=True)
    both = [*rows_of(first), *rows_of(second)]
    assert is_km(both, min(one.k, other.k), min(one.m, other.m))


def other_rows(one: Later, other: Later) -> Rows:
    """Give rows the items of others, one by one."""
    old = sorted({x for row in other.rows for x in row})
    new = sorted({x for row in one.rows for x in row})
    names = {x: new[i % len(new)] for i, x in enumerate(old)}
    return [frozenset(names[x] for x in row) for row in other.rows]


# --- worked cases

DRINKS = Hierarchy.from_paths(
    [
        ["tea", "hot", "drinks", "*"],
        ["coffee", "hot", "drinks", "*"],
        ["cocoa", "hot", "drinks", "*"],
        ["milk", "cold", "drinks", "*"],
        ["juice", "cold", "drinks", "*"],
        ["bread", "food", "*"],
        ["cake", "food", "*"],
    ]
)
OLD: Image = {
    "tea": "hot", "coffee": "hot", "milk": "milk", "juice": None, "bread": "bread", "cake": None,
}  # fmt: skip


def applied(
    rows: list[str], k: int = 2, m: float = 2, old: Image = OLD, sign: str = " ", **more: Any
) -> VerifiedRelease:
    return apply(
        earlier(old, k, m, DRINKS),
        sv.Transactions.from_rows(filter(None, row.split(sign)) for row in rows),
        hierarchy=DRINKS,
        details=False,
        **more,
    )


def test_a_new_item_goes_below_the_nearest_label() -> None:
    release = applied(["cocoa milk", "tea milk", "cake bread", "bread soap"])
    assert in_order(release) == [{"hot", "milk"}, {"hot", "milk"}, {"bread"}, {"bread"}]
    items = release.report["applied"]["items"]
    assert items["known"] == {"items": 4, "occurrences": 6}
    assert items["labels"] == [{"item": "cocoa", "label": "hot", "rows": 1}]
    assert items["lost"] == [{"item": "soap", "label": None, "rows": 1}]
    assert release.release.about(release.report)["labels"] == {"hot": ["cocoa", "coffee", "tea"]}
    assert release.release.about(release.report)["domain"] == 8  # soap
    assert release.counts is not None
    assert release.counts.lines() == [("bread", "bread", 2), ("milk", "milk", 2)]


def test_a_new_item_is_not_published_beside_its_siblings() -> None:
    release = applied(["lemonade milk", "milk", "lemonade"], old=OLD | {"juice": "juice"})
    assert in_order(release) == [{"milk"}, {"milk"}, set()]
    assert [line["item"] for line in release.report["applied"]["items"]["lost"]] == ["lemonade"]


def test_unknown_items_are_counted_as_suppressed() -> None:
    release = applied(["tea soap juice", "tea soap juice", "tea water"])
    assert release.counts is not None
    assert release.counts.lines() == [("juice", "", 2), ("soap", "", 2), ("tea", "hot", 3)]
    assert release.release.about(release.report)["domain"] == 9
    assert release.verdict.holds


def test_strict_names_unknown_items() -> None:
    with pytest.raises(sv.DataError, match=r"not known to the earlier run.*'soap'"):
        applied(["tea soap", "tea"], strict=True)
    assert applied(["tea cocoa", "tea"], strict=True).verdict.holds


def test_what_breaks_the_promise_is_listed() -> None:
    with pytest.raises(sv.InfeasibleError) as caught:
        applied(["tea milk", "tea bread", "milk", "bread"])
    assert "support 1: bread, hot" in str(caught.value)
    assert "repair=True" in caught.value.hint


def test_a_suppressed_item_may_come_back_broader() -> None:
    # Milk and juice are each in too few rows with tea; under "cold" they are not.
    rows = ["milk tea", "juice", "juice", "juice tea", "tea", "bread", "bread"]
    release = applied(rows, repair=True)
    image = release.release.image()
    assert (image["tea"], image["milk"], image["juice"]) == ("hot", "cold", "cold")
    assert in_order(release)[:4] == [{"cold", "hot"}, {"cold"}, {"cold"}, {"cold", "hot"}]
    assert [(change["from"], change["to"]) for change in release.report["applied"]["changes"]] == [
        (None, "cold"), ("milk", "cold"),
    ]  # fmt: skip


def test_too_few_rows_show_nothing_or_are_refused() -> None:
    release = applied(["tea milk", ""], repair=True)
    assert in_order(release) == [set(), set()]
    with pytest.raises(sv.InfeasibleError, match="fewer than k"):
        applied(["tea milk", ""], repair=sv.Exact(suppress=False))


def test_nothing_known_is_refused_and_no_rows_are_not() -> None:
    with pytest.raises(sv.DataError, match="No item of the new rows is known"):
        applied(["soap", "soap water"])
    assert applied([""]).published.rows() == [()]
    assert applied([]).published.rows() == []


def test_an_item_with_the_name_of_a_published_label_is_published_below_it() -> None:
    release = applied(["tea hot", "tea"])
    assert in_order(release) == [{"hot"}, {"hot"}]
    assert release.report["applied"]["items"]["labels"] == [
        {"item": "hot (itself)", "label": "hot", "rows": 1}
    ]
    assert release.verdict.holds


def test_an_item_that_is_called_like_the_new_name_of_another_one() -> None:
    """Check that such an item alone is suppressed as unknown, but stops with an error next to the other."""
    alone = applied(["tea;hot (itself)", "tea"], sign=";")
    assert in_order(alone) == [{"hot"}, {"hot"}]
    assert alone.report["applied"]["items"]["lost"] == [{"item": "hot (itself)", "label": None, "rows": 1}]
    for rows in (["tea;hot;hot (itself)", "tea"], ["tea;hot (itself)", "tea;hot"]):
        with pytest.raises(
            sv.DataError, match=r"'hot' is called like .* as 'hot \(itself\)', but .* this name"
        ):
            applied(rows, sign=";")


@pytest.mark.parametrize("item", ["cold", "drinks", "*"])
def test_an_item_with_the_name_of_another_group_is_a_new_item(item: str) -> None:
    release = applied([f"tea {item}", "tea"])
    assert in_order(release) == [{"hot"}, {"hot"}]
    assert release.report["applied"]["items"]["lost"] == [{"item": item, "label": None, "rows": 1}]
    assert release.verdict.holds


def test_an_item_with_the_name_of_a_label_is_refused_without_a_hierarchy() -> None:
    with pytest.raises(sv.DataError, match="name of a label"):
        apply(earlier(OLD, 2, 2, None), sv.Transactions.from_rows([["tea", "hot"], ["tea"]]))


def test_a_hierarchy_that_contradicts_the_recoding_is_refused() -> None:
    with pytest.raises(sv.DataError, match=r"lacks 1 labels.*'warm'"):
        applied(["tea"], old=OLD | {"tea": "warm"})
    with pytest.raises(sv.DataError, match="published 'bread' as 'hot'"):
        applied(["tea"], old=OLD | {"bread": "hot"})
    with pytest.raises(sv.DataError, match="published 'gone' as 'hot'"):
        applied(["tea"], old=OLD | {"gone": "hot"})


def test_a_promise_may_be_raised_and_not_lowered() -> None:
    rows = ["tea", "tea", "tea", "milk", "milk", "milk"]
    assert applied(rows, guarantee=sv.KmAnonymity(3, 2)).report["guarantee"]["k"] == 3
    with pytest.raises(sv.InfeasibleError, match="k=4"):
        applied(rows, guarantee=sv.KmAnonymity(4, 2))
    for weaker in (sv.KmAnonymity(2, 2), sv.KmAnonymity(3, 1)):
        with pytest.raises(sv.RequestError, match="raised, not lowered"):
            applied(rows, k=3, guarantee=weaker)
    with pytest.raises(sv.RequestError, match="is km-anonymity, not k-anonymity"):
        applied(rows, guarantee=sv.TransactionalKAnonymity(5))


def test_two_months_in_memory() -> None:
    january = sv.anonymize(
        [["tea", "milk"], ["coffee", "milk"], ["tea"]], sv.KmAnonymity(2, 2), hierarchy=DRINKS
    )
    february = sv.apply(january, [["cocoa"], ["tea"]], hierarchy=DRINKS, union=january, counts=False)
    assert february.published.rows() == [("hot",), ("hot",)]
    assert february.counts is None
    assert february.report["applied"]["union"]["rows"] == 5
    assert february.report["applied"]["people"] == {"told": None, "checked": False}
    assert "no ids to compare" in repr(february)
    march = sv.apply(february, [["cocoa"], ["cocoa", "milk"]], hierarchy=DRINKS, repair=True)
    assert march.published.rows() == [("hot",), ("hot",)]
    assert "Coarsened labels" in march.report_html()


def test_arguments_of_a_wrong_kind() -> None:
    rows = [["tea"], ["tea"], ["milk"], ["milk"]]
    run = sv.anonymize(rows, sv.KmAnonymity(2, 2), hierarchy=DRINKS)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"repair": "yes"}, "repair must be True, False or an Exact"),
        ({"repair": sv.Exact(keep=["tea"])}, "keeps or weighs no items"),
        ({"strict": 1}, "strict must be True or False"),
        ({"details": None}, "details must be True or False"),
        ({"people": "both"}, 'people must be "same" or "other"'),
        ({"union": rows}, "union must be a release"),
        ({"union": run, "people": "same"}, "same people"),
        ({"guarantee": 5}, "guarantee must be"),
        ({"seed": -1}, "seed must be"),
        ({"counts": 1}, "counts must be"),
    ]
    for more, words in wrong:
        with pytest.raises(sv.RequestError, match=words):
            sv.apply(run, rows, **more)
    with pytest.raises(sv.RequestError, match="earlier run must be a path"):
        sv.apply(rows, rows)  # type: ignore[arg-type]
    local = sv.anonymize(rows, sv.TransactionalKAnonymity(2), hierarchy=DRINKS)
    with pytest.raises(sv.RequestError, match="is local"):
        sv.apply(local, rows)


def test_the_same_people_in_two_releases_can_be_found() -> None:
    """The counterexample of docs/series.md: each release is 2^1-anonymous, together they show a row."""
    rows = [frozenset(row) for row in ("axy", "bxz", "cwy", "dwz")]
    fits = []
    for pairs in ("ab cd", "ac bd"):
        group = {x: pair for pair in pairs.split() for x in pair}
        release = naive.apply_recoding(rows, {x: x for x in "wxyz"} | group)
        assert is_km(release, 2, 1)
        found = [row - {group["a"]} for row in release if group["a"] in row]
        assert len(found) == 2
        fits.append(set(found))
    assert set.intersection(*fits) == {frozenset("xy")}
