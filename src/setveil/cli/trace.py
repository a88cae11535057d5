"""The command ``trace``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.help import ANSWER, OUTPUT
from setveil.cli.options import Force, argument, integer, option
from setveil.cli.session import Answer


def trace(
    progress: Any,
    file: Path = argument("FILE", "Read this file of anonymize --trace."),
    *,
    out: Path | None = option(OUTPUT, "Write this page (default: FILE with the ending .html).", "FILE", "-o"),
    force: Force = False,
    show: int = integer(ANSWER, "List at most N steps.", 0, default=20),
) -> Answer:
    """Draw the steps of a search.

    A step shows what was violated, the candidates with their costs, and the choice.

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
