"""Text that is read a piece at a time, against reading it whole."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from setveil.base.errors import DataError, RequestError
from setveil.rows.data.io import streams
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.streams import ListFiles, TextFiles, open_streams


def rows_of(files: TextFiles) -> list[list[str]]:
    labels = files.vocabulary.labels
    rows = []
    for indptr, items in files.pieces():
        rows += [sorted({labels[i] for i in items[start:end]}) for start, end in pairwise(indptr)]
    return rows


def text(random: Random) -> str:
    fields = ["a", "b c", '"d,e"', '"f""g"', '"h\ni"', '""', "ü", "1", ""]
    end = random.choice(["\n", "\r\n"])
    lines = [",".join(random.choices(fields, k=random.randint(0, 5))) for _ in range(random.randint(1, 12))]
    return end.join([*lines, "a,b"]) + random.choice(["", end, end + end])


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("encoding", [None, "latin-1"])
def test_pieces_are_the_rows(
    block: int, encoding: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_BLOCK", block)
    random, path, cut = Random(block), tmp_path / "rows.csv", 0
    for _ in range(60):
        path.write_bytes(text(random).encode(encoding or random.choice(["utf-8", "utf-8-sig"])))
        whole = read(path, format="basket", separator=",", encoding=encoding)
        files = TextFiles([str(path)], "basket", ",", encoding)
        assert rows_of(files) == [sorted(row) for row in whole]
        assert files.vocabulary.labels == whole.vocabulary.labels
        assert files.n_rows == whole.n_rows
        cut += len(list(files.pieces())) > 1
        assert whole.origin is not None
        assert files.origin().as_dict() == whole.origin.as_dict()
    assert cut > 20 or block == 64


def test_numbers_and_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_BLOCK", 4)
    for name, content in (("a.dat", "3 1\n\n10 2 2\n"), ("b.dat", "1\n")):
        (tmp_path / name).write_text(content)
    files = open_streams([str(tmp_path / "a.dat"), str(tmp_path / "b.dat")])
    assert isinstance(files, TextFiles)
    assert files.vocabulary.labels == ("1", "2", "3", "10")
    assert rows_of(files) == [["1", "3"], [], ["10", "2"], ["1"]]
    assert np.diff(next(iter(files.pieces()))[0]).tolist() == [2, 0]


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for bytes_of in ("_BEGINNING", "_BLOCK"):
        monkeypatch.setattr(streams, bytes_of, 8)
    cases = {
        "empty.csv": (b"", "is an empty file"),
        "open.csv": (b'a,b\n"c\nd\n', "is never closed"),
        "late.dat": (b"1 2\n3 4\n5 6\n7 x\n", "behind row 3, line 1: found .x."),
        "late.csv": (b"a,b\nc,d\ne,f\n\xff\n", "behind row 3"),
        "rows.csv.gz": (b"\x1f\x8b\x08\0\0\0\0\0", "is a gzip"),
    }
    for name, (content, message) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            _ = TextFiles([str(path)], "fimi" if name.endswith("dat") else "basket").vocabulary
    wide = tmp_path / "wide.csv"
    wide.write_bytes("a,b\n".encode("utf-16"))
    with pytest.raises(RequestError, match="not read in parts"):
        TextFiles([str(wide)])
    with pytest.raises(DataError, match="cannot be read"):
        TextFiles([str(tmp_path / "nowhere.csv")])
    with pytest.raises(RequestError, match="Parts are read from Parquet"):
        open_streams(["x.csv"], format="long")


def test_a_file_that_changes_between_passes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nb\n")
    files = TextFiles([str(path)], "basket", ",")
    assert len(files.vocabulary) == 2
    path.write_text("a,b\nc\n")
    with pytest.raises(DataError, match="has changed while it was read: 'c' is new"):
        list(files.pieces())


def _rows_of(files: ListFiles | TextFiles) -> list[tuple[str, ...]]:
    labels = files.vocabulary.labels
    return [
        tuple(labels[code] for code in sorted(codes[start:end].tolist()))
        for indptr, codes in files.pieces()
        for start, end in pairwise(indptr.tolist())
    ]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.String])
@pytest.mark.parametrize("name", ["condition_concept_id", "code"])
def test_a_concept_that_is_none_is_no_item_in_parts_either(
    tmp_path: Path, dtype: pl.DataType, name: str
) -> None:
    path = tmp_path / "rows.parquet"
    lists = pl.Series([[0, 8507], [0], [8507, 8532]]).cast(pl.List(dtype))
    pl.DataFrame({name: lists}).write_parquet(path)
    files = open_streams([str(path)], item_column=name)
    assert _rows_of(files) == read(path, item_column=name).rows()
    assert ("0" in files.vocabulary.labels) == (name == "code")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("sep=;\ntea;milk\ntea\n", {}),
        ("\ufeffsep=;\ntea;milk\ntea\n", {}),
        ("tea::milk\ntea::bread\n", {"separator": "::"}),
        ("INSERT INTO t VALUES ('tea'),('milk');\n", {}),
    ],
)
def test_text_that_is_rewritten_is_not_read_in_parts(
    tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    plain, path = tmp_path / "plain.csv", tmp_path / "rows.csv"
    plain.write_text("tea,milk\n")
    path.write_text(text)
    read(path, format="basket", **options)
    for paths in ([path], [plain, path]):
        with pytest.raises(RequestError, match=r"\.csv is read as .*, which is not read in parts"):
            open_streams([*map(str, paths)], format="basket", **options)
