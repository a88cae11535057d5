"""The command ``risk``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from setveil.base.errors import RequestError
from setveil.cli.bundles import Reading, bundled, source_of
from setveil.cli.engines import MEMORY, PARTS, LookingEngine
from setveil.cli.facts import ReadFacts, facts_of
from setveil.cli.help import ATTACKER, GENERAL, READING
from setveil.cli.options import argument, choice, integer, option
from setveil.cli.readers import TableReader, reader_like
from setveil.cli.recorded import as_the_run_did
from setveil.cli.session import Answer
from setveil.cli.tables import AttackedColumns
from setveil.judges.guarantees import ABSENCES
from setveil.runs.options.columns import Columns as Words
from setveil.runs.options.facts import FactOptions as FactWords
from setveil.runs.options.reading import DETECTED
from setveil.runs.options.reading import Reading as ReadingOptions

_MOST_SIZES = 100


@dataclass(frozen=True)
class AttackerOptions:
    """Options on what an attacker knows."""

    m: str | None = option(ATTACKER, "Assume this many known items: 2, 1..4 or 1,3.", "SIZES", "-m")
    private: str | None = option(
        ATTACKER, "Count what is revealed about these items: a file or list.",
        "ITEMS", "--private", "--sensitive",
    )  # fmt: skip
    fraction: str | None = option(
        ATTACKER, "Estimate how often a match is right in this share of a population.",
        "SHARE", "--fraction",
    )  # fmt: skip
    population: str | None = option(
        ATTACKER, "Count matches in this file of the whole population.", "FILE", "--population"
    )
    absent: int | None = integer(ATTACKER, "Assume that one absent item is known, too: 1.", 1, brief=None)
    absence: str | None = choice(
        ATTACKER, "Choose what an absent item excludes", "absence", ABSENCES, brief=None
    )


def risk(
    progress: Any,
    data: list[str] | None = argument(
        "DATA", "Read these files of rows, a run's folder, published/, or -.", default=None
    ),
    *,
    attacker: Annotated[AttackerOptions, bundled(AttackerOptions)],
    original: str | None = option(READING, "Also show the file that DATA was made from.", "FILE"),
    effort: int | None = integer(
        GENERAL, "Sample rows if counting takes more (default: 1,000,000,000).",
        1, metavar="STEPS", brief=None),
    seed: int = integer(GENERAL, "Draw sampled rows and intervals by this seed.", 0, default=0, brief=None),
    columns: AttackedColumns,
    facts: ReadFacts,
    reading: Reading,
    engine: LookingEngine = MEMORY,
) -> Answer:  # fmt: skip
    """Count rows that match someone with a few known items.

    With --original, the options of the input are for the original, otherwise for DATA.

    $ setveil risk baskets.csv
    $ setveil risk release --original baskets.csv --m 1..3
    $ setveil risk baskets.csv --fraction 5%
    $ setveil risk patients.csv --qi age,sex --set codes --m 1..2
    $ setveil risk log.csv --id-column id --set dx --when on:day
    """
    how = reading if original is None else DETECTED
    source = source_of(data, how, "DATA")
    if original is not None and isinstance(source, str):
        reading, columns, facts = as_the_run_did(source, [original], reading, columns, facts)
    if engine == PARTS:
        from setveil.cli.in_parts import risk as risk_of

        sizes = None if attacker.m is None else parse_sizes(attacker.m)
        unused = {
            "--fraction": attacker.fraction, "--population": attacker.population,
            "--absent": attacker.absent, "--private": attacker.private, "--effort": effort,
            "--seed": seed, "--qi or --set": columns.explicit_options,
            ", ".join(facts.explicit_options): bool(facts.explicit_options),
        }  # fmt: skip
        return _answer(risk_of(source, original, reading, sizes, unused, progress))
    from setveil.commands.risk import all_listed, attacked, counts_of, meaning_beside, share_of
    from setveil.releases.published import kind_named

    columns_known = columns.explicit_options or (
        isinstance(source, str) and kind_named("tables").holds(Path(source))
    )
    sizes = None if attacker.m is None else parse_sizes(attacker.m, least=0 if columns_known else 1)
    progress("reading")
    _require_room(source, original)
    share = share_of(attacker.fraction)
    everybody = None if attacker.population is None else _population(attacker.population, reading)
    file, absent = source if isinstance(source, str) else None, attacker.absent
    about = meaning_beside(file) if file is not None and (absent or not original) else None
    found = attacked(
        *_both(source, original, columns, facts, reading), attacker.private, encoding=reading.text_encoding,
        sizes=sizes, seed=seed, effort=effort, progress=progress, fraction=share, population=everybody,
        about=about, listed=None if everybody is None else all_listed(source, about),
        absent=(absent, attacker.absence, counts_of(file) if absent and file is not None else None),
    )  # fmt: skip
    return _answer(list(found.items()))


def _answer(sides: Any) -> Answer:
    """Answer with what is found in DATA, and in the original if there is one."""
    from setveil.report.risk import risk_text

    return Answer(dict(sides) if len(sides) > 1 else sides[0][1], risk_text(sides))


def _both(
    source: Any, original: str | None, columns: Words, facts: FactWords, reading: Reading
) -> tuple[Any, Any]:
    """Read the rows, and those that they were made from, if these are named."""
    from setveil.cli.files import read_as, read_rows
    from setveil.releases.published import kind_at

    read = facts_of(source if original is None else original, facts, columns, reading)
    if original is None and read is None and columns.explicit_options:
        read = TableReader(columns, reading, None).read(source)[0]
    if original is None and read is not None:
        return read, None
    how = reading if original is None else DETECTED
    published = (
        kind_at(source).read(source, read_as, **how.explicit_options())
        if isinstance(source, str)
        else read_rows(source, how)
    )
    if original is not None and read is None:
        reader = reader_like(published.kind, columns, reading, None)
        reader.require_promised(None, None)
        read = reader.read(original)[0]
    return published, read


def _population(file: str, reading: ReadingOptions) -> Any:
    """Read the rows of a population, as the data are read."""
    from setveil.cli.files import read_rows
    from setveil.runs.options.decode import require_file

    require_file(Path(file))
    return read_rows(file, reading)


def _require_room(source: Any, original: str | None) -> None:
    """Refuse rows that cannot fit in memory, by what the footers of their files say."""
    from setveil.cli.files import require_room
    from setveil.releases.published import kind_at, kind_named
    from setveil.releases.published.about import published_file

    named = [original] if original is not None else []
    if not isinstance(source, str):
        named += source
    elif kind_at(source) is kind_named("rows"):
        named.append(str(published_file(Path(source))))
    for path in named:
        require_room(path, lambda: "--engine parts reads them a piece at a time.")


def parse_sizes(text: str, least: int = 1) -> tuple[int, ...]:
    """Read numbers of items: ``2``, ``1..4``, ``1,3`` or any of these with commas between them.

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
