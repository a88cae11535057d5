"""What a system of codes is, and what is read of a code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Path = tuple[str, ...]
"""The groups of a code, the widest first, and the code itself last, as its system writes them."""


class NotPlacedError(ValueError):
    """A text that is no code of a system; the message is the reason, the same for all texts of its kind."""


@dataclass(frozen=True)
class System:
    """How the codes of a system are read."""

    name: str  # as users name it
    title: str
    form: str  # some codes as they may be written
    mark: re.Pattern[str]  # what may stand before a code and names its system; of capital letters
    place: Callable[[str], Path]  # reads a code in capitals that has all its zeros; or NotPlacedError
    # Of codes of digits that may begin with a zero: how many stand before the dot, and how many there are.
    whole: int = 0
    longest: int = 0
    spaced: bool = False  # whether codes are printed with blanks inside them

    def code(self, text: str) -> str:
        """Read a code, and write it as its system does."""
        return self.place(text)[-1]

    @property
    def loses_zeros(self) -> bool:
        """Whether a code of digits may begin with a zero, which a spreadsheet drops."""
        return self.longest > 0


def growing(parts: tuple[str | None, ...], before: tuple[str, ...] = ("",)) -> Path:
    """Join the parts of a code step by step: its prefixes and itself.

    `before`: the text before each part; the last one before all others.

    >>> growing(("01", "1", "2", None), ("", "."))
    ('01', '01.1', '01.1.2')
    """
    path: list[str] = []
    for i, part in enumerate(parts):
        if part:
            path.append((path[-1] if path else "") + before[min(i, len(before) - 1)] + part)
    return tuple(path)
