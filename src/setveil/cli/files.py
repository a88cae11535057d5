"""From the arguments of a command to data, hierarchies and meanings."""

from __future__ import annotations

import csv
import io
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.errors import DataError, OutputError, RequestError, SetveilError, TableError
from setveil.base.wording import count
from setveil.cli.session import say
from setveil.releases.published.about import about_beside
from setveil.releases.published.rows import read_image
from setveil.rows.data.columns import as_field
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.sniff import sniff_content
from setveil.rows.data.io.source import gather, open_source, read_bytes
from setveil.rows.data.layout import Origin, formats_of
from setveil.rows.data.spelling import NONE, look_alikes
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.reading import DETECTED, Reading

if TYPE_CHECKING:
    from setveil.rows.data.io.streams import ListFiles, TextFiles


def read_rows(
    path: str | Sequence[str],
    reading: Reading = DETECTED,
    *,
    published: bool = False,
    spellings: bool = True,
) -> Transactions:
    """Read rows, and say how where that was detected from the content and a mistake would go unnoticed."""
    return read_rows_and_ids(path, reading, published=published, spellings=spellings)[0]


def read_rows_and_ids(
    path: str | Sequence[str],
    reading: Reading = DETECTED,
    *,
    published: bool = False,
    spellings: bool = True,
) -> tuple[Transactions, list[str] | None]:
    """Read rows as `read_rows` does, and the ID of each row; None if rows have no IDs."""
    from setveil.rows.data.io.rows import read_with_ids

    with proposing_tables(path, reading):
        data, ids = read_with_ids(path or None, **reading.explicit_options(), published=published)
    if spellings and not published:
        say_spellings(data)
    origin = data.origin
    say_notes(origin)
    if origin is not None and not origin.named and (origin.id_column is not None or published):
        name = "standard input" if origin.path == "-" else origin.path
        say(f"Reading {name}: {origin.sentence()} (if not: --format, --id-column, --item-column).")
    return data, ids


def read_fitting(
    path: str | Sequence[str], reading: Reading, tree: Hierarchy | None
) -> tuple[Transactions, Hierarchy | None]:
    """Read rows, and make them and a hierarchy fit each other."""
    if tree is None:
        return read_rows(path, reading), None
    from setveil.rows.hierarchy.fit import fit_rows

    rows = read_rows(path, reading, spellings=False)
    tree, rows = fit_rows(tree, rows)
    say_spellings(rows)
    return rows, tree


def say_notes(origin: Origin | None) -> None:
    """Say what was noticed while reading: which lines were skipped, and what represented no item."""
    for note in () if origin is None else origin.notes:
        say(f"Note: {note}")


def say_spellings(data: Transactions) -> None:
    """Say which spellings became one item, or that items differ only in their spelling."""
    merged = data.origin and data.origin.merged
    if merged and merged.how != NONE:
        say(merged.sentence())
    elif note := look_alikes(data.vocabulary.labels):
        say(f"Note: {note}")


def rows_in_parts(
    path: str | Sequence[str], reading: Reading, *, published: bool = False
) -> ListFiles | TextFiles:
    """Open the files that are read in parts, and refuse what is not."""
    from setveil.rows.data.io.streams import open_streams

    paths = [path] if isinstance(path, str) else list(path)
    options = reading.explicit_options()
    other = sorted(
        set(options) - {"format", "item_column", "separator", "encoding", "not_ids", "rows_are_events"}
    )
    if other or "-" in paths or not paths:
        what = f"--{other[0].replace('_', '-')} is" if other else "Standard input is"
        raise RequestError(
            f"{what} not read in parts, expected files of rows: Parquet lists, or text with one row a line.",
            hint="`setveil convert` makes one from other files; each must fit in memory by itself.",
        )
    return open_streams(gather(paths), **options, published=published)


def require_room(path: str | Sequence[str], hint: Callable[[], str]) -> None:
    """Refuse Parquet files whose rows cannot fit in memory, by what their footers say; `hint`: a way out."""
    from setveil.base.memory import memory_left
    from setveil.runs.memory import least_memory

    paths = [path] if isinstance(path, str) else path
    files = [file for file in gather(list(paths)) if file.endswith(".parquet") and Path(file).is_file()]
    left = memory_left()
    if left is None or 8 * sum(Path(file).stat().st_size for file in files) < left // 8:
        return
    n_rows, needed = least_memory(files)
    if needed > left:
        raise DataError(
            f"{count(n_rows, 'row')} do not fit in memory: they need at least {needed / 1e9:,.1f} GB, and "
            f"{left / 1e9:,.1f} GB are left.",
            hint=hint(),
        )


@contextmanager
def proposing_tables(path: str | Sequence[str], reading: Reading) -> Iterator[None]:
    """Propose to read a file as a table first if it may be one, and the command reads tables, too."""
    try:
        yield
    except TableError as error:
        one = path if isinstance(path, str) else next(iter(path), "") if len(path) == 1 else ""
        whose = error.columns or any("rows_are_events" in options for options, _ in error.readings)
        if whose and one and _reads_tables(reading):
            from setveil.commands.proposals import propose
            from setveil.rows.tables.how import How

            how = How(**reading.explicit_options())
            propose(error, one, how)
            error.tables = tuple(({"model": OF_TABLES, **said}, meaning) for said, meaning in error.tables)
        raise


def showing(error: SetveilError, paths: object, reading: Reading) -> str:
    """Write the command that shows the lines of a file without a proposed reading; "" if none does."""
    several = paths if isinstance(paths, list | tuple) else [paths]
    if len(several) != 1 or not several[0] or "    setveil " in error.hint or sys.argv[1:2] == ["read"]:
        return ""
    source = error.source if isinstance(error, TableError) else None
    if source is None and (several[0] == "-" or not error.message.startswith(str(several[0]))):
        return ""
    from setveil.rows.data.io.one_file import first_lines

    how = Reading(**{name: value for name, value in reading.explicit_options().items() if name in OF_FIELDS})
    try:
        first_lines(source or open_source(str(several[0])), **how.explicit_options())
    except SetveilError:
        return ""
    command = shlex.join(["setveil", "read", str(several[0]), *how.arguments(), "--show"])
    return (
        f" To see the lines:\n    {command}\n        shows the fields of the first lines, and writes nothing"
    )


def first_hierarchy(paths: Sequence[str], reading: Reading) -> str:
    """Write the commands that make a hierarchy of rows, and then run again the one that lacks it."""
    file = "hierarchy.csv"
    while Path(file).exists():
        file = f"new-{file}"
    make = shlex.join(["hierarchy", "build", *paths, *reading.arguments(), "--out", file])
    return (
        "make one of the rows, then name it:\n"
        f"    setveil {make}\n        groups items that often occur together, in a file that can be edited\n"
        f"    {command_with(f'--hierarchy {file}')}\n        publishes the release"
    )


def by_itself(paths: Sequence[str], reading: Reading, settings: Any, out: str) -> str:
    """Write the command that publishes rows without IDs by themselves, with the guarantee of a series."""
    promise = ["--k", str(settings.k), "--m", str(settings.m), "--out", out]
    command = shlex.join(["setveil", "anonymize", *paths, *reading.arguments(), *promise])
    return (
        "name the column of IDs (--id-column), or publish the rows by themselves:\n"
        f"    {command}\n        if nobody in these rows is in another release"
    )


def command_with(options: str, without: Sequence[str] = ()) -> str:
    """Complete options to the command that was called, in place of those that it had already."""
    again = {word for word in shlex.split(options) if word.startswith("--")} - _SEVERAL | {*without}
    again |= _OF_ITEMS if again & _OF_ITEMS else set()
    words: list[str] = []
    skipped = False
    for word in sys.argv[1:]:
        if skipped or word.partition("=")[0] in again:
            skipped = not skipped and "=" not in word and word not in _FLAGS
        else:
            words.append(word)
    return f"setveil {shlex.join(words)} {options}".rstrip()


def command_without(option: str) -> str:
    """Write the command that was called without an option, if that was given once; else a full stop."""
    name = f"--{option.replace('_', '-')}"
    matches = [word for word in sys.argv[1:] if word.partition("=")[0] == name]
    return f"; for example\n    {command_with('', without=(name,))}" if len(matches) == 1 else "."


def command_instead(named: str, meant: str) -> str:
    """Write the command that was called with another name in place of one; "" if it is nowhere by itself."""
    alone = re.compile(rf"(?<![^,=]){re.escape(named)}(?![^,=])")
    first, *words = sys.argv[1:]
    again = [word if word.startswith("-") else alone.sub(lambda _: as_field(meant), word) for word in words]
    return "" if again == words else f"\n    setveil {shlex.join([first, *again])}"


def _reads_tables(reading: Reading) -> bool:
    """Tell whether the command that was called would read a table, if columns had roles."""
    from setveil.rows.tables.how import OF_TEXT

    words = {word.partition("=")[0] for word in sys.argv[2:]}
    rows_only = {"--algorithm", "-a", "--model", "--engine", "--hierarchy", "--config"}
    return (
        sys.argv[1:2] == ["anonymize"]
        and not words & rows_only
        and set(reading.explicit_options()) <= OF_TEXT
    )


OF_TABLES = "kkm"  # the model that is proposed for tables
OF_FIELDS = {"encoding", "separator", "quote"}  # by which lines are split
_OF_ITEMS = {"--item-column", "--item-columns"}  # of which one is given
_SEVERAL = {"--when", "--not-ids", "--hierarchy", "--missing", "--per-person"}  # which may be repeated
_FLAGS = {"--rows-are-events", "--same-ids", "--fill-id"}


def split_format(path: str | Sequence[str], format: str | None) -> tuple[str | None, str | None]:  # noqa: A002
    """Tell whether --format means the input or the published file.

    It overrides how the input is read, wherever the input can be that: standard input, an unknown
    extension, an extension of that format, a content of that format. Where the input is plainly something
    else, it is what the published file should be. Either answer is None where the file or the input decides.
    """
    usual = formats_of(Path(path).suffix) if isinstance(path, str) else []
    if not isinstance(path, str) or format is None or path == "-" or not usual or format in usual:
        return format, None
    if format in {"long", "wide", "onehot"}:
        return format, None
    try:
        with Path(path).open("rb") as file:
            content = file.read(1 << 18)
    except OSError:  # the reader says it better
        return format, None
    if sniff_content(content) == format:
        return format, None
    say(f"{path} is not {format}: it is read as what it is, and published as {format}.")
    return None, format


def load_image(
    path: str, published: Transactions, recoding: Path | None, encoding: str
) -> dict[str, str | None] | None:
    """Find the label of each item, None if suppressed, from a csv or a run; None: every label is an item."""
    if recoding is None:
        about = about_beside(path)
        if about is None:
            return None
        return dict(read_image(about, published))
    return read_recoding(recoding, encoding)


def read_recoding(recoding: Path, encoding: str) -> dict[str, str | None]:
    """Read what each item was published as, None: nothing, from a csv of item,published."""
    from setveil.work.past.run import image_of

    text = as_text(read_bytes(recoding), str(recoding), encoding).content.decode()
    return image_of(csv.reader(io.StringIO(text, newline="")), recoding)


def read_as(path: str, **options: Any) -> Transactions:
    """Read rows, with options by name (see `read_rows`)."""
    return read_rows(path, Reading(**options))


def read_release(path: str, **options: Any) -> Transactions:
    """Read published rows, with options by name: lines are rows, where nothing says otherwise."""
    return read_rows(path, Reading(**options), published=True)


def require_page(out: Path | None, such_as: str, force: bool) -> None:
    """Refuse a page that is none by its name, or that is there (see `require_free`)."""
    if out is None:
        return
    if out.suffix.lower() not in {".html", ".htm"}:
        raise RequestError(f"--out must name a page such as {such_as}, got {out}.")
    require_free(out, force)


def require_free(path: Path, force: bool) -> None:
    """Refuse to replace a file without --force, and a folder ever."""
    if path.exists() and (not force or path.is_dir()):
        raise OutputError(f"{path} exists already.", hint="Choose another name, or --force.")


def warn_of_formulas(release: Any, data: Transactions, report: Mapping[str, Any]) -> None:
    """Say it if labels were published as csv that a spreadsheet takes for formulas."""
    from setveil.rows.data.formulas import formula_note

    if not str(report["published"]["file"]).endswith(".csv"):
        return
    labels = set(getattr(release.published, "vocabulary", data.vocabulary).labels)
    table = getattr(release.release, "table", None)
    for column in () if table is None else (*table.columns, *table.kept):
        labels.update(column.labels)
    if note := formula_note(labels):
        say(f"Note: {note}")
