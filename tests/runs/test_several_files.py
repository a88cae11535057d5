"""Published rows in several files, which are read as one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import setveil as sv
from setveil.base.errors import DataError, RequestError
from strategies import examples, random_case, seeded


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setveil.rows.data.io.parquet.ROW_GROUP", 2)
    monkeypatch.setattr("setveil.rows.data.io.parquet.FILE_ROWS", 4)


def test_several_files(tmp_path: Path) -> None:
    rng = seeded(12)
    for number in range(examples(15, 5)):
        case = random_case(rng, most_rows=30)
        data = sv.Transactions.from_rows([*case.rows, *[list(case.tree.labels[:1])] * 9])
        release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=case.tree, algorithm="aa")
        out = tmp_path / str(number)
        for _ in range(2):
            written = release.write(out, format="parquet", force=True)
        about = json.loads((out / "published" / "about.json").read_text())
        files = [f"data.parquet/{at:05}.parquet" for at in range(-(-data.n_rows // 4))]
        assert about["files"] == written["published"]["files"] == files
        assert about["file"] == "data.parquet"
        for place in (out, out / "published", out / "published" / "data.parquet"):
            assert sv.verify(str(place), sv.KmAnonymity(2, 2)).holds
        rows = [row for file in files for row in sv.read(str(out / "published" / file), item_column="item")]
        assert list(map(set, rows)) == list(map(set, release.published))


def test_a_file_is_missing(tmp_path: Path) -> None:
    data = [["a", "b"], ["a"], ["b"], ["a", "b"], ["a"], ["b"]] * 2
    sv.anonymize(data, sv.KmAnonymity(2, 2)).write(tmp_path / "out", format="parquet")
    (tmp_path / "out" / "published" / "data.parquet" / "00002.parquet").unlink()
    with pytest.raises(DataError, match=r"8 rows.* says 12 rows"):
        sv.verify(str(tmp_path / "out"), sv.KmAnonymity(2, 2))


def test_patterns(tmp_path: Path) -> None:
    for name in ("b", "a"):
        sv.convert([[name], ["x"]], tmp_path / f"{name}.parquet")
    data = sv.read(str(tmp_path / "?.parquet"))
    assert list(data) == [("a",), ("x",), ("b",), ("x",)]
    with pytest.raises((DataError, RequestError), match=r"c\*\.parquet"):
        sv.read(str(tmp_path / "c*.parquet"))
