"""Rows in classes on the command line: the option that needs no others, answers, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_helpers import setveil, write

ROWS = 60 * "tea,scone\ntea,honey\nbeer,crisps\nbeer,nuts\n"
RARE = 2 * "tea,crisps\ntea,nuts\nbeer,honey\nbeer,scone\n"
TREE = "".join(
    f"{item};{above};all\n"
    for item, above in (
        ("tea", "drinks"), ("beer", "drinks"), ("scone", "sweet"), ("honey", "sweet"),
        ("crisps", "salty"), ("nuts", "salty"),
    )
)  # fmt: skip
OPTIONS = ("--format", "basket", "-H", "tree.csv", "--k", 5, "--m", 2, "--class-size", 50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "rows.csv", ROWS + RARE)
    write(tmp_path / "tree.csv", TREE)
    return tmp_path


def test_classes_are_made_verified_and_queried(folder: Path) -> None:
    made = setveil(
        "anonymize", *OPTIONS, "--classes", "rows.csv", "-o", "out", "--external", "-v", cwd=folder
    ).ok()
    assert "Classes    2 of 124 rows; pairs are off by" in made.out
    record = setveil("verify", "out", "-k", 5, "-m", 2, "--json", cwd=folder).ok().json()
    assert record["holds"]
    assert record["classes"] == 2
    assert record["counts"]["holds"]
    record = setveil("query", "out", "tea, scone", "--json", cwd=folder).ok().json()
    assert record[0]["least"] == record[0]["greatest"] == 60
    page = (folder / "out/internal/report.html").read_text("utf-8")
    assert "Common items of classes" in page
    assert "splits" not in (folder / "out/published/report.html").read_text("utf-8")
    risk = setveil("risk", "out", "--m", "1", "--json", cwd=folder).ok().json()
    assert set(risk) == {"class known", "class not known"}
    setveil("reconstruct", "out", "-o", "draws", "--draws", 1, cwd=folder).ok()
    assert (folder / "draws/classes.csv").read_bytes() == (folder / "out/published/classes.csv").read_bytes()


def test_at_most_so_many_classes(folder: Path) -> None:
    setveil("anonymize", "rows.csv", *OPTIONS, "--classes", 1, "-o", "out", "--no-details", cwd=folder).ok()
    assert (folder / "out/published/classes.csv").read_text() == "class,rows\n0,248\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("-a", "lg"), "not by lg"),
        (("-a", "cahd"), "not by cahd"),
        (("--engine", "parts"), "needs all rows in memory"),
        (("--model", "coherence"), "coherence"),
        (("--engine", "spark"), "needs all rows in memory"),
        (("--model", "constraints"), "divide"),
        (("--model", "kkm"), "made by its columns"),
        (("--class-size", 3), "at least 10 rows"),
        (("--class-size", 125), "no more than half of the 248 rows"),
        (("--global",), "--global is for tables"),
    ],
)
def test_what_is_refused(more: tuple[object, ...], said: str, folder: Path) -> None:
    done = setveil("anonymize", "rows.csv", *OPTIONS, "--classes", *more, "-o", "out", cwd=folder)
    assert done.code == 2
    assert said in done.err
    assert not (folder / "out").exists()
