"""On Spark: the same answers as in memory, whatever the partitions, and whatever dies on the way."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import setveil as sv
from naive.km import greatest_k, item_order, violations
from setveil.engine import publish as placing
from setveil.guarantees.verify.km import verify_km
from spark_session import start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from setveil.spark import SparkRelease

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the sockets to Java
]
ROWS = "items array<string>"
LEAVES = [f"i{n:02d}" for n in range(30)]
TREE = sv.Hierarchy.from_paths(
    [[leaf, f"five {n // 5}", f"ten {n // 10}", "*"] for n, leaf in enumerate(LEAVES)]
)


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    started = start()
    yield started
    started.stop()


def framed(session: SparkSession, rows: Sequence[Sequence[str]], parts: int = 3) -> DataFrame:
    """Spread rows over partitions, in the order given."""
    return session.createDataFrame(
        session.sparkContext.parallelize([(list(row),) for row in rows], parts), ROWS
    )


def drawn(seed: int, rows: int, items: int, longest: int, *, words: bool = True) -> list[list[str]]:
    """Draw rows of items that are the rarer the greater their numbers."""
    random_ = random.Random(seed)
    labels = [f"i{n:02d}" if words else str(n - 7) for n in range(items)]
    weights = [1 / (n + 1) for n in range(items)]
    return [sorted(set(random_.choices(labels, weights, k=random_.randint(0, longest)))) for _ in range(rows)]


# --- the verifier


@pytest.mark.parametrize(("k", "m", "words"), [(9, 1, False), (3, 2, True), (4, 3, False)])
def test_verifier_agrees_with_counting_every_subset(
    session: SparkSession, k: int, m: int, words: bool
) -> None:
    from setveil.guarantees.verify.km_spark import verify_km_spark

    rows = drawn(k, 60, 14, 6, words=words)
    found = verify_km_spark(framed(session, rows), sv.KmAnonymity(k, m), rows=60, show=7)
    sets = [frozenset(row) for row in rows]
    order = item_order({label for row in rows for label in row})
    expected = violations(sets, k, m, order)
    assert expected
    assert (found.holds, found.violations) == (False, len(expected))
    assert list(found.first) == expected[:7]
    assert found.greatest_k == greatest_k(sets, m)
    in_memory = verify_km(sv.Transactions.from_rows(rows), sv.KmAnonymity(k, m), show=7, brief=True)
    assert (in_memory.violations, in_memory.first) == (found.violations, found.first)
    assert (in_memory.greatest_k, in_memory.greatest_m) == (found.greatest_k, found.greatest_m)


def test_verifier_of_rows_that_keep_the_promise(session: SparkSession) -> None:
    from setveil.guarantees.verify.km_spark import verify_km_spark

    rows = [["a", "b"], ["b", "a"], [], ["a", "b"]]
    for m, greatest in ((1, 1), (2, float("inf")), (3, float("inf"))):
        found = verify_km_spark(framed(session, rows), sv.KmAnonymity(3, m))
        assert (found.holds, found.violations, found.greatest_k, found.greatest_m) == (True, 0, 3, greatest)
    nothing = verify_km_spark(framed(session, [[], []]), sv.KmAnonymity(3, 2))
    assert (nothing.holds, nothing.greatest_k) == (True, None)


def test_verifier_refuses_what_it_cannot_count(session: SparkSession) -> None:
    from setveil.guarantees.verify.km_spark import LONGEST, verify_km_spark

    frame = framed(session, [["a"], ["a"]])
    with pytest.raises(sv.RequestError, match="m must be a number"):
        verify_km_spark(frame, sv.KmAnonymity(2, float("inf")))
    with pytest.raises(sv.DataError, match="hold 2 rows, expected 3"):
        verify_km_spark(frame, sv.KmAnonymity(2, 1), rows=3)
    with pytest.raises(sv.DataError, match="1 published rows hold an item that is missing or empty"):
        verify_km_spark(framed(session, [["a"], [""]]), sv.KmAnonymity(2, 1))
    long = [[str(n) for n in range(LONGEST + 1)]] * 2
    with pytest.raises(sv.DataError, match="holds 2,001 items"):
        verify_km_spark(framed(session, long), sv.KmAnonymity(2, 1))


def test_verifier_notices_counts_that_do_not_add_up(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.guarantees.verify import km_spark

    counts = km_spark._counts

    def doubled(held: DataFrame, size: int) -> DataFrame:
        return counts(held.union(held.where("items[0] = 'a'")), size)

    monkeypatch.setattr(km_spark, "_counts", doubled)
    with pytest.raises(sv.GuaranteeError, match="of 1 items add up to 3, but the rows hold 2"):
        km_spark.verify_km_spark(framed(session, [["a"], ["b"]]), sv.KmAnonymity(2, 1))


# --- making a release


@pytest.fixture(scope="module")
def made(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release of ROWS_DRAWN, which tests read only."""
    out = tmp_path_factory.mktemp("spark") / "release"
    release = spark_anonymize(framed(session, drawn(3, 500, 30, 6)))
    release.write(out)
    return out


def spark_anonymize(frame: DataFrame, algorithm: str = "aa", seed: int = 3) -> SparkRelease:
    from setveil.spark import anonymize

    return anonymize(
        frame, sv.KmAnonymity(3, 2), hierarchy=TREE, items="items", algorithm=algorithm, seed=seed
    )


def published_lists(folder: Path) -> list[list[str]]:
    """Read the published rows, file after file."""
    files = sorted((folder / "published" / "data.parquet").glob("*.parquet"))
    return [row or [] for file in files for row in pl.read_parquet(file)["items"].to_list()]


def in_memory(rows: Sequence[Sequence[str]], algorithm: str = "aa", seed: int = 3) -> list[list[str]]:
    release = sv.anonymize(rows, sv.KmAnonymity(3, 2), hierarchy=TREE, algorithm=algorithm, seed=seed)
    return [list(row) for row in release.published]


@pytest.mark.parametrize(("parts", "algorithm"), [(1, "aa"), (3, "exact"), (7, "aa")])
def test_release_is_that_of_a_run_in_memory(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int, algorithm: str
) -> None:
    if parts > 1:
        monkeypatch.setattr(placing, "ROWS_PER_FILE", 150)
        monkeypatch.setattr(placing, "ROWS_PER_PART", 20)
    rows = drawn(3, 500, 30, 6)
    permuted = random.Random(parts).sample(rows, len(rows))
    release = spark_anonymize(framed(session, permuted, parts), algorithm)
    report = release.write(tmp_path / "out")
    assert published_lists(tmp_path / "out") == in_memory(rows, algorithm)
    files = 4 if parts > 1 else 1
    assert len(report["published"]["files"]) == files
    assert report["guarantee"]["holds"]
    expected = sv.anonymize(rows, sv.KmAnonymity(3, 2), hierarchy=TREE, algorithm=algorithm)
    for measure in ("ncp", "lm"):
        assert release.utility[measure] == expected.utility[measure]
    assert sv.verify(tmp_path / "out", sv.KmAnonymity(3, 2)).holds  # a run in memory reads the folder
