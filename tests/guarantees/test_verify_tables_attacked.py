"""The verifiers of tables, compared with counting by hand: misleading labels, rows changed and moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np

from naive import rt_items, rt_verify
from naive.rt_verify import Row
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.judges.guarantees.verify.kkm import RareRows, verify_kkm
from setveil.judges.guarantees.verify.mixed_km import verify_mixed_km
from setveil.releases.published.table_files import PublishedTable
from setveil.releases.published.tables import publish
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.table import TextColumn
from strategies import many, seeded
from tables import fast, parts_of, random_table, shown_by

# Texts that a careless verifier would read as another label, class, column or nothing.
LABELS = (
    "a",
    "a,b",
    "[1,2]",
    "*",
    "",
    ";",
    "a;b",
    '"',
    "x\ny",
    " a",
    "a ",
    "0",
    "00",
    "1",
    "q0",
    "kept",
    "A",
)
ITEMS = tuple(label for label in LABELS if label)
MS = (1, 2, 3, math.inf)


def column(rng: Random, name: str, texts: Sequence[str]) -> TextColumn:
    """Make a column; its labels are in any order, and some do not occur."""
    labels = list({*texts, *rng.sample(LABELS, 2)})
    rng.shuffle(labels)
    return TextColumn(name, np.array([labels.index(text) for text in texts], np.int32), tuple(labels))


def published(rng: Random, shown: Sequence[Row], kept: Sequence[str] = ()) -> PublishedTable:
    n_columns = len(shown[0][0]) if shown else 2
    names = [f"q{a}" for a in range(n_columns)]
    columns = [column(rng, name, [labels[a] for labels, _ in shown]) for a, name in enumerate(names)]
    more = (column(rng, "kept", kept),) if kept else ()
    sets = Transactions.from_rows(items for _, items in shown)
    return PublishedTable(tuple(columns), sets, more, (*names, *(c.name for c in more), "items"))


def random_shown(rng: Random) -> list[Row]:
    """Draw rows of few classes, many of them equal."""
    n_columns, labels = rng.randint(1, 3), rng.sample(LABELS, 3)
    items = rng.sample(ITEMS, rng.randint(1, 4))
    distinct = [
        (
            tuple(rng.choice(labels) for _ in range(n_columns)),
            frozenset(rng.sample(items, rng.randint(0, len(items)))),
        )
        for _ in range(rng.randint(1, 4))
    ]
    return [rng.choice(distinct) for _ in range(rng.randint(0, 14))]


def check_kkm(rng: Random, shown: Sequence[Row], k: int, m: float) -> bool:
    table = published(rng, shown)
    verdict = verify_kkm(table, KKmAnonymity(k, m), show=1000)
    expected = rt_verify.counterexamples(shown, k, m)
    assert verdict.holds == rt_verify.is_kkm(shown, k, m) == (not expected)
    assert verdict.greatest_k == rt_verify.greatest_k(shown, m)
    assert verdict.complete
    assert verdict.violations == len(verdict.first)
    found = {
        (tuple(label for _, label in one.known), frozenset(one.itemset), one.support)
        for one in verdict.first
        if isinstance(one, RareRows)
    }
    assert found == expected
    return verdict.holds


def check_mixed(rng: Random, shown: Sequence[Row], k: int, m: float) -> bool:
    verdict = verify_mixed_km(published(rng, shown), MixedKmAnonymity(k, m), show=1000)
    expected = {some: n for some, n in rt_verify.mixed_supports(shown, m).items() if n < k}
    assert verdict.holds == rt_verify.is_mixed_km(shown, k, m) == (not expected)
    assert verdict.greatest_k == rt_verify.greatest_mixed_k(shown, m)
    found = {
        frozenset(
            {(int(name[1:]), label) for name, label in one.known} | {(-1, x) for x in one.itemset}
        ): one.support
        for one in verdict.first
    }
    assert found == expected
    return verdict.holds


def test_random_rows() -> None:
    rng = seeded(31)
    held = 0
    for _ in range(many(150)):
        shown, k, m = random_shown(rng), rng.randint(2, 4), rng.choice(MS)
        held += check_kkm(rng, shown, k, m)
        held += check_mixed(rng, shown, k, m)
    assert held > many(30)


def test_order_of_rows_is_nothing() -> None:
    rng = seeded(32)
    for _ in range(many(40)):
        shown, k, m = random_shown(rng), 2, rng.choice(MS)
        moved = rng.sample(shown, len(shown))
        one, other = (
            verify_kkm(published(rng, rows), KKmAnonymity(k, m), show=1000) for rows in (shown, moved)
        )
        assert set(one.first) == set(other.first)
        assert one.greatest_k == other.greatest_k
        a, b = (
            verify_mixed_km(published(rng, rows), MixedKmAnonymity(k, m), show=1000)
            for rows in (shown, moved)
        )
        assert set(a.first) == set(b.first)
        assert a.greatest_k == b.greatest_k


def changed(rng: Random, shown: list[Row]) -> list[Row]:
    """Change one row: a label, or an item more or less; or delete a row, or write it twice."""
    out = list(shown)
    at = rng.randrange(len(out))
    labels, items = out[at]
    kind = rng.randrange(5)
    if kind == 0:
        a = rng.randrange(len(labels))
        out[at] = ((*labels[:a], labels[a] + rng.choice(("", " ", ",", "]")), *labels[a + 1 :]), items)
    elif kind == 1:
        out[at] = (labels, items | {rng.choice([*ITEMS, *(x for _, more in out for x in more)])})
    elif kind == 2 and items:
        out[at] = (labels, items - {rng.choice(sorted(items))})
    elif kind == 3:
        del out[at]
    else:
        out.append((rng.choice(out)[0], items))
    return out


def test_changed_releases() -> None:
    rng = seeded(33)
    broken = 0
    for _ in range(many(60)):
        slow = random_table(rng, most_leaves=4)
        k, m = 2, rng.choice((1, 2))
        if slow.n < k:
            continue
        recoded = rt_items.recode(slow, [tuple(slow.canonical)], k, m, rt_items.exact)
        release = publish(fast(slow), parts_of(slow, fast(slow), recoded), seed=1)
        assert verify_kkm(release.table, KKmAnonymity(k, m)).holds
        shown = shown_by(release.table)
        assert check_kkm(rng, shown, k, m)
        for _ in range(3):
            broken += not check_kkm(rng, changed(rng, shown), k, m)
            check_mixed(rng, changed(rng, shown), k, m)
    assert broken > many(20)


def test_labels_of_columns_and_items_are_not_the_same() -> None:
    rng = seeded(34)
    shown = [(("a", "b"), frozenset("b")), (("b", "a"), frozenset("a")), (("a", "b"), frozenset("b"))]
    assert not check_kkm(rng, shown, 2, 1)
    joined = [
        (("a,b", ""), frozenset[str]()),
        (("a", "b"), frozenset[str]()),
        (("a", "b,"), frozenset[str]()),
    ]
    assert not check_kkm(rng, joined, 2, 1)
    assert not check_mixed(rng, joined, 2, 1)
    facts = [(("a",), frozenset("a")), (("a",), frozenset("a")), (("b",), frozenset("a"))]
    assert not check_mixed(rng, facts, 2, 1)


def test_shares_of_sensitive_values() -> None:
    rng = seeded(35)
    held = 0
    for _ in range(many(100)):
        shown = random_shown(rng) or [((), frozenset[str]())]
        kept = [rng.choice(("", "x", "y", "kept")) for _ in shown]
        p, h = rng.choice((0, 1, 2)), rng.choice(("1/3", "0.5", "2/3", "0.9"))
        named = rng.choice((["kept"], ["kept", "a"], ["a", "1", "nobody has this"]))
        verdict = verify_kkm(
            published(rng, shown, kept), KKmAnonymity(2, 1, sensitive=named, h=h, p=p), show=1000
        )
        items = frozenset(ITEMS) & {*named}  # "kept" is an item, too
        values = kept if "kept" in named else None
        share = greatest(shown, values, items, p)
        assert verdict.holds == (rt_verify.is_kkm(shown, 2, 1) and share <= Fraction(h))
        assert verdict.greatest_share == greatest(shown, values, items, 0)
        held += verdict.holds
    assert held


def greatest(shown: Sequence[Row], kept: Sequence[str] | None, items: frozenset[str], p: int) -> Fraction:
    """The greatest share of a kept value or an item; sensitive items are never known."""
    known = [(labels, more - items) for labels, more in shown]
    of_values = Fraction(0) if kept is None else rt_verify.greatest_share(known, kept, p)
    return max(of_values, rt_verify.sensitive_items(shown, items, p))
