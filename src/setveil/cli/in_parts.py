"""Commands over rows that are read a piece at a time: --engine parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setveil.cli.engines import PARTS, km_only, own_values
from setveil.errors import RequestError

if TYPE_CHECKING:
    from setveil.guarantees.km import KmAnonymity
    from setveil.options.reading import Reading
    from setveil.progress import Progress


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
) -> dict[str, Any]:
    """Do the work of `setveil anonymize --engine parts`: the report as written.

    Parameters
    ----------
    source, reading, hierarchy, out
        What to read, and the folder to write.
    promised, algorithm
        Their names, and the options that were given of each.
    unused : mapping
        Options without a meaning in parts, and what was given for them.
    progress, **options
        See `setveil.runs.in_parts.anonymize_parts`.

    Raises
    ------
    RequestError
        If something is asked for that there is not in parts.
    """
    from setveil.algorithms import load
    from setveil.cli.files import rows_in_parts
    from setveil.data.transactions import Transactions
    from setveil.hierarchy.io import read_hierarchy
    from setveil.options.decode import Given
    from setveil.options.guarantees import make_guarantee
    from setveil.runs.in_parts import anonymize_parts, require_possible

    model, promise = promised
    require_possible(model, *algorithm)
    given_too = [option for option, value in unused.items() if value]
    if given_too:
        raise RequestError(
            f"{', '.join(given_too)} {'is' if len(given_too) == 1 else 'are'} of no use in parts.",
            hint="Leave it out, or --engine parts.",
        )
    if hierarchy is None:
        raise RequestError(
            "No hierarchy is made of data in parts, expected one.",
            hint="`setveil hierarchy build` makes one of fewer rows; give it as --hierarchy.",
        )
    encoding = reading.text_encoding
    guarantee = make_guarantee(model, promise, Given(Transactions.from_rows([]), encoding))
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
    from setveil.cli.files import rows_in_parts
    from setveil.guarantees.verify.km_pieces import require_countable
    from setveil.options.reading import Reading
    from setveil.published.about import about_file, published_file, published_layout, require_size
    from setveil.published.shared import counts_beside
    from setveil.runs.check import check_pieces

    guarantee = km_only(model, promise, PARTS, published=True)
    require_countable(guarantee)
    path, about = file, dict[str, Any]()
    if file != "-":
        found = published_file(Path(file))
        path, about = str(found), about_file(found)
    given, recorded = reading.given(), published_layout(about)
    as_recorded = all(recorded.get(name) == value for name, value in given.items() if name != "encoding")
    how = Reading(**(recorded | given)) if as_recorded else reading
    files = rows_in_parts(path, how)
    verdict, counted = check_pieces(files, guarantee, *counts_beside(file), show=show, progress=progress)
    if as_recorded:
        require_size(about, path, counted.n_rows, counted.n_rows - counted.filled_rows)
    return verdict
