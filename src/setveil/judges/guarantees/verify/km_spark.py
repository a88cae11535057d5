"""Check k^m-anonymity with Spark from the published files alone, for rows that no machine holds.

Only Spark's own column functions are used: no code of setveil on the workers. Sets are distinguished by their
labels as texts, so that no numbering is shared with the algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (what all users of Spark call it)

from setveil.base.errors import DataError, GuaranteeError, RequestError, listed, shorten
from setveil.base.plain_json import read_json
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import KmVerdict

MANIFEST = "manifest.json"
ITEMS = "items"
LONGEST = 2_000  # items of a row: more have 10^9 sets of three
_INTEGER = "^[+-]?[0-9]+$"


def verify_km_spark(
    published: DataFrame,
    guarantee: KmAnonymity,
    *,
    rows: int | None = None,
    show: int = 10,
    progress: Progress = silent,
) -> KmVerdict:
    """Check k^m-anonymity of `rows` rows, for a finite m and no greater (see `verify_and_count`)."""
    return verify_and_count(published, guarantee, rows, show, progress, brief=True)[0]


def verify_and_count(
    published: DataFrame,
    guarantee: KmAnonymity,
    rows: int | None,
    show: int,
    progress: Progress,
    *,
    brief: bool = False,
) -> tuple[KmVerdict, dict[str, int], dict[int, int]]:
    """Check k^m-anonymity and count all violations, the rows with each label and those of each length.

    `published` has a row a line, in the column `items`: an array of texts, null for an empty row. A row of n
    items has C(n, s) sets of s items, so the supports of all sets of a size must add up to the sum of these
    numbers; the lengths of rows are counted separately. With `brief`, labels stay where they are counted.
    """
    if guarantee.m == math.inf:
        raise RequestError(
            f"On Spark m must be a number, got {guarantee.m}.", hint="Such as 2 or 3, or --engine memory."
        )
    items = F.array_sort(F.array_distinct(F.coalesce(F.col(ITEMS), F.array().cast("array<string>"))))
    held = published.select(items.alias(ITEMS))
    lengths, numeric = _lengths(held)
    found = sum(lengths.values())
    if rows is not None and found != rows:
        raise DataError(
            f"The published files contain {found:,} rows, expected {rows:,}.",
            hint="All files of one release must be there, and nothing else.",
        )
    longest = max(lengths, default=0)
    if longest > LONGEST:
        raise DataError(
            f"The longest published row contains {longest:,} items; sets are counted for rows of at most "
            f"{LONGEST:,}.",
            hint="Is each row a person's? `setveil verify --engine memory` takes any length.",
        )
    violations, first = 0, list[tuple[tuple[str, ...], int]]()
    smallest: int | None = None
    supports = dict[str, int]()
    safe = 0
    for size in range(1, min(int(guarantee.m), longest) + 1):
        progress(f"verifying itemsets of size {size}")
        counts = _counts(held, size)
        rare = F.col("count") < guarantee.k
        if size == 1 and not brief:
            supports = {line["x1"]: line["count"] for line in counts.collect()}
            total, least = sum(supports.values()), min(supports.values(), default=0)
            few = sum(some < guarantee.k for some in supports.values())
        else:
            sums = F.sum("count"), F.min("count"), F.sum(rare.cast("long"))
            total, least, few = counts.agg(*sums).collect()[0]
        _require_all(size, int(total or 0), sum(math.comb(n, size) * some for n, some in lengths.items()))
        smallest = least if smallest is None else min(smallest, least)
        violations += few
        if few and len(first) < show:
            first += _first(counts.where(rare), size, numeric, show - len(first))
        if not violations:
            safe = size
    whole = guarantee.m >= longest
    verdict = KmVerdict(
        guarantee, not violations, violations, tuple(first), smallest,
        math.inf if whole and not violations else safe, whole or violations > 0,
    )  # fmt: skip
    return verdict, supports, lengths


def _lengths(held: DataFrame) -> tuple[dict[int, int], bool]:
    """Count the rows of each length; also whether all labels are integers."""
    wrong = F.exists(ITEMS, lambda x: x.isNull() | (x == ""))
    numeric = F.forall(ITEMS, lambda x: x.rlike(_INTEGER))
    counted = (
        held.groupBy(F.size(ITEMS).alias("length"))
        .agg(
            F.count(F.lit(1)).alias("rows"),
            F.sum(wrong.cast("long")).alias("wrong"),
            F.min(F.coalesce(numeric, F.lit(False))).alias("numeric"),
        )
        .collect()
    )
    broken = sum(line["wrong"] for line in counted)
    if broken:
        raise DataError(
            f"{broken:,} published rows contain an item that is missing or empty, expected labels."
        )
    return {line["length"]: line["rows"] for line in counted}, all(line["numeric"] for line in counted)


def _counts(held: DataFrame, size: int) -> DataFrame:
    """Count the rows that hold each set of `size` labels: columns x1, x2, ... and count."""
    names = [f"x{level}" for level in range(1, size + 1)]
    sets = held.select(F.col(ITEMS).alias("rest")).where(F.size("rest") >= size)
    for level, name in enumerate(names, 1):
        chosen = names[: level - 1]
        sets = sets.select(*chosen, F.posexplode("rest").alias("at", name), "rest")
        behind = F.size("rest") - F.col("at") - 1
        sets = sets.where(behind >= size - level).select(
            *chosen, name, F.slice("rest", F.col("at") + 2, behind).alias("rest")
        )
    return sets.groupBy(*names).count()


def _require_all(size: int, found: int, expected: int) -> None:
    if found != expected:
        raise GuaranteeError(
            f"The supports of all sets of {size} items add up to {found:,}, but the rows contain "
            f"{expected:,} such sets: rows or counts were lost or doubled on the way. Nothing is proven.",
            hint="Run the check again; if it fails again, please report it with the version of Spark.",
        )


def _first(rare: DataFrame, size: int, numeric: bool, number: int) -> Iterable[tuple[tuple[str, ...], int]]:
    """List the first sets in item order, each with its support."""
    labels = F.array(*(F.col(f"x{level}") for level in range(1, size + 1)))
    in_order = F.array_sort(F.transform(labels, _by_number if numeric else _by_text))
    listed = rare.select(in_order.alias("labels"), "count").orderBy("labels").limit(number).collect()
    return [(tuple(part["label"] for part in line["labels"]), line["count"]) for line in listed]


def _by_text(label: Column) -> Column:
    return F.struct(label.alias("label"))


def _by_number(label: Column) -> Column:
    """Sort integers of any length: by sign, then length, then digits, those of negative ones turned round."""
    digits = F.ltrim(F.ltrim(label, F.lit("+-")), F.lit("0"))
    negative = label.startswith("-") & (digits != "")
    length = F.length(digits)
    return F.struct(
        F.when(negative, -1).when(digits == "", 0).otherwise(1).alias("sign"),
        F.when(negative, -length).otherwise(length).alias("length"),
        F.when(negative, F.translate(digits, "0123456789", "9876543210")).otherwise(digits).alias("digits"),
        label.alias("label"),
    )


def published_files(folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """Find the folder of a release's manifest, in a run's folder or its `published`, and its content."""
    places = [place for place in (folder / "published", folder) if (place / MANIFEST).is_file()]
    if not places:
        raise DataError(
            f"{folder} contains no release of Spark: there is no {MANIFEST} in it or in its published/.",
            hint="Without one a release is not complete. Other releases are checked without --engine spark.",
        )
    path = places[0] / MANIFEST
    try:
        manifest = read_json(path.read_text(encoding="utf-8"))
        wrong = not all(
            isinstance(entry["name"], str)
            and isinstance(entry["sha256"], str)
            and isinstance(entry["bytes"], int)
            for entry in manifest["files"]
        ) or not isinstance(manifest["rows"], int)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a manifest that setveil wrote: {shorten(str(error))}.") from error
    if wrong:
        raise DataError(
            f"{path} is not a manifest that setveil wrote: expected files with sizes and digests."
        )
    return places[0], manifest


def read_published(session: SparkSession, folder: Path, manifest: Mapping[str, Any]) -> DataFrame:
    """Read the files that a manifest names, after comparing their bytes with it."""
    files = {folder / entry["name"]: entry for entry in manifest["files"]}
    missing = [path.name for path in files if not path.is_file()]
    hint = "All files must come from the same release, complete and unchanged."
    if missing:
        raise DataError(f"{folder} lacks files that its {MANIFEST} names: {listed(missing)}.", hint=hint)
    beside = [other.name for place in {path.parent for path in files} for other in place.iterdir()
              if other not in files and not other.name.startswith((".", "_"))]  # fmt: skip
    if beside:
        raise DataError(
            f"{folder} contains files that its {MANIFEST} does not name: {listed(sorted(beside))}.", hint=hint
        )
    paths = [path.absolute().as_uri() for path in files]
    content = session.read.format("binaryFile").load(paths)
    digests = content.select(
        F.substring_index("path", "/", -1).alias("name"), F.sha2("content", 256).alias("sha256")
    )
    found = {line["name"]: line["sha256"] for line in digests.collect()}
    changed = [path.name for path, entry in files.items() if found.get(path.name) != entry["sha256"]]
    if changed:
        raise DataError(
            f"{folder}: files have other bytes than its {MANIFEST} says: {listed(changed)}.", hint=hint
        )
    return session.read.parquet(*paths)
