"""The effect of points that papers do not settle, or print differently, on small random instances.

    python benchmarks/variants.py [--instances 3000]

Uses the second implementations in tests/naive, which are written from the papers alone, once with each point
as setveil settles it and once without. For each variant, prints the number of instances whose result differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from naive import anonymize, coat, coherence

ITEMS = "abcdef"
Rows = list[frozenset[str]]


def rows_of(draw: random.Random, items: str = ITEMS) -> Rows:
    """Draw 6 to 14 rows, some items more frequent than others."""
    shares = [draw.choice((0.2, 0.4, 0.7)) for _ in items]
    drawn = [
        frozenset(item for item, share in zip(items, shares, strict=True) if draw.random() < share)
        for _ in range(draw.randint(6, 14))
    ]
    return drawn if any(drawn) else [frozenset(items[0]), *drawn[1:]]


def ties_of_aa(draw: random.Random) -> bool | None:
    """Return whether the cut of AA differs if ties are settled the other way."""
    drawn, k, m = rows_of(draw), draw.randint(2, 4), draw.randint(1, 3)
    if sum(map(bool, drawn)) < k:
        return None
    shape = draw.sample(ITEMS, len(ITEMS))
    tree: dict[str, str | None] = {item: f"g{at // 2}" for at, item in enumerate(shape)}
    tree |= {"g0": "h", "g1": "h", "g2": "root", "h": "root", "root": None}
    return anonymize.aa(drawn, tree, k, m) != anonymize.aa(drawn, tree, k, m, last=True)


def stalls_of_coat(draw: random.Random) -> bool | None:
    """Return whether COAT stalls as printed."""
    drawn, k = rows_of(draw), draw.randint(2, 4)
    items = sorted(ITEMS)
    sizes = [draw.randint(1, 3) for _ in range(draw.randint(1, 4))]
    privacy = [tuple(sorted(draw.sample(items, size))) for size in sizes]
    shuffled = draw.sample(items, len(items))
    ends = sorted(draw.sample(range(1, len(items)), draw.randint(0, 3)))
    utility = [shuffled[a:b] for a, b in zip([0, *ends], [*ends, len(items)], strict=True)]
    try:
        coat.coat(drawn, items, privacy, utility, k, printed=True)
    except coat.StalledError:
        return True
    return False


def to_make_coherent(draw: random.Random) -> tuple[Rows, Fraction, int, int]:
    """Draw rows with private items s and t, and h, k and p."""
    drawn, k = rows_of(draw, "abcde" + "st"), draw.randint(2, 3)
    return drawn, Fraction(draw.choice((2, 3, 4)), 5), k, draw.randint(1, 3)


def impossible(drawn: Rows, h: Fraction, k: int) -> bool:
    """Return whether no suppression makes the rows coherent."""
    return len(drawn) < k or coherence.breach(drawn, "st", ()) > h


def equal_weights_of_mm(draw: random.Random) -> bool | None:
    """Return whether MM suppresses more occurrences if all items weigh the same."""
    drawn, h, k, p = to_make_coherent(draw)
    if impossible(drawn, h, k):
        return None
    lost = [
        sum(coherence.support(drawn, {item}) for item, _ in coherence.mm(drawn, "st", h, k, p, equal=equal))
        for equal in (False, True)
    ]
    return lost[1] > lost[0]


def observation_of_border(draw: random.Random) -> bool | None:
    """Return whether border suppresses more occurrences with Observation 2 as printed."""
    drawn, h, k, p = to_make_coherent(draw)
    k_nugget, p_nugget = draw.randint(1, 5), draw.choice((2, 3, float("inf")))
    if impossible(drawn, h, k):
        return None
    lost = [
        sum(coherence.support(drawn, {item}) for item, _ in coherence.border(
            drawn, "st", h, k, p, k_nugget, p_nugget, printed=printed
        ))
        for printed in (False, True)
    ]  # fmt: skip
    return lost[1] > lost[0]


def counted(variant: Callable[[random.Random], bool | None], instances: int) -> tuple[int, int]:
    """Count the instances in which a variant differs, and those that can be solved."""
    found = [answer for answer in _answers(variant, instances) if answer is not None]
    return sum(found), len(found)


def _answers(variant: Callable[[random.Random], bool | None], instances: int) -> Iterator[bool | None]:
    for seed in range(instances):
        yield variant(random.Random(seed))  # noqa: S311


def main() -> None:
    """Print a line for each variant."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instances", type=int, default=3000)
    instances = options.parse_args().instances
    print("variant differs of")
    for name, variant in (
        ("aa-ties", ties_of_aa), ("coat-printed", stalls_of_coat),
        ("border-printed", observation_of_border), ("mm-equal", equal_weights_of_mm),
    ):  # fmt: skip
        print(name, *counted(variant, instances), flush=True)


if __name__ == "__main__":
    main()
