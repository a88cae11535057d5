"""Numbers with decimal commas: ``4,12`` and ``1.000,50``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_COMMA = re.compile(r"[+-]?(?:[0-9]+|[0-9]{1,3}(?:[. \u00a0\u202f'][0-9]{3})+)(?:,([0-9]+))?", re.ASCII)
_GROUPS = re.compile(r"[. \u00a0\u202f']")


def with_points(texts: Sequence[str], decimal: str | None, missing: Collection[str] = ("",)) -> list[str]:
    """Write numbers with decimal commas as Python does, with a point.

    Without `decimal`, the sign is a comma if all values are such numbers, one has a comma, and some comma is
    not followed by exactly three digits: otherwise they may be thousands.

    >>> with_points(["4,12", "1.000,50", "3"], None)
    ['4.12', '1000.50', '3']
    >>> with_points(["4,123", "12"], None), with_points(["4,123", "1.5"], ",")
    (['4,123', '12'], ['4.123', '1.5'])
    """
    if decimal == "." or (decimal is None and not have_commas(texts, missing)):
        return list(texts)
    return [_with_point(text) if text not in missing else text for text in texts]


def have_commas(texts: Sequence[str], missing: Collection[str] = ("",)) -> bool:
    """Return whether all values are numbers with decimal commas, or whole ones among these."""
    found = [_COMMA.fullmatch(text.strip(" \t")) for text in texts if text not in missing]
    if not found or not all(found):
        return False
    ends = [one[1] for one in found if one is not None and one[1]]
    return any(len(end) != 3 for end in ends)


def _with_point(text: str) -> str:
    bare = text.strip(" \t")
    if _COMMA.fullmatch(bare):
        return _GROUPS.sub("", bare).replace(",", ".")
    return text
