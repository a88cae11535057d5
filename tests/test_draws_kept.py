"""The result of each random draw on 50 rows: changing a draw makes figures of pages and studies untrue.

If a draw is changed on purpose, `python tests/test_draws_kept.py` writes draws.txt again. The figures that
depend on it must then be measured again (docs/measured).
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.judges.attacker.sampling import row_words
from setveil.judges.utility.kl import random_group_bys
from setveil.judges.utility.queries import frequent_queries, random_queries
from setveil.judges.utility.table_answers import random_table_queries
from setveil.rows.data.sample import grocery_sample
from setveil.rows.data.ward import log_sample, ward_sample
from setveil.rows.engine.publish import draw_keys
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee
from setveil.runs.options.inputs import draw_rows, draw_rows_again
from setveil.work.studies.compare.files import drawn_rows

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import policies  # noqa: E402

KEPT = Path(__file__).with_name("draws.txt")


def rows(items: int, longest: int) -> list[list[str]]:
    """Make 50 rows without any draw: a row of three items has three of these, and so on."""
    return [
        [f"{(i * i // 3 + 5 * j + i * j) % items}" for j in range(1 + i * 7 % longest)] for i in range(50)
    ]


def few() -> sv.Transactions:
    """Rows of few items: queries are drawn among all sets of items."""
    return sv.Transactions.from_rows(rows(12, 6))


def many() -> sv.Transactions:
    """Rows of many items: queries are drawn from rows."""
    return sv.Transactions.from_rows(rows(90, 6))


def ages() -> Any:
    lines = {"age": [20 + i % 9 for i in range(50)], "items": ["; ".join(row) for row in rows(12, 6)]}
    return sv.read_table(pl.DataFrame(lines), qi="age", set="items", delimiter=";")


def tree(data: sv.Transactions) -> sv.Hierarchy:
    return sv.Hierarchy.balanced(data, 3, common=1, order="number")


def release(data: sv.Transactions, seed: int = 3) -> sv.VerifiedRelease:
    return sv.anonymize(data, k=3, m=2, hierarchy=tree(data), algorithm="aa", seed=seed)


def items_of(model: str, data: sv.Transactions, **options: Any) -> Any:
    guarantee: Any = make_guarantee(model, options, Inputs(data, seed=3))
    return sorted(getattr(guarantee, "sensitive", None) or guarantee.private)


def queries(made: Callable[[], sv.Transactions], size: int) -> Any:
    return random_queries(made(), 20, size, seed=3)


def attacked() -> Any:
    return sv.attack(
        few(),
        split=0.5,
        m=2,
        attacks=40,
        seed=3,
        guarantee=sv.KmAnonymity(3, 2),
        hierarchy=tree(few()),
        algorithm="aa",
    )


def in_groups() -> Any:
    return sv.anonymize(few(), sv.PrivacyDegree(3, ["1", "11"]), seed=3)


def published_groups() -> Any:
    release = in_groups()
    return release.recoding.published(release.published)


def drawn_again(release: Any) -> list[Any]:
    """Draw twice from a release."""
    return [list(rows) for rows in sv.reconstruct(release, draws=2, seed=3).rows]


DRAWS: dict[str, Callable[[], Any]] = {
    **{
        f"{size} items of {name}": partial(queries, made, size)
        for size in (1, 2, 3)
        for name, made in (("few", few), ("many", many))
    },
    "queries among some items": lambda: random_queries(few(), 20, 2, 3, few().supports() < 14),
    "frequent queries": lambda: frequent_queries(few(), 2, 3, number=5, seed=3),
    "sample of rows": lambda: list(draw_rows(few(), 20, 3)),
    "sample of a study, a share": lambda: list(drawn_rows(few(), 0.8, 3)),
    "sample of a study, with repeats": lambda: list(draw_rows_again(few(), 3)),
    "sensitive items": lambda: items_of("privacy-degree", few(), p=3, sensitive_random=2),
    "private items": lambda: items_of("coherence", few(), h="0.5", k=2, p=2, private_share="0.2"),
    "group-by queries": lambda: random_group_bys(published_groups(), 2, 10, 3),
    "frequent group-by queries": lambda: random_group_bys(published_groups(), 2, 10, 3, frequent=True),
    "queries of tables": lambda: random_table_queries(ages(), 5, 3),
    "hierarchy": lambda: [
        int(node) for node in sv.Hierarchy.balanced(few(), 3, common=1, order="random", seed=3).parent
    ],
    "published rows": lambda: list(release(few()).published),
    "numbers of published rows": lambda: list(map(int, draw_keys(3, 2, 5))),
    "rows of an attacker": lambda: list(map(int, row_words(3, 2, 1)[:20])),
    "risk, drawn": lambda: dict(sv.risk(many(), m=[2, 3], effort=50, seed=3)),
    "attack": lambda: dict(attacked()),
    "rows drawn again": lambda: drawn_again(release(few())),
    "rows of groups drawn again": lambda: drawn_again(in_groups()),
    "rows of chunks drawn again": lambda: drawn_again(sv.anonymize(few(), sv.Disassociated(3, 2), seed=3)),
    "rows of classes drawn again": lambda: drawn_again(
        sv.anonymize(few(), k=3, m=2, hierarchy=tree(few()), algorithm="classes", seed=3)
    ),
    "policy of pairs": lambda: policies.pairs_of_some_items(many(), "PP3", 3),
    "policy of sizes": lambda: policies.itemsets_of_varying_size(many(), "PP8", 20, 3),
    "demo": lambda: list(grocery_sample(50, 3)[0]),
    "demo of a ward": lambda: ward_sample(50, 3),
    "demo of a log": lambda: log_sample(50, 3),
}  # fmt: skip


def digest(name: str) -> str:
    """Hash the result of a draw; use six digits of non-integers, which no platform changes."""
    text = re.sub(r"\d+\.\d+(e-?\d+)?", lambda found: f"{float(found[0]):.6g}", repr(DRAWS[name]()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kept() -> dict[str, str]:
    lines = [line.split("  ", 1) for line in KEPT.read_text("utf-8").splitlines()]
    return {name: found for found, name in lines}


def test_every_draw_is_kept() -> None:
    assert list(kept()) == list(DRAWS)


@pytest.mark.parametrize("name", DRAWS)
def test_draw(name: str) -> None:
    assert digest(name) == kept()[name], f"{name}: another draw than before"


if __name__ == "__main__":
    KEPT.write_text("".join(f"{digest(name)}  {name}\n" for name in DRAWS), "utf-8")
