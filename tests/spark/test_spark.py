"""On Spark: the same answers as in memory, whatever the partitions, and whatever dies on the way."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from naive.km import greatest_k, item_order, violations
from risks import assert_same_risk
from setveil.judges.guarantees.verify.km import verify_km
from setveil.rows.data.io.source import gather
from setveil.rows.data.io.streams import open_streams
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine import publish as placing
from setveil.rows.engine.partial import put_block
from setveil.rows.engine.tabled import TabledRows
from setveil.runs.in_parts import anonymize_parts
from spark_session import lacking, start

if not lacking():
    from setveil.rows.engine import spark as engine
    from setveil.spark import release as making

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


@pytest.fixture(autouse=True)
def several_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide even few rows."""
    monkeypatch.setattr("setveil.rows.engine.spark.OF_A_TASK", 40)


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


@pytest.mark.parametrize(("k", "m", "words"), [(3, 2, True), (4, 3, False)])
def test_verifier_agrees_with_counting_every_subset(
    session: SparkSession, k: int, m: int, words: bool
) -> None:
    from setveil.judges.guarantees.verify.km_spark import verify_km_spark

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
    from setveil.judges.guarantees.verify.km_spark import verify_km_spark

    rows = [["a", "b"], ["b", "a"], [], ["a", "b"]]
    for m, greatest in ((1, 1), (2, float("inf")), (3, float("inf"))):
        found = verify_km_spark(framed(session, rows), sv.KmAnonymity(3, m))
        assert (found.holds, found.violations, found.greatest_k, found.greatest_m) == (True, 0, 3, greatest)
    nothing = verify_km_spark(framed(session, [[], []]), sv.KmAnonymity(3, 2))
    assert (nothing.holds, nothing.greatest_k) == (True, None)


def test_verifier_refuses_what_it_cannot_count(session: SparkSession) -> None:
    from setveil.judges.guarantees.verify.km_spark import LONGEST, verify_km_spark

    frame = framed(session, [["a"], ["a"]])
    with pytest.raises(sv.RequestError, match="m must be a number"):
        verify_km_spark(frame, sv.KmAnonymity(2, float("inf")))
    with pytest.raises(sv.DataError, match="contain 2 rows, expected 3"):
        verify_km_spark(frame, sv.KmAnonymity(2, 1), rows=3)
    with pytest.raises(sv.DataError, match="1 published rows contain an item that is missing or empty"):
        verify_km_spark(framed(session, [["a"], [""]]), sv.KmAnonymity(2, 1))
    long = [[str(n) for n in range(LONGEST + 1)]] * 2
    with pytest.raises(sv.DataError, match="contains 2,001 items"):
        verify_km_spark(framed(session, long), sv.KmAnonymity(2, 1))


def test_verifier_notices_counts_that_do_not_add_up(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.judges.guarantees.verify import km_spark

    counts = km_spark._counts

    def doubled(held: DataFrame, size: int) -> DataFrame:
        return counts(held.union(held.where("items[0] = 'a'")), size)

    monkeypatch.setattr(km_spark, "_counts", doubled)
    with pytest.raises(sv.GuaranteeError, match="of 1 items add up to 3, but the rows contain 2"):
        km_spark.verify_km_spark(framed(session, [["a"], ["b"]]), sv.KmAnonymity(2, 1))


# --- making a release


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


def test_long_table_and_a_cut_whose_sets_fit_no_table(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.spark import anonymize, verify

    monkeypatch.setattr("setveil.kernels.count.MOST_CELLS", 100)  # 2 of 30 leaves are 435
    rows = [row for row in drawn(4, 200, 30, 5) if row]
    lines = [(n, item) for n, row in enumerate(rows) for item in [*row, row[0]]]
    random.Random(0).shuffle(lines)
    frame = session.createDataFrame(lines, "person int, code string")
    promise = sv.KmAnonymity(3, 2)
    release = anonymize(frame, promise, hierarchy=TREE, id_column="person", item_column="code", seed=3)
    release.write(tmp_path / "out")
    assert published_lists(tmp_path / "out") == in_memory(rows)
    verdict = verify(tmp_path / "out", promise)
    assert verdict.holds
    assert not verify(frame, promise, id_column="person", item_column="code").holds

    # Changed and missing files are noticed before counting.
    file = tmp_path / "out" / "published" / "data.parquet" / "part-00000.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(sv.DataError, match=r"other bytes than its manifest\.json says: 'part-00000.parquet'"):
        verify(tmp_path / "out", promise)
    file.unlink()
    with pytest.raises(sv.DataError, match=r"lacks files that its manifest\.json names"):
        verify(tmp_path / "out", promise)
    (tmp_path / "out" / "published" / "manifest.json").unlink()
    with pytest.raises(sv.DataError, match="contains no release of Spark"):
        verify(tmp_path / "out", promise)


@pytest.mark.parametrize("written", ["307-00ko", "307/0ko"])
def test_ids_of_a_long_table_are_no_items(session: SparkSession, written: str, tmp_path: Path) -> None:
    from setveil.spark import anonymize

    lines = [(f"{n + 300}-00KO", item) for n in range(40) for item in ("i01", written if n % 2 else "i02")]
    frame = session.createDataFrame(lines, "person string, code string")
    tree = sv.Hierarchy.from_paths([[item, "*"] for item in ("i01", "i02", written)])
    how: dict[str, Any] = {"hierarchy": tree, "id_column": "person", "item_column": "code"}
    with pytest.raises(sv.PersonalDataError, match=r"1 value of the IDs \(30\*\*\*\*o\)"):
        anonymize(frame, sv.KmAnonymity(3, 1), **how).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    anonymize(frame, sv.KmAnonymity(3, 1), not_ids="ids", **how).write(tmp_path / "out")


# --- files next to the rows


def in_parts(rows: Sequence[Sequence[str]], folder: Path) -> Any:
    """Make the same release of rows in parts on disk, and return its report."""
    table = folder.with_suffix(".parquet")
    pl.DataFrame({"items": rows}).write_parquet(table)
    return anonymize_parts(
        open_streams(gather([str(table)]), "items"),
        sv.KmAnonymity(3, 2),
        TREE,
        folder,
        seed=3,
        external=True,
        record={"about": {"purpose": "a test"}},
    )


@pytest.mark.parametrize("parts", [1, 5])
def test_counts_losses_risk_and_pages_are_those_of_other_runs(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    monkeypatch.setattr(engine, "COPIES", 16)
    rows = [*drawn(8, 300, 30, 6), [], [], *([["i00", "i01"]] * 40)]
    release = spark_anonymize(framed(session, rows, parts))
    report: Any = release.write(tmp_path / "spark", external=True, record={"about": {"purpose": "a test"}})
    assert report == json.loads((tmp_path / "spark" / "internal" / "report.json").read_text())
    assert report["about"] == {"purpose": "a test"}

    on_disk = in_parts(rows, tmp_path / "parts")
    memory = sv.anonymize(rows, sv.KmAnonymity(3, 2), hierarchy=TREE, algorithm="aa", seed=3, details=True)
    files: Any = memory.write(tmp_path / "memory", external=True)
    assert (report["engine"], on_disk["engine"]) == ("spark", "parts")
    assert set(report) == set(on_disk)
    assert set(report["input"]) == set(on_disk["input"])
    for same in (
        "utility", "counts", "labels", "branches", "frequencies", "hierarchy", "algorithm",
        "suppressed", "recoding",
    ):  # fmt: skip
        assert report[same] == files[same]
    assert report["guarantee"] == on_disk["guarantee"]
    for part in ("rows", "empty_rows", "items", "occurrences"):
        assert report["published"][part] == files["published"][part]
        assert report["input"][part] == files["input"][part]
    for side in ("before", "after"):
        assert_same_risk(report["risk"][side], files["risk"][side])
        assert_same_risk(report["risk"][side], on_disk["risk"][side])
    assert report["answers"]["itemsets"] == files["answers"]["itemsets"]
    assert report["answers"]["pairs"] == pytest.approx(files["answers"]["pairs"])
    are, theirs = report["answers"]["are"], on_disk["answers"]["are"]
    assert (are["size"], are["estimator"]) == (theirs["size"], theirs["estimator"])
    assert are["mean"] == pytest.approx(theirs["mean"])

    spark, disk = tmp_path / "spark", tmp_path / "parts"
    counts = [(tmp_path / name / "published" / "counts.csv").read_bytes() for name in ("spark", "memory")]
    assert counts[0] == counts[1]
    about = [json.loads((run / "published" / "about.json").read_text()) for run in (spark, disk)]
    assert {key: value for key, value in about[0].items() if key != "files"} == {
        key: value for key, value in about[1].items() if key != "files"
    }
    pages = [(run / "published" / "report.html").read_text() for run in (spark, disk)]
    assert pages[0] == pages[1]
    inside = [(run / "internal" / "report.html").read_text() for run in (spark, disk)]
    sections = [re.findall("<h[23].*?</h[23]>", page) for page in inside]
    assert len(sections[0]) > 8
    assert sections[0] == [head for head in sections[1] if "Input" not in head]  # no file was


def test_counts_are_verified_and_may_be_omitted(session: SparkSession, tmp_path: Path) -> None:
    from setveil.spark import anonymize, verify

    frame, promise = framed(session, drawn(3, 200, 30, 5)), sv.KmAnonymity(3, 2)
    release = anonymize(frame, promise, hierarchy=TREE, items="items", counts=5)
    report: Any = release.write(tmp_path / "out")
    assert report["counts"]["least"] == 5
    file = tmp_path / "out" / "published" / "counts.csv"
    verdict: Any = verify(tmp_path / "out", promise)
    assert (verdict.holds, verdict.counts.lines) == (True, report["counts"]["lines"])
    head, first, *rest = file.read_text().splitlines(keepends=True)
    file.write_text("".join([head, f"{first.rpartition(',')[0]},4000\n", *rest]))
    assert not verify(tmp_path / "out", promise).holds

    # A folder that was written on Spark may be replaced.
    bare = anonymize(frame, promise, hierarchy=TREE, items="items", counts=False, details=False)
    report = bare.write(tmp_path / "out", force=True)
    assert not file.exists()
    assert not {"counts", "risk", "answers"} & set(report)
    with pytest.raises(sv.RequestError, match="Counts below k = 3"):
        anonymize(frame, promise, hierarchy=TREE, items="items", counts=2)
    with pytest.raises(sv.RequestError, match=r"given twice, inside AA\(...\) and next to it: refine"):
        anonymize(frame, promise, hierarchy=TREE, items="items", algorithm=sv.AA(), refine=True)


def test_sets_of_few_labels_are_counted(session: SparkSession) -> None:
    coded = engine.coded(
        framed(session, [["a", "b"], ["a"], ["b", "a"]]), ["a", "b"], np.arange(2, dtype=np.int32), 1
    )
    rows = TabledRows(engine.SparkRows(coded, 3, 1), Vocabulary("ab"), np.arange(2, dtype=np.int32))
    assert (rows.table(2).tolist(), rows.lengths.tolist(), rows.supports().tolist()) == (
        [2],
        [0, 1, 2],
        [3, 2],
    )


# --- losses on the way


def children(process: int) -> list[int]:
    """List the processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == process:
            found.append(int(stat.parent.name))
    return found


def executors(session: SparkSession) -> list[int]:
    """List the processes of our own session's executors: Java started by the driver's Java."""
    driver = session.sparkContext._gateway.proc.pid
    return [
        child
        for child in children(driver)
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def kill_executor(session: SparkSession) -> None:
    """End an executor, with all that it has cached and written for others."""
    found = executors(session)
    assert found
    os.kill(found[0], signal.SIGKILL)


def killing(frame: DataFrame, armed: Path, *, executor: bool) -> DataFrame:
    """Return the frame, whose first task that finds `armed` ends its Python worker, or its executor."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            try:
                armed.unlink()
            except FileNotFoundError:
                continue
            process = os.getpid()
            for _ in range(2 if executor else 0):  # worker, its daemon, the executor
                stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
                process = int(stat.rpartition(")")[2].split()[1])
            os.kill(process, signal.SIGKILL)
            time.sleep(60)  # until it takes effect

    return frame.mapInArrow(work, frame.schema)


@pytest.mark.parametrize("lost", ["worker", "executor while rows are coded", "executors with shuffle files"])
def test_what_dies_changes_nothing(session: SparkSession, tmp_path: Path, lost: str) -> None:
    from setveil.spark import anonymize

    rows = drawn(5, 300, 30, 6)
    armed, done = tmp_path / "armed", list[str]()

    def listening(phase: str, share: float | None) -> None:
        if lost.endswith("files"):
            if phase in {"publishing", "verifying itemsets of size 1"} and phase not in done:
                kill_executor(session)
                done.append(phase)
        elif phase == "merging equal rows" and not done:
            armed.touch()  # coded rows are made when they are first counted
            done.append(phase)

    frame = killing(framed(session, rows, 4), armed, executor="executor" in lost)
    release = anonymize(
        frame, sv.KmAnonymity(3, 2), hierarchy=TREE, items="items", seed=3, progress=listening
    )
    release.write(tmp_path / "out")
    assert len(done) == (2 if lost.endswith("files") else 1)
    assert not armed.exists()
    assert published_lists(tmp_path / "out") == in_memory(rows)


@pytest.mark.parametrize(
    ("phase", "doubled"),
    [
        ("coding", False), ("counting", True), ("counting", False), ("supports", False), ("publishing", True),
        ("looking", False),
    ],
)  # fmt: skip
def test_rows_that_are_lost_or_doubled_are_noticed(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, doubled: bool
) -> None:
    def broken(frame: DataFrame) -> DataFrame:
        part = frame.where("hash(row) % 3 = 0")
        return frame.union(part) if doubled else frame.where("hash(row) % 3 <> 0")

    functions = {"counting": "count", "supports": "supports", "looking": "added_up"}
    if function := functions.get(phase):
        answer = getattr(engine.SparkRows, function)

        def answered(self: engine.SparkRows, *rest: Any) -> Any:
            return answer(engine.SparkRows(broken(self.rows), self.total, self.tasks), *rest)

        monkeypatch.setattr(engine.SparkRows, function, answered)
    else:
        name = "coded" if phase == "coding" else "recoded"
        right = getattr(making, name)
        monkeypatch.setattr(making, name, lambda *args: broken(right(*args)))
    with pytest.raises(sv.GuaranteeError, match="rows were lost or doubled on the way"):
        spark_anonymize(framed(session, drawn(6, 100, 30, 4))).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_counts_that_are_lost_are_noticed(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "setveil.rows.engine.spark.put_block",
        lambda table, block, cells: put_block(table, block, cells[:-400]),
    )
    with pytest.raises(sv.GuaranteeError, match="The supports of all sets of 2 labels add up to"):
        spark_anonymize(framed(session, drawn(6, 100, 30, 4)))


# --- errors


def test_requests_that_are_refused(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession as Sessions

    from setveil.spark import anonymize, verify

    frame, promise = framed(session, [["i00"], ["i01"]]), sv.KmAnonymity(2, 2)

    def release_of(frame: Any = frame, promise: Any = promise, **more: Any) -> Any:
        arguments: dict[str, Any] = {"hierarchy": TREE, "items": "items"} | more
        return anonymize(frame, promise, **arguments)

    others = (
        sv.TransactionalKAnonymity(2), sv.Disassociated(2, 1), sv.DifferentialPrivacy(epsilon=1)
    )  # fmt: skip
    refusals: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        *(
            (sv.RequestError, r"k\^m-anonymity only", lambda other=other: release_of(promise=other))
            for other in others
        ),
        (sv.RequestError, "m must be a number", lambda: release_of(promise=sv.KmAnonymity(2, float("inf")))),
        (
            sv.RequestError,
            "not in parts or on Spark",
            lambda: release_of(promise=sv.KmAnonymity(2, 2, absent=1)),
        ),
        (sv.RequestError, "algorithms aa, exact, got the text 'lra'", lambda: release_of(algorithm="lra")),
        (sv.RequestError, "a hierarchy must be given", lambda: release_of(hierarchy=None)),
        (sv.RequestError, "must be a DataFrame of Spark", lambda: release_of([["i00"]])),
        (sv.RequestError, "Say which columns", lambda: release_of(items=None)),
        (sv.DataError, "There is no column 'x'", lambda: release_of(items="x")),
        (sv.RequestError, "aa has no parameter x", lambda: release_of(x=1)),
        (sv.InfeasibleError, "the data have 2 rows", lambda: release_of(promise=sv.KmAnonymity(3, 1))),
        (sv.HierarchyError, "not in the hierarchy", lambda: release_of(framed(session, [["x"]]))),
    ]
    for error, words, call in refusals:
        with pytest.raises(error, match=words):
            call()
    monkeypatch.setattr(Sessions, "getActiveSession", lambda: None)
    with pytest.raises(sv.RequestError, match="no active Spark session"):
        verify("release", promise)


def test_rows_and_workers_that_are_refused(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    long = [str(n) for n in range(engine.LONGEST + 1)]
    for rows, words in (
        ([["i00"], long], r"A row contains 2,001 items \(the row of 0, 1, 2, ...\), allowed are 2,000"),
        ([["i00"], [""]], "1 rows contain an item that is missing or empty"),
    ):
        with pytest.raises(sv.DataError, match=words):
            spark_anonymize(framed(session, rows))
    monkeypatch.setattr(engine, "__version__", "another")
    with pytest.raises(sv.RequestError, match=r"lack something: setveil .*; expected numba, setveil another"):
        spark_anonymize(framed(session, [["i00"]]))
    monkeypatch.undo()
    monkeypatch.setattr(engine, "MOST_OCCURRENCES", 2)
    with pytest.raises(
        sv.RequestError, match="The driver would have to take 3 distinct rows of leaves"
    ) as error:
        spark_anonymize(framed(session, [["i00"], ["i01"], ["i02"]]), "exact")
    assert "16,384 labels for m = 2" in error.value.hint


# --- the command line


def test_commands(
    session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.cli.app import main

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["setveil", *words, "--engine", "spark"])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    rows = drawn(7, 200, 30, 5)
    table, out = str(tmp_path / "table.parquet"), str(tmp_path / "out")
    pl.DataFrame({"codes": rows}).write_parquet(table)
    tree = tmp_path / "tree.csv"
    tree.write_text("".join(f"{';'.join(path)}\n" for path in TREE.paths()))
    promise = ("--k", "3", "--m", "2")
    code, output, err = run("anonymize", table, *promise, "-H", str(tree), "--seed", "3", "--out", out)
    assert code == 0, err
    assert "It holds, counted in the published files" in output
    assert published_lists(Path(out)) == in_memory(rows)
    report = json.loads((Path(out) / "internal" / "report.json").read_text())
    assert report["options"]["seed"] == 3
    assert (report["counts"]["least"], len(report["risk"]["after"]["risk"])) == (3, 4)
    more = ("--counts-min", "4", "--no-details", "--external", "--purpose", "a test", "--force")
    code, output, err = run("anonymize", table, *promise, "-H", str(tree), "--out", out, *more, "--json")
    assert code == 0, err
    again = json.loads(output)
    assert (again["counts"]["least"], again["about"]) == (4, {"purpose": "a test"})
    assert "risk" not in again
    assert "a test" in (Path(out) / "published" / "report.html").read_text()
    code, output, _ = run("verify", out, *promise)
    assert (code, output.partition("\n")[0]) == (0, "Yes: k^m-anonymity (k=3, m=2) holds.")
    code, output, _ = run("verify", table, *promise, "--json")
    assert (code, json.loads(output)["holds"]) == (1, False)
    for words, message in (
        (["anonymize", table, *promise, "--out", f"{out}2", "--sample", "9"], "there is no --sample"),
        (["anonymize", table, *promise, "--out", f"{out}2"], "a hierarchy must be given"),
        (["anonymize", table, "--k", "3", "--model", "k-anonymity", "--out", "x"], "km-anonymity only"),
        (
            ["anonymize", table, *promise, "--no-counts", "--counts-min", "4", "--out", f"{out}2"],
            "contradict each other",
        ),
        (["anonymize", table, *promise, "-a", "lra", "--out", f"{out}2"], "there are aa, exact, got lra"),
        (["verify", str(tree), *promise], "cannot be read as Parquet"),
        (["verify", table, *promise, "--format", "long"], "from Parquet, where --format does not apply"),
    ):
        code, _, err = run(*words)
        assert code in (2, 4)
        assert message in err
