"""The command line of the other privacy models, run as a process: the folders of their runs."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from cli_helpers import Done, files_under, read_run, rows_of, together, violations
from model_runs import (
    GROUPS,
    HGHS,
    INPUTS,
    MODEL_FILES,
    RUNS,
    SAMPLE,
    anonymizing,
    degree_of,
    groups_of,
    has_counts,
    json_of,
    members_of,
    moles_of,
    place_of,
    recoding_of,
)
from setveil.report.run.brief import brief
from setveil.report.run.summary import summary


@pytest.mark.parametrize("name", RUNS)
def test_the_folder_of_a_run(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    folder, answers = finished
    run, out = RUNS[name], folder / name
    answers[name].ok()
    counts = {"published/counts.csv"} if has_counts(name) else set()
    members = {"internal/members.json"} if name == "coat-tree" else set()  # whose labels have rare ones
    assert files_under(out) == members | {
        "published/about.json", "published/data.csv", "internal/rows.csv", "internal/report.json",
        "internal/report.html", *MODEL_FILES[run.kind], *counts,
    }  # fmt: skip
    html = (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//|url\(|@import|<script[^>]*src", html)
    assert set(INPUTS) | set(RUNS) >= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_written_is_json(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    """As the standard has it, without Infinity and NaN."""
    for file in (finished[0] / name).glob("*/*.json"):
        constants: list[str] = []
        json.loads(file.read_text(encoding="utf-8"), parse_constant=constants.append)
        assert constants == [], file.name


@pytest.mark.parametrize("name", RUNS)
def test_what_the_report_says(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    folder, _ = finished
    run = RUNS[name]
    report = json_of(folder / name / "internal" / "report.json")
    assert report["algorithm"]["name"] == name.partition("-")[0]
    assert report["algorithm"]["reference"]
    assert report["guarantee"].items() >= {**run.guarantee, "holds": True, "violations": 0}.items()
    assert report["recoding"] == run.kind
    assert report["suppressed"] == run.suppressed
    assert report["input"]["rows"] == report["published"]["rows"] == len(run.rows)
    assert report["input"]["occurrences"] == sum(map(len, run.rows))
    assert report["timing"].keys() >= {"read", "anonymize", "verify", "measure", "write"}
    if run.kind == "grouped":
        assert report["utility"].keys() >= {"kl", "group_sizes", "sensitive_items", "sensitive_occurrences"}
    else:
        assert report["utility"].keys() >= {"ncp", "lm", "ul", "suppressed_items", "item_support_error"}
        assert report["utility"]["suppressed_items"] == len(run.suppressed)


@pytest.mark.parametrize("name", RUNS)
def test_the_hierarchy_is_on_record(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    """Check also coat, whose mergeable groups and weights of UL came from it."""
    run = RUNS[name]
    found = json_of(finished[0] / name / "internal" / "report.json")["hierarchy"]
    assert (found and found["path"]) == (run.tree or None)


@pytest.mark.parametrize("name", RUNS)
def test_what_about_says(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    folder, _ = finished
    run = RUNS[name]
    about = json_of(folder / name / "published" / "about.json")
    means = {"groups_file"} if run.kind == "grouped" else {"separator", "labels"}
    domain = {"others"} if name == "coat-tree" else {"domain"}  # labels of groups may name only some
    means |= domain if run.tree and run.kind != "grouped" else set()
    means |= {"counts"} if has_counts(name) else set()
    assert set(about) == {
        "setveil", "guarantee", "algorithm", "file", "format", "rows", "empty_rows", "recoding", *means,
    }  # fmt: skip
    assert about["guarantee"] == run.guarantee
    assert about["algorithm"] == name.partition("-")[0]
    assert about["recoding"] == run.kind
    assert about["rows"] == len(run.rows)
    if run.kind != "grouped":
        items = {item for row in run.rows for item in row}
        assert about.get("domain", len(items)) == len(items)
        published = {label for row in rows_of(folder / name / "published" / "data.csv") for label in row}
        assert set(about["labels"]) == published - items
    else:
        assert about["groups_file"] == "groups.csv"
        assert about["format"] == "grouped"


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].kind == "global"])
def test_rows_are_recoded_as_said(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    out, run = finished[0] / name, RUNS[name]
    recoding, place = recoding_of(out), place_of(out, len(run.rows))
    assert set(recoding) == {item for row in run.rows for item in row}
    assert [item for item, label in recoding.items() if not label] == run.suppressed
    published = rows_of(out / "published" / "data.csv")
    for i, row in enumerate(run.rows):
        assert published[place[i]] == {recoding[item] for item in row} - {""}, i


def test_the_cut_and_the_suppressed_item_of_hghs(finished: tuple[Path, dict[str, Done]]) -> None:
    for name, kept, loss in (
        ("hghs", {"P", "f", "g", "M", "e"}, Fraction(56, 230)),
        ("mhghs", {"P", "J", "M", "e"}, Fraction(62, 230)),
    ):
        out = finished[0] / name
        run = read_run(out, HGHS)
        assert set(run.recoding.values()) == kept | {""}
        assert violations(run.rows, 2, 5) == {}
        report = json_of(out / "internal" / "report.json")
        assert report["utility"]["lm"] == pytest.approx(float(loss))
        best = report["optimality"]
        assert (best["objective"], best["model"], best["proven"]) == ("lm", "cut with suppression", True)
        assert best["lower_bound"] == pytest.approx(5.6 / 23)
        assert best["gap"] == pytest.approx(1 - 5.6 / 23 / float(loss))
    assert report["algorithm"]["rounds"][0].items() >= {"cut": 9, "suppressed": 0}.items()
    assert [len(entry) > 0 for entry in report["algorithm"]["rounds"]] == [True] * 5
    assert {f"round {i}" for i in range(1, 6)} <= set(report["timing"])


def test_the_groups_of_coat(finished: tuple[Path, dict[str, Done]]) -> None:
    recoding = recoding_of(finished[0] / "coat")
    assert recoding == {
        "a": "(a,b)", "b": "(a,b)", "c": "c", "d": "", "e": "e", "f": "f", "g": "(g,h)", "h": "(g,h)"
    }  # fmt: skip
    assert members_of(finished[0] / "coat") == {"(a,b)": {"a", "b"}, "(g,h)": {"g", "h"}}
    report = json_of(finished[0] / "coat" / "internal" / "report.json")
    assert report["utility"]["suppressed_occurrences"] == 4
    kept = {
        entry["constraint"]: (entry["rows_before"], entry["rows_after"], entry["satisfied"])
        for entry in report["algorithm"]["utility_constraints"]
    }
    assert kept == {1: (7, 7, True), 2: (6, 6, True), 3: (4, 0, False), 4: (9, 9, True)}


def test_what_border_and_mm_leave_out(finished: tuple[Path, dict[str, Done]]) -> None:
    for name in ("border", "mm"):
        out = finished[0] / name
        order = json_of(out / "internal" / "report.json")["algorithm"]["order"]
        assert [entry["item"] for entry in order] == ["c", "d", "a", "b"]
        assert moles_of(rows_of(out / "published" / "data.csv"), Fraction(1, 2), 3, 3, set("123")) == {}


def test_local_recoding_fits_every_row(finished: tuple[Path, dict[str, Done]]) -> None:
    out = finished[0] / "lg"
    published, place = rows_of(out / "published" / "data.csv"), place_of(out, len(SAMPLE))
    members = members_of(out)
    for i, row in enumerate(SAMPLE):
        parts = [members.get(label, {label}) for label in published[place[i]]]
        assert all(part & row for part in parts)
        assert row <= set().union(*parts)
        assert sum(map(len, parts)) == len(set().union(*parts))
    assert min(Counter(published).values()) >= 4


def test_groups_hold_exact_rows_and_counts(finished: tuple[Path, dict[str, Done]]) -> None:
    out, sensitive = finished[0] / "cahd", {"viagra", "pregnancy test"}
    rows, sizes, hidden = groups_of(out / "published")
    place = place_of(out, len(GROUPS))
    counts: list[Counter[str]] = [Counter() for _ in sizes]
    group = [g for g, size in enumerate(sizes) for _ in range(size)]
    for i, row in enumerate(GROUPS):
        assert rows[place[i]] == row - sensitive
        counts[group[place[i]]].update(row & sensitive)
    assert [dict(count) for count in counts] == hidden
    assert degree_of(sizes, hidden) >= 2
    sizes_reported = json_of(out / "internal" / "report.json")["utility"]["group_sizes"]
    assert (sizes_reported["groups"], sizes_reported["largest"]) == (len(sizes), max(sizes))


@pytest.mark.parametrize("name", RUNS)
def test_the_summary_is_short_and_says_what_matters(
    name: str, finished: tuple[Path, dict[str, Done]]
) -> None:
    out = finished[1][name].out
    report = json_of(finished[0] / name / "internal" / "report.json")
    assert out.startswith(f"{brief(report, name)}\n")
    whole = summary(report)
    lines = whole.splitlines()
    assert len(lines) <= 24
    assert max(map(len, [*lines, *brief(report, name).splitlines()])) <= 88
    for said in (out, whole):
        assert RUNS[name].data == "moles" or "private" not in said
    said = " ".join(f"{whole} Folder {name}".split())
    for expected in ("It holds", "published/ only", f"Folder {name}", *RUNS[name].summary):
        assert expected in said, expected


def test_same_seed_same_bytes(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    for name in INPUTS:
        shutil.copy(folder / name, tmp_path / name)
    commands = [anonymizing(name, f"{name}-{seed}", "--seed", seed) for name in RUNS for seed in (0, 7)]
    for done in together(commands, tmp_path):
        done.ok()
    reordered = set()
    for name, run in RUNS.items():
        first, other = folder / name / "published", tmp_path / f"{name}-7" / "published"
        for file in sorted(path.name for path in first.iterdir()):
            again = tmp_path / f"{name}-0" / "published" / file
            assert again.read_bytes() == (first / file).read_bytes(), (name, file)
        if (first / "data.csv").read_bytes() != (other / "data.csv").read_bytes():
            reordered.add(name)
        if run.kind == "grouped":
            assert Counter(groups_of(first)[0]) == Counter(groups_of(other)[0])
        else:
            assert Counter(rows_of(first / "data.csv")) == Counter(rows_of(other / "data.csv"))
    assert reordered >= {"lg", "coat-tree"}
