"""The folder of a run: its files contain the verified release, or there is no folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.base.errors import GuaranteeError, OutputError
from setveil.releases.published import group_files
from setveil.rows.data.io import write
from setveil.rows.data.layout import FORMATS, Layout, Origin
from setveil.runs import folder

ROWS = [["12", "3"], ["3"], [], ["12", "3", "7"], ["7"], ["12"], [], ["3", "7"]]
WORDS = [["a,b", 'say "c"'], [" d "], [], ["a,b", "e|f;g\th"], ["é"], ['say "c"', "é"], [], [" d ", "é"]]
LAYOUTS = [*map(Layout, FORMATS), Layout("long", "|", "who", "what"), Layout("basket", ";")]
LAYOUTS += [Layout("parquet", nested=False), Layout("jsonl", item_column="codes", objects=True)]


def release_of(rows: list[list[str]], layout: Layout = LAYOUTS[1]) -> Any:
    data = sv.Transactions.from_rows(rows)
    data = replace(data, origin=Origin((), layout))
    return sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm="aa", details=False)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("rows", [ROWS, WORDS], ids=["numbers", "words"])
def test_what_is_written_is_read_back_in_every_layout(
    rows: list[list[str]], layout: Layout, tmp_path: Path
) -> None:
    release_of(rows, layout).write(tmp_path / "run")
    assert sv.verify(tmp_path / "run", sv.KmAnonymity(2, 1)).holds


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_labels_that_are_words_for_nothing_are_labels(layout: Layout, tmp_path: Path) -> None:
    words = ["NA", "None", "-", ".", "null", "nan", "\\N", "(blank)"]
    release_of([words, [], *([word] for word in words)], layout).write(tmp_path / "run")
    assert sv.verify(tmp_path / "run", sv.KmAnonymity(2, 1)).holds
    shown: Any = sv.read_published(tmp_path / "run")
    assert {label for row in shown for label in row} == set(words)


def spoiled(monkeypatch: pytest.MonkeyPatch, name: str, spoil: Callable[[bytes], bytes]) -> None:
    """Let a writer write something other than requested."""
    module: Any = group_files if name.startswith("_") else write
    honest = getattr(module, name)

    def blocks(*arguments: Any) -> Iterator[bytes]:
        yield spoil(b"".join(honest(*arguments)))

    monkeypatch.setattr(module, name, blocks)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content + b"7\n",
        lambda content: content.replace(b"\n", b"", 1),
        lambda content: content.replace(b"12", b"11", 1),
        lambda content: content[: len(content) // 2],
        lambda _: b'"',
        lambda _: b"",
    ],
)
def test_files_that_hold_anything_else_are_not_put_in_place(
    spoil: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    release = release_of(ROWS)
    release.write(tmp_path / "run")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    spoiled(monkeypatch, "basket", spoil)
    for out, force in (("other", False), ("run", True)):
        with pytest.raises(GuaranteeError, match="What was written"):
            release.write(tmp_path / out, force=force)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_rows_of_groups_without_quasi_identifiers(tmp_path: Path) -> None:
    """Check that such rows are in no line of data.csv after any shuffle, but in the map of the rows."""
    rows = [["a", "s"], [], ["b"], ["b"], ["s"], ["a", "b"], [], [], ["a"], ["t"], [], ["a"]]
    data = sv.Transactions.from_rows(rows)
    for seed in range(10):
        promise = sv.PrivacyDegree(3, ("s", "t"))
        out = tmp_path / f"{seed}"
        sv.anonymize(data, promise, seed=seed).write(out)
        assert sv.verify(out, promise, original=data).holds
        again = list(group_files.read_grouped(out / "published").qid)
        lines = (out / "internal/rows.csv").read_text().splitlines()[1:]
        places = [int(line.split(",")[1]) for line in lines]
        shown = [tuple(item for item in row if item not in "st") for row in rows]
        assert [again[place] for place in places] == shown


@pytest.mark.parametrize(
    ("writer", "old", "new"), [("_group_lines", b"s,1", b"s,2"), ("_data_lines", b"a", b"b")]
)
def test_groups_are_compared_to_the_last_count(
    writer: str, old: bytes, new: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = sv.Transactions.from_rows([["a", "s"], ["a"], ["b"], ["b"], ["s"], ["a", "b"]])
    release = sv.anonymize(data, sv.PrivacyDegree(2, ("s",)), details=False)
    spoiled(monkeypatch, writer, lambda content: content.replace(old, new, 1))
    with pytest.raises(GuaranteeError, match="not what was verified"):
        release.write(tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_peak_memory_is_measured_when_all_else_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: set[str] = set()

    def peak_memory_mb() -> float:
        there.update(path.name for path in tmp_path.rglob("*") if path.is_file())
        return 123.4

    monkeypatch.setattr(folder, "peak_memory_mb", peak_memory_mb)
    release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
    report = release.write(tmp_path / "out", external=True)
    written = json.loads((tmp_path / "out" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert report["peak_memory_mb"] == written["peak_memory_mb"] == 123.4
    files = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert files - there == {"report.json"}


def test_a_folder_that_was_written_on_spark_may_be_replaced(tmp_path: Path) -> None:
    names = ["published/data.parquet/part-00000.parquet", "published/manifest.json", "internal/report.json"]
    for name in names:
        place = tmp_path / "out" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    folder.require_writable(tmp_path / "out", force=True)
    (tmp_path / "out" / "published" / "data.parquet" / "other.parquet").touch()
    with pytest.raises(OutputError, match=r"it contains 'published/data\.parquet/other\.parquet"):
        folder.require_writable(tmp_path / "out", force=True)
