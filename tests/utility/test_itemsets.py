"""Surviving itemsets against listing them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from coherence_cases import PAPER, PRIVATE, is_feasible, random_problem, rows_of
from naive import coherence as naive
from naive.km import Rows, item_order
from releases import released
from setveil.base.errors import RequestError
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.utility import itemsets
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.methods.algorithms.coherence import border, mm
from strategies import examples, random_rows, seeded, transactions


def listed(
    rows: Rows, gone: set[str], threshold: int, longest: float, private: Sequence[str]
) -> dict[str, Any]:
    frequent = naive.nuggets(rows, threshold, longest)
    kept = {items for items in frequent if not items & gone}
    rules = [items for items in frequent if len(items & set(private)) == 1 and len(items) > 1]
    by_length, left = Counter(map(len, frequent)), Counter(map(len, kept))
    return {
        "frequent": len(frequent),
        "kept": len(kept),
        "by_length": [
            {"length": size, "frequent": by_length[size], "kept": left[size]}
            for size in sorted(by_length)
            if size <= 6 or longest < math.inf
        ],
        "rules": len(rules),
        "rules_kept": sum(items in kept for items in rules),
    }


def test_counts_are_the_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(60)
    for _ in range(examples(300, 60)):
        # How many are listed rather than counted.
        monkeypatch.setattr(itemsets, "_FEW", rng.choice([0, 3, 10, 300]))
        items = [str(i) for i in range(rng.randint(1, 11))]
        rows = random_rows(rng, items, rng.choice([0, 3, 10, 40]), rng.choice([3, 6, 9]))
        occurring = item_order({x for row in rows for x in row})
        gone = set(rng.sample(occurring, rng.randint(0, len(occurring))))
        private = rng.sample(occurring, min(2, len(occurring)))
        threshold, longest = rng.randint(1, 6), rng.choice([None, None, 1, 2, 3, 8])
        published = naive.without(rows, gone)
        rng.shuffle(published)
        found = surviving_itemsets(
            transactions(rows), transactions(published), threshold, max_length=longest, private=private
        )
        assert found.pop("supports_unchanged")
        assert (found.pop("threshold"), found.pop("max_length")) == (threshold, longest)
        assert found == listed(rows, gone, threshold, longest or math.inf, private), rows


@pytest.mark.parametrize("module", [border, mm])
def test_suppression_keeps_every_support(module: Any) -> None:
    """Check the property of total suppression, set by set and by the measure."""
    rng = seeded(61)
    for _ in range(examples(100, 30)):
        rows, private, h, k, p = random_problem(rng)
        if not is_feasible(rows, private, h, k):
            continue
        release = released(module, transactions(rows), None, Coherence(h, k, p, private))
        published = list(map(frozenset, release.published))
        for items in naive.nuggets(published, 1, math.inf):
            assert naive.support(published, items) == naive.support(rows, items)
        assert surviving_itemsets(transactions(rows), release.published, k)["supports_unchanged"]


def test_worked_example() -> None:
    """Check SPEC §6 with k' = 4: the nuggets that remain without a, b, c, d."""
    guarantee = Coherence("0.5", 3, 3, PRIVATE)
    release = released(border, transactions(PAPER), None, guarantee, border.Parameters(k_nugget=4))
    found = surviving_itemsets(transactions(PAPER), release.published, 4, private=PRIVATE)
    expected = naive.nuggets(PAPER, 4, math.inf)
    assert found["frequent"] == len(expected)
    assert (
        found["kept"] == release.details["kept_nuggets"] == sum(not items & set("abcd") for items in expected)
    )
    assert found["supports_unchanged"]


def test_changed_rows_are_noticed() -> None:
    rows = rows_of("ab", "ab", "a", "b")
    for published, unchanged in (
        (["ab", "ab", "a", "b"], True),
        (["a", "", "a", "a"], True),
        (["ab", "ab", "ab", ""], False),
        (["ab", "a", "a", "b"], False),
        (["ab", "ab", "a"], False),
        (["xb", "b", "", "b"], True),
    ):
        found = surviving_itemsets(transactions(rows), transactions(rows_of(*published)), 2)
        assert found["supports_unchanged"] is unchanged, published


def test_more_than_can_be_listed() -> None:
    items = [f"i{j}" for j in range(90)]
    rows = [frozenset(items)] * 3 + [frozenset(items[:50])] * 2
    published = naive.without(rows, items[:1])
    found = surviving_itemsets(transactions(rows), transactions(published), 3)
    assert found["frequent"] == 2**90 - 1
    assert found["kept"] == 2**89 - 1
    assert found["by_length"][2] == {"length": 3, "frequent": math.comb(90, 3), "kept": math.comb(89, 3)}
    assert len(found["by_length"]) == 6


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"threshold": 1.5}, {"threshold": 2, "max_length": 0}])
def test_bad_input(wrong: dict[str, Any]) -> None:
    data = transactions(rows_of("ab"))
    with pytest.raises(RequestError, match="must be an integer of at least 1"):
        surviving_itemsets(data, data, **wrong)
