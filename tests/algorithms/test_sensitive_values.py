"""Parts of a table with sensitive values that may be classes, compared with the definition."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import tables_verify as naive
from naive.tables_verify import Lines
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify.kkm import verify_kkm
from setveil.methods.algorithms.rt._sensitive import SensitiveValues
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import Table
from strategies import examples
from table_cases import KEPT, published, random_lines

ITEMS = Hierarchy.from_paths([[item, "*"] for item in "abcdef"])
rngs = st.randoms(use_true_random=False)


def table(lines: Lines) -> Table:
    shown = published(lines, kept=KEPT)
    columns = tuple(quasi_identifier(c.name, c.codes, c.labels) for c in shown.columns)
    sets = shown.sets
    return Table(sets.indptr, sets.items, sets.vocabulary, columns=columns, kept=shown.kept)


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
