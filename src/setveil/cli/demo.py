"""The demonstration: a synthetic grocery sample, written to files and anonymized like a user's own."""

from __future__ import annotations

import shutil
from pathlib import Path

from setveil.cli.files import read_rows
from setveil.data.io import Layout, save
from setveil.data.sample import grocery_sample
from setveil.data.transactions import Transactions
from setveil.errors import OutputError
from setveil.guarantees.km import KmAnonymity
from setveil.hierarchy.io import read_hierarchy, write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress
from setveil.report.record import Record
from setveil.runs.folder import require_writable
from setveil.runs.run import VerifiedRelease, anonymize


def run_demo(out: Path, rows: int, seed: int, progress: Progress) -> tuple[VerifiedRelease, Record, Path]:
    """Generate baskets and products, anonymize them, write the run's folder.

    Returns the release, the report and the folder with the synthetic input, beside `out`.
    """
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


def _made_and_released(
    generated: Transactions, paths: list[list[str]], sample: Path, out: Path, seed: int, progress: Progress
) -> tuple[VerifiedRelease, Record]:
    baskets, products = sample / "baskets.csv", sample / "products.csv"
    try:
        sample.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {sample} cannot be made: {error.strerror}.") from error
    save(generated, baskets, Layout("basket"))
    write_hierarchy(Hierarchy.from_paths(paths), products)

    data = read_rows(str(baskets))
    tree = read_hierarchy(products)
    release = anonymize(data, KmAnonymity(k=5, m=2), hierarchy=tree, seed=seed, progress=progress)
    return release, release.write(out, force=True)
