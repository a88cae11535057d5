"""The command line, run as a process: every command, every format, and that a run repeats byte for byte."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cli_helpers import (
    HIERARCHY,
    Done,
    Run,
    dump,
    dump_parquet,
    environment,
    files_under,
    needs_compiled,
    read_run,
    refused,
    rows_of,
    sample_rows,
    setveil,
    table,
    together,
    violations,
    write,
)

ROWS = sample_rows()
LEAVES = [str(101 + i) for i in range(12)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with the sample as baskets.csv and its hierarchy as tree.csv."""
    write(tmp_path / "baskets.csv", dump(ROWS, "basket"))
    write(tmp_path / "tree.csv", HIERARCHY)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder like `place` with a run's folder ``out`` in it (k=4, m=2); not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    write(folder / "baskets.csv", dump(ROWS, "basket"))
    write(folder / "tree.csv", HIERARCHY)
    setveil(
        "anonymize", "baskets.csv", "--hierarchy", "tree.csv", "--k", 4, "--m", 2, "--out", "out", cwd=folder
    ).ok()
    return folder


# Formats


INPUTS: dict[str, tuple[str, str, list[str]]] = {
    "fimi": ("in.dat", "fimi", []),
    "basket": ("in.csv", "basket", []),
    "basket told": ("in.csv", "basket", ["--format", "basket"]),
    "long": ("in.csv", "long", []),
    "long with columns": ("in.csv", "wide-long", ["--id-column", "who", "--item-column", "what"]),
    "spmf": ("in.txt", "spmf", []),
    "spmf without marks": ("in.txt", "fimi", []),
    "jsonl": ("in.jsonl", "jsonl", []),
    "parquet lists": ("in.parquet", "parquet lists", []),
    "parquet long": ("in.parquet", "parquet long", []),
    "extension says nothing": ("in.data", "fimi", []),
    "extension lies": ("in.csv", "fimi", ["--format", "fimi"]),
}
PUBLISHED = {
    "spmf": "data.txt",
    "spmf without marks": "data.txt",
    "jsonl": "data.jsonl",
    "parquet lists": "data.parquet",
    "parquet long": "data.parquet",
}
ALGORITHMS = ("aa", "da", "oa")


@pytest.fixture(scope="module")
def anonymized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, Path]]:
    """Run every input format, each in a folder of its own, all in one process."""
    commands: list[list[object]] = []
    places = []
    for number, (file, form, options) in enumerate(INPUTS.values()):
        folder = tmp_path_factory.mktemp("formats")
        if form.startswith("parquet"):
            dump_parquet(ROWS, folder / file, nested=form == "parquet lists")
        else:
            write(folder / file, dump(ROWS, form))
        tree = write(folder / "tree.csv", HIERARCHY)
        commands.append(
            ["anonymize", folder / file, "--k", 4, "--m", 2, "--algorithm", ALGORITHMS[number % 3],
             "--hierarchy", tree, "--out", folder / "out", *options]
        )  # fmt: skip
        places.append(folder)
    done = together(commands, places[0])
    return dict(zip(INPUTS, zip(done, places, strict=True), strict=True))


@pytest.mark.parametrize("name", INPUTS)
def test_every_format_can_be_anonymized(name: str, anonymized: dict[str, tuple[Done, Path]]) -> None:
    file, _, _ = INPUTS[name]
    done, folder = anonymized[name]
    done.ok()
    run = read_run(folder / "out", ROWS, LEAVES)
    assert run.changed
    assert run.changed != set(LEAVES)
    assert run.data.name == PUBLISHED.get(name, "data.csv")
    assert run.report["algorithm"]["name"] == ALGORITHMS[list(INPUTS).index(name) % 3]
    assert run.report["seed"] == 0
    assert "read" in run.report["timing"]
    assert violations(run.rows, 4, 2) == {}
    assert "out" in done.out
    if name.startswith("long"):
        columns = run.data.read_text().split("\n")[0]
        assert columns == ("order_id,item" if name == "long" else "who;what")
    if name == "long":
        assert "long table" in done.err
    assert {path.name for path in folder.iterdir()} == {file, "tree.csv", "out"}


@pytest.mark.parametrize(("form", "options"), [("basket", []), ("jsonl", []), ("fimi", ["--format", "fimi"])])
def test_standard_input(form: str, options: list[str], place: Path) -> None:
    setveil(
        "anonymize", "-", "--k", "4", "--m", "2", "--hierarchy", "tree.csv", "--out", "out", *options,
        cwd=place, stdin=dump(ROWS, form),
    ).ok()  # fmt: skip
    run = read_run(place / "out", ROWS, LEAVES)
    assert run.report["input"]["path"] == "-"
    assert run.data.name == ("data.jsonl" if form == "jsonl" else "data.csv")


def test_fimi_stays_fimi_where_nothing_is_generalized(tmp_path: Path) -> None:
    rows = [frozenset(["1", "2"]), frozenset(["1"]), frozenset(), frozenset(["2"])] * 5
    write(tmp_path / "in.dat", dump(rows, "fimi"))
    setveil("anonymize", "in.dat", "--k", 5, "--m", "inf", "--out", "out", cwd=tmp_path).ok()
    run = read_run(tmp_path / "out", rows)
    assert run.data.name == "data.dat"
    assert run.changed == set()
    assert run.report["utility"]["ncp"] == 0
    assert run.report["input"]["empty_rows"] == run.about["empty_rows"] == 5


def test_format_names_the_published_file_where_the_input_is_plainly_something_else(place: Path) -> None:
    write(place / "in.jsonl", dump(ROWS, "jsonl"))
    arguments = ["--hierarchy", "tree.csv", "--k", "4", "--m", "2"]
    done = setveil("anonymize", "in.jsonl", *arguments, "--out", "out", "--format", "parquet", cwd=place).ok()
    assert "in.jsonl is not parquet" in done.err
    assert read_run(place / "out", ROWS, LEAVES).data.name == "data.parquet"


def test_output_format(place: Path) -> None:
    write(place / "in.dat", dump(ROWS, "fimi"))
    options = ["--hierarchy", "tree.csv", "--k", "4", "--m", "2"]
    files = {
        "basket": "data.csv",
        "long": "data.csv",
        "spmf": "data.txt",
        "jsonl": "data.jsonl",
        "parquet": "data.parquet",
    }
    commands = [["anonymize", "in.dat", *options, "--out", form, "--output-format", form] for form in files]
    for (form, file), done in zip(files.items(), together(commands, place), strict=True):
        done.ok()
        run = read_run(place / form, ROWS, LEAVES)
        assert run.data.name == file
        assert run.about["format"] == form


def test_an_empty_row_is_a_person_and_is_kept(place: Path) -> None:
    rows = [frozenset[str](), *ROWS[:50], frozenset[str](), *ROWS[50:], frozenset[str]()]
    write(place / "in.csv", dump(rows, "basket"))
    setveil(
        "anonymize", "in.csv", "--hierarchy", "tree.csv", "--k", 4, "--m", 2, "--out", "out", cwd=place
    ).ok()
    run = read_run(place / "out", rows, LEAVES)
    assert run.about["empty_rows"] == 3
    long = setveil(
        "anonymize", "in.csv", "--hierarchy", "tree.csv", "--k", 4, "--m", 2, "--out", "long",
        "--output-format", "long", "--json", cwd=place,
    ).ok()  # fmt: skip
    assert long.json()["published"]["empty_rows"] == 3
    about = json.loads((place / "long" / "published" / "about.json").read_text())
    assert about["rows"] == len(rows)


def test_unprintable_labels_do_not_break_the_terminal(tmp_path: Path) -> None:
    rows = [frozenset(["café", "naïve"]), frozenset(["日本"])] * 3 + [frozenset(["日本", "café"])]
    write(tmp_path / "in.csv", dump(rows, "basket"))
    ascii_only = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = setveil("verify", "in.csv", "--k", 2, "--m", 2, cwd=tmp_path, env=ascii_only)
    assert done.code == 1
    assert done.err.startswith("Reading in.csv")
    done = setveil(
        "anonymize", "in.csv", "--k", 2, "--m", 2, "--out", "out", cwd=tmp_path, env=ascii_only
    ).ok()
    read_run(tmp_path / "out", rows)


# Options of anonymize


def test_json_is_one_document_on_standard_output(place: Path) -> None:
    done = setveil("anonymize", "baskets.csv", "--k", 4, "--m", 2, "--out", "out", "--json", cwd=place).ok()
    assert done.json() == json.loads((place / "out" / "internal" / "report.json").read_text())
    assert "co-occurrence" in done.err  # without --hierarchy, one is built, with a message
    run = read_run(place / "out", ROWS)
    assert run.report["hierarchy"]["source"] == "co-occurrence"
    assert run.report["hierarchy"]["leaves"] == 12


def test_the_summary_says_what_matters(place: Path) -> None:
    done = setveil(
        "anonymize", "baskets.csv", "--k", 4, "--m", 2, "--hierarchy", "tree.csv", "--out", "out", cwd=place
    )
    done.ok()
    assert done.err == ""
    words = " ".join(done.out.split())
    for expected in ("knows up to 2 items", "at least 4 rows", "out/published", "Never share out/internal"):
        assert expected in words, expected
    again = ("anonymize", "--config", "out/internal/report.json", "--out", "again", "--verbose")
    words = " ".join(setveil(*again, cwd=place).ok().out.split())
    for expected in ("knows up to 2 items", "at least 4 rows", "NCP", "published/", "internal/"):
        assert expected in words, expected


def test_the_external_report_stands_beside_the_rows(place: Path) -> None:
    rows = sample_rows(80, 9, 4, seed=12)
    write(place / "secret-input.csv", dump(rows, "basket"))
    options = ("--k", 3, "--m", 2, "--external", "--out", "out", "--json")
    report = setveil("anonymize", "secret-input.csv", *options, cwd=place).ok().json()
    assert report["published"]["report"] == "report.html"
    page = (place / "out/published/report.html").read_text("utf-8")
    assert "The guarantee holds" in page
    inside = (place / "out/internal/report.html").read_text("utf-8")
    for secret in ("secret-input", report["input"]["sha256"]):
        assert secret in inside
        assert secret not in page
    # A folder with it is still one that --force may replace, without it this time.
    setveil("anonymize", "secret-input.csv", *options[:4], "--out", "out", "--force", cwd=place).ok()
    assert not (place / "out/published/report.html").exists()


def test_infinite_m_and_seed(place: Path) -> None:
    command = ["anonymize", "baskets.csv", "-k", 3, "-m", "inf", "-H", "tree.csv"]
    runs = {}
    answers = together([[*command, "-o", f"out{seed}", "--seed", seed] for seed in (0, 7)], place)
    for seed, done in zip((0, 7), answers, strict=True):
        done.ok()
        runs[seed] = run = read_run(place / f"out{seed}", ROWS, LEAVES)
        assert run.report["guarantee"]["m"] == "inf"
        assert run.report["seed"] == seed
        assert violations(run.rows, 3, 5) == {}
    assert runs[0].rows != runs[7].rows
    assert sorted(map(sorted, runs[0].rows)) == sorted(map(sorted, runs[7].rows))
    assert runs[0].recoding == runs[7].recoding


def test_m_greater_than_the_longest_row(place: Path) -> None:
    setveil("anonymize", "baskets.csv", "-k", 3, "-m", 1000000, "-H", "tree.csv", "-o", "out", cwd=place).ok()
    assert violations(read_run(place / "out", ROWS, LEAVES).rows, 3, 5) == {}


@pytest.mark.parametrize("algorithm", ["aa", "da", "oa"])
def test_refine_loses_no_more(algorithm: str, place: Path) -> None:
    kinds: dict[str, list[str]] = {"plain": [], "refined": ["--refine"]}
    command = ["anonymize", "baskets.csv", "--k", "5", "--m", "2", "--hierarchy", "tree.csv"]
    commands = [
        [*command, "--algorithm", algorithm, "--out", out, *options] for out, options in kinds.items()
    ]
    ncp = []
    for out, done in zip(kinds, together(commands, place), strict=True):
        done.ok()
        run = read_run(place / out, ROWS, LEAVES)
        assert violations(run.rows, 5, 2) == {}
        assert run.report["algorithm"]["parameters"]["refine"] is bool(kinds[out])
        ncp.append(run.report["utility"]["ncp"])
    assert ncp[1] <= ncp[0]


def test_force_replaces_the_folder_of_a_run_only(place: Path) -> None:
    command = ["anonymize", "baskets.csv", "--hierarchy", "tree.csv", "--m", "2", "--out", "out"]
    (place / "out").mkdir()  # an empty folder may be there
    setveil(*command, "--k", "3", cwd=place).ok()
    done = setveil(*command, "--k", "4", cwd=place)
    assert done.code == 2
    assert "--force" in done.err
    assert read_run(place / "out", ROWS, LEAVES).report["guarantee"]["k"] == 3
    setveil(*command, "--k", "4", "--force", cwd=place).ok()
    assert read_run(place / "out", ROWS, LEAVES).report["guarantee"]["k"] == 4
    assert {path.name for path in place.iterdir()} == {"baskets.csv", "tree.csv", "out"}


def test_an_output_folder_may_lie_deep(place: Path) -> None:
    setveil(
        "anonymize",
        "baskets.csv",
        "--hierarchy",
        "tree.csv",
        "--k",
        4,
        "--m",
        1,
        "--out",
        "new/er/out/",
        cwd=place,
    ).ok()
    read_run(place / "new" / "er" / "out", ROWS, LEAVES)


def test_the_input_is_left_alone_and_no_stranger_is_called(place: Path) -> None:
    """Nothing is sent, and nothing is written outside the run's folder and the caches of compiled code."""
    log = place / "log"
    before = {name: (place / name).read_bytes() for name in ("baskets.csv", "tree.csv")}
    watch = (
        "import os, sys\n"
        f"log = os.open({str(log)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "def hook(event, args):\n"
        "    if event.startswith(('socket.', 'urllib', 'http', 'subprocess', 'os.system')):\n"
        "        os.write(log, f'{event} {args}\\n'.encode())\n"
        "sys.addaudithook(hook)\n"
        "from setveil.cli.app import main\n"
        "sys.argv[0] = 'setveil'\n"
        "main()\n"
    )
    (place / "tmp").mkdir()
    temp = {name: str(place / "tmp") for name in ("TMPDIR", "TEMP", "TMP")}
    arguments = ["anonymize", "baskets.csv", "--k", "4", "--m", "2", "--out", "out"]
    process = subprocess.run(
        [sys.executable, "-c", watch, *arguments],
        cwd=place,
        env=environment(temp),
        capture_output=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert log.read_text() == ""
    assert list((place / "tmp").iterdir()) == []
    read_run(place / "out", ROWS)
    assert {path.name for path in place.iterdir()} == {"log", "tmp", "out", *before}
    assert {name: (place / name).read_bytes() for name in before} == before


# verify


def test_verify_our_release(finished: Path) -> None:
    targets = ("out", "out/published", "out/published/data.csv")
    results = together([["verify", target, "--k", 4, "--m", 2, "--json"] for target in targets], finished)
    for done in results:
        answer = done.ok().json()
        assert done.err == ""
        assert set(answer) >= {"holds", "violations", "first", "greatest_k", "greatest_m"}
        assert answer["holds"] is True
        assert answer["violations"] == 0
        assert answer["first"] == []
        rows = rows_of(finished / "out" / "published" / "data.csv")
        smallest = min(violations(rows, len(rows) + 1, 2).values())
        assert answer["greatest_k"] == smallest >= 4
        holds = [m for m in range(1, 7) if not violations(rows, 4, m)]
        assert answer["greatest_m"] == ("inf" if 6 in holds else max(holds))
    done = setveil("verify", "out", "--k", 4, "--m", 2, cwd=finished).ok()
    assert "holds" in done.out


def test_verify_the_raw_file(finished: Path) -> None:
    broken = violations(ROWS, 4, 2)
    done = setveil("verify", "baskets.csv", "--k", 4, "--m", 2, "--json", "--show", 3, cwd=finished)
    assert done.code == 1
    answer = done.json()
    assert answer["holds"] is False
    assert answer["violations"] == len(broken)
    assert len(answer["first"]) == 3
    for entry in answer["first"]:
        assert set(entry) == {"itemset", "support"}
        assert broken[frozenset(entry["itemset"])] == entry["support"]
    smallest = min(map(len, broken))
    assert len(answer["first"][0]["itemset"]) == smallest
    assert answer["greatest_k"] == min(broken.values())
    holds = [m for m in range(1, 6) if not violations(ROWS, 4, m)]
    assert answer["greatest_m"] == max(holds, default=0)
    done = setveil("verify", "-", "--k", 4, "--m", 2, "--show", 0, cwd=finished, stdin=dump(ROWS, "fimi"))
    assert done.code == 1
    assert f"{len(broken)}" in done.out
    assert "Traceback" not in done.err


def test_verify_any_format_and_infinite_m(tmp_path: Path) -> None:
    rows = [frozenset(["1", "2", "3"])] * 4
    write(tmp_path / "in.jsonl", dump(rows, "jsonl"))
    answer = setveil("verify", "in.jsonl", "--k", 4, "--m", "inf", "--json", cwd=tmp_path).ok().json()
    assert (answer["holds"], answer["greatest_k"], answer["greatest_m"], answer["m"]) == (
        True,
        4,
        "inf",
        "inf",
    )
    done = setveil("verify", "in.jsonl", "--k", 5, "--m", "inf", "--json", cwd=tmp_path)
    assert done.code == 1
    assert done.json()["violations"] == 7


# measure


def test_measure_finds_again_what_the_report_says(finished: Path) -> None:
    report = json.loads((finished / "out" / "internal" / "report.json").read_text())["utility"]
    alone = write(finished / "alone.csv", (finished / "out" / "published" / "data.csv").read_bytes())
    targets = (["out"], ["out/published"], [alone.name, "--hierarchy", "tree.csv"], ["out", "-H", "tree.csv"])
    commands = [["measure", "baskets.csv", *arguments, "--json"] for arguments in targets]
    for target, done in zip(targets, together(commands, finished), strict=True):
        answer = done.ok().json()
        expected = dict(report)
        if target[0] == alone.name:  # without counts a reader has the rows alone
            expected["item_support_error"] = report["item_support_error"]["from_rows"]
        assert {key: answer["utility"][key] for key in report} == expected
        assert answer["rows"] == {"original": len(ROWS), "release": len(ROWS)}
    done = setveil("measure", "baskets.csv", "out", cwd=finished).ok()
    assert "NCP" in done.out
    done = setveil("measure", "baskets.csv", alone.name, cwd=finished)  # nothing says what its labels mean
    assert done.code == 4
    assert "--hierarchy" in done.err


def test_measure_of_the_original_itself_is_no_loss(finished: Path) -> None:
    answer = setveil("measure", "baskets.csv", "baskets.csv", "--json", cwd=finished).ok().json()
    assert answer["utility"]["ncp"] == answer["utility"]["lm"] == 0
    assert answer["utility"]["label_support_error"] == {"mean": 0.0, "max": 0.0}


def test_measure_shows_that_a_release_was_tampered_with(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "out", tmp_path / "out")
    data = tmp_path / "out" / "published" / "data.csv"
    lines = data.read_text().splitlines(keepends=True)
    about = json.loads((tmp_path / "out" / "published" / "about.json").read_text())
    label = next(iter(about["labels"]))
    data.write_text("".join(lines[len(lines) // 2 :] + lines[len(lines) // 2 :]))
    original = finished / "baskets.csv"
    done = setveil("measure", original, tmp_path / "out", "--json")
    refused(done, 4, "The counts contradict the published rows")
    del about["counts"]
    (tmp_path / "out" / "published" / "about.json").write_text(json.dumps(about))
    (tmp_path / "out" / "published" / "counts.csv").unlink()
    answer = setveil("measure", original, tmp_path / "out", "--json").ok().json()
    assert answer["utility"]["label_support_error"]["max"] > 0
    off = [entry for entry in answer["labels"] if entry["label"] == label]
    assert off, answer["labels"]
    data.write_text("".join(line for line in lines if label not in line.strip().split(",")))
    refused(setveil("measure", original, tmp_path / "out", "--json"), 4, "but about.json says")


# convert


def test_convert_round_trip(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row]
    first = write(tmp_path / "a.dat", dump(rows, "fimi"))
    chain = ["a.dat", "b.csv", "c.jsonl", "d.parquet", "e.txt", "f.dat"]
    steps = list(pairwise(chain))
    answers = together([["convert", *step] for step in steps], tmp_path)
    for (_, target), done in zip(steps, answers, strict=True):
        assert done.ok().out == ""
        assert f"{len(rows)} rows" in done.err
        assert rows_of(tmp_path / target) == rows
    assert (tmp_path / "f.dat").read_bytes() == first.read_bytes()
    for done in together(
        [["convert", "c.jsonl", "g.csv", "--to", "long"], ["convert", "g.csv", "h.dat"]], tmp_path
    ):
        done.ok()
    assert rows_of(tmp_path / "g.csv", "long") == rows
    assert (tmp_path / "h.dat").read_bytes() == first.read_bytes()


def test_convert_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "tea,milk\ntea\n")
    write(tmp_path / "there.csv", "precious\n")
    cases: list[tuple[list[str], int, list[str]]] = [
        (["a.csv", "b.dat"], 4, ["integers", "'milk'"]),
        (["a.csv", "b.unknown"], 2, ["--to"]),
        (["a.csv", "b.csv", "--to", "excel"], 2, ["excel"]),
        (["a.csv", "there.csv"], 2, ["--force"]),
        (["a.csv", "no/b.csv"], 2, ["no"]),
    ]
    answers = together([["convert", *arguments] for arguments, _, _ in cases], tmp_path)
    for done, (_, code, words) in zip(answers, cases, strict=True):
        assert done.code == code, done
        assert "Traceback" not in done.err
        assert all(word in done.err for word in words), done
    assert files_under(tmp_path) == {"a.csv", "there.csv"}
    assert (tmp_path / "there.csv").read_text() == "precious\n"
    setveil("convert", "a.csv", "there.csv", "--force", cwd=tmp_path).ok()
    assert (tmp_path / "there.csv").read_text() == "milk,tea\ntea\n"


def test_convert_keeps_difficult_labels(tmp_path: Path) -> None:
    labels = [
        'say "hi"',
        "a,b",
        "x\ny",
        "007",
        "7",
        " led",
        "#1",
        "@ITEM=1=x",
        "-1",
        "é" * 9,
        "(a,b)",
        "a;b",
        "[1",
    ]
    rows = [frozenset(labels), frozenset(["007"]), frozenset(["7"]), frozenset(labels[:3])]
    write(tmp_path / "a.jsonl", dump(rows, "jsonl"))
    chain = ["a.jsonl", "b.csv", "c.parquet", "d.jsonl"]
    steps = list(pairwise(chain))
    for (_, target), done in zip(
        steps, together([["convert", *step] for step in steps], tmp_path), strict=True
    ):
        done.ok()
        assert rows_of(tmp_path / target) == rows, target


# algorithms, version, help


def test_algorithms() -> None:
    infos = setveil("algorithms", "--json").ok().json()
    assert set(infos) >= {"aa", "da", "oa"}
    for info in infos.values():
        assert set(info) >= {"title", "guarantees", "needs", "reference"}
    text = setveil("algorithms").ok()
    assert text.err == ""
    for name, info in infos.items():
        assert name in text.out
        assert info["title"] in text.out


def test_version_help_and_usage() -> None:
    assert setveil("--version").ok().out.startswith("setveil 0.")
    words = setveil("--help").ok().out
    for command in ("demo", "anonymize", "verify", "measure", "convert", "algorithms", "hierarchy"):
        assert command in words
    wrong: tuple[list[str], ...] = (
        [],
        ["hierarchy"],
        ["no-such-command"],
        ["anonymize"],
        ["verify", "x", "--k", "two", "--m", "2"],
    )
    for done in together(wrong, Path.cwd()):
        assert done.code == 2, done
        assert "Traceback" not in done.err
        assert "setveil" in done.out + done.err


# hierarchy


@pytest.mark.parametrize("way", ["co-occurrence", "balanced", "prefix"])
def test_hierarchy_build(way: str, place: Path) -> None:
    done, *others = together(
        [
            [
                "hierarchy",
                "build",
                "baskets.csv",
                "--by",
                way,
                "--out",
                "h.csv",
                "--fanout",
                3,
                "--lengths",
                2,
            ],
            ["hierarchy", "check", "h.csv", "--data", "baskets.csv"],
            ["anonymize", "baskets.csv", "-H", "h.csv", "--k", 4, "--m", 2, "--out", "out"],
        ],
        place,
    )
    assert done.ok().out == ""
    for other in others:
        other.ok()
    assert "12 items" in done.err
    lines = [line.split(";") for line in (place / "h.csv").read_text().splitlines()]
    assert sorted(line[0] for line in lines) == LEAVES
    assert len({line[-1] for line in lines}) == 1
    if way == "prefix":
        assert all(line[-2].startswith(line[0][:2]) for line in lines)
    assert read_run(place / "out", ROWS, LEAVES).report["hierarchy"]["source"] == "file"


def test_hierarchy_extend(place: Path) -> None:
    write(
        place / "part.csv", "".join(line for line in HIERARCHY.splitlines(True) if not line.startswith("103"))
    )
    done, built, checked, again = together(
        [
            ["hierarchy", "check", "part.csv", "--data", "baskets.csv"],
            ["hierarchy", "build", "baskets.csv", "--extend", "part.csv", "--out", "whole.csv"],
            ["hierarchy", "check", "whole.csv", "--data", "baskets.csv"],
            ["hierarchy", "build", "baskets.csv", "--out", "whole.csv"],
        ],
        place,
    )
    assert done.code == 4
    assert "'103'" in done.out
    built.ok()
    checked.ok()
    lines = {line.split(";")[0]: line.split(";") for line in (place / "whole.csv").read_text().splitlines()}
    assert sorted(lines) == LEAVES
    assert lines["101"][-1] == lines["103"][-1] == "all"
    assert again.code == 2
    assert "--force" in again.err
    setveil("hierarchy", "build", "baskets.csv", "--out", "whole.csv", "--force", cwd=place).ok()


def test_hierarchy_check_lists_everything_with_lines(tmp_path: Path) -> None:
    write(tmp_path / "h.csv", "a;x;all\nb;y;all\nb;x;all\nc;z;other\nx;y;all\n")
    done = setveil("hierarchy", "check", "h.csv", cwd=tmp_path)
    assert done.code == 4
    assert "Traceback" not in done.err
    for line, words in ((3, "two parents"), (4, "second root"), (5, "inner node")):
        assert any(text.startswith(f"line {line}:") and words in text for text in done.out.splitlines()), (
            done.out
        )
    as_json = setveil("hierarchy", "check", "h.csv", "--json", cwd=tmp_path)
    assert as_json.code == 4
    problems = as_json.json()["problems"]
    assert [f"line {p['line']}: {p['message']}" for p in problems] == done.out.splitlines()
    write(tmp_path / "cycle.json", '{"hierType":"distinct","level1":{"a":["b"]},"level2":{"b":["a","c"]}}')
    done = setveil("hierarchy", "check", "cycle.json", cwd=tmp_path)
    assert done.code == 4
    assert "cycle" in done.out
    write(tmp_path / "fine.csv", HIERARCHY)
    done = setveil("hierarchy", "check", "fine.csv", "--json", cwd=tmp_path).ok()
    assert done.json() == {"problems": []}


def test_hierarchy_convert_round_trip(tmp_path: Path) -> None:
    first = write(tmp_path / "a.csv", HIERARCHY)
    chain = ["a.csv", "b.txt", "c.json", "d.csv", "e.json", "f.txt", "g.csv"]
    steps = list(pairwise(chain))
    for done in together([["hierarchy", "convert", *step] for step in steps], tmp_path):
        assert done.ok().out == ""
        assert "12 items" in done.err
    last = (tmp_path / "g.csv").read_text()
    assert sorted(last.splitlines()) == sorted(first.read_text().splitlines())
    assert (tmp_path / "b.txt").read_bytes() == (tmp_path / "f.txt").read_bytes()
    done = setveil("hierarchy", "convert", "a.csv", "b.txt", cwd=tmp_path)
    assert done.code == 2
    assert "--force" in done.err


# demo


def test_demo_twice(tmp_path: Path) -> None:
    first = setveil("demo", "--rows", 600, cwd=tmp_path).ok()
    before = {name: (tmp_path / name).read_bytes() for name in files_under(tmp_path) if "report" not in name}
    second = setveil("demo", "--rows", 600, cwd=tmp_path).ok()
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert first.out == second.out
    assert {path.name for path in tmp_path.iterdir()} == {"setveil-demo", "setveil-demo-input"}
    rows = rows_of(tmp_path / "setveil-demo-input" / "baskets.csv")
    run = read_run(tmp_path / "setveil-demo", rows, [line[0].split(";")[0] for line in _products(tmp_path)])
    assert violations(run.rows, 5, 2) == {}
    by_hand = re.search(r"^ *setveil (anonymize .*)$", first.out, re.MULTILINE)
    assert by_hand
    setveil(*by_hand[1].replace("--out release", "--out by-hand").split(), cwd=tmp_path).ok()
    assert (tmp_path / "by-hand" / "published" / "data.csv").read_bytes() == run.data.read_bytes()


def _products(folder: Path) -> list[list[str]]:
    return table(folder / "setveil-demo-input" / "products.csv")


HOSPITAL = {  # the first and last lines, which must not depend on platform or version
    "ward": ("900000,78,F,10245,E11.9;N18.3,no", "903999,77,F,10115,E11.2;I20.9;I21.4,no", 4001),
    "log": ("100007,19.03.2025,I48.0", "121000,31.12.2025,I50.0", 4916),
}


@pytest.mark.parametrize("kind", HOSPITAL)
def test_demo_writes_hospital_data_that_its_command_publishes(kind: str, tmp_path: Path) -> None:
    done = setveil("demo", f"--{kind}", cwd=tmp_path).ok()
    folder = tmp_path / "setveil-demo-input"
    assert {path.name for path in tmp_path.iterdir()} == {folder.name}
    lines = (folder / f"{kind}.csv").read_text().splitlines()
    assert (lines[1], lines[-1], len(lines)) == HOSPITAL[kind]
    command = re.search(r"^ *setveil (anonymize .*)$", done.out, re.MULTILINE)
    assert command
    setveil(*shlex.split(command[1]), cwd=tmp_path).ok()
    again = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert setveil("demo", f"--{kind}", cwd=tmp_path).ok().out == done.out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == again


def test_demo_writes_both_and_the_number_of_rows(tmp_path: Path) -> None:
    out = setveil("demo", "--ward", "--log", "--rows", 20, "--seed", 3, "--out", "x", cwd=tmp_path).ok().out
    assert "20 made-up stays" in out
    assert {path.name for path in (tmp_path / "x-input").iterdir()} == {
        "ward.csv", "ward-codes.csv", "log.csv", "log-codes.csv",
    }  # fmt: skip


# A run repeats byte for byte


SAME = (
    "internal/recoding.csv", "internal/rows.csv", "internal/report.html", "published/about.json",
    "published/counts.csv",
)  # fmt: skip
VARIANTS: list[dict[str, str]] = [
    {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "2"},
    {"PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
    {"PYTHONHASHSEED": "3"},
]


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("basket", ["--algorithm", "aa"]),
        ("long", ["--algorithm", "da", "--hierarchy", "tree.csv", "--refine"]),
        ("parquet", ["--algorithm", "oa", "--hierarchy", "tree.csv", "--seed", "3"]),
    ],
)
def test_same_seed_same_bytes(form: str, options: list[str], place: Path) -> None:
    rows = sample_rows(300, 12, 6, seed=5)
    if form == "parquet":
        source = dump_parquet(rows, place / "in.parquet", nested=True)
    else:
        source = write(place / "in.csv", dump(rows, form))
    runs: list[tuple[Run, dict[str, bytes]]] = []
    for i, env in enumerate(VARIANTS):
        out = f"out{i}"
        setveil("anonymize", source.name, "--k", 4, "--m", 3, "--out", out, *options, cwd=place, env=env).ok()
        run = read_run(place / out, rows, LEAVES)
        names = (*SAME, f"published/{run.data.name}")
        runs.append((run, {name: _without(out, place / out / name) for name in names}))
        assert run.changed
    (first, content), *others = runs
    for run, other in others:
        assert other == content
        assert _lasting(run.report) == _lasting(first.report)


def _without(folder: str, path: Path) -> bytes:
    """Read a file without the name of the run's folder, which the page's command holds."""
    return path.read_bytes().replace(folder.encode(), b"")


def _lasting(report: dict[str, Any]) -> str:
    """Return the report without what differs between equal runs; the order of its keys counts."""
    different = {"timing", "peak_memory_mb", "command"}  # which names the folder
    return json.dumps({key: value for key, value in report.items() if key not in different})


@needs_compiled
def test_same_bytes_compiled_or_not(place: Path) -> None:
    rows = sample_rows(60, 12, 4, seed=6)
    write(place / "in.csv", dump(rows, "basket"))
    results = []
    for jit in ("0", "1"):
        out = place / f"out{jit}"
        setveil(
            "anonymize", "in.csv", "--k", 3, "--m", 2, "--out", out, cwd=place, env={"NUMBA_DISABLE_JIT": jit}
        ).ok()
        read_run(out, rows, LEAVES)
        results.append({name: _without(str(out), out / name) for name in (*SAME, "published/data.csv")})
    assert results[0] == results[1]


def test_published_order_tells_nothing_of_the_input_order(place: Path) -> None:
    """The same rows in another order give the same published file, so it cannot depend on the order."""
    commands = [
        ["anonymize", f"{name}.csv", "-H", "tree.csv", "--k", 4, "--m", 2, "--out", name]
        for name in ("a", "b")
    ]
    shuffled = Random(2).sample(ROWS, len(ROWS))
    contents = []
    for name, rows in (("a", ROWS), ("b", shuffled)):
        write(place / f"{name}.csv", dump(rows, "basket"))
    for done in together(commands, place):
        done.ok()
    for name, rows in (("a", ROWS), ("b", shuffled)):
        contents.append(read_run(place / name, rows, LEAVES).data.read_bytes())
    assert contents[0] == contents[1]


# Compiled code where nothing can be kept


@pytest.mark.exhaustive
@needs_compiled
def test_it_works_where_compiled_code_cannot_be_kept(place: Path) -> None:
    """Check a cache folder below a regular file: then every run compiles, which is slow but right."""
    write(place / "file.txt", "a file")
    nowhere = {"NUMBA_CACHE_DIR": str(place / "file.txt" / "cache")}
    done = setveil("verify", "baskets.csv", "--k", 2, "--m", 1, "--json", cwd=place, env=nowhere)
    assert "Traceback" not in done.err, done.err[-600:]
    assert done.code == 0, done.err[-600:]
    assert done.json()["holds"] is True


# Helpers of these tests


def test_the_helpers_notice_what_is_wrong() -> None:
    with pytest.raises(AssertionError):
        Done(1, "", "Error: no").ok()
    assert violations([frozenset("ab"), frozenset("a")], 2, 2) == {frozenset("b"): 1, frozenset("ab"): 1}
