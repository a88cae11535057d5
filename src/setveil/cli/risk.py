"""The command ``risk``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from setveil.cli.engines import MEMORY, PARTS, LookingEngine
from setveil.cli.options import (
    ATTACKER,
    GENERAL,
    READING,
    Json,
    Reading,
    argument,
    integer,
    option,
    source_of,
)
from setveil.cli.session import answer, answer_json, run
from setveil.cli.tables import AttackedColumns, read_table, require_tables
from setveil.errors import RequestError
from setveil.options.reading import DETECTED

_MOST_SIZES = 100

EXAMPLES = """Examples:

$ setveil risk baskets.csv

$ setveil risk release --original baskets.csv --m 1..3

$ setveil risk patients.csv --qi age,sex --set diagnoses --m 1..2"""


def risk(
    data: list[str] | None = argument(
        "DATA", "Files of rows, a run's folder, its published/, or - .", default=None
    ),
    m: str | None = option(
        ATTACKER,
        "Items of a person that somebody knows: 2, 1..4 or 1,3 (default 1..4, of a table 0..3).",
        "SIZES",
        "-m",
    ),
    private: str | None = option(
        ATTACKER,
        "Items that nobody knows and that must not be learned: a file or a list.",
        "ITEMS",
        "--private",
        "--sensitive",
    ),
    original: str | None = option(READING, "The file that DATA was made from: shows both.", "FILE"),
    effort: int | None = integer(
        GENERAL,
        "Items that a count may look at before rows are sampled instead (default 1,000,000,000).",
        1,
        metavar="STEPS",
    ),
    seed: int = integer(GENERAL, "Draws the rows that are sampled.", 0, default=0),
    *,
    columns: AttackedColumns,
    reading: Reading,
    engine: LookingEngine = MEMORY,
    json: Json = False,
) -> None:
    """Show the attacker's view: how few rows fit someone of whom a few items are known.

    With --original the options on how the input is read are for the original, else for DATA.
    """

    def attack_pieces(progress: Any) -> Any:
        from setveil.cli.in_parts import risk as risk_of

        source = source_of(data, DETECTED if original is not None else reading, "DATA")
        sizes = None if m is None else parse_sizes(m)
        unused = {"--private": private, "--effort": effort, "--seed": seed, "--qi or --set": columns.given}
        return risk_of(source, original, reading, sizes, unused, progress)

    def attack_rows(progress: Any) -> Any:
        from setveil.cli.files import read_as, read_rows
        from setveil.commands.risk import attacked
        from setveil.published import kind_at, kind_named
        from setveil.published.table_files import PublishedTable

        how = reading if original is None else DETECTED
        source = source_of(data, how, "DATA")
        is_table = isinstance(source, str) and kind_named("tables").holds(Path(source))
        sizes = None if m is None else parse_sizes(m, least=0 if is_table or columns.given else 1)
        progress("reading")
        _require_room(source, original)
        rows: Any
        if original is None and columns.given:
            rows = read_table(source, columns, reading, ())[0]
        elif isinstance(source, str):
            rows = kind_at(source).read(source, read_as, **how.given())
        else:
            rows = read_rows(source, how)
        before: Any = None
        if original is not None:
            of_table = isinstance(rows, PublishedTable)
            require_tables(columns, "the release", of_table)
            before = (
                read_table(original, columns, reading, ())[0] if of_table else read_rows(original, reading)
            )
        found = attacked(
            rows, before, private, encoding=reading.text_encoding, sizes=sizes, seed=seed, effort=effort,
            progress=progress,
        )  # fmt: skip
        return list(found.items())

    sides = run(attack_pieces if engine == PARTS else attack_rows)
    if json:
        answer_json(dict(sides) if original is not None else sides[0][1])
    else:
        from setveil.report.risk import risk_text

        answer(risk_text(sides))


def _require_room(source: Any, original: str | None) -> None:
    """Refuse rows that cannot fit in memory, by what the footers of their files say."""
    from setveil.cli.files import require_room
    from setveil.published import kind_at, kind_named
    from setveil.published.about import published_file

    named = [original] if original is not None else []
    if not isinstance(source, str):
        named += source
    elif kind_at(source) is kind_named("rows"):
        named.append(str(published_file(Path(source))))
    for path in named:
        require_room(path, lambda: "--engine parts reads them a piece at a time.")


def parse_sizes(text: str, least: int = 1) -> tuple[int, ...]:
    """Read numbers of items: ``2``, ``1..4``, ``1,3`` or any of these with commas between them.

    Parameters
    ----------
    text : str
        The numbers.
    least : int
        Fewest items that may be known: 0 where columns are known, too.

    Examples
    --------
    >>> parse_sizes("1..3,7")
    (1, 2, 3, 7)
    """
    sizes: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:\.\.\s*([0-9]{1,9})\s*)?", part, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
        if not least <= first <= last:
            raise RequestError(
                f"--m must be a number of items of at least {least}, such as 2, a range, such as 1..4, or "
                f"several with commas, got {text!r}."
            )
        if last - first >= _MOST_SIZES or len(sizes) >= _MOST_SIZES:
            raise RequestError(f"--m takes at most {_MOST_SIZES} numbers, got {text!r}.")
        sizes.update(range(first, last + 1))
    return tuple(sorted(sizes))
