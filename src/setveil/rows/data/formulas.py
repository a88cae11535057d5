"""Labels that a spreadsheet takes for formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable

from setveil.base.wording import count

_FORMULA = re.compile(r"(?!-[0-9]+(?:\.[0-9]+)?$)[-=+@]")  # a negative number stays what it is


def formula_note(labels: Iterable[str]) -> str:
    """Say how many labels a spreadsheet may take for formulas; nothing if there are none.

    >>> formula_note(["tea", "-18"])
    ''
    >>> formula_note(["tea", "=1+1", "-x", "-18"]).partition(". ")[0]
    '2 labels begin with = + - or @'
    """
    found = sum(_FORMULA.match(label) is not None for label in labels)
    if not found:
        return ""
    begin, them = ("begins", "it for a formula") if found == 1 else ("begin", "them for formulas")
    return (
        f"{count(found, 'label')} {begin} with = + - or @. A spreadsheet may take {them} when it opens a "
        "release; labels are published as they are."
    )
