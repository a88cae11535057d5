"""Loss against risk by comparing every pair; imports nothing from setveil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Point = tuple[float, float]


def meets(a: Point, b: Point) -> bool:
    return a[0] <= b[0] and a[1] <= b[1]


def betters(a: Point, b: Point) -> bool:
    return meets(a, b) and a != b


def front(points: Sequence[Point]) -> set[int]:
    return {i for i, p in enumerate(points) if not any(betters(q, p) for q in points)}


def met(by: Sequence[Point], points: Sequence[Point]) -> tuple[int, int]:
    return (
        sum(any(meets(a, b) for a in by) for b in points),
        sum(any(betters(a, b) for a in by) for b in points),
    )


def least(losses: Sequence[Mapping[str, float]], method: str) -> tuple[int, int, int]:
    """Guarantees compared, least alone, least shared."""
    compared = alone = shared = 0
    for made in losses:
        if method not in made or len(made) == 1:
            continue
        compared += 1
        others = [loss for name, loss in made.items() if name != method]
        alone += all(made[method] < loss for loss in others)
        shared += all(made[method] <= loss for loss in others) and made[method] in others
    return compared, alone, shared
