"""From what people have to rows, hierarchies and releases. Values of a wrong type are errors here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeGuard

from setveil.base.errors import DataError, RequestError, TableError, described, listed
from setveil.base.progress import Progress, listener, silent
from setveil.base.values.kinds import is_integer
from setveil.judges.guarantees import Guarantee, class_names, models
from setveil.judges.guarantees.verify import require_guarantee
from setveil.releases.published import Release
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.io.rows import read as read_files
from setveil.rows.data.pandas_frames import is_pandas
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.facts import Facts
from setveil.rows.hierarchy.columns import joined, require_columns
from setveil.rows.hierarchy.forms import tree_from
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.facts import NOT_RECOMMENDED
from setveil.runs.options.inputs import load_labels, require_known
from setveil.runs.run import VerifiedRelease

Listener = Progress | Callable[[str, float | None], None] | None
# A data frame, or whatever holds a tree (see `setveil.rows.hierarchy.forms`), is an object.
TreeLike = Hierarchy | str | PathLike[str] | Mapping[Any, Any] | object | None
_OF_FILES = (
    "encoding", "separator", "quote", "decimal", "sheet", "skip_lines", "comment", "header_lines", "same_ids",
    "query", "connection", "also",
)  # fmt: skip
_ROWS = 'Rows are a file, a data frame, or a list of lists such as [["tea", "milk"], ["tea"]].'


def is_path(value: object) -> TypeGuard[str | PathLike[str]]:
    """Whether a value names a file."""
    return isinstance(value, str | PathLike)


def rows_of(source: object, what: str = "The data", *, tables: bool = False, **reading: Any) -> Transactions:
    """Read rows from paths, frames, lists, or `Transactions`; with `tables` also the sets of tables."""
    if isinstance(source, Transactions) and source.is_table and not tables:
        raise RequestError(
            f"{what}: this is a table, whose columns are not used here. Expected rows of items.",
            hint="setveil.Transactions.from_rows(table) reads only its items.",
        )
    if source is None and "query" in reading:
        return read_files(**reading)
    if is_path(source):
        try:
            return read_files(fspath(source), **reading)
        except TableError as question:
            _propose(question, fspath(source), reading)
            question.in_python("read", fspath(source), reading)
            raise
    if isinstance(source, list | tuple) and source and all(is_path(part) for part in source):
        return _from_paths([fspath(part) for part in source], what, reading)
    if is_pandas(source) or hasattr(source, "__arrow_c_stream__") or type(source).__name__ == "LazyFrame":
        _refuse(reading, _OF_FILES, "files")
        try:
            return Transactions.from_frame(source, **reading)
        except TableError as question:
            _propose(question, source, reading)
            question.in_python("read", None, reading)
            raise
    normalize, not_ids = reading.pop("normalize", None), reading.pop("not_ids", None)
    _refuse(reading, tuple(reading), "files and data frames")
    if not_ids is not None:
        more = {} if normalize is None else {"normalize": normalize}
        rows = rows_of(source, what, tables=tables, **more)
        return replace(rows, personal=rows.personal.without(not_ids))
    if normalize is not None:
        if isinstance(source, Transactions) and source.is_table:
            raise RequestError("normalize applies where a table is read: setveil.read_table(normalize=...).")
        return rows_of(source, what, tables=tables).with_normal_labels(normalize)
    if isinstance(source, Transactions):
        return source
    if isinstance(source, VerifiedRelease) or _is_release(source):
        raise DataError(f"{what} must be rows, got a release.", hint="Its rows are release.published.")
    if isinstance(source, Mapping):
        raise DataError(
            f"{what} must be rows, got {described(source)}.",
            hint="If its values are rows, take list(d.values()); if they are columns, make a data frame.",
        )
    if getattr(source, "ndim", 1) != 1 or hasattr(source, "tocsr"):
        raise DataError(
            f"{what} must be rows of items, got a matrix ({described(source)}).",
            hint="A table with a column for each item is read from a data frame with named columns.",
        )
    if isinstance(source, bytes | type) or not isinstance(source, Iterable):
        raise DataError(f"{what} must be rows, got {described(source)}.", hint=_ROWS)
    return Transactions.from_rows(source)


def _propose(question: TableError, source: Any, reading: Mapping[str, Any]) -> None:
    """Add readings as a table to the question which columns count."""
    from setveil.commands.proposals import propose
    from setveil.rows.tables.how import OF_TEXT, How

    if question.columns and set(reading) <= OF_TEXT:
        propose(question, source, How(**reading))


def explicit_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take the arguments of a function that are not its defaults: nothing, False, 0, or an empty sequence."""
    return {
        name: value
        for name, value in arguments.items()
        if name != "source" and value is not None and (not isinstance(value, tuple | int) or value)
    }


def published_rows(path: str, **reading: Any) -> Transactions:
    """Read a file of published rows: where nothing says otherwise its lines are rows."""
    return read_files(path, **reading, published=True)


def items_or_table(source: object) -> Transactions:
    """Take rows of items, or a table, but no facts."""
    if isinstance(source, Transactions) and source.only_facts:
        raise RequestError(NOT_RECOMMENDED, hint="facts.codes_alone() are rows of items.")
    return rows_of(source, tables=True)


def _from_paths(paths: Any, what: str, reading: Mapping[str, Any]) -> Transactions:
    if not any(path == "-" or Path(path).exists() for path in paths):
        raise DataError(
            f"{what}: {listed(paths)} are no files that exist.",
            hint='Rows in memory are lists of items, such as [["tea", "milk"], ["tea"]].',
        )
    try:
        return read_files(paths if len(paths) > 1 else paths[0], **reading)
    except TableError as question:
        question.in_python("read", paths, reading)
        raise


def _refuse(reading: Mapping[str, Any], names: Iterable[str], applies: str) -> None:
    options = [name for name in names if name in reading]
    if options:
        raise RequestError(f"{', '.join(options)} say how {applies} are read; here is nothing to read so.")


def tree_of(hierarchy: object) -> Hierarchy | None:
    """Take a hierarchy, read it from its file, or make it of what else holds one; None stays None."""
    if hierarchy is None or isinstance(hierarchy, Hierarchy):
        return hierarchy
    if is_path(hierarchy):
        return read_hierarchy(hierarchy)
    return tree_from(hierarchy)


def tree_of_codes(hierarchy: Any, facts: Facts) -> Hierarchy | None:
    """Take the hierarchy of the codes of facts: of several columns by their names, those of some of them."""
    names = [one.name for one in facts.columns]
    if len(names) == 1 or hierarchy is None:
        named = isinstance(hierarchy, Mapping) and list(hierarchy) == names
        return tree_of(hierarchy[names[0]] if named else hierarchy)
    if not isinstance(hierarchy, Mapping):
        raise RequestError(
            f"Nothing says of which column of codes the hierarchy is, {listed(names)}.",
            hint=f"hierarchy={{{names[0]!r}: ...}}",
        )
    require_columns(hierarchy, names)
    trees = {name: tree_of(one) for name, one in hierarchy.items()}
    return joined({name: tree for name, tree in trees.items() if tree is not None})


def m_of(data: object) -> Any:
    """Find how many facts someone may know, if that was said when they were read; else None."""
    return data.facts.m if isinstance(data, Transactions) and data.facts is not None else None


def tree_beside(rows: Transactions) -> Hierarchy | None:
    """Take the hierarchy of the items that a table was read with."""
    return getattr(rows, "tree", None)


def heard(progress: Listener) -> Progress:
    """Take what hears of the progress, None if nothing does."""
    if progress is None:
        return silent
    if not callable(progress):
        raise RequestError(f"progress must be a function of a phase and a share, got {described(progress)}.")
    return listener(progress)


def path_of(what: str, value: object) -> Path:
    """Take a path."""
    if not is_path(value):
        raise RequestError(f"{what} must be a path, got {described(value)}.")
    return Path(value)


def integer(name: str, value: Any, least: int) -> int:
    """Take an integer of at least `least`."""
    if not is_integer(value, least):
        raise RequestError(f"{name} must be an integer of at least {least}, got {described(value)}.")
    return int(value)


def integer_or_none(name: str, value: Any, least: int) -> int | None:
    """Take an integer of at least `least`, or None."""
    return None if value is None else integer(name, value, least)


def labels_of(
    name: str, value: Any, data: Transactions, encoding: str = "utf-8", *, check: bool = True
) -> tuple[str, ...]:
    """Take items of the data: a list of labels, or a text as on the command line (a file, or commas)."""
    if value is None:
        return ()
    if is_path(value):
        return load_labels(fspath(value), data, encoding, check=check)
    labels = listed_labels(name, value)
    return require_known(labels, ",".join(labels), data, check=check)


def listed_labels(name: str, value: Any) -> tuple[str, ...]:
    """Take a collection of labels."""
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise RequestError(f"{name} must be a list of items, got {described(value)}.")
    labels = tuple(value)
    wrong = [label for label in labels if not isinstance(label, str) or not label]
    if wrong:
        raise RequestError(f"{name} must contain items, each a text, got {described(wrong[0])}.")
    return tuple(dict.fromkeys(labels))


def promised(guarantee: Any, k: Any, m: Any, *, kind: str) -> Guarantee:
    """Return a guarantee, or that of k and m: of the first model for a kind of release."""
    short = {name: value for name, value in (("k", k), ("m", m)) if value is not None}
    if guarantee is not None:
        return alone(guarantee, short)
    if "k" not in short:
        raise RequestError(
            "Nothing says what to guarantee.",
            hint="k=5, m=2 is a guarantee. There are "
            + ", ".join(f"setveil.{name}" for name in class_names())
            + ".",
        )
    return next(model for model in models().values() if model.release == kind).make(**short)


def alone(guarantee: Any, others: Mapping[str, Any]) -> Guarantee:
    """Take a guarantee, and refuse parameters of one that are given as well; None: was not given."""
    found = require_guarantee(guarantee)
    twice = [name for name, value in others.items() if value is not None]
    if twice:
        raise RequestError(
            f"The guarantee is given twice: {found.phrase}, and {', '.join(twice)}.",
            hint="Give the guarantee alone.",
        )
    return found


def parameters_of(
    guarantee: Guarantee, models_tried: Mapping[str, Iterable[str]], what: str
) -> dict[str, Any]:
    """Return the parameters of a guarantee of the models that a command tries, each with those it varies."""
    names = models_tried.get(guarantee.model)
    if names is None:
        raise RequestError(
            f"{what} tries releases for {listed(list(models_tried))}, got {guarantee.phrase}.",
            hint="setveil.anonymize(data, guarantee) makes a release for any guarantee.",
        )
    fixed = [name for name in guarantee.as_dict() if name not in ("model", *names)]
    if fixed:
        raise RequestError(
            f"{what} tries no releases with {listed(fixed)}, got {guarantee.phrase}.",
            hint="setveil.anonymize(data, guarantee) makes one.",
        )
    parts = {name: getattr(guarantee, name) for name in names}
    if () in parts.values():
        raise RequestError(
            f"{guarantee.phrase} names no item as sensitive.", hint="setveil.KmAnonymity(k, m) needs none."
        )
    return parts


def _is_release(value: object) -> bool:
    return callable(getattr(value, "exposed", None))


def original_of(data: object) -> Transactions:
    """Read rows, a table or facts that are to be anonymized."""
    rows = rows_of(data, tables=True)
    if rows.final is not None:
        raise rows.final.error()
    return rows


def needs_its_files(release: object) -> RequestError:
    """Make the error of published rows by themselves, where the meaning of their labels is needed."""
    return RequestError(
        f"The release must be one that was made here, or its folder, got {described(release)}.",
        hint="Published rows by themselves do not say which items their labels represent: name their folder.",
    )


def release_of(value: object) -> Release | None:
    """Take a release that was made here; None if it is anything else."""
    if isinstance(value, VerifiedRelease):
        return value.release
    return value if _is_release(value) else None  # type: ignore[return-value]


def exposed_by(value: object, kind: Any) -> Any:
    """Find what a release shows, its folder or file read as a `kind` of release, or rows."""
    release = release_of(value)
    if release is not None:
        return release.exposed()
    if isinstance(value, Exposed) and not isinstance(value, Transactions):
        return value
    if is_path(value):
        return kind.read(fspath(value), published_rows)
    return rows_of(value, "The release", tables=True)
