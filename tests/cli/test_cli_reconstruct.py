"""`setveil reconstruct`, and `setveil measure` of its files, read by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from cli_helpers import HIERARCHY, Row, dump, needs_compiled, refused, sample_rows, setveil, together

ROWS = sample_rows()


def lines(path: Path) -> list[Row]:
    return [frozenset(line.split(",")) - {""} for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with rows, a release of them and two draws from that."""
    place = tmp_path_factory.mktemp("reconstruct")
    (place / "x.csv").write_bytes(dump(ROWS, "basket"))
    (place / "tree.csv").write_text(HIERARCHY)
    for done in together(
        [
            ["anonymize", "x.csv", "-H", "tree.csv", "-k5", "-m2", "--no-details", "--out", "run"],
            ["reconstruct", "run", "--draws", "2", "--seed", "3", "--out", "draws"],
        ],
        place,
    ):
        done.ok()
    return place


def test_draws_recode_to_the_release_with_the_supports_of_counts(place: Path) -> None:
    about = json.loads((place / "run/published/about.json").read_text())
    published = lines(place / f"run/published/{about['file']}")
    image = {item: label for label, items in about["labels"].items() for item in items}
    with (place / "run/published/counts.csv").open() as file:
        listed = [(x["item"], x["label"], int(x["rows"])) for x in csv.DictReader(file)]
    hidden = {item for item, label, _ in listed if not label}
    for name in ("draw-1.csv", "draw-2.csv"):
        rows = lines(place / "draws" / name)
        assert [frozenset(image.get(x, x) for x in row - hidden) for row in rows] == published
        supports = Counter(item for row in rows for item in row)
        assert all(supports[item] == n for item, _, n in listed)
        assert all(
            n < about["counts"]["least"] for x, n in supports.items() if x not in {i for i, _, _ in listed}
        )
    assert lines(place / "draws/draw-1.csv") != lines(place / "draws/draw-2.csv")


def test_what_is_said(place: Path, tmp_path: Path) -> None:
    said, verbose, one, again = together(
        [
            ["reconstruct", place / "run", "--draws", "2", "--seed", "3", "--out", "a"],
            ["reconstruct", place / "run/published", "--draws", "2", "--seed", "3", "--out", "b", "--json"],
            ["reconstruct", place / "run", "--draws", "1", "--mix", "0", "--format", "jsonl", "--out", "c"],
            ["reconstruct", place / "run", "--draws", "1", "--seed", "4", "--out", "a", "--force"],
        ],
        tmp_path,
    )
    assert (
        said.ok().out.splitlines()[0] == f"Draws      2 of {len(ROWS):,} rows: draw-1.csv to draw-2.csv in a"
    )
    assert "Check      It holds" in said.out
    assert "Synthetic  These rows are synthetic" in said.out
    about = verbose.ok().json()
    assert about == json.loads((tmp_path / "b/about.json").read_text())
    assert about["reconstruction"]["mix"] == 10
    assert about["reconstruction"]["note"].startswith("These rows are synthetic")
    for name in ("draw-1.csv", "draw-2.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (place / "draws" / name).read_bytes()
    assert "rows: draw-1.jsonl in c" in one.ok().out
    assert len((tmp_path / "c/draw-1.jsonl").read_text().splitlines()) == len(ROWS)
    again.ok()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["about.json", "draw-1.csv"]
    assert (tmp_path / "a/draw-1.csv").read_bytes() == (place / "draws/draw-2.csv").read_bytes()


def test_measure_pools_draws(place: Path) -> None:
    text, record, page = together(
        [
            ["measure", "x.csv", "draws"],
            ["measure", "x.csv", "draws", "--json"],
            ["measure", "x.csv", "draws", "--queries", "50", "--itemsets", "20", "--json"],
        ],
        place,
    )
    found = record.ok().json()
    assert found["draws"] == 2
    assert found["queries"]["number"] == 1000
    assert set(found) == {"draws", "rows", "items", "queries"}
    mean = found["queries"]["mean_error"]["mean"]
    assert f"COUNT queries (ARE)    {mean:.3g} ± " in text.ok().out
    assert text.out.splitlines()[0] == (
        f"2 draws of {len(ROWS):,} synthetic rows (original: {len(ROWS):,}); "
        "mean ± standard deviation over the draws."
    )
    more = page.ok().json()
    assert more["queries"]["number"] == 50
    supports = Counter(item for row in ROWS for item in row)
    assert more["itemsets"]["frequent"] >= sum(n >= 20 for n in supports.values())


def test_what_is_refused(place: Path) -> None:
    before = sorted(path.relative_to(place) for path in place.rglob("*"))
    grouped = ["verify", "draws", "--model", "privacy-degree", "--p", "2"]
    done = together(
        [
            ["verify", "draws", "--k", "2", "--m", "2"],
            ["verify", "draws/draw-1.csv", "--k", "2", "--m", "2"],
            ["risk", "draws"],
            ["risk", "draws/draw-2.csv", "--original", "x.csv"],
            ["measure", "x.csv", "draws/draw-1.csv"],
            ["reconstruct", "draws", "--out", "new"],
            ["reconstruct", "draws/draw-1.csv", "--out", "new"],
        ],
        place,
    )
    for one in done:
        refused(one, 4, "contains a reconstruction: its rows are synthetic", "guarantee nothing of their own")
    for words, code, message in (
        (["reconstruct", "run", "--out", "draws"], 2, "exists and is not empty"),
        (["reconstruct", "run", "--out", "run", "--force"], 2, "--force replaces only folders of draws"),
        (["reconstruct", "run", "--out", "x.csv"], 2, "is not a folder"),
        (["reconstruct", "x.csv", "--out", "new"], 4, "no about.json next to x.csv"),
        (
            ["measure", "x.csv", "draws", "--hierarchy", "tree.csv"],
            2,
            "--hierarchy cannot be used for a reconstruction",
        ),
        (["measure", "x.csv", "draws", "--itemset-length", "2"], 2, "--itemset-length"),
        (["measure", "x.csv", "draws", "--queries-file", "gone.txt"], 4, "There is no file gone.txt"),
    ):
        refused(setveil(*words, cwd=place), code, message)
    for words in (["--draws", "0"], ["--seed", "-1"], ["--mix", "x"], ["--format", "csv"]):
        failed = setveil("reconstruct", "run", "--out", "new", *words, cwd=place)
        assert failed.code == 2
        assert "Traceback" not in failed.err
    assert setveil(*grouped, cwd=place).code in {2, 4}
    assert sorted(path.relative_to(place) for path in place.rglob("*")) == before


def test_counts_that_contradict_the_rows(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in (place / "run/published").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    whole = (folder / "counts.csv").read_text().splitlines()
    item, label, rows = whole[1].split(",")
    for line, words in (
        (f"{item},{label},{len(ROWS) + 1}", "counts.csv, line 2"),
        (f"{item},{label},1", "counts.csv, line 2"),
        (f"{item},nowhere,{rows}", "which no row shows"),
        (f"zzz,{label},{rows}", "does not represent it"),
    ):
        (folder / "counts.csv").write_text("\n".join([whole[0], line, *whole[2:]]) + "\n")
        refused(setveil("reconstruct", "run", "--out", "new", cwd=tmp_path), 4, words)
    (folder / "counts.csv").unlink()
    refused(setveil("reconstruct", "run", "--out", "new", cwd=tmp_path), 4, "counts.csv is missing")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@needs_compiled
def test_compiled_or_not_the_draws_are_the_same(place: Path, tmp_path: Path) -> None:
    words = ["reconstruct", "run", "--draws", "2", "--seed", "3", "--out", tmp_path / "slow"]
    setveil(*words, cwd=place, env={"NUMBA_DISABLE_JIT": "1"}).ok()
    for path in (place / "draws").iterdir():
        assert path.read_bytes() == (tmp_path / "slow" / path.name).read_bytes()
