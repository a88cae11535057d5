"""Commands over rows that are read a piece at a time: --engine parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setveil.base.errors import RequestError
from setveil.cli.engines import PARTS, km_only, own_values
from setveil.report.record import Record

if TYPE_CHECKING:
    from setveil.base.progress import Progress
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.rows.data.io.streams import ListFiles, TextFiles
    from setveil.runs.options.reading import Reading


def way_out(model: str, algorithm: str) -> str:
    """Say how rows that do not fit in memory can be anonymized."""
    from setveil.runs.in_parts import ALGORITHMS, MODELS

    possible = model in MODELS and algorithm in ALGORITHMS
    where = "" if possible else f", for -a {' or '.join(ALGORITHMS)} with --k and --m"
    return f"--engine parts keeps them on disk{where}."


def anonymize(
    source: str | Sequence[str],
    reading: Reading,
    promised: tuple[str, Mapping[str, Any]],
    algorithm: tuple[str, Mapping[str, Any]],
    hierarchy: str | None,
    out: Path,
    unused: Mapping[str, Any],
    *,
    progress: Progress,
    **options: Any,
) -> Record:
    """Do the work of `setveil anonymize --engine parts`: the report as written.

    Parameters
    ----------
    source, reading, hierarchy, out
        What to read, and the folder to write.
    guaranteed, algorithm
        Their names, and the options that were given of each.
    unused : mapping
        Options without a meaning in parts, and what was given for them.
    progress, **options
        See `setveil.runs.in_parts.anonymize_parts`.
    """
    from setveil.cli.files import rows_in_parts
    from setveil.methods.algorithms import load
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.in_parts import anonymize_parts, require_possible
    from setveil.runs.options.decode import Inputs
    from setveil.runs.options.guarantees import make_guarantee

    model, promise = promised
    require_possible(model, *algorithm)
    _require_none(unused)
    if hierarchy is None:
        raise RequestError(
            "No hierarchy is made of data in parts, expected one.",
            hint="`setveil hierarchy build` makes one of fewer rows; give it as --hierarchy.",
        )
    encoding = reading.text_encoding
    guarantee = make_guarantee(model, promise, Inputs(Transactions.from_rows([]), encoding))
    name, own = algorithm
    return anonymize_parts(
        rows_in_parts(source, reading), cast("KmAnonymity", guarantee),
        read_hierarchy(hierarchy, encoding=encoding), out,
        algorithm=name, parameters=own_values(name, load(name).Parameters, own, reading, PARTS),
        progress=progress, **options,
    )  # fmt: skip


def verify(
    file: str, model: str | None, promise: Mapping[str, Any], reading: Reading, show: int, progress: Progress
) -> Any:
    """Do the work of `setveil verify --engine parts`: the verdict on the rows, and the counts beside them."""
    from setveil.judges.guarantees.verify.km_pieces import require_countable
    from setveil.releases.published.about import require_size
    from setveil.releases.published.shared import counts_beside
    from setveil.runs.check import check_pieces

    guarantee = km_only(model, promise, PARTS, published=True)
    require_countable(guarantee)
    files, path, about = _opened(file, reading, published=True)
    verdict, counted = check_pieces(files, guarantee, *counts_beside(file), show=show, progress=progress)
    if about:
        require_size(about, path, counted.n_rows, counted.n_rows - counted.filled_rows)
    return verdict


def risk(
    source: str | Sequence[str],
    original: str | None,
    reading: Reading,
    sizes: Sequence[int] | None,
    unused: Mapping[str, Any],
    progress: Progress,
) -> list[tuple[str, dict[str, Any]]]:
    """Do the work of `setveil risk --engine parts`: what is in the original, if any, and in the rows."""
    from setveil.cli.files import rows_in_parts
    from setveil.judges.attacker.in_parts import SIZES, risk_in_parts
    from setveil.releases.published.about import require_size
    from setveil.rows.engine.files import FileRows
    from setveil.rows.engine.tabled import TabledRows
    from setveil.runs.options.reading import DETECTED

    _require_none(unused)
    if sizes and max(sizes) > max(SIZES):
        raise RequestError(
            f"In parts the risk of at most {max(SIZES)} known items is counted, got --m {max(sizes)}.",
            hint="--m 1..2, or without --engine parts.",
        )
    if original is None:
        opened = {"": _opened(source, reading)}
    else:
        opened = {"before": (rows_in_parts(original, reading), "", {}), "after": _opened(source, DETECTED)}
    sides = []
    for side, (files, path, about) in opened.items():
        progress("reading labels")
        rows = TabledRows.of(FileRows(files.pieces, files.vocabulary))
        progress("reading")
        if about:
            require_size(about, path, rows.n_rows, rows.n_rows - rows.filled_rows)
        lost = [size for size in range(1, max(sizes or SIZES) + 1) if not rows.fits(size)]
        if lost:
            raise RequestError(
                f"In {rows.n_rows:,} rows of {rows.n_items:,} labels the sets of {lost[0]} cannot be counted "
                "in a table.",
                hint="--m 1" if 1 not in lost else "Without --engine parts.",
            )
        sides.append((side, risk_in_parts(rows, sizes or SIZES, progress=progress)))
    return sides


def _opened(
    source: str | Sequence[str], reading: Reading, *, published: bool = False
) -> tuple[ListFiles | TextFiles, str, dict[str, Any]]:
    """Open files, or what is published in the folder of a run; `published`: files without a folder, too.

    Returns them, where the rows are ("" for several files), and what about.json says of them: nothing if
    there is none, or they are read in another way.
    """
    from setveil.cli.files import rows_in_parts
    from setveil.releases.published.about import about_file, published_file, published_layout, require_columns
    from setveil.releases.published.as_written import require_lines_as_written
    from setveil.runs.options.reading import Reading

    if not isinstance(source, str) or source == "-":
        return rows_in_parts(source, reading, published=published), "", {}
    found = published_file(Path(source))
    about = about_file(found)
    _require_single_rows(source)
    options, recorded = reading.explicit_options(), published_layout(about)
    if any(recorded.get(name) != value for name, value in options.items() if name != "encoding"):
        return rows_in_parts(str(found), reading, published=published), str(found), {}
    how = Reading(**(recorded | options))
    files = rows_in_parts(str(found), how, published=published or bool(recorded))
    require_columns(str(found), files.ignored_columns)
    if recorded and files.layout is not None:
        require_lines_as_written(found, files.layout, files.vocabulary)
    return files, str(found), about


def _require_single_rows(path: str) -> None:
    """Refuse a release of another kind, whose guarantee is not about the labels of single rows alone."""
    from setveil.releases.published import kind_at, kind_named

    kind = kind_at(path)
    if kind is not kind_named("rows"):
        raise RequestError(
            f"In parts the labels of single rows are counted; {path} contains {kind.info.title}.",
            hint="Omit --engine parts.",
        )


def _require_none(unused: Mapping[str, Any]) -> None:
    refused = [option for option, value in unused.items() if value]
    if refused:
        raise RequestError(
            f"{', '.join(refused)} {'does' if len(refused) == 1 else 'do'} not apply in parts.",
            hint="Omit it, or --engine parts.",
        )
