"""Noisy blocks on the command line: a run, its account, its use, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import setveil, table, write

RUN = ["anonymize", "rows.csv", "--format", "basket", "-a", "dp-blocks", "--epsilon", "1"]
UNIVERSE = ["--universe", "items.txt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("noisy")
    write(folder / "rows.csv", "tea,milk\ntea\nmilk\nrum,tea\n" * 50)
    write(folder / "items.txt", "milk\nrum\nsoap\ntea\n")
    write(folder / "few.txt", "milk\ntea\n")
    write(folder / "tree.csv", "milk;drink;*\nrum;drink;*\nsoap;soap;*\ntea;drink;*\n")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    text = setveil(*RUN, *UNIVERSE, "--out", "run", "--verbose", cwd=folder).ok().out
    assert "It holds, as far as files can show" in text
    assert "1: 0.05 for rows, 0.25 for items, 0.2 for pairs, 0.5 for cells" in text
    return folder / "run"


def test_run_and_check(run: Path) -> None:
    assert {file.name for file in (run / "published").iterdir()} == {
        "about.json", "cells.csv", "data.json", "synthetic.csv"
    }  # fmt: skip
    assert table(run / "published" / "cells.csv")[0] == ["block", "items", "count"]
    report = json.loads((run / "internal" / "report.json").read_text())
    assert report["guarantee"]["spent"] == 1
    assert [line["line"] for line in report["blocks"]["spent"]] == ["rows", "items", "pairs", "cells"]
    assert "no file can show" in setveil("verify", run, "--epsilon", 1).ok().out
    done = setveil("verify", run / "published" / "data.json", "--epsilon", "1/2")
    assert done.code == 1
    assert "the lines spend 1.0 in all, more than 0.5" in done.out


def test_use(folder: Path, run: Path) -> None:
    found = json.loads(setveil("query", run, "tea", "tea,milk", "--json").ok().out)
    assert [one["itemset"] for one in found] == [["tea"], ["tea", "milk"]]
    assert {"least", "greatest"}.isdisjoint(found[0])
    assert "with noise" in setveil("query", run, "tea").ok().out
    arguments = ["--format", "basket", "--queries", 5, "--top", 3, "--json"]
    measured = json.loads(setveil("measure", folder / "rows.csv", run, *arguments).ok().out)["utility"]
    assert {"are", "item_error", "tkd"} <= measured.keys()


def test_the_leaves_of_a_hierarchy(folder: Path) -> None:
    done = setveil(*RUN, "--hierarchy", "tree.csv", "--told-items", 2, "--out", "leaves", cwd=folder).ok()
    assert "Noisy counts of 2 items" in done.out


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (RUN, "fixed without looking at the data"),
        ([*RUN, "--universe", "few.txt"], "1 item is not in the list of all items: 'rum'"),
        ([*RUN, "--universe", "no.txt"], "no.txt"),
        ([*RUN[:-1], "0", *UNIVERSE], "epsilon must be a number above 0"),
        ([*RUN[:-1], "-1", *UNIVERSE], "epsilon must be a number above 0"),
        ([*RUN[:-2], *UNIVERSE], "needs --epsilon"),
        ([*RUN, *UNIVERSE, "--external"], "There is no page to share"),
        ([*RUN, *UNIVERSE, "--engine", "parts"], "is not computed in parts"),
        ([*RUN, *UNIVERSE, "--engine", "spark"], "With --engine spark there is no --epsilon"),
        ([*RUN, *UNIVERSE, "--certificate"], "--certificate is of exact"),
        ([*RUN, *UNIVERSE, "--checker"], "The checker for recipients does not support this release"),
        ([*RUN, *UNIVERSE, "--classes"], "not by dp-blocks"),
        ([*RUN, *UNIVERSE, "--counts-min", 5], "It tells of items under their own names already"),
        (["risk", "run", "--absent", 1], "No row of noisy counts is a person's"),
        (
            ["apply", "run", "rows.csv", "--repair", "--union", "run", "--out", "new"],
            "its own rows and no others",
        ),
        (["checker", "run"], "does not support this release, which guarantees differential-privacy"),
        (["certify", "run"], "this is a run of dp-blocks"),
        ([*RUN, *UNIVERSE, "--output-format", "fimi"], "always published as data.json and two csv files"),
        ([*RUN, *UNIVERSE, "--block-size", 11], "at most 10"),
        (["query", "run", "--itemsets", 3], "Itemsets cannot be searched"),
        (["query", "run", "beer"], "beer"),
        (["risk", "run"], "No row of noisy counts is a person's"),
        (["why", "run", "tea"], "by counts with noise"),
        (["apply", "run", "rows.csv", "--out", "new"], "of its own rows and no others"),
        (["reconstruct", "run", "--out", "new"], "published already"),
        (["verify", "run", "-k", 5, "-m", 2], "--epsilon"),
    ],
)
def test_refused(folder: Path, run: Path, command: list[Any], text: str) -> None:
    out = ["--out", "new"] if command[0] == "anonymize" else []
    done = setveil(*command, *out, cwd=folder)
    assert done.code in {2, 3, 4}
    assert text in " ".join(done.err.split())
    assert not (folder / "new").exists()
