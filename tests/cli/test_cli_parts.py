"""`anonymize --engine parts`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.base.errors import RequestError
from setveil.base.progress import silent
from setveil.cli.in_parts import risk
from setveil.runs.options.reading import Reading

pytestmark = pytest.mark.usefixtures("command_line")

ROWS = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"], ["egg"]] * 3


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    sv.convert(ROWS, tmp_path / "rows.parquet")
    (tmp_path / "tree.csv").write_text("tea;hot;*\ncoffee;hot;*\nmilk;*\negg;*\n")
    paths = [str(tmp_path / name) for name in ("rows.parquet", "tree.csv", "out")]
    return [
        "anonymize",
        paths[0],
        "-H",
        paths[1],
        "-a",
        "aa",
        "-k4",
        "-m2",
        "--engine",
        "parts",
        "-o",
        paths[2],
    ]


def test_release_in_parts(arguments: list[str], tmp_path: Path) -> None:
    done = setveil(*arguments, "--purpose", "a test")
    assert done.code == 0, done.err
    assert "Rechecked" in done.out
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert report["engine"] == "parts"
    assert report["about"] == {"purpose": "a test"}
    assert sv.verify(str(tmp_path / "out"), sv.KmAnonymity(4, 2)).holds
    again = setveil(*arguments)
    assert (again.code, "not empty" in again.err) == (2, True)
    assert setveil(*arguments, "--force", "--json").code == 0


def test_what_is_beside_the_rows(arguments: list[str], tmp_path: Path) -> None:
    published = tmp_path / "out" / "published"
    setveil(*arguments, "-k3", "--external", "--counts-min", "6").ok()
    assert {path.name for path in published.iterdir()} == {
        "about.json", "counts.csv", "data.parquet", "report.html"
    }  # fmt: skip
    assert (
        published / "counts.csv"
    ).read_text() == "item,label,rows\ncoffee,coffee,6\nmilk,milk,6\ntea,tea,6\n"
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert report["counts"]["least"] == 6
    page = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "which published row came from which input row" not in page
    assert [entry["m"] for entry in report["risk"]["after"]["risk"]] == [1, 1, 2, 2]
    assert report["answers"]["are"]["estimator"] == "maximum entropy"
    setveil(*arguments, "--force", "--no-counts", "--no-details").ok()
    assert {path.name for path in published.iterdir()} == {"about.json", "data.parquet"}
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert not {"counts", "risk", "answers"} & report.keys()


def test_verified_in_parts(arguments: list[str], tmp_path: Path) -> None:
    setveil(*arguments, "-k3").ok()
    out = tmp_path / "out"
    parts, memory = (
        json.loads(setveil("verify", out, "-k3", "-m2", "--engine", engine, "--json").ok().out)
        for engine in ("parts", "memory")
    )
    assert parts == memory
    assert parts["counts"]["holds"]
    output = setveil("verify", out, "-k", "3", "-m", "2", "--engine", "parts").ok().out
    assert output == setveil("verify", out, "-k", "3", "-m", "2").ok().out
    found = setveil("verify", out, "-k", "9", "-m", "2", "--engine", "parts", "--show", "1")
    assert (found.code, found.out) == (1, setveil("verify", out, "-k", "9", "-m", "2", "--show", "1").out)
    (out / "published" / "counts.csv").write_text("item,label,rows\nmilk,milk,7\n")
    found = setveil("verify", out, "-k", "3", "-m", "2", "--engine", "parts")
    assert found.code == 1
    assert "7 rows contain 'milk', but only 6 published rows show 'milk'" in found.out
    (out / "published" / "counts.csv").write_text("item,label,rows\n")
    rows = sv.read(str(out / "published" / "data.parquet"))
    sv.convert([list(row) for row in rows][:-1], out / "published" / "data.parquet", force=True)
    refused = setveil("verify", out, "-k", "3", "-m", "2", "--engine", "parts")
    assert (refused.code, "but about.json says 15 rows" in refused.err) == (4, True), refused
    for more, message in (
        (["-k", "4", "-m", "4"], "m = 4 cannot be verified in parts"),
        (["-k", "4", "--model", "k-anonymity"], "With --engine parts there is km-anonymity only"),
        (["-k", "3", "-m", "2", "--recoding", "x.csv"], "With --engine parts there is no --original"),
        (["-k", "3", "-m", "2", "--id-column", "x"], "--id-column is not read in parts"),
    ):
        refused = setveil("verify", out, *more, "--engine", "parts")
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_text_verified_in_parts(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("tea;milk\n\ntea;milk\ntea\n" * 3)
    setveil("anonymize", tmp_path / "rows.csv", "-k3", "-m2", "--separator", ";", "-o", tmp_path / "out").ok()
    about = json.loads((tmp_path / "out" / "published" / "about.json").read_text())
    assert (about["format"], about["separator"]) == ("basket", ";")
    parts, memory = (
        setveil("verify", tmp_path / "out", "-k3", "-m2", "--engine", engine, "--json").ok().out
        for engine in ("parts", "memory")
    )
    assert json.loads(parts) == json.loads(memory)
    other = setveil("verify", tmp_path / "out", "-k3", "-m2", "--engine", "parts", "--separator", ",")
    assert other.code in {0, 1}


def test_risk_in_parts(arguments: list[str], tmp_path: Path) -> None:
    setveil(*arguments, "-k3").ok()
    (tmp_path / "rows.csv").write_text("".join(",".join(row) + "\n" for row in ROWS))
    for named in (["rows.parquet"], ["rows.csv"], ["out"], ["out", "--original", "rows.csv"]):
        for sizes in ("1", "2", "1..2"):
            parts, memory = (
                setveil("risk", *named, "--m", sizes, "--engine", engine, cwd=tmp_path).ok().out
                for engine in ("parts", "memory")
            )
            assert parts == memory
    sv.convert([*ROWS, *ROWS], tmp_path / "twice.parquet")
    sv.convert(ROWS, tmp_path / "again.parquet")
    together, twice = (
        setveil("risk", *named, "--engine", "parts", cwd=tmp_path).ok().out
        for named in (["rows.parquet", "again.parquet"], ["twice.parquet"])
    )
    assert together == twice
    for more, message in (
        (["--m", "3"], "at most 2 known items is counted, got --m 3"),
        (["--private", "tea"], "--private does not apply in parts"),
        (["--seed", "1", "--effort", "9"], "--effort, --seed do not apply in parts"),
        (["--id-column", "x"], "--id-column is not read in parts"),
    ):
        refused = setveil("risk", "rows.parquet", *more, "--engine", "parts", cwd=tmp_path)
        assert (refused.code, message in refused.err) == (2, True), refused.err
    sv.convert(ROWS[:-1], tmp_path / "out" / "published" / "data.parquet", force=True)
    refused = setveil("risk", "out", "--engine", "parts", cwd=tmp_path)
    assert (refused.code, "but about.json says 15 rows" in refused.err) == (4, True), refused


def test_pairs_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sv.convert([[str(i), str(i + 1)] for i in range(20)], tmp_path / "rows.parquet")
    monkeypatch.setattr("setveil.kernels.count.MOST_CELLS", 100)
    rows = str(tmp_path / "rows.parquet"), None, Reading(item_column="item")
    with pytest.raises(RequestError, match=r"20 rows of 21 labels the sets of 2 cannot be.*\n.*--m 1"):
        risk(*rows, None, {}, silent)
    with pytest.raises(RequestError, match=r"the sets of 2 cannot be.*\n.*--m 1"):
        risk(*rows, (2,), {}, silent)
    ((_, found),) = risk(*rows, (1,), {}, silent)
    assert [entry["m"] for entry in found["risk"]] == [1, 1]


def test_text_in_parts(arguments: list[str], tmp_path: Path) -> None:
    text = tmp_path / "rows.csv"
    text.write_text("".join(",".join(row) + "\n" for row in ROWS))
    released = [tmp_path / "out", tmp_path / "text"]
    setveil(*arguments).ok()
    setveil("anonymize", text, *arguments[2:-1], released[1]).ok()
    rows = [(folder / "published" / "data.parquet").read_bytes() for folder in released]
    assert rows[0] == rows[1]
    report = json.loads((released[1] / "internal" / "report.json").read_text())
    assert report["input"]["format"] == "basket"
    table = tmp_path / "table.csv"
    table.write_text("id,item\n" + "".join(f"{i % 9},item{i}\n" for i in range(40)))
    refused = setveil("anonymize", table, *arguments[2:-1], tmp_path / "no")
    assert (refused.code, (tmp_path / "no").exists()) == (4, False)
    assert "may be a table" in refused.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--bound"], "--bound does not apply in parts"),
        (["--sample", "3", "--bound"], "--bound, --sample do not apply in parts"),
        (["--refine"], "The cut is not refined in parts"),
        (["-a", "oa"], "oa for km-anonymity is not computed in parts"),
        (["--id-column", "x"], "--id-column is not read in parts"),
        (["--format", "long"], "Parts are read from Parquet files"),
        (["-m", "inf"], "m = inf cannot be verified in parts"),
    ],
)
def test_what_is_of_no_use(arguments: list[str], tmp_path: Path, more: list[str], message: str) -> None:
    done = setveil(*arguments, *more)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "out").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.parquet", "tree.csv"]


def test_the_optimum_in_parts(arguments: list[str], tmp_path: Path) -> None:
    setveil(*arguments, "-a", "exact", "--no-suppress", "--objective", "entropy").ok()
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert report["optimality"]["proven"]
    assert (report["optimality"]["objective"], report["optimality"]["model"]) == ("entropy", "cut")
    refused = setveil(*arguments, "--force", "-a", "exact", "--keep", arguments[3])
    assert (refused.code, "With --engine parts there is no --keep" in refused.err) == (2, True)


def test_rows_that_do_not_fit(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.base.errors import DataError
    from setveil.cli.files import require_room
    from setveil.cli.in_parts import way_out

    rows = str(tmp_path / "rows.parquet")
    monkeypatch.setattr("setveil.base.memory.memory_left", lambda: 100)
    with pytest.raises(DataError, match=r"15 rows do not fit in memory.*\n.*Do something else\."):
        require_room(rows, lambda: "Do something else.")
    assert way_out("km-anonymity", "aa") == "--engine parts keeps them on disk."
    assert "for -a aa or exact or da or hghs or mhghs with --k and --m." in way_out("km-anonymity", "oa")
    monkeypatch.setattr("setveil.base.memory.memory_left", lambda: None)
    require_room(rows, lambda: "Do something else.")


def test_a_release_that_does_not_fit(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from setveil.cli.app import app_for

    setveil(*arguments).ok()
    monkeypatch.setattr("setveil.base.memory.memory_left", lambda: 100)
    with pytest.raises(SystemExit) as end:
        app_for(["verify"])(["verify", str(tmp_path / "out"), "-k4", "-m2"])
    assert end.value.code == 4
    assert "--engine parts reads them a piece at a time" in capsys.readouterr().err
    for command, *files, hint in (
        ("risk", str(tmp_path / "out"), "--engine parts reads them a piece at a time"),
        ("risk", str(tmp_path / "tree.csv"), "--original", arguments[1], "--engine parts reads them a piece"),
        ("measure", arguments[1], str(tmp_path / "out"), "anonymize --engine parts` measures what it makes"),
    ):
        with pytest.raises(SystemExit) as end:
            app_for([command])([command, *files])
        assert end.value.code == 4
        assert hint in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        app_for(["verify"])(["verify", str(tmp_path / "out"), "-k4", "-m2", "--engine", "parts"])
    assert end.value.code == 0
