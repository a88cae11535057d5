"""`verify --reading cover`, and releases by LRA from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from cli_helpers import setveil, write

TREE = "a1;A;ALL\na2;A;ALL\nb1;B;ALL\nb2;B;ALL\n"
THEIRS = "A\na1\na1\na2\na2\n"
ROWS = "a1,b1\na1,b1\na1,b2\na1,b2\na2,b1\na2\na2\nb2\n"


def test_verify_in_the_cover_reading(tmp_path: Path) -> None:
    write(tmp_path / "theirs.csv", THEIRS)
    write(tmp_path / "tree.csv", TREE)
    command = ["verify", tmp_path / "theirs.csv", "--k", 3, "--m", 1, "--format", "basket"]
    cover = [*command, "--reading", "cover", "--hierarchy", tmp_path / "tree.csv"]
    assert setveil(*command).code == 1
    done = setveil(*cover).ok()
    assert "Yes: k^m-anonymity (k=3, m=1) in the cover reading holds." in done.out
    found = json.loads(setveil(*cover, "--json").ok().out)
    assert found["holds"]
    assert found["reading"] == "cover"
    assert found["greatest_k"] == 3

    write(tmp_path / "theirs.csv", "A\na1\na1\n")
    done = setveil(*cover)
    assert done.code == 1
    assert "support 1: a2" in done.out


def test_refused(tmp_path: Path) -> None:
    write(tmp_path / "theirs.csv", THEIRS + "Z\n")
    write(tmp_path / "tree.csv", TREE)
    theirs, tree = tmp_path / "theirs.csv", ["--hierarchy", tmp_path / "tree.csv"]
    promise = ["--k", 3, "--m", 1, "--format", "basket"]
    for options, code, words in (
        ([*promise, "--reading", "cover", *tree], 4, "'Z'"),
        ([*promise, "--reading", "cover"], 2, "needs the hierarchy"),
        ([*promise, *tree], 2, "cover reading only"),
        ([*promise, "--reading", "leaf"], 2, "label, cover"),
        ([*promise, "--reading", "cover", "--hierarchy", tmp_path / "no.csv"], 4, "no.csv"),
        (["--model", "k-anonymity", "--k", 3, "--reading", "cover", *tree], 2, "not apply to k-anonymity"),
    ):
        done = setveil("verify", theirs, *options)
        assert done.code == code, (options, done)
        assert words in done.err, (options, done)


def test_release_by_parts(tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", ROWS)
    write(tmp_path / "tree.csv", TREE)
    base = ["anonymize", tmp_path / "rows.csv", "--hierarchy", tmp_path / "tree.csv", "--k", 2, "--m", 2]
    out = tmp_path / "out"
    setveil(*base, "--algorithm", "lra", "--parts", 4, "--out", out).ok()
    inside = {path.name for path in (out / "internal").iterdir()}
    assert inside == {"parts.csv", "row_parts.csv", "report.html", "report.json", "rows.csv"}
    assert "part" not in {path.stem for path in (out / "published").iterdir()}
    assert (out / "internal" / "row_parts.csv").read_text() == (
        "input_row,part\n0,2\n1,2\n2,3\n3,3\n4,0\n5,1\n6,1\n7,0\n"
    )
    assert (out / "internal" / "parts.csv").read_text() == (
        "part,item,published\n0,a2,ALL\n0,b1,ALL\n0,b2,ALL\n1,a2,a2\n2,a1,a1\n2,b1,b1\n3,a1,a1\n3,b2,b2\n"
    )
    about = json.loads((out / "published" / "about.json").read_text())
    assert about["recoding"] == "local"
    assert not any("part" in key for key in about)
    report = json.loads((out / "internal" / "report.json").read_text())
    assert report["algorithm"]["parts"] == 4
    assert round(report["utility"]["ncp"] * 13) == 3

    promise = ["--k", 2, "--m", 2]
    cover = ["--reading", "cover", "--hierarchy", tmp_path / "tree.csv"]
    setveil("verify", out, *promise).ok()
    setveil("verify", out, *promise, *cover).ok()
    again = json.loads(setveil("measure", tmp_path / "rows.csv", out, "--json").ok().out)
    assert again["utility"]["ncp"] == report["utility"]["ncp"]
    setveil("risk", out).ok()
    setveil("query", out, "a1").ok()
    setveil(*base, "--algorithm", "lra", "--parts", 2, "--out", out, "--force").ok()
    for command, code, words in (
        (["why", out, "a1"], 2, "several labels (lra)"),
        (["apply", out, tmp_path / "rows.csv", "--out", tmp_path / "b", "--people", "other"], 2, "is local"),
        ([*base, "--algorithm", "lra", "--parts", 5, "--out", tmp_path / "c"], 2, "--parts 4"),
        ([*base, "--algorithm", "lra", "--bound", "--out", tmp_path / "c"], 2, "is that of cuts"),
        ([*base, "--algorithm", "lra", "--inner", "da", "--out", tmp_path / "c"], 2, "aa, exact"),
    ):
        done = setveil(*command)
        assert done.code == code, done
        assert words in done.err, done
    assert (
        "lra"
        not in setveil("apply", out, tmp_path / "rows.csv", "--out", tmp_path / "b").err.partition("Hint")[2]
    )


def test_rows_are_drawn_where_some_parts_lack_items(tmp_path: Path) -> None:
    rows = "a1,b1\n" * 3 + "a1\n" * 3 + "b1\n" * 6 + "a1,b2\n" * 3 + "a2\n" * 3
    write(tmp_path / "rows.csv", rows)
    write(tmp_path / "tree.csv", TREE)
    base = ["anonymize", tmp_path / "rows.csv", "--hierarchy", tmp_path / "tree.csv", "--k", 3, "--m", 2]
    setveil(*base, "--algorithm", "lra", "--inner", "exact", "--parts", 3, "--out", tmp_path / "out").ok()
    setveil("reconstruct", tmp_path / "out", "--out", tmp_path / "draws").ok()
