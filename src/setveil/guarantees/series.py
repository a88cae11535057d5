"""(k, m)-series: k^m-anonymity of several releases about the same people, anyone who links their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from setveil.values.kinds import integer

Known = Literal["histories", "facts"]
Presence = Literal["implied", "known", "ignored"]


@dataclass(frozen=True)
class SeriesAnonymity:
    """For every person and at most m of her known items, at least k people show all of their tokens.

    Parameters
    ----------
    k : int
        At least 2.
    m : int
        At least 1.
    known : {"histories", "facts"}
        What one known item is: all releases in which she has it, or one of them.
    presence : {"implied", "known", "ignored"}
        Whether a known item tells that she is in its releases, or that is known without an item, or neither.
    """

    k: int
    m: int = 2
    known: Known = "histories"
    presence: Presence = "implied"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, 2))
        object.__setattr__(self, "m", integer("m", self.m, 1))
