"""Folders of draws: written and read in every format, and refused by whatever checks guarantees."""

from __future__ import annotations

import errno
import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from naive import reconstruct as naive
from setveil.base.errors import DataError, OutputError, RequestError
from setveil.judges.reconstruction import draws as draws_module
from setveil.judges.reconstruction.draws import read_draws
from setveil.rows.data.layout import FORMATS, InputFile, Layout, Origin

ROWS = [["a1", "b1"], ["a2"], ["a1", "a2", "c"], ["b2", "c"], ["b1", "b2"], ["c"], ["z"], ["a1"], ["z"], []]
PATHS = [[x, x[0].upper(), "*"] for x in ("a1", "a2", "b1", "b2")] + [["c", "*"], ["z", "*"]]
NUMBERS = [[str(10 * "abcz".index(x[0]) + int(x[1:] or 0)) for x in row] for row in ROWS]
LAYOUTS = [
    Layout("basket", separator=";"),
    Layout("spmf"),
    Layout("jsonl", item_column="what", objects=True),
    Layout("parquet"),
    Layout("parquet", nested=False),
    Layout("long", id_column="id", item_column="what"),
    Layout("wide", item_columns=("one", "two")),
    Layout("onehot"),
]


def released(layout: Layout, rows: list[list[str]] | None = None, **more: Any) -> sv.VerifiedRelease:
    data = replace(
        sv.Transactions.from_rows(ROWS if rows is None else rows),
        origin=Origin((InputFile("-", ""),), layout),
    )
    tree = sv.Hierarchy.from_paths(PATHS) if rows is None else None
    return sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=tree, algorithm="hghs", details=False, **more)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{layout.format}-{layout.nested}")
def test_draws_are_written_as_the_release_is(layout: Layout, tmp_path: Path) -> None:
    release = released(layout)
    release.write(tmp_path / "run")
    drawn = sv.reconstruct(tmp_path / "run", draws=3, seed=5)
    about = drawn.write(tmp_path / "draws")
    draws = about["reconstruction"]
    assert [entry["format"] for entry in draws["draws"]] == 3 * [layout.format]
    assert [entry["seed"] for entry in draws["draws"]] == [5, 6, 7]
    content = (tmp_path / f"run/published/data{layout.extension}").read_bytes()
    assert draws["release"] == {"file": f"data{layout.extension}", "sha256": sha256(content).hexdigest()}
    assert about == json.loads((tmp_path / "draws/about.json").read_text())
    again = list(read_draws(tmp_path / "draws", sv.read))
    assert len(again) == 3
    for made, found in zip(drawn, again, strict=True):
        rows = list(made)
        if not layout.shows_empty_rows:
            rows = [row for row in rows if row] + [row for row in rows if not row]
        assert list(found) == rows
    # In memory it is the same release, with the rows in the order of a file.
    assert [list(rows) for rows in sv.reconstruct(release, draws=3, seed=5)] == [list(rows) for rows in drawn]
    # In a long table the number of a row is that of the release's row.
    if "id_column" in layout.options():
        published = sv.read(tmp_path / f"run/published/data{layout.extension}", **layout.options())
        assert published.n_rows < len(ROWS)


@pytest.mark.parametrize("name", FORMATS)
def test_draws_in_another_format(name: str, tmp_path: Path) -> None:
    """Check that, if FIMI was requested, words become baskets, as with releases; integers do not."""
    drawn = sv.reconstruct(released(Layout("basket")), draws=2)
    about = drawn.write(tmp_path / "words", format=name)
    expected = "basket" if name == "fimi" else name
    assert {entry["format"] for entry in about["reconstruction"]["draws"]} == {expected}
    found = list(read_draws(tmp_path / "words", sv.read))
    assert [sorted(map(tuple, rows)) for rows in found] == [sorted(map(tuple, rows)) for rows in drawn]
    if name == "fimi":
        numbers = sv.reconstruct(released(Layout("fimi"), NUMBERS), draws=2)
        about = numbers.write(tmp_path / "numbers")
        assert {entry["file"] for entry in about["reconstruction"]["draws"]} == {"draw-1.dat", "draw-2.dat"}
        assert [list(x) for x in read_draws(tmp_path / "numbers", sv.read)] == [list(x) for x in numbers]


def test_rows_are_numbered_as_in_the_release(tmp_path: Path) -> None:
    """A long table leaves rows without items out, and the others keep the numbers that they have there."""
    layout = Layout("long", id_column="id", item_column="what")
    release = released(layout)
    release.write(tmp_path / "run")
    sv.reconstruct(tmp_path / "run", draws=1).write(tmp_path / "draws")

    def cells(path: Path) -> list[list[str]]:
        return [line.split(",") for line in path.read_text().splitlines()[1:]]

    image = {item: label for item, label in release.release.image().items() if label is not None}
    shown = {(number, image[item]) for number, item in cells(tmp_path / "draws/draw-1.csv") if item in image}
    assert shown == {(number, label) for number, label in cells(tmp_path / "run/published/data.csv")}


def test_names_sort_as_numbers(tmp_path: Path) -> None:
    about = sv.reconstruct(released(Layout("basket")), draws=11).write(tmp_path / "draws")
    names = [entry["file"] for entry in about["reconstruction"]["draws"]]
    assert names == sorted(names)
    assert names[0] == "draw-01.csv"


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    release = released(Layout("basket"))
    for name in ("one", "two"):
        sv.reconstruct(release, draws=2, seed=3).write(tmp_path / name)
    sv.reconstruct(release, draws=1, seed=4).write(tmp_path / "three")
    read = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*.*")}
    for name in ("draw-1.csv", "draw-2.csv", "about.json"):
        assert read[f"one/{name}"] == read[f"two/{name}"]
    assert read["one/draw-2.csv"] == read["three/draw-1.csv"]
    assert read["one/draw-1.csv"] != read["one/draw-2.csv"]


def test_suppressed_items_come_back(tmp_path: Path) -> None:
    """As counts.csv lists them, each in as many rows."""
    rows = 6 * [["a", "b", "x"]] + 6 * [["a", "y"]] + 4 * [["b", "x", "y"]]
    data = sv.Transactions.from_rows(rows)
    release = sv.anonymize(data, sv.KmAnonymity(5, 3), algorithm="hghs", details=False)
    assert release.counts is not None
    hidden = {item: n for item, label, n in release.counts.lines() if not label}
    assert hidden
    for drawn in sv.reconstruct(release, draws=4):
        supports = naive.supports([frozenset(row) for row in drawn])
        assert {item: supports[item] for item in hidden} == hidden


# Errors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    release = released(Layout("basket"))
    release.write(tmp_path / "run")
    sv.reconstruct(tmp_path / "run", draws=2).write(tmp_path / "draws")
    return tmp_path / "draws"


@pytest.mark.parametrize("name", ["", "draw-1.csv", "draw-2.csv"])
def test_promises_of_draws_are_not_checked(folder: Path, name: str) -> None:
    calls: list[Any] = [
        lambda path: sv.verify(path, sv.KmAnonymity(2, 2)),
        lambda path: sv.verify(path, sv.TransactionalKAnonymity(2)),
        lambda path: sv.verify(path, sv.PrivacyConstraints(2, m=2)),
        sv.risk,
        lambda path: sv.risk(path, original=ROWS),
        sv.reconstruct,
    ]
    for call in calls:
        with pytest.raises(
            DataError, match="synthetic, drawn at random from a release, and guarantee nothing"
        ):
            call(folder / name)
    if name:
        with pytest.raises(DataError, match="contains a reconstruction"):
            sv.measure(ROWS, folder / name)
    # They are rows like others for analyses.
    elif not name:
        assert sv.read(folder / "draw-1.csv").n_rows == len(ROWS)


def test_only_folders_of_draws_are_replaced(folder: Path) -> None:
    drawn = sv.reconstruct(folder.parent / "run", draws=1, seed=9)
    before = (folder / "about.json").read_bytes()
    with pytest.raises(OutputError, match="exists and is not empty"):
        drawn.write(folder)
    (folder / "mine.txt").write_text("x")
    with pytest.raises(OutputError, match=r"not one: it contains 'mine.txt'"):
        drawn.write(folder, force=True)
    (folder / "mine.txt").unlink()
    assert (folder / "about.json").read_bytes() == before
    drawn.write(folder, force=True)
    assert sorted(path.name for path in folder.iterdir()) == ["about.json", "draw-1.csv"]
    with pytest.raises(OutputError, match="force=True replaces only folders of draws"):
        drawn.write(folder.parent / "run", force=True)
    with pytest.raises(OutputError, match="is not a folder"):
        drawn.write(folder / "about.json")
    other = folder.parent / "other"
    other.mkdir()
    drawn.write(other)
    assert (other / "draw-1.csv").is_file()


def test_a_full_disk_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    drawn = sv.reconstruct(folder.parent / "run", draws=1)
    monkeypatch.setattr(draws_module, "save", full)
    before = sorted(path.name for path in folder.parent.iterdir())
    with pytest.raises(OutputError, match=r"the disk is full\. Nothing was left behind"):
        drawn.write(folder.parent / "new")
    assert sorted(path.name for path in folder.parent.iterdir()) == before


def test_a_damaged_folder(folder: Path) -> None:
    about = json.loads((folder / "about.json").read_text())
    for wrong in (
        {"draws": "x"},
        {"draws": [1]},
        {"draws": [{"file": 5}]},
        {"draws": [{"file": "../run/published/data.csv"}]},
        {},
    ):
        (folder / "about.json").write_text(json.dumps(about | {"reconstruction": wrong}))
        with pytest.raises(DataError, match=r"is not an about.json that setveil wrote|contains no draws"):
            sv.measure(ROWS, folder)
    for rows in (True, "10", -1, None):
        (folder / "about.json").write_text(json.dumps(about | {"rows": rows}))
        with pytest.raises(DataError, match=r"is not an about.json that setveil wrote"):
            sv.measure(ROWS, folder)
    (folder / "about.json").write_text(json.dumps(about | {"rows": len(ROWS) + 1}))
    with pytest.raises(DataError, match=r"draw-1.csv contains 10 rows, but its about.json says 11"):
        sv.measure(ROWS, folder)
    (folder / "about.json").write_text(json.dumps(about))
    (folder / "draw-2.csv").unlink()
    with pytest.raises(DataError, match=r"draw-2.csv"):
        sv.measure(ROWS, folder)
    (folder / "about.json").write_text("{")
    with pytest.raises(DataError, match="without published data"):
        sv.verify(folder, sv.KmAnonymity(2, 2))


def test_a_release_without_counts(tmp_path: Path) -> None:
    release = released(Layout("basket"), counts=False)
    release.write(tmp_path / "run")
    for one in (release, release.release, tmp_path / "run", tmp_path / "run/published/data.csv"):
        with pytest.raises(DataError, match="no counts of items") as caught:
            sv.reconstruct(one)
        assert "km-anonymity, constraints, k-anonymity" in caught.value.hint


def test_what_no_rows_can_be_drawn_from(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="must be one that was made here, or its folder"):
        sv.reconstruct(ROWS)  # type: ignore[arg-type]
    released(Layout("basket")).write(tmp_path / "run")
    shutil.copytree(tmp_path / "run/published", tmp_path / "bare")
    (tmp_path / "bare/about.json").unlink()
    with pytest.raises(DataError, match=r"no about\.json"):
        sv.reconstruct(tmp_path / "bare")


@pytest.mark.parametrize("options", [{"draws": 0}, {"draws": 1.5}, {"seed": -1}, {"mix": -1}, {"mix": True}])
def test_numbers_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="must be an integer of at least"):
        sv.reconstruct(released(Layout("basket")), **options)


def test_a_reconstruction_shows_itself() -> None:
    drawn = sv.reconstruct(released(Layout("basket")), draws=2, seed=4)
    assert repr(drawn).startswith("Reconstruction: 2 draws, each Transactions: 10 rows")
    assert "synthetic" in repr(drawn)
    assert "<th>seed 4</th>" in drawn._repr_html_()
    assert "synthetic" in drawn._repr_html_()
    assert [list(rows) for rows in drawn] == [list(drawn[0]), list(drawn[1])]
