"""People found by an attacker who knows all quasi-identifiers and m items: before and after, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from naive import rt_items, rt_verify
from setveil.judges.attacker.attack import attack_risk
from setveil.releases.published.tables import publish
from tables import fast, parts_of, random_local, random_tables

LIMITS = (2, 3, 5, 10)


def test_rows_that_are_singled_out() -> None:
    for rng, slow in random_tables(60, 71, most_rows=16):
        table = fast(slow)
        recoded = random_local(rng, slow, 2, 2)
        release = publish(table, parts_of(slow, table, recoded), seed=1)
        values = zip(*(column.values for column in slow.columns), strict=True)
        before = list(zip(values, slow.sets, strict=True))
        after = rt_items.published(slow, recoded)
        for rows, shown in ((table, before), (release.table, after)):
            sizes = rng.choice(((0, 1, 2, 3), rng.sample(range(4), rng.randint(1, 3))))
            risk = attack_risk(rows, sizes=sizes, thresholds=LIMITS)
            assert [entry["m"] for entry in risk["risk"][::2]] == sorted(sizes)
            for entry in risk["risk"]:
                if entry["choice"] == "best":
                    left = rt_verify.fewest(shown, entry["m"])
                    assert list(entry["rows_below"].values()) == rt_verify.exposed(shown, entry["m"], LIMITS)
                    assert entry["fewest"] == min(left, default=None)
                    mean = sum((Fraction(1, n) for n in left), Fraction(0)) / max(len(left), 1)
                    assert entry["probability"] == pytest.approx(float(mean))
