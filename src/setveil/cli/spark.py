"""Commands that run on Spark: --engine spark, under spark-submit or wherever pyspark finds a master."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.version import install
from setveil.base.wording import count
from setveil.cli.engines import SPARK, km_only, own_values
from setveil.runs.options.reading import Reading

if TYPE_CHECKING:
    from setveil.base.progress import Progress
    from setveil.report.record import Record

ALGORITHMS = ("aa", "exact")
DEFAULT = "aa"
_KNOWN = {  # options of anonymize that mean something here, besides those of the algorithm
    "input", "engine", "model", "k", "m", "algorithm", "hierarchy", "format", "id-column", "item-column",
    "not-ids", "out", "seed", "force", "json", "counts", "counts-min", "details", "external", "purpose",
    "recipient", "responsible", "legal-basis", "review", "date", "list-members",
}  # fmt: skip


def require_known(options: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse options of `anonymize` that have no meaning on Spark, other than those on reading."""
    allowed = _KNOWN | {name.replace("_", "-") for name in own}
    allowed |= {one.name.replace("_", "-") for one in fields(Reading)}
    unknown = [f"--{name}" for name in options if name.removeprefix("no-") not in allowed]
    if unknown:
        raise RequestError(
            f"With --engine spark there is no {', '.join(unknown)}.",
            hint="Without --engine spark there is. docs/scale.md says what Spark is for.",
        )


def require_parquet(reading: Reading) -> None:
    """Refuse to read anything but Parquet, before anything is read."""
    options = {
        name: value
        for name, value in reading.explicit_options().items()
        if name not in {"id_column", "item_column", "not_ids"} and (name, value) != ("format", "parquet")
    }
    if options:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise RequestError(
            f"With --engine spark rows are read from Parquet, where {names} does not apply.",
            hint="Write Parquet first; in Python setveil.spark.anonymize accepts any DataFrame:\n"
            f"    setveil convert FILE rows.parquet {shlex.join(Reading(**options).arguments())}",
        )


def package() -> Any:
    """Import what needs pyspark."""
    try:
        from setveil.spark import commands
    except ImportError as error:
        raise RequestError("--engine spark needs pyspark.", hint=install("spark")) from error
    return commands


def anonymize(
    files: list[str] | None,
    model: str | None,
    promise: Mapping[str, Any],
    algorithm: str | None,
    options: Mapping[str, Any],
    own: Mapping[str, Any],
    hierarchies: list[str],
    reading: Reading,
    seed: int,
    out: Path,
    *,
    force: bool,
    counts: bool | int,
    details: bool,
    external: bool,
    list_members: bool,
    record: Mapping[str, Any],
    progress: Progress,
) -> Record:
    """Do the work of `setveil anonymize --engine spark`: the report as written."""
    from setveil.methods import algorithms
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.folder import require_writable

    require_known(options, own)
    guarantee = km_only(model, promise, SPARK)
    name = algorithm or DEFAULT
    if name not in ALGORITHMS:
        raise RequestError(f"With --engine spark there are {', '.join(ALGORITHMS)}, got {name}.")
    require_parquet(reading)
    if not files:
        raise RequestError("With --engine spark an INPUT must be named: Parquet files, or a folder of them.")
    module = algorithms.load(name)
    values = own_values(name, module.Parameters, own, reading, SPARK)
    if len(hierarchies) != 1:
        raise RequestError("With --engine spark a hierarchy must be given.", hint="--hierarchy FILE")
    tree = read_hierarchy(hierarchies[0], encoding=reading.text_encoding)
    require_writable(out, force=force)
    commands = package()
    progress("reading")
    release = commands.anonymized(
        files, guarantee, (reading.id_column, reading.item_column), progress, hierarchy=tree, algorithm=name,
        seed=seed, counts=counts, details=details, list_members=list_members, not_ids=reading.not_ids,
        **values,
    )  # fmt: skip
    report: Record = release.write(out, force=force, external=external, record=record)
    return report


def summary(report: Record, out: Path) -> str:
    """Say what came out."""
    published, utility, held = report["published"], report["utility"], report["guarantee"]
    least = held["greatest_k"]
    fewest = (
        "no item is published" if least is None else f"the smallest group found has {count(least, 'row')}"
    )
    lines = {
        "Guarantee": held["phrase"],
        "Check": f"It holds, counted in the published files; {fewest}.",
        "NCP": f"{utility['ncp']:.4f}",
        "LM": f"{utility['lm']:.4f}",
        "Rows": f"{published['rows']:,} in {len(published['files']):,} files, {published['items']:,} labels",
        "Share": "published/ only. Never share internal/: it reverses the anonymization.",
        "Folder": str(out),
    }
    return "\n".join(f"{name:<10} {text}" for name, text in lines.items())


def verify(
    file: str, model: str | None, promise: Mapping[str, Any], reading: Reading, show: int, progress: Progress
) -> Any:
    """Do the work of `setveil verify --engine spark`: the verdict."""
    guarantee = km_only(model, promise, SPARK, published=True)
    require_parquet(reading)
    columns = (reading.id_column, reading.item_column)
    return package().verdict(file, guarantee, columns, max(show, 1), progress)
