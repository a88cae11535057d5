"""The command ``trace``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import ANSWER, OUTPUT, Force, argument, integer, option
from setveil.cli.session import Answer


def trace(
    progress: Any,
    file: Path = argument("FILE", "What anonymize --trace wrote."),
    *,
    out: Path | None = option(OUTPUT, "Page to write (default: FILE with the ending .html).", "FILE", "-o"),
    force: Force = False,
    show: int = integer(ANSWER, "How many steps to list.", 0, default=20),
) -> Answer:
    """Draw the steps of a search: what was violated, the candidates with their costs, the choice.

    $ setveil anonymize baskets.csv -H tree.csv --k 5 --m 2 -a aa -o out --trace aa.jsonl
    $ setveil trace aa.jsonl
    """
    from setveil.cli.files import require_page
    from setveil.commands.trace import trace as draw
    from setveil.report.trace import trace_text

    place = file.with_suffix(".html") if out is None else out
    require_page(place, "trace.html", force)
    progress("drawing")
    found = draw(file, out=place)
    steps = found.pop("steps")
    text = trace_text(found, steps, show)
    return Answer({**found, "steps": steps}, f"{text}\nPage       {place}")
