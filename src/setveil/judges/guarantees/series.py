"""(k, m)-series: k^m-anonymity of several releases about the same people, anyone who links their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from setveil.base.values.kinds import integer

Known = Literal["histories", "facts"]
Presence = Literal["implied", "known", "ignored"]


@dataclass(frozen=True)
class SeriesAnonymity:
    """For every person and at most m of their known items, at least k people show all of their tokens."""

    k: int  # at least 2
    m: int = 2  # at least 1
    known: Known = "histories"  # one known item is all releases in which the person has it, or one of them
    # known items imply presence in their releases, presence is known without an item, or neither
    presence: Presence = "implied"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, 2))
        object.__setattr__(self, "m", integer("m", self.m, 1))
