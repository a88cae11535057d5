"""The bounding methods: what they guarantee, their examples, and the twin of their last step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from class_cases import members
from naive import rt_items, rt_merge, rt_table, rt_verify
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.methods.algorithms.rt._bounding_parameters import ITEMS, RELATIONAL
from setveil.methods.algorithms.rt.bounding import Bounding, anonymize
from setveil.releases.published.parts import Parts
from setveil.releases.published.tables import publish
from strategies import either
from tables import fast, hierarchy, random_tables, shown_by
from ward import numbered, ward

GUARANTEE = KKmAnonymity(2, 2)


def run(
    table: rt_table.Table, guarantee: KKmAnonymity = GUARANTEE, **parameters: Any
) -> tuple[Parts, dict[str, Any]]:
    return anonymize(fast(table), hierarchy(table), guarantee, Bounding(**parameters))


def classes(table: rt_table.Table, made: Parts) -> rt_table.Parts:
    return members(table, made.part[table.canonical])


def shown(table: rt_table.Table, made: Parts) -> list[list[str | None]]:
    """Return the labels of each row's items, in their order."""
    data = fast(table)
    labels = [None if to < 0 else made.items.published.labels[to] for to in made.items.image.tolist()]
    return [labels[a:b] for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]


def lost(made: Parts) -> Fraction:
    """T by NCP, from the recoding."""
    items = made.items
    sizes = items.member_counts.tolist()
    each = [items.domain if to < 0 else sizes[to] if sizes[to] > 1 else 0 for to in items.image.tolist()]
    return Fraction(sum(each), items.domain * max(len(each), 1))


@pytest.mark.parametrize(
    ("merge", "delta", "parts", "r", "t"),
    [
        ("none", None, [[1, 2], [3, 4], [5, 8], [6, 7]], "4/37", "1"),
        ("r", 0.3, [[1, 2], [3, 4], [5, 8], [6, 7]], "4/37", "1"),  # a merger, but no item gains by it
        ("r", 0.6, [[1, 2, 5, 8], [3, 4, 6, 7]], "15/37", "9/13"),
        ("t", 0.6, [[1, 2, 6, 7], [3, 4], [5, 8]], "81/148", "19/26"),
        ("rt", 0.6, [[1, 2, 5, 8], [3, 4, 6, 7]], "15/37", "9/13"),
        ("r", 1, [[1, 2, 3, 4, 5, 6, 7, 8]], "1", "1/2"),
    ],
)
def test_ward(merge: Any, delta: Any, parts: list[list[int]], r: str, t: str) -> None:
    table = ward()
    made, details = run(table, relational="cluster", items="aa", merge=merge, delta=delta)
    assert numbered(classes(table, made)) == parts
    assert lost(made) == Fraction(t)
    assert (details["relational_loss"], details["item_loss"]) == (float(Fraction(r)), float(Fraction(t)))
    assert (details["relational_loss_before"], details["item_loss_before"]) == (4 / 37, 1)
    assert (details["parts_before"], details["parts"]) == (4, len(parts))


def test_a_bound_that_is_too_tight_is_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"delta = 0\.1 .*lose 0\.1081 \(4/37\)") as refused:
        run(ward(), relational="cluster", items="aa", merge="r", delta=0.1)
    assert refused.value.hint == "delta must be at least 0.1082."
    run(ward(), relational="cluster", items="aa", merge="r", delta=0.1082)


def test_bound_on_items() -> None:
    table = ward()
    made, details = run(table, relational="cluster", items="aa", merge="r", delta=0.7, bounded="items")
    assert numbered(classes(table, made)) == [[1, 2], [3, 4, 6, 7], [5, 8]]
    assert lost(made) == Fraction(9, 13)
    assert details["mergers"] == 1
    with pytest.raises(InfeasibleError, match=r"the items lose 0\.5 \(1/2\) in one class") as refused:
        run(table, relational="cluster", items="aa", merge="r", delta=0.4, bounded="items")
    assert refused.value.hint == "delta must be at least 0.5."
    with pytest.raises(InfeasibleError, match=r"the items lose 1 in these classes"):
        run(table, relational="cluster", items="aa", delta=0.7, bounded="items")


def test_exact_items_of_the_ward() -> None:
    table = ward()
    made, details = run(table, relational="mondrian")
    expected = [["I21", None], ["I21"], ["Lung", "Lung"], [None, "Lung"], ["ALL"], ["Heart", None]]
    assert shown(table, made)[:6] == expected
    assert details["item_loss"] == 8 / 13
    assert details["optimality"]["loss"] == details["optimality"]["lower_bound"] == 7 / 13
    assert details["optimality"]["proven"]


def test_levels_and_uniform_loss_are_recorded() -> None:
    _, details = run(ward(ranges=False), relational="incognito", items="aa")
    assert details["levels"] == {"age": 3, "sex": 0}
    assert details["uniform_relational_loss"] == 23 / 74
    assert details["relational_loss"] == 23 / 74
    _, details = run(ward(), relational="incognito", items="aa")  # ages as ranges of the classes' own
    assert details["relational_loss"] < details["uniform_relational_loss"]


@pytest.mark.parametrize(("relational", "items"), [*product(RELATIONAL, ITEMS)])
def test_all_configurations_keep_the_promise(relational: Any, items: Any) -> None:
    rng = Random(81)
    for table, k, m in cases(either(8, 3), 81):
        data = fast(table)
        for merge in ("none", "r", "t", "rt"):
            terms = {"relational": relational, "items": items, "merge": merge}
            made, details = run(table, KKmAnonymity(k, m), **terms, delta=None if merge == "none" else 1)
            release = publish(data, made, 0)
            assert rt_verify.is_kkm(shown_by(release.table), k, m), (table, k, m, terms)
            parts = classes(table, made)
            assert parts == table.in_order(parts), "numbered by their first rows"
            assert details["relational_loss"] == float(rt_table.relational_loss(table, parts))
            assert details["item_loss"] == float(lost(made))
            assert details["parts"] == len(parts)
        order = rng.sample(range(table.n), table.n)
        other, _ = run(shuffled(table, order), KKmAnonymity(k, m), **terms, delta=1)
        assert contents(table, made) == contents(shuffled(table, order), other), (table, k, m, terms)


def contents(table: rt_table.Table, made: Parts) -> Counter[Any]:
    """Each row before and after; which of equal rows is which does not matter."""
    release = publish(fast(table), made, 0)
    rows = shown_by(release.table)
    return Counter(
        (tuple(column.values[row] for column in table.columns), table.sets[row], rows[to])
        for row, to in enumerate(release.row_map.tolist())
    )


def cases(n: int, seed: int) -> Iterator[tuple[rt_table.Table, int, int]]:
    for rng, table in random_tables(n, seed, most_rows=14):
        k, m = rng.choice((2, 2, 3)), rng.choice((1, 2, 2, 3))
        if not 0 < table.n < k:
            yield table, k, m


def shuffled(table: rt_table.Table, order: list[int]) -> rt_table.Table:
    columns = tuple(
        replace(column, values=tuple(column.values[row] for row in order)) for column in table.columns
    )
    return replace(table, columns=columns, sets=tuple(table.sets[row] for row in order))


@pytest.mark.parametrize("evaluate", ["ends", "all"])
def test_what_is_kept_is_that_of_the_twin(evaluate: Any) -> None:
    kept = 0
    for table, k, m in cases(either(40, 15), 82):
        if table.n < k:
            continue
        start, _ = run(table, KKmAnonymity(k, m), relational="cluster", items="aa")
        begun = classes(table, start)
        least = rt_table.relational_loss(table, begun)
        for merge, delta in product(("r", "t", "rt"), (least, (1 + least) / 2, Fraction(1))):
            terms: dict[str, Any] = {"merge": merge, "delta": delta, "evaluate": evaluate}
            made, details = run(table, KKmAnonymity(k, m), relational="cluster", items="aa", **terms)
            wanted = rt_merge.bounded(
                table, begun, merge, delta, k, m, rt_items.by_aa, every=evaluate == "all"
            )
            assert classes(table, made) == wanted, (table, k, m, terms)
            assert lost(made) == rt_items.total(table, rt_items.recode(table, wanted, k, m, rt_items.by_aa))
            kept += 0 < details["mergers_kept"] < details["mergers"]
    assert kept if evaluate == "all" else not kept


def thin(table: rt_table.Table) -> rt_table.Table:
    """The ward, of whose first class one row alone has items."""
    return replace(table, sets=(frozenset(), *table.sets[1:]))


def test_classes_of_too_few_rows_with_items_lose_them() -> None:
    table = thin(ward())
    for items in ITEMS:
        made, details = run(table, relational="cluster", items=items)
        assert shown(table, made)[:2] == [[], [None]], items
        assert details["hidden_classes"] == 1
        assert details.get("optimality", {"proven": True})["proven"]


def test_or_are_refused() -> None:
    table = thin(ward())
    message = r"class of 2 rows with age = '\[34,36\]', sex = 'F' has 1 row with items, and fewer than k = 2"
    with pytest.raises(InfeasibleError, match=message):
        run(table, relational="cluster", items="aa", suppress=False)
    made, _ = run(table, relational="mondrian", items="exact", suppress=False)  # keeps clear of such classes
    assert None not in [label for row in shown(table, made) for label in row]


def test_labels_of_groups_mean_the_same_in_all_classes() -> None:
    names = ["a", "b", "c", "(a,b)", "(b,c)", "x,y"]
    rng = Random(83)
    column = rt_table.Column("age", tuple(str(i // 4) for i in range(40)), numeric=True)
    for items in ("coat", "pcta"):
        sets = tuple(frozenset(rng.sample(names, rng.randint(1, 3))) for _ in range(40))
        table = rt_table.Table((column,), sets, {**dict.fromkeys(names, "*"), "*": None})
        made, _ = run(table, relational="mondrian", items=items)
        members_of = made.items.members()
        assert any(len(inside) > 1 for inside in members_of.values())
        for row, labels in zip(sets, shown(table, made), strict=True):
            in_order = [item for item in fast(table).vocabulary.labels if item in row]
            for item, label in zip(in_order, labels, strict=True):
                assert label is not None
                assert item in members_of[label]


def test_no_rows() -> None:
    table = rt_table.Table((rt_table.Column("age", (), numeric=True),), (), {"a": "*", "*": None})
    made, details = run(table, merge="rt", delta=0.5)
    assert (made.part.size, made.items.image.size, details) == (0, 0, {"parts": 0})
    assert made.items.items.labels == ("a",)


def test_too_few_rows() -> None:
    with pytest.raises(InfeasibleError, match="the table has 8 rows"):
        run(ward(), KKmAnonymity(9, 2))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"merge": "r"}, "within a bound, and none was given"),
        ({"bounded": "items"}, "within a bound, and none was given"),
        ({"merge": "r", "delta": 1.5}, r"delta must be a share, 0 to 1, got 1\.5"),
        ({"items": "hghs", "suppress": False}, "hghs suppresses items"),
        ({"relational": "lattice"}, 'relational must be "mondrian", '),
        ({"relational": "cluster", "least": 5}, "least says how large the classes of mondrian are"),
    ],
)
def test_parameters_that_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Bounding(**parameters)


def test_classes_smaller_than_k_are_refused() -> None:
    with pytest.raises(RequestError, match="least must be at least k = 3, got 2"):
        run(ward(), KKmAnonymity(3, 2), least=2)
