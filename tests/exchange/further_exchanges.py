"""Exchanges under further options of the search, and of codes that a given hierarchy lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import setveil as sv
from exchanges import (
    NEW,
    Made,
    Rows,
    Trial,
    by_items,
    exchanged,
    goods,
    random_rows,
    supports,
    whole,
    writing,
    written,
)

MORE: dict[str, list[dict[str, Any]]] = {
    "exact": [
        {"objective": "ncp"}, {"objective": "lm", "max_suppressed": "30%"}, {"objective": "items"},
        {"objective": "entropy"}, {"objective": "entropy-max", "suppress_below": 4},
    ],
    "aa": [{"refine": False}, {"suppress_below": 4}],
    "da": [{"refine": False}, {"suppress_below": 4}],
    "oa": [{"refine": True}, {"suppress_below": 4}],
    "lra": [{"inner": "exact"}, {"suppress_below": 4}],
    "vpa": [{"suppress_below": 4}],
    "hghs": [{"suppress_below": 4}],
    "classes": [{"objective": "lm", "class_size": 16}],
}  # fmt: skip


def options_trial(rng: Random, algorithm: str, hierarchy: str) -> Trial | None:
    """Draw rows, further options of an algorithm and an exchange."""
    k, some = rng.randint(2, 4), goods(rng)
    rows, options = random_rows(rng, some, k), writing(rng, formats=algorithm != "classes")
    options.pop("checker", None)
    has_hierarchy = hierarchy == "given"
    tree = some.tree() if has_hierarchy else None
    guarantee = sv.KmAnonymity(k=k, m=rng.randint(1, 2))
    config = {"algorithm": algorithm, "hierarchy": tree, "seed": rng.randint(0, 9)} | rng.choice(
        MORE[algorithm]
    )
    if algorithm == "exact" and has_hierarchy:
        config |= rng.choice(({}, {"weights": {some.frequent[0]: 3}}, {"keep": [some.frequent[1]]}))

    def publish(data: Rows, folder: Path) -> Made:
        release = sv.anonymize(data, guarantee, **config)
        return written(release, folder, whole if has_hierarchy else by_items(data), **options)

    found = exchanged(
        rng,
        rows,
        k,
        some.unused if has_hierarchy else [*some.unused, *NEW],
        some.parents if has_hierarchy else None,
    )
    if found is None:
        return None
    after, old, new = found
    return Trial(f"{algorithm} {hierarchy}", publish, rows, after, old, new, f"k={k} {options} {config}")


CODES = [f"E1{group}.{code}" for group in range(3) for code in range(2)]
LISTED = [f"E1{group}.9" for group in range(3)]
LACKING = [f"E1{group}.{code}" for group in range(3) for code in ("77", "5 Hans", "88")]


def placed_trial(rng: Random, algorithm: str) -> Trial | None:
    """Draw rows with codes that their hierarchy lacks, and exchange one, or a listed one, in a row.

    Some code is lacking before and after: whether any is, a reader does see.
    """
    k = rng.randint(2, 4)
    tree = sv.Hierarchy.from_paths([[code, code[:3], code[:2], "*"] for code in (*CODES, *LISTED, "A00.0")])
    rows = [sorted(set(rng.choices(CODES, k=rng.randint(1, 3)))) for _ in range(rng.randint(12 * k, 20 * k))]
    for code in (*rng.sample(LACKING, 4), *LISTED[:2]):
        for at in rng.sample(range(len(rows)), rng.randint(1, k - 1)):
            rows[at] = sorted({*rows[at], code})
    options = writing(rng, formats=algorithm != "classes")
    options.pop("checker", None)
    config: dict[str, Any] = {"class_size": 4 * k} if algorithm == "classes" else {}
    guarantee = sv.KmAnonymity(k=k, m=rng.randint(1, 2))

    def publish(data: Rows, folder: Path) -> Made:
        release = sv.anonymize(data, guarantee, algorithm=algorithm, hierarchy=tree, **config)
        return written(release, folder, **options)

    image = {code: code[:3] for code in (*CODES, *LISTED, *LACKING)}
    found = exchanged(rng, rows, k, [*LISTED, *LACKING], image)
    if found is None:
        return None
    after, old, new = found
    if not all(supports(data).keys() & {*LACKING} for data in (rows, after)):
        return None
    return Trial(f"placed {algorithm}", publish, rows, after, old, new, f"k={k} {options}")


def further_kinds() -> dict[str, Callable[[Random], Trial | None]]:
    """List these kinds of exchanges, with what draws a trial of each."""

    def drawing(make: Callable[..., Trial | None], *kind: str) -> Callable[[Random], Trial | None]:
        return lambda rng: make(rng, *kind)

    options = {
        f"options: {name} {hierarchy}": drawing(options_trial, name, hierarchy)
        for name in MORE
        for hierarchy in ("given", "computed")
    }
    placed = ("aa", "da", "exact", "lra", "vpa", "hghs", "classes")
    return options | {f"placed: {name}": drawing(placed_trial, name) for name in placed}
