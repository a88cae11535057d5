"""The demonstration: synthetic groceries, anonymized like a user's files, or lines of a hospital."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from shlex import quote

from setveil.base.errors import OutputError
from setveil.base.progress import Progress
from setveil.base.staging import write_together
from setveil.cli.files import read_rows
from setveil.judges.guarantees.km import KmAnonymity
from setveil.report.record import Record
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import Layout
from setveil.rows.data.sample import grocery_sample
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.ward import Lines, log_sample, ward_sample
from setveil.rows.hierarchy.io import hierarchy_text, read_hierarchy, write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.folder import require_writable
from setveil.runs.run import VerifiedRelease, anonymize

_NEXT = {
    "ward": "setveil anonymize {table} --model kkm --k 5 --m 2 --qi age,sex,zip --set diagnoses "
    "--hierarchy zip=prefix:4,3 --hierarchy {codes} --out release",
    "log": "setveil anonymize {table} --id-column patient --set diagnosis --when date:quarter "
    "--date-format '%d.%m.%Y' --k 5 --m 2 --hierarchy {codes} --out release",
}


def run_demo(out: Path, rows: int, seed: int, progress: Progress) -> tuple[VerifiedRelease, Record, Path]:
    """Anonymize synthetic groceries; return the release, the report and the folder of the input."""
    require_writable(out, force=True)
    progress("generating baskets")
    generated, paths = grocery_sample(rows, seed)
    sample = out.with_name(f"{out.name}-input")
    before = sample.exists()
    try:
        return *_made_and_released(generated, paths, sample, out, seed, progress), sample
    except OutputError:
        if not before:
            shutil.rmtree(sample, ignore_errors=True)
        raise


def write_hospital(kind: str, out: Path, rows: int | None, seed: int) -> str:
    """Write the sample `kind` (ward or log) and the hierarchy of its codes; return what to try next."""
    folder = out.with_name(f"{out.name}-input")
    table, codes = folder / f"{kind}.csv", folder / f"{kind}-codes.csv"
    lines, paths = ward_sample(rows or 4000, seed) if kind == "ward" else log_sample(rows or 3000, seed)
    _make(folder)
    try:
        tree = hierarchy_text(Hierarchy.from_paths(paths), codes)
        write_together({table: _csv(lines), codes: tree.encode()})
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be written: {error.strerror or error}.") from error
    return (
        f"{len(lines) - 1:,} made-up {'stays in a hospital' if kind == 'ward' else 'visits to a ward'}: "
        f"{table}\nThe hierarchy of their codes: {codes}\n\nNext:\n\n"
        f"    {_NEXT[kind].format(table=quote(str(table)), codes=quote(str(codes)))}"
    )


def _csv(lines: Lines) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be made: {error.strerror}.") from error


def _made_and_released(
    generated: Transactions, paths: list[list[str]], sample: Path, out: Path, seed: int, progress: Progress
) -> tuple[VerifiedRelease, Record]:
    baskets, products = sample / "baskets.csv", sample / "products.csv"
    _make(sample)
    save(generated, baskets, Layout("basket"))
    write_hierarchy(Hierarchy.from_paths(paths), products)

    data = read_rows(str(baskets))
    tree = read_hierarchy(products)
    release = anonymize(data, KmAnonymity(k=5, m=2), hierarchy=tree, seed=seed, progress=progress)
    return release, release.write(out, force=True)
