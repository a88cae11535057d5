"""Methods compared draw by draw: which differences are more than chance, and words for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from setveil.base.wording import count
from setveil.judges.utility import Compared
from setveil.report.compare.columns import SAMPLE
from setveil.report.compare.fronts import rounded
from setveil.report.compare.repeats import LEAST, LEVEL, holm, signed_rank
from setveil.report.compare.table import (
    Family,
    Middle,
    Row,
    Setting,
    conditions,
    distinct,
    grouped,
    middle,
    setting_text,
    varying,
)
from setveil.report.words import and_list, percent

METHOD = (
    "A 95% interval of a median reaches from one of the values to another, in order, so chosen by the "
    f"binomial distribution that it contains the median with at least 95% (from {LEAST} repetitions on). "
    "Methods are compared draw by draw: Wilcoxon's signed-rank test, exact and two-sided, adjusted (Holm) "
    "for all pairs of methods with the same data and setting. Both are about further draws from these data, "
    "not about other data."
)
_SURE = 1 - LEVEL


@dataclass(frozen=True)
class Pair:
    """Two methods with the same data and guarantee, compared draw by draw."""

    data: str
    model: str
    setting: str
    # a: the method with the lesser median difference to the other, b
    a: str
    b: str
    repeats: int  # draws for which both made a release
    less: int  # of them, those at which a had the lesser value
    equal: int
    difference: Middle  # of b less a
    p: float  # of Wilcoxon's signed-rank test
    adjusted: float = 1.0  # the same, adjusted for all pairs

    @property
    def sure(self) -> bool:
        """Return whether the difference is more than chance."""
        return self.adjusted <= _SURE


def pairs_of(family: Family, what: Compared, data: str) -> dict[Setting, list[Pair]]:
    """Compare methods on a data set, by values of their guarantee's parameters, where draws differ."""
    names = ["model", *conditions(family.rows)]
    shown = varying(family.rows, names[1:])
    rows = [row for row in family.done if row["data"] == data and what.of(row) is not None]
    out: dict[Setting, list[Pair]] = {}
    for setting, part in grouped(rows, lambda row: tuple(row.get(name) for name in names)):
        values: dict[str, dict[Any, float]] = {}
        for row in part:
            value = what.of(row)
            if value is not None:
                values.setdefault(row["method"], {})[row.get("seed")] = rounded(value)
        text = setting_text(shown, tuple(part[0].get(name) for name in shown))
        pairs = [
            pair
            for a, b in combinations(values, 2)
            if (pair := _pair((data, setting[0], text), (a, values[a]), (b, values[b]))) is not None
        ]
        adjusted = holm([pair.p for pair in pairs])
        if pairs:
            out[setting] = [replace(pair, adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]
    return out


def _pair(
    where: tuple[str, str, str], a: tuple[str, dict[Any, float]], b: tuple[str, dict[Any, float]]
) -> Pair | None:
    common = [seed for seed in a[1] if seed in b[1]]
    first, second = ([one[1][seed] for seed in common] for one in (a, b))
    if len(set(first)) < 2 and len(set(second)) < 2:
        return None
    differences = [rounded(y - x) for x, y in zip(first, second, strict=True)]
    found = middle(differences)
    if found.value < 0 or (found.value == 0 and sum(map(_sign, differences)) < 0):
        return _pair(where, b, a)
    return Pair(
        *where, a[0], b[0], len(common), sum(value > 0 for value in differences),
        sum(value == 0 for value in differences), found, signed_rank(differences),
    )  # fmt: skip


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def every_pair(family: Family, measures: Iterable[Compared]) -> Iterator[tuple[Compared, Pair]]:
    """List all pairs of a family, measure by measure."""
    for what in measures:
        for data in family.data:
            for pairs in pairs_of(family, what, data).values():
                yield from ((what, pair) for pair in pairs)


def drawn_text(rows: Sequence[Row]) -> str:
    """Say what is drawn again in each repetition: "20 draws of 80% of the rows"; empty where nothing is."""
    seeds = len({row.get("seed") for row in rows})
    if seeds < 2:
        return ""
    samples = distinct(row.get(SAMPLE) for row in rows)
    if len(samples) > 1:
        return f"up to {count(seeds, 'repetition')}"
    if samples[0] is None:
        return count(seeds, "seed")
    if isinstance(samples[0], str):
        return f"{count(seeds, 'bootstrap')} of the rows"
    return f"{count(seeds, 'draw')} of {percent(samples[0])} of the rows"


def are_drawn(rows: Sequence[Row]) -> bool:
    """Return whether runs are repeated on rows that are drawn again."""
    return bool(drawn_text(rows)) and any(row.get(SAMPLE) is not None for row in rows)


def repetitions(rows: Sequence[Row]) -> list[str]:
    """Say what was repeated, and what that tells; nothing where nothing was."""
    drawn = drawn_text(rows)
    if not drawn:
        return []
    samples = distinct(row.get(SAMPLE) for row in rows)
    only = " The rows are the same each time: only queries and random items are drawn again."
    text = (
        f"{drawn[:1].upper()}{drawn[1:]}. Tables and figures show medians; equal guarantees are compared "
        "by draw, so that each draw counts."
    )
    return [text + (only if samples == [None] else "")]


def spread_notes(rows: Sequence[Row]) -> list[str]:
    """Say what stands below the medians of a table; nothing where nothing was repeated."""
    drawn = drawn_text(rows)
    if not drawn:
        return []
    return [f"medians of {drawn}, with {beside_median(rows)} where these differ"]


def spread_caption(rows: Sequence[Row]) -> list[str]:
    """Say what bands and whiskers are; nothing where nothing was repeated."""
    drawn = drawn_text(rows)
    if not drawn:
        return []
    reach = "from the least to the greatest"
    if len({row.get("seed") for row in rows}) < LEAST:
        return [f"Medians of up to {drawn}, with a band and whiskers {reach}."]
    return [f"Medians of up to {drawn}; bands: their 95% intervals; whiskers: {reach}."]


def beside_median(rows: Sequence[Row]) -> str:
    """Say what is next to the median of repetitions."""
    if len({row.get("seed") for row in rows}) < LEAST:
        return "the least and the greatest"
    return "their 95% intervals"


def central(found: dict[Setting, list[Pair]]) -> list[Pair]:
    """Choose the setting with most pairs, of these the most central one."""
    most = max(map(len, found.values()), default=0)
    fullest = [pairs for pairs in found.values() if len(pairs) == most]
    return fullest[(len(fullest) - 1) // 2] if fullest else []


def beyond_chance(family: Family, what: Compared, data: str) -> str:
    """Say which differences in a loss are more than chance on a data set; empty where nothing is tested."""
    found = pairs_of(family, what, data)
    pairs = central(found)
    if not pairs:
        return ""
    rows = [row for row in family.done if row["data"] == data]
    names = distinct(name for pair in pairs for name in (pair.a, pair.b))
    beaten = {name: {pair.b for pair in pairs if pair.a == name and pair.sure} for name in names}
    best = max(names, key=lambda name: len(beaten[name]))
    at = f" at {pairs[0].setting}" if pairs[0].setting else ""
    where = f"{drawn_text(rows)}{at}"
    if not beaten[best]:
        return f"Over {where}, no difference in {what.axis} is more than chance."
    others = and_list([name for name in names if name in beaten[best]])
    worst = max(pair.adjusted for pair in pairs if pair.a == best and pair.sure)
    text = f"Over {where}, {best} has less {what.axis} than {others} beyond chance (p {p_text(worst)})"
    open_ = [name for name in names if name != best and name not in beaten[best]]
    return f"{text}; the difference to {and_list(open_)} may be chance." if open_ else f"{text}."


def p_text(p: float) -> str:
    """Write a p-value after the letter.

    >>> p_text(0.00001), p_text(0.0312), p_text(0.3), p_text(1.0)
    ('< 0.0001', '= 0.031', '= 0.30', '= 1')
    """
    if p < 1e-4:
        return "< 0.0001"
    return "= 1" if p > 0.995 else f"= {p:.2g}" if p < 0.1 else f"= {p:.2f}"


def signed(value: float) -> str:
    """Write a difference with its sign.

    >>> signed(0.01234), signed(-3.0), signed(0.0), signed(0.0000368)
    ('+0.0123', '\u22123', '0', '+0.0000368')
    """
    if value == 0:
        return "0"
    size = abs(value)
    shown = f"{size:,.0f}" if size >= 1000 else f"{size:.3g}" if size >= 1e-4 else f"{size:.7f}".rstrip("0")
    return ("+" if value > 0 else "\u2212") + shown
