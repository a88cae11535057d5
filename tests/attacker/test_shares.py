"""What the rows of a class have in common, against its definition; parts that may be classes."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import tables_verify as naive
from naive.tables_verify import Line, Lines
from setveil.algorithms.rt._sensitive import SensitiveValues
from setveil.attacker.shares import sensitive_shares
from setveil.data.quasi_identifiers import quasi_identifier
from setveil.data.relational import Table
from setveil.guarantees.kkm import KKmAnonymity
from setveil.guarantees.verify.kkm import verify_kkm
from setveil.hierarchy.tree import Hierarchy
from strategies import examples
from table_cases import COLUMNS, KEPT, published, random_lines

ITEMS = Hierarchy.from_paths([[item, "*"] for item in "abcdef"])
rngs = st.randoms(use_true_random=False)


def table(lines: Lines) -> Table:
    shown = published(lines, kept=KEPT)
    columns = tuple(quasi_identifier(c.name, c.codes, c.labels) for c in shown.columns)
    sets = shown.sets
    return Table(sets.indptr, sets.items, sets.vocabulary, columns=columns, kept=shown.kept)


@settings(max_examples=examples(300, 30))
@given(rng=rngs)
def test_shares_are_the_twins(rng: Random) -> None:
    lines = random_lines(rng)
    items = rng.sample("abcdef", 2)
    both = [sensitive_shares(shown, items) for shown in (published(lines, kept=KEPT), table(lines))]
    assert both[0] == both[1]
    held = {item for line in lines for item in line.items}
    names = [*(KEPT if lines else ()), *sorted(held & set(items))]
    assert [one.get("column", one.get("item")) for one in both[0]] == names
    for name, one in zip(names, both[0], strict=True):
        known = tuple(one["class"].values())
        inside = naive.within(lines, known)
        values = [naive.values_of(line, KEPT, [name]) for line in inside]
        pair = (name if "column" in one else "", one["value"])
        assert sum(pair in some for some in values) == one["rows"]
        assert len(inside) == one["class_rows"]
        assert Fraction(one["rows"], len(inside)) == naive.greatest_share(lines, KEPT, [name])
        assert one["share"] == one["rows"] / one["class_rows"]
        everywhere = [naive.values_of(line, KEPT, [name]) for line in lines]
        assert one["overall"] == sum(pair in some for some in everywhere) / len(lines)
        classes = [naive.within(lines, each) for each in naive.classes(lines)]
        assert one["all_alike"] == sum(len(c) for c in classes if naive.share(c, KEPT, [name]) == 1)


@settings(max_examples=examples(300, 30))
@given(rng=rngs, h=st.sampled_from((Fraction(1, 2), Fraction(2, 3), Fraction(1, 3))))
def test_parts_that_are_allowed_make_a_table_that_keeps_the_promise(rng: Random, h: Fraction) -> None:
    lines = random_lines(rng)
    names = tuple(rng.sample(("outcome", "ward", "a", "b"), rng.randint(1, 3)))
    values = SensitiveValues(table(lines), ITEMS, KKmAnonymity(2, 1, names, h))
    classes = naive.classes(lines)
    parts = [np.array([i for i, line in enumerate(lines) if line.known == known]) for known in classes]
    allowed = [values.allowed(part) for part in parts]
    for part, answer in zip(parts, allowed, strict=True):
        assert answer == (naive.share([lines[i] for i in part], KEPT, names) <= h)
    found = verify_kkm(published(lines, kept=KEPT), KKmAnonymity(2, 1, names, h), show=1000)
    assert sum("betrays" in one for one in found.listed()) == len(parts) - sum(allowed)
    together = [part for part, answer in zip(parts, allowed, strict=True) if answer]
    assert not together or values.allowed(np.concatenate(together))


def test_nobody_at_all() -> None:
    assert sensitive_shares(published([], kept=KEPT)) == []
    lines = [Line(("1", "F"), frozenset("a"), ("dead", "A"))]
    assert sensitive_shares(published(lines), ["b"]) == []
    assert sensitive_shares(published(lines, COLUMNS, KEPT), ["a"])[2] == {
        "item": "a", "value": "a", "share": 1.0, "rows": 1, "class_rows": 1, "overall": 1.0, "all_alike": 1,
        "class": {"age": "1", "sex": "F"},
    }  # fmt: skip
