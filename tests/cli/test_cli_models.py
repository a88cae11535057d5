"""The command line of the other privacy models, run as a process: folders, checks, measures, errors.

The commands of a test run one after the other in one process: starting it takes longer than any of them.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median, pstdev
from typing import Any

import pytest

from cli_helpers import (
    HIERARCHY,
    Done,
    Row,
    dump,
    files_under,
    read_run,
    refused,
    rows_of,
    sample_rows,
    table,
    together,
    violations,
    write,
)


def _rows(text: str) -> list[Row]:
    return [frozenset(row) for row in text.split()]


# The examples of the papers. In that of coherence, 1 to 3 are the private items s1 to s3.
SAMPLE = sample_rows()
COAT = _rows("abcdefgh acefg cdefh acef efgh defg abde acf ac bh")
HGHS = _rows("bcd afg dfyz cdfx abcfg ei e i")
MOLES = _rows("abef1 cefg2 abg3 abfg2 abdg2 efg1 befg3")
GROUPS = [
    frozenset(row.split(","))
    for row in (
        "wine,meat,viagra",
        "wine,meat",
        "strawberries,cream,pregnancy test",
        "strawberries,meat",
        "wine,meat,cream",
    )
]
DATA = {"baskets": SAMPLE, "coat": COAT, "hghs": HGHS, "moles": MOLES, "groups": GROUPS}
PRIVACY, UTILITY = "a,b,c\nd,e,f,g,h\n", "a,b\nc\nd\ne,f,g,h\n"
INPUTS: dict[str, str | bytes] = {
    **{f"{name}.csv": dump(rows, "basket") for name, rows in DATA.items()},
    "tree.csv": HIERARCHY,
    "paper-tree.csv": "a;H;P;T\nb;H;P;T\nc;K;P;T\nd;K;P;T\nf;J;Q;T\ng;J;Q;T\nx;M;Q;T\ny;M;Q;T\nz;M;Q;T\n"
    "e;T\ni;T\n",
    "P.txt": PRIVACY,
    "U.txt": UTILITY,
    "S.txt": "1\n2\n3\n",
}
COHERENCE = {"model": "coherence", "h": 0.5, "k": 3, "p": 3, "private": ["1", "2", "3"]}


@dataclass(frozen=True)
class Promise:
    """A run of `anonymize`, how its promise is described to `verify`, and what should come of it."""

    data: str
    options: str
    promise: str  # for `anonymize` and `verify` alike
    guarantee: dict[str, Any]
    summary: list[str]
    tree: str = ""
    kind: str = "global"
    too_much: str = ""  # a promise that the release does not keep
    suppressed: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        return DATA[self.data]

    @property
    def hierarchy(self) -> list[str]:
        return ["--hierarchy", self.tree] if self.tree else []


RUNS = {
    "lg": Promise(
        "baskets", "-a lg", "--k 4", {"model": "k-anonymity", "k": 4},
        ["one of at least 4 that are the same", "Labels of different levels overlap"],
        tree="tree.csv", kind="local", too_much="--k 5",
    ),
    "hghs": Promise(
        "hghs", "-a hghs --bound", "--k 2 --m inf", {"model": "km-anonymity", "k": 2, "m": "inf"},
        ["knows any number of items", "at least 2 rows", "left out", "Proven: the least LM of any cut"],
        tree="paper-tree.csv", too_much="--k 3 --m inf", suppressed=["i"],
    ),
    "mhghs": Promise(
        "hghs", "-a mhghs --bound", "--k 2 --m inf", {"model": "km-anonymity", "k": 2, "m": "inf"},
        ["at least 2 rows", "11 % above the least LM of any cut with suppression"],
        tree="paper-tree.csv", too_much="--k 3 --m inf", suppressed=["i"],
    ),
    "coat": Promise(
        "coat", "-a coat --utility U.txt --max-suppressed-items 15%", "--k 5 --privacy P.txt",
        {"model": "constraints", "k": 5, "itemsets": 2},
        ["one of 2 protected sets", "at least 5 rows", "4 (9.8 %) are left out"],
        too_much="--k 6 --privacy P.txt", suppressed=["d"],
    ),
    "coat-tree": Promise(
        "baskets", "-a coat --utility siblings --max-suppressed-items 50%", "--k 4 --privacy all --m 2",
        {"model": "constraints", "k": 4, "m": 2},
        ["knows up to 2 items", "at least 4 rows"],
        tree="tree.csv", too_much="--k 30 --privacy all --m 2",
    ),
    "border": Promise(
        "moles", "-a border --k-nugget 4 --p-nugget inf", "--h 0.5 --k 3 --p 3 --private S.txt", COHERENCE,
        ["knows up to 3 public items", "no private item (3 named) with a probability above 0.5"],
        too_much="--h 0.5 --k 5 --p 3 --private S.txt", suppressed=["a", "b", "c", "d"],
    ),
    "mm": Promise(
        "moles", "-a mm", "--h 0.5 --k 3 --p 3 --private 1,2,3", COHERENCE,
        ["knows up to 3 public items", "at least 3 rows", "are left out"],
        too_much="--h 0.5 --k 5 --p 3 --private 1,2,3", suppressed=["a", "b", "c", "d"],
    ),
    "cahd": Promise(
        "groups", "-a cahd", "--p 2 --sensitive viagra,pregnancy_test",
        {"model": "privacy-degree", "p": 2, "sensitive": ["pregnancy test", "viagra"]},
        ["at most one row in 2", "above 0.5", "published as counts of groups"],
        kind="grouped", too_much="--p 6 --sensitive viagra,pregnancy_test",
    ),
}  # fmt: skip
MODEL_FILES = {"local": set[str](), "global": {"internal/recoding.csv"}, "grouped": {"published/groups.csv"}}


def _words(text: str) -> list[str]:
    """Split options; an underscore stands for a blank."""
    return [word.replace("_", " ") for word in text.split()]


def _anonymize(name: str, out: str, *more: object) -> list[object]:
    run = RUNS[name]
    options = [*_words(run.options), *_words(run.promise), *run.hierarchy]
    return ["anonymize", f"{run.data}.csv", *options, "--out", out, *more]


def _verify(name: str, target: object, promise: str | None = None) -> list[object]:
    run = RUNS[name]
    model = ["--model", run.guarantee["model"]]
    return ["verify", target, *model, *_words(run.promise if promise is None else promise)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    """Return a folder with all inputs and a run's folder for each promise, not to be changed, and answers."""
    folder = tmp_path_factory.mktemp("models")
    for name, content in INPUTS.items():
        write(folder / name, content)
    done = together([_anonymize(name, name) for name in RUNS], folder)
    return folder, dict(zip(RUNS, done, strict=True))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _messages(done: Done) -> str:
    """Return what went to standard error, but for the note that the first run of all may leave."""
    return done.err.replace("compiling, first run only\n", "")


def _place(out: Path, n: int) -> list[int]:
    header, *lines = table(out / "internal" / "rows.csv")
    assert header == ["input_row", "published_row"]
    assert [int(i) for i, _ in lines] == list(range(n))
    place = [int(j) for _, j in lines]
    assert sorted(place) == list(range(n))
    return place


def _recoding(out: Path) -> dict[str, str]:
    header, *lines = table(out / "internal" / "recoding.csv")
    assert header == ["item", "published"]
    assert len({item for item, _ in lines}) == len(lines)
    return {item: label for item, label in lines}  # noqa: C416  (checks the width)


def _members(out: Path) -> dict[str, set[str]]:
    """Return what each label stands for, from what is handed out; labels that are not there: themselves."""
    return {label: set(items) for label, items in _json(out / "published" / "about.json")["labels"].items()}


def _grouped(published: Path) -> tuple[list[Row], list[int], list[dict[str, int]]]:
    """Read a release in groups by hand: rows, sizes of the groups, counts of their sensitive items."""
    header, *lines = table(published / "data.csv")
    assert header == ["group", "row", "item"]
    header, *counts = table(published / "groups.csv")
    assert header == ["group", "item", "count"]
    sizes = [int(size) for _, item, size in counts if not item]
    assert [int(g) for g, item, _ in counts if not item] == list(range(len(sizes)))
    hidden: list[dict[str, int]] = [{} for _ in sizes]
    for g, item, count in counts:
        if item:
            hidden[int(g)][item] = int(count)
    rows: list[set[str]] = [set() for _ in range(sum(sizes))]
    first = [sum(sizes[:g]) for g in range(len(sizes))]
    for g, row, item in lines:
        assert 0 <= int(row) - first[int(g)] < sizes[int(g)]
        rows[int(row)].add(item)
    return [frozenset(row) for row in rows], sizes, hidden


def _degree(sizes: list[int], hidden: list[dict[str, int]]) -> Fraction:
    pairs = zip(sizes, hidden, strict=True)
    return min(Fraction(size, count) for size, counts in pairs for count in counts.values())


# anonymize


@pytest.mark.parametrize("name", RUNS)
def test_the_folder_of_a_run(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    folder, answers = finished
    run, out = RUNS[name], folder / name
    answers[name].ok()
    assert files_under(out) == {
        "published/about.json", "published/data.csv", "internal/rows.csv", "internal/report.json",
        "internal/report.html", *MODEL_FILES[run.kind],
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
    report = _json(folder / name / "internal" / "report.json")
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
    """Also with coat, where the groups that may be merged and the weights of UL came from it."""
    run = RUNS[name]
    found = _json(finished[0] / name / "internal" / "report.json")["hierarchy"]
    assert (found and found["path"]) == (run.tree or None)


@pytest.mark.parametrize("name", RUNS)
def test_what_about_says(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    folder, _ = finished
    run = RUNS[name]
    about = _json(folder / name / "published" / "about.json")
    means = {"groups_file"} if run.kind == "grouped" else {"separator", "domain", "labels"}
    assert set(about) == {
        "setveil", "guarantee", "algorithm", "file", "format", "rows", "empty_rows", "recoding", *means,
    }  # fmt: skip
    assert about["guarantee"] == run.guarantee
    assert about["algorithm"] == name.partition("-")[0]
    assert about["recoding"] == run.kind
    assert about["rows"] == len(run.rows)
    if run.kind != "grouped":
        items = {item for row in run.rows for item in row}
        assert about["domain"] == len(items)
        published = {label for row in rows_of(folder / name / "published" / "data.csv") for label in row}
        assert set(about["labels"]) == published - items
    else:
        assert about["groups_file"] == "groups.csv"
        assert about["format"] == "grouped"


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].kind == "global"])
def test_rows_are_recoded_as_said(name: str, finished: tuple[Path, dict[str, Done]]) -> None:
    out, run = finished[0] / name, RUNS[name]
    recoding, place = _recoding(out), _place(out, len(run.rows))
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
        report = _json(out / "internal" / "report.json")
        assert report["utility"]["lm"] == pytest.approx(float(loss))
        best = report["optimality"]
        assert (best["objective"], best["model"], best["proven"]) == ("lm", "cut with suppression", True)
        assert best["lower_bound"] == pytest.approx(5.6 / 23)
        assert best["gap"] == pytest.approx(1 - 5.6 / 23 / float(loss))
    assert report["algorithm"]["rounds"][0].items() >= {"cut": 9, "suppressed": 0}.items()
    assert [len(entry) > 0 for entry in report["algorithm"]["rounds"]] == [True] * 5
    assert {f"round {i}" for i in range(1, 6)} <= set(report["timing"])


def test_the_groups_of_coat(finished: tuple[Path, dict[str, Done]]) -> None:
    recoding = _recoding(finished[0] / "coat")
    assert recoding == {
        "a": "(a,b)", "b": "(a,b)", "c": "c", "d": "", "e": "e", "f": "f", "g": "(g,h)", "h": "(g,h)"
    }  # fmt: skip
    assert _members(finished[0] / "coat") == {"(a,b)": {"a", "b"}, "(g,h)": {"g", "h"}}
    report = _json(finished[0] / "coat" / "internal" / "report.json")
    assert report["utility"]["suppressed_occurrences"] == 4
    kept = {
        entry["constraint"]: (entry["rows_before"], entry["rows_after"], entry["satisfied"])
        for entry in report["algorithm"]["utility_constraints"]
    }
    assert kept == {1: (7, 7, True), 2: (6, 6, True), 3: (4, 0, False), 4: (9, 9, True)}


def test_what_border_and_mm_leave_out(finished: tuple[Path, dict[str, Done]]) -> None:
    for name in ("border", "mm"):
        out = finished[0] / name
        order = _json(out / "internal" / "report.json")["algorithm"]["order"]
        assert [entry["item"] for entry in order] == ["c", "d", "a", "b"]
        assert _moles(rows_of(out / "published" / "data.csv"), Fraction(1, 2), 3, 3, set("123")) == {}


def test_local_recoding_fits_every_row(finished: tuple[Path, dict[str, Done]]) -> None:
    out = finished[0] / "lg"
    published, place = rows_of(out / "published" / "data.csv"), _place(out, len(SAMPLE))
    members = _members(out)
    for i, row in enumerate(SAMPLE):
        parts = [members.get(label, {label}) for label in published[place[i]]]
        assert all(part & row for part in parts)
        assert row <= set().union(*parts)
        assert sum(map(len, parts)) == len(set().union(*parts))
    assert min(Counter(published).values()) >= 4


def test_groups_hold_exact_rows_and_counts(finished: tuple[Path, dict[str, Done]]) -> None:
    out, sensitive = finished[0] / "cahd", {"viagra", "pregnancy test"}
    rows, sizes, hidden = _grouped(out / "published")
    place = _place(out, len(GROUPS))
    counts: list[Counter[str]] = [Counter() for _ in sizes]
    group = [g for g, size in enumerate(sizes) for _ in range(size)]
    for i, row in enumerate(GROUPS):
        assert rows[place[i]] == row - sensitive
        counts[group[place[i]]].update(row & sensitive)
    assert [dict(count) for count in counts] == hidden
    assert _degree(sizes, hidden) >= 2
    sizes_reported = _json(out / "internal" / "report.json")["utility"]["group_sizes"]
    assert (sizes_reported["groups"], sizes_reported["largest"]) == (len(sizes), max(sizes))


@pytest.mark.parametrize("name", RUNS)
def test_the_summary_is_short_and_says_what_matters(
    name: str, finished: tuple[Path, dict[str, Done]]
) -> None:
    done = finished[1][name]
    lines = done.out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 88
    said = " ".join(done.out.split())
    for expected in ("It holds", "published/ only", f"Folder {name}", *RUNS[name].summary):
        assert expected in said, expected
    if RUNS[name].data != "moles":
        assert "private" not in said


def test_same_seed_same_bytes(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    for name in INPUTS:
        shutil.copy(folder / name, tmp_path / name)
    commands = [_anonymize(name, f"{name}-{seed}", "--seed", seed) for name in RUNS for seed in (0, 7)]
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
            assert Counter(_grouped(first)[0]) == Counter(_grouped(other)[0])
        else:
            assert Counter(rows_of(first / "data.csv")) == Counter(rows_of(other / "data.csv"))
    assert reordered >= {"lg", "coat-tree"}


# verify


@pytest.fixture(scope="module")
def verified(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Done]]:
    """Verify each release: its folder, published/, the file alone, the original, and too great a promise."""
    folder, _ = finished
    alone = tmp_path_factory.mktemp("alone")
    commands: dict[tuple[str, str], list[object]] = {}
    for name, run in RUNS.items():
        published = folder / name / "published"
        if run.kind == "grouped":
            target = alone / name
            target.mkdir()
            shutil.copy(published / "groups.csv", target)
            shutil.copy(published / "data.csv", target)
        else:
            target = alone / f"{name}.csv"
            shutil.copy(published / "data.csv", target)
        more = ["--recoding", folder / name / "internal" / "recoding.csv"] if name == "coat" else []
        commands[name, "folder"] = [*_verify(name, name), "--json"]
        commands[name, "published"] = [*_verify(name, f"{name}/published"), "--json"]
        commands[name, "alone"] = [*_verify(name, target), *more, "--json"]
        commands[name, "text"] = _verify(name, name)
        commands[name, "too much"] = [*_verify(name, name, run.too_much), "--json", "--show", 1]
        commands[name, "too much, text"] = [*_verify(name, name, run.too_much), "--show", 1]
        if run.kind == "grouped":
            commands[name, "original"] = [*_verify(name, name), "--original", f"{run.data}.csv", "--json"]
            commands[name, "nothing named"] = [*_verify(name, name, "--p 2"), "--json"]
        else:
            commands[name, "not anonymized"] = [*_verify(name, f"{run.data}.csv"), "--json"]
    done = dict(zip(commands, together(list(commands.values()), folder), strict=True))
    return {name: {how: answer for (n, how), answer in done.items() if n == name} for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_the_promise_is_found_again(
    name: str, finished: tuple[Path, dict[str, Done]], verified: dict[str, dict[str, Done]]
) -> None:
    guarantee = _json(finished[0] / name / "internal" / "report.json")["guarantee"]
    expected = {key: value for key, value in guarantee.items() if key != "phrase"} | {"first": []}
    for how in ("folder", "published", "alone", *(["original"] if RUNS[name].kind == "grouped" else [])):
        done = verified[name][how].ok()
        assert done.json() == expected, how
        assert _messages(done) == "", how
    assert verified[name]["text"].ok().out.startswith(f"yes: {guarantee['phrase']} holds.")


@pytest.mark.parametrize("name", RUNS)
def test_too_great_a_promise_does_not_hold(name: str, verified: dict[str, dict[str, Done]]) -> None:
    done, text = verified[name]["too much"], verified[name]["too much, text"]
    assert done.code == text.code == 1
    answer = done.json()
    assert answer["holds"] is False
    assert answer["violations"] >= len(answer["first"]) == 1
    assert text.out.startswith("NO: ")
    assert (f"and {answer['violations'] - 1} more" in text.out) == (answer["violations"] > 1)
    assert _messages(text) == _messages(done) == ""


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].kind != "grouped"])
def test_the_original_does_not_keep_the_promise(name: str, verified: dict[str, dict[str, Done]]) -> None:
    done = verified[name]["not anonymized"]
    assert done.code == 1
    answer = done.json()
    if name in {"border", "mm"}:
        smallest = _minimal(_moles(MOLES, Fraction(1, 2), 3, 3, set("123")))
        assert answer["violations"] == len(smallest) == 7
        assert {frozenset(entry["itemset"]) for entry in answer["first"]} == smallest
    if name == "lg":
        rare = {row: count for row, count in Counter(SAMPLE).items() if count < 4}
        assert answer["violations"] == len(rare)
        assert all(rare[frozenset(entry["itemset"])] == entry["support"] for entry in answer["first"])
    if name == "coat":
        assert [(entry["constraint"], entry["itemset"], entry["support"]) for entry in answer["first"]] == [
            (list("abc"), ["b"], 3), (list("defgh"), ["d"], 4)
        ]  # fmt: skip


def test_groups_tell_their_sensitive_items_themselves(verified: dict[str, dict[str, Done]]) -> None:
    assert verified["cahd"]["nothing named"].ok().json()["holds"] is True


def test_labels_without_a_meaning(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    """A file of labels does not tell where the items of a constraint went; the message says what would."""
    folder, _ = finished
    shutil.copy(folder / "coat" / "published" / "data.csv", tmp_path / "alone.csv")
    recoding = (folder / "coat" / "internal" / "recoding.csv").read_text()
    write(tmp_path / "P.txt", PRIVACY)
    write(tmp_path / "twice.csv", recoding + "a,c\n")
    write(tmp_path / "short.csv", recoding.replace("c,c\n", "c\n"))
    command = ["verify", "alone.csv", "--model", "constraints", "--k", 5, "--privacy", "P.txt"]
    files = ("twice.csv", "short.csv", "no.csv")
    without, twice, short, missing = together(
        [command, *([*command, "--recoding", file] for file in files)], tmp_path
    )
    refused(twice, 4, "twice.csv, line 10")
    refused(short, 4, "short.csv, line 4")
    refused(missing, 4, "no.csv")
    refused(without, 4, "--recoding")


def test_constraints_written_like_the_data(tmp_path: Path) -> None:
    """Words in the published file make it a basket file; the constraints are still those of the FIMI file."""
    write(tmp_path / "in.dat", dump(SAMPLE, "fimi"))
    write(tmp_path / "P.dat", "101 102\n103 104 105\n")
    promise = ["--k", 4, "--privacy", "P.dat"]
    done, *checks = together(
        [
            ["anonymize", "in.dat", "-a", "coat", *promise, "--out", "out"],
            *(
                ["verify", target, "--model", "constraints", *promise]
                for target in ("out", "out/published", "out/published/data.csv")
            ),
        ],
        tmp_path,
    )
    done.ok()
    recoding, published = _recoding(tmp_path / "out"), rows_of(tmp_path / "out" / "published" / "data.csv")
    for itemset in ("101 102", "103 104 105"):
        assert _threats(published, {recoding[item] for item in itemset.split()} - {""}, 4) == {}
    for check in checks:
        assert check.ok().out.startswith("yes")


# verify: releases that were tampered with

Edit = Callable[[str], str]


def _replace(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text, (old, text)
        return text.replace(old, new, 1)

    return edit


def _first_line(more: str) -> Edit:
    return lambda text: text.replace("\n", f"{more}\n", 1)


def _without_line(line: str) -> Edit:
    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines.remove(f"{line}\n")
        return "".join(lines)

    return edit


def _without_rarest(text: str) -> str:
    lines = text.splitlines()
    counts = Counter(lines)
    return _without_line(min(lines, key=lambda line: counts[line]))(text)


def _one_row_each(text: str) -> str:
    return re.sub(r"(?m)^(\d+),,\d+$", r"\1,,1", text)


def _without(pattern: str) -> Edit:
    def edit(text: str) -> str:
        new = re.sub(f"(?m)^{pattern}\n", "", text)
        assert new != text, text
        return new

    return edit


TAMPERED: dict[str, tuple[str, dict[str, Edit], int, list[str]]] = {
    "lg: a row of its own": ("lg", {"data.csv": _first_line(",112,101,mid")}, 1, ["1 time: "]),
    "lg: a row less": ("lg", {"data.csv": _without_rarest}, 1, ["3 times: "]),
    "hghs: a label more": ("hghs", {"data.csv": _replace("\ne\n", "\ne,M\n")}, 1, ["support 1: M, e"]),
    "hghs: a row less": ("hghs", {"data.csv": _without_line("e")}, 1, ["support 1: e"]),
    "hghs: a suppressed item": ("hghs", {"data.csv": _first_line(",i")}, 1, ["support 1: i"]),
    "coat: a suppressed item": ("coat", {"data.csv": _first_line(",d")}, 1, ["support 1: d"]),
    "coat: a label less": (
        "coat", {"data.csv": _replace('"(a,b)",c', '"(a,b)"')}, 1, ["support 4: (a,b), c", "(of a, b, c)"],
    ),
    "coat: no meaning": ("coat", {"about.json": lambda text: text[:-9]}, 4, ["about.json"]),
    "coat: no labels": (
        "coat", {"about.json": _replace('"labels"', '"names"')}, 4, ["about.json", "labels"],
    ),
    "coat-tree: a row of its own": ("coat-tree", {"data.csv": lambda text: text + "x,y\n"}, 1, ["x"]),
    "border: a suppressed item": ("border", {"data.csv": _first_line(",a")}, 1, ["support 1: a"]),
    "border: a secret in more rows": (
        "border", {"data.csv": _replace("3,e,f,g", "1,e,f,g")}, 1, ["e: 1 in 3 of 4 rows"],
    ),
    "mm: a row less": ("mm", {"data.csv": _without_line("1,e,f,g")}, 1, ["g: 2 in 3 of 5 rows"]),
    "cahd: a greater count": (
        "cahd", {"groups.csv": _replace("viagra,1", "viagra,9")}, 1, ["viagra in 9 of "],
    ),
    "cahd: a sensitive item in a row": (
        "cahd", {"data.csv": lambda text: text + "0,0,viagra\n"}, 1, ["viagra stands in 1 row"],
    ),
    "cahd: a row less": ("cahd", {"data.csv": _without(".,0,.*")}, 1, ["in the original"]),
    "cahd: another item": ("cahd", {"data.csv": _replace("wine", "cream")}, 1, ["in the original"]),
    "cahd: a group less": (
        "cahd", {"data.csv": _without("0,.*"), "groups.csv": _without("0,.*")}, 1, ["in the original"],
    ),
    "cahd: a secret less": ("cahd", {"groups.csv": _without(".,viagra,1")}, 1, ["viagra"]),
    "cahd: more rows than the group has": (
        "cahd", {"groups.csv": _one_row_each}, 4, ["groups.csv gives it 1"],
    ),
    "cahd: an unknown group": (
        "cahd", {"data.csv": lambda text: text + "9,77,meat\n"}, 4, ["data.csv, line 13", "group 9"],
    ),
    "cahd: a row in two groups": (
        "cahd", {"data.csv": lambda text: text + "1,0,meat\n"}, 4, ["data.csv, line 13", "row 0"],
    ),
    "cahd: a group without its size": (
        "cahd", {"groups.csv": _without(r"0,,\d+")}, 4, ["group 0"],
    ),
    "cahd: a size twice": (
        "cahd", {"groups.csv": lambda text: text + "0,,2\n"}, 4, ["groups.csv, line", "second time"],
    ),
    "cahd: no number": (
        "cahd", {"groups.csv": _replace("viagra,1", "viagra,x")}, 4, ["groups.csv, line", "'x'"],
    ),
    "cahd: another header": (
        "cahd", {"data.csv": _replace("group,row,item", "group,item,row")}, 4, ["data.csv, line 1", "header"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def tampered(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Done]]:
    folder, _ = finished
    place = tmp_path_factory.mktemp("tampered")
    commands = []
    for number, (name, edits, _, _) in enumerate(TAMPERED.values()):
        out = place / str(number)
        shutil.copytree(folder / name, out)
        for file, edit in edits.items():
            path = out / "published" / file
            path.write_bytes(edit(path.read_text(encoding="utf-8")).encode())
        more = ["--original", f"{RUNS[name].data}.csv"] if RUNS[name].kind == "grouped" else []
        commands.append([*_verify(name, out), *more])
    yield dict(zip(TAMPERED, together(commands, folder), strict=True))
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_found(name: str, tampered: dict[str, Done]) -> None:
    _, _, code, words = TAMPERED[name]
    done = tampered[name]
    if code == 4:
        refused(done, 4, *words)
        return
    assert done.code == 1, done
    assert "Traceback" not in done.err, done
    assert done.out.startswith("NO: "), done
    for word in words:
        assert word in done.out, (word, done)


# measure


@pytest.fixture(scope="module")
def measured(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Done]:
    folder, _ = finished
    alone = tmp_path_factory.mktemp("handed-out")
    shutil.copytree(folder / "lg" / "published", alone / "published")
    shutil.copytree(folder / "cahd" / "published", alone / "cahd")
    shutil.copytree(folder / "lg", alone / "broken")
    write(alone / "broken" / "internal" / "rows.csv", "input_row,published_row\n0,1\n1,0\n")
    commands: dict[str, list[object]] = {}
    for name, run in RUNS.items():
        commands[name] = ["measure", f"{run.data}.csv", name, "--json"]
        if run.tree:
            commands[f"{name}, weighted"] = [*commands[name], *run.hierarchy]
    baskets = ["measure", "baskets.csv"]
    commands |= {
        "lg, text": [*baskets, "lg/published"],
        "lg handed out": [*baskets, alone / "published"],
        "lg with another map": [*baskets, alone / "broken"],
        "cahd handed out": ["measure", "groups.csv", alone / "cahd", "--json"],
        "cahd, the file": ["measure", "groups.csv", "cahd/published/data.csv"],
        "cahd by two": ["measure", "groups.csv", "cahd", "--group-by", 2, "--queries", 50, "--json"],
        "cahd, text": ["measure", "groups.csv", "cahd"],
        "cahd by 200": ["measure", "groups.csv", "cahd", "--group-by", 200],
        "cahd with itemsets": ["measure", "groups.csv", "cahd", "--itemsets", 2],
        "another original": ["measure", "coat.csv", "lg"],
    }  # fmt: skip
    return dict(zip(commands, together(list(commands.values()), folder), strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_measure_finds_again_what_the_report_says(
    name: str, finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]
) -> None:
    report = _json(finished[0] / name / "internal" / "report.json")
    answer = measured[name].ok().json()
    assert answer["utility"] == report["utility"]
    n = len(RUNS[name].rows)
    assert answer["rows"] == {"original": n, "release": n}


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].tree])
def test_a_hierarchy_weighs_the_labels(
    name: str, finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]
) -> None:
    """Whatever the labels are: what they stand for is known from the folder."""
    utility = _json(finished[0] / name / "internal" / "report.json")["utility"]
    found = measured[f"{name}, weighted"].ok().json()["utility"]
    weighted = found.pop("ul_weighted")
    assert found == utility
    assert weighted["log2_labels"] <= utility["ul"]["log2_labels"]
    assert weighted["suppressed"] == utility["ul"]["suppressed"]


def test_measure_a_local_recoding(measured: dict[str, Done]) -> None:
    assert "labels of different levels overlap" in measured["lg, text"].ok().out
    refused(measured["lg handed out"], 4, "rows.csv", "whole folder")
    refused(measured["lg with another map"], 4, "rows.csv", "126")
    refused(measured["another original"], 4)


def test_measure_groups(finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]) -> None:
    utility = _json(finished[0] / "cahd" / "internal" / "report.json")["utility"]
    assert measured["cahd handed out"].ok().json()["utility"] == utility
    assert (
        measured["cahd by two"].ok().json()["utility"]["kl"].items() >= {"queries": 50, "group_by": 2}.items()
    )
    text = measured["cahd, text"].ok().out
    for word in ("KL", "1,000 group-by queries", "groups", "group sizes"):
        assert word in text
    refused(measured["cahd by 200"], 2, "200")


def test_measure_does_not_take_the_file_of_a_grouped_release_for_baskets(measured: dict[str, Done]) -> None:
    refused(measured["cahd, the file"], 4, "groups")


def test_measures_that_a_grouped_release_does_not_have(measured: dict[str, Done]) -> None:
    refused(measured["cahd with itemsets"], 2, "--itemsets")


def _relative_errors(
    original: Sequence[Row], published: Sequence[Row], recoding: dict[str, str], queries: Sequence[Row]
) -> list[float]:
    """Compute relative errors of COUNT queries as defined; none for queries that no row matches."""
    size = Counter(label for label in recoding.values() if label)
    out = []
    for query in queries:
        exact = sum(query <= row for row in original)
        if not exact:
            continue
        asked = Counter(recoding[item] for item in query)
        one_row = Fraction(1)
        for label, t in asked.items():
            one_row *= Fraction(2 ** (size[label] - t), 2 ** size[label] - 1) if label else 0
        matches = sum(asked.keys() <= row for row in published)
        out.append(float(abs(exact - matches * one_row) / exact))
    return out


def test_queries(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    mine = ["a", "a,b", "c,d", "e,f", "g,h", "b,h", "c,e,f,g", "d,c,h,b,g"]
    questions = write(tmp_path / "Q.txt", "".join(f"{line}\n" for line in mine))
    wrong = write(tmp_path / "wrong.txt", "a\n\nzz\n")
    command = ["measure", "coat.csv", "coat", "--json"]
    file, frequent, five, two, again, other, both, no_item, none, long, rare = together(
        [
            [*command, "--queries-file", questions],
            [*command, "--query-support", 5, "--query-size", 2],
            [*command, "--query-support", 5, "--query-size", 2, "--queries", 2],
            [*command, "--queries", 30],
            [*command, "--queries", 30],
            [*command, "--queries", 30, "--seed", 1],
            [*command, "--queries", 30, "--queries-file", questions],
            [*command, "--queries-file", wrong],
            [*command, "--queries-file", "no.txt"],
            [*command, "--queries", 30, "--query-size", 9],
            [*command, "--query-support", 9],
        ],
        folder,
    )
    recoding, published = _recoding(folder / "coat"), rows_of(folder / "coat" / "published" / "data.csv")
    pairs = [frozenset(pair) for pair in combinations("abcdefgh", 2)]
    often = [pair for pair in pairs if sum(pair <= row for row in COAT) >= 5]
    for done, asked in ((file, [frozenset(line.split(",")) for line in mine]), (frequent, often)):
        errors = _relative_errors(COAT, published, recoding, asked)
        are = done.ok().json()["utility"]["are"]
        assert (are["queries"], are["left_out"]) == (len(errors), len(asked) - len(errors))
        assert are["mean"] == pytest.approx(sum(errors) / len(errors))
        assert are["sd"] == pytest.approx(pstdev(errors))
        assert are["median"] == pytest.approx(median(errors))
    assert five.ok().json()["utility"]["are"]["queries"] == 2 < len(often)
    assert two.ok().out == again.ok().out != other.ok().out
    assert two.json()["utility"]["are"]["queries"] == 30
    refused(both, 2, "--queries-file", "--queries")
    refused(no_item, 4, "wrong.txt", "line 2", "line 3", "'zz'")
    refused(none, 4, "no.txt")
    refused(long, 2, "9", "at most 8")
    refused(rare, 2, "9")


def test_itemsets_that_survive(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    commands: list[list[object]] = [
        ["measure", "moles.csv", "border", "--itemsets", 2, "--private", "S.txt", "--json"],
        ["measure", "moles.csv", "border", "--itemsets", 2, "--itemset-length", 2, "--json"],
        ["measure", "moles.csv", "border", "--itemsets", 2],
        ["measure", "moles.csv", "border", "--itemsets", 0],
        ["measure", "moles.csv", "border", "--itemsets", 2, "--private", "9"],
    ]
    every, short, text, zero, unknown = together(commands, folder)
    items = sorted({item for row in MOLES for item in row})
    supports = {
        frozenset(itemset): sum(set(itemset) <= row for row in MOLES)
        for size in range(1, 6)
        for itemset in combinations(items, size)
    }
    frequent = {itemset for itemset, support in supports.items() if support >= 2}
    gone = set("abcd")
    found = every.ok().json()["utility"]["itemsets"]
    assert (found["frequent"], found["kept"]) == (len(frequent), sum(not s & gone for s in frequent))
    assert found["supports_unchanged"] is True
    for line in found["by_length"]:
        of_length = [itemset for itemset in frequent if len(itemset) == line["length"]]
        assert (line["frequent"], line["kept"]) == (len(of_length), sum(not s & gone for s in of_length))
    rules = [s for s in frequent if len(s) > 1 and len(s & set("123")) == 1]
    assert (found["rules"], found["rules_kept"]) == (len(rules), sum(not s & gone for s in rules))
    found = short.ok().json()["utility"]["itemsets"]
    assert found["frequent"] == sum(len(itemset) <= 2 for itemset in frequent)
    assert "exactly its original support" in text.ok().out
    assert zero.code == 2
    refused(unknown, 4, "'9'")


# policies


BAD_CONSTRAINTS = {"bad.txt": "a,b,c\n\nd,zz\n", "overlap.txt": "a,b\nb,c\nzz\n\n"}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    folder = tmp_path_factory.mktemp("policies")
    files: dict[str, str | bytes] = {
        "in.csv": dump(COAT, "basket"), "some.csv": dump(COAT[1:], "basket"), "in.dat": dump(SAMPLE, "fimi"),
        "P.txt": PRIVACY, "U.txt": UTILITY, **BAD_CONSTRAINTS, "fine.txt": "c\na,c\n", "abc.txt": "a\nb\nc\n",
        "P.json": '{"privacy": [["a", "b", "c"], ["d", "e"]]}', "other.json": '{"utility": []}',
        "broken.json": '{"privacy": [["a"], "b", []]}', "no.json": "[",
    }  # fmt: skip
    for name, content in files.items():
        write(folder / name, content)
    pgen, check = ["policy", "pgen"], ["policy", "check", "in.csv", "--k", 5, "--privacy"]
    coat, verify = ["anonymize", "some.csv", "-a", "coat"], ["verify", "out", "--model", "constraints"]
    commands: dict[str, list[object]] = {
        "pgen": [*pgen, "some.csv", "--k", 2, "--out", "new.txt"],
        "pgen again": [*pgen, "some.csv", "--k", 2, "--out", "new.txt"],
        "pgen, json": [*pgen, "some.csv", "--k", 2, "--out", "new.json"],
        "pgen, fimi": [*pgen, "in.dat", "--k", 4, "--out", "new.dat"],
        "pgen of one": [*pgen, "in.csv", "--k", 2, "--out", "one.txt"],
        "pgen to nowhere": [*pgen, "some.csv", "--k", 2, "--out", "no/new.txt"],
        "pgen, k of 1": [*pgen, "some.csv", "--k", 1, "--out", "k.txt"],
        "run": [*coat, "--k", 2, "--privacy", "pgen", "--out", "out", "--json"],
        "run, by the file": [*verify, "--k", 2, "--privacy", "new.txt", "--json"],
        "run, everything": ["verify", "out", "--k", 2, "--m", "inf"],
        "fine": [*check, "fine.txt", "--utility", "abc.txt"],
        "unmet": [*check, "P.txt", "--utility", "U.txt"],
        "bad": [*check, "bad.txt", "--utility", "overlap.txt"],
        "listed": [*check, "P.json"],
        "broken": [*check, "broken.json"],
        "other": [*check, "other.json"],
        "no json": [*check, "no.json"],
        "missing": [*check, "gone.txt"],
    }  # fmt: skip
    commands |= {f"{name}, json": [*commands[name], "--json"] for name in ("fine", "unmet", "bad", "listed")}
    done = dict(zip(commands, together(list(commands.values()), folder), strict=True))
    assert {name for name in files_under(folder) if not name.startswith("out/")} == {
        *files, "new.txt", "new.json", "new.dat", "one.txt"
    }  # fmt: skip
    return folder, done


def test_policy_pgen(policies: tuple[Path, dict[str, Done]]) -> None:
    folder, done = policies
    expected = [sorted(row) for row in _pgen(COAT[1:], 2)]
    assert done["pgen"].ok().out == ""
    assert f"{len(expected)} itemsets, the longest of {len(expected[0])} items" in done["pgen"].err
    assert table(folder / "new.txt") == expected
    refused(done["pgen again"], 2, "new.txt", "--force")
    done["pgen, json"].ok()
    assert _json(folder / "new.json") == {"privacy": expected}
    done["pgen, fimi"].ok()
    ordered = [" ".join(sorted(row)) for row in _pgen(SAMPLE, 4)]
    assert (folder / "new.dat").read_text() == "".join(f"{line}\n" for line in ordered)
    refused(done["pgen to nowhere"], 2, "no")
    assert done["pgen, k of 1"].code == 2
    assert done["run"].ok().json()["guarantee"]["itemsets"] == len(expected)
    assert done["run, by the file"].ok().json()["holds"] is True
    assert done["run, everything"].ok().out.startswith("yes")


def _pgen(rows: Sequence[Row], k: int) -> list[Row]:
    """List the maximal rows with support below k: longest first, then in item order."""
    maximal = [row for row in set(rows) if row and not any(row < other for other in rows)]
    rare = [row for row in maximal if rows.count(row) < k]
    return sorted(rare, key=lambda row: (-len(row), sorted(row)))


def test_one_itemset_is_not_itemsets(policies: tuple[Path, dict[str, Done]]) -> None:
    assert "1 itemset, the longest of 8 items" in policies[1]["pgen of one"].ok().err


def test_policy_check_without_problems(policies: tuple[Path, dict[str, Done]]) -> None:
    _, done = policies
    for words in ("No problems.", "2, over 2 items; 2 satisfied", "'d', 'e', 'f', 'g', 'h'"):
        assert words in done["fine"].ok().out
    assert done["fine, json"].ok().json() == {
        "k": 5,
        "privacy": {"constraints": 2, "satisfied": 2, "protected_items": 2},
        "utility": {"constraints": 3, "items_in_none": list("defgh")},
        "unmentioned_items": list("defgh"),
        "unreachable": [],
        "problems": [],
    }
    listed = done["listed, json"].ok().json()
    assert listed["privacy"] == {"constraints": 2, "satisfied": 0, "protected_items": 5}
    assert listed["utility"] == {"constraints": 0, "items_in_none": []}
    assert "every merge is allowed" in done["listed"].ok().out


def test_policy_check_of_what_cannot_be_met(policies: tuple[Path, dict[str, Done]]) -> None:
    text, as_json = policies[1]["unmet"], policies[1]["unmet, json"]
    assert text.code == as_json.code == 3
    assert as_json.json()["unreachable"] == [{"line": 3, "items": ["d"], "support": 4}]
    assert as_json.json()["problems"] == []
    for words in ("line 3", "'d'", "4 rows", "k = 5"):
        assert words in text.out
    assert _messages(text) == ""


def test_one_item_is_not_together(policies: tuple[Path, dict[str, Done]]) -> None:
    assert "'d' is in 4 rows" in policies[1]["unmet"].out


def test_policy_check_of_bad_files(policies: tuple[Path, dict[str, Done]]) -> None:
    _, done = policies
    text, as_json = done["bad"], done["bad, json"]
    assert text.code == as_json.code == 4
    problems = as_json.json()["problems"]
    assert [(entry["file"], entry["line"]) for entry in problems] == [
        ("bad.txt", 2), ("bad.txt", 3), ("overlap.txt", 2), ("overlap.txt", 3), ("overlap.txt", 4)
    ]  # fmt: skip
    for entry in problems:
        assert f"{entry['file']}, line {entry['line']}: {entry['message']}" in text.out
    for words in ("no item", "'zz'", "'b' is in the group of line 1"):
        assert words in text.out
    assert _messages(text) == ""
    assert done["broken"].code == 4
    assert "entry 2" in done["broken"].out
    assert "entry 3" in done["broken"].out
    refused(done["other"], 4, "other.json", "'privacy'")
    refused(done["no json"], 4, "no.json", "line 1")
    refused(done["missing"], 4, "gone.txt")


def test_every_way_to_say_what_may_be_merged(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(SAMPLE, "basket"))
    write(tmp_path / "tree.csv", HIERARCHY)
    write(tmp_path / "U.txt", "101,112\n102,111,110\n")
    items = [str(101 + i) for i in range(12)]
    low_mid_high = [items[:3], items[3:7], items[7:]]
    ways: dict[str, list[list[str]]] = {
        "any": [items],
        "siblings": low_mid_high,
        "siblings:1": [items[:7], items[7:]],
        "siblings:0": [items],
        "groups:2": [items[i : i + 2] for i in range(0, 12, 2)],
        "U.txt": [["101", "112"], ["102", "110", "111"], items[2:9]],
    }
    command = ["anonymize", "in.csv", "-H", "tree.csv", "-a", "coat", "--k", 4, "--privacy", "all", "--m", 2]
    more = ["--max-suppressed-items", "100%", "--utility"]
    done = together([[*command, *more, way, "--out", f"out{i}"] for i, way in enumerate(ways)], tmp_path)
    for i, (way, groups) in enumerate(ways.items()):
        done[i].ok()
        out = tmp_path / f"out{i}"
        recoding = _recoding(out)
        merged: dict[str, set[str]] = {}
        for item, label in recoding.items():
            if label:
                merged.setdefault(label, set()).add(item)
        for label, members in merged.items():
            assert any(members <= set(group) for group in groups), (way, label)
        assert violations(rows_of(out / "published" / "data.csv"), 4, 2) == {}, way
        report = _json(out / "internal" / "report.json")
        given = report["algorithm"]["parameters"]["utility"]
        for group in given or []:
            assert sorted(group) in groups
        assert (given is None) == (way == "any")
        suppressed = {item for item, label in recoding.items() if not label}
        for entry, group in zip(report["algorithm"]["utility_constraints"], groups, strict=True):
            before = sum(not row.isdisjoint(group) for row in SAMPLE)
            assert entry["rows_before"] == before
            assert entry["satisfied"] == suppressed.isdisjoint(group)
            assert not entry["satisfied"] or entry["rows_after"] == before
    assert "in no utility constraint" in done[-1].err
    assert "7 items" in done[-1].err


# moles


def _moles(rows: Sequence[Row], h: Fraction, k: int, p: int, private: set[str]) -> dict[Row, int]:
    """List by brute force the sets of public items that find few rows or betray a private item."""
    public = sorted({item for row in rows for item in row} - private)
    out = {}
    for size in range(p + 1):
        for itemset in combinations(public, size):
            found = [row for row in rows if set(itemset) <= row]
            if not found:
                continue
            likely = max((sum(s in row for row in found) for s in private), default=0)
            if len(found) < k or likely > h * len(found):
                out[frozenset(itemset)] = len(found)
    return out


def _minimal(itemsets: dict[Row, int]) -> set[Row]:
    return {s for s in itemsets if not any(other < s for other in itemsets)}


def _threats(rows: Sequence[Row], image: set[str], k: int) -> dict[Row, int]:
    """List the parts of an itemset that some rows hold, but fewer than k."""
    out = {}
    for size in range(1, len(image) + 1):
        for itemset in combinations(sorted(image), size):
            support = sum(set(itemset) <= row for row in rows)
            if 0 < support < k:
                out[frozenset(itemset)] = support
    return out


def test_moles(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(MOLES, "basket"))
    write(tmp_path / "S.txt", "1\n2\n3\n")
    command = ["moles", "in.csv", "--h", "0.5", "--k", 3, "--p", 3, "--private", "S.txt"]
    text, as_json, few, infinite, none, likely, missing, two, silent = together(
        [
            command,
            [*command, "--json"],
            [*command, "--show", 2],
            ["moles", "in.csv", "--h", "1/2", "--k", 3, "--p", "inf", "--private", "1,2,3", "--json"],
            ["moles", "in.csv", "--h", "0.5", "--k", 1, "--p", 2],
            ["moles", "in.csv", "--h", "0.4", "--k", 3, "--p", 3, "--private", "S.txt"],
            ["moles", "in.csv", "--k", 3, "--p", 3],
            ["moles", "in.csv", "--h", "2", "--k", 3, "--p", 3],
            [*command, "--show", 0, "--json"],
        ],
        tmp_path,
    )
    expected = ["c", "d", "ae", "af", "ag", "be", "bfg"]
    assert _minimal(_moles(MOLES, Fraction(1, 2), 3, 3, set("123"))) == set(map(frozenset, expected))
    answer = as_json.ok().json()
    assert answer.items() >= {**COHERENCE, "moles": 7}.items()
    assert ["".join(entry["itemset"]) for entry in answer["first"]] == expected
    for entry in answer["first"]:
        assert entry["support"] == sum(set(entry["itemset"]) <= row for row in MOLES)
        assert ("betrays" in entry) == (entry["itemset"] == ["a", "g"])
    assert answer["first"][4].items() >= {"support": 3, "betrays": "2", "private_rows": 2}.items()
    lines = text.ok().out.splitlines()
    assert lines[0] == "7 minimal moles for (0.5, 3, 3)-coherence"
    assert [line.strip() for line in lines[1:4]] == ["of 1 item: 2", "of 2 items: 4", "of 3 items: 1"]
    assert "a, g: 2 in 2 of 3 rows" in text.out
    assert "support 2: b, f, g" in text.out
    assert "and 5 more (--show)" in few.ok().out
    assert ["".join(entry["itemset"]) for entry in infinite.ok().json()["first"]] == expected
    assert none.ok().out.startswith("0 minimal moles")
    refused(likely, 3, "'2'", "3 of 7 rows", "3/7")
    refused(missing, 2, "--h")
    refused(two, 2, "h must be", "'2'")
    assert (silent.ok().json()["moles"], silent.json()["first"]) == (7, [])


# Bad input

ANONYMIZE = "anonymize coat.csv --out OUT -a "
CONSTRAINTS = ANONYMIZE + "coat --k 5 --privacy P.txt "
BORDER = ANONYMIZE + "border --h 0.5 --k 2 --p 2 "
CAHD = ANONYMIZE + "cahd --p 2 --sensitive b "
MANY = "".join(f"a,item{i}\n" for i in range(500))
BAD: dict[str, tuple[str, int, list[str]]] = {
    # Options that a model lacks or does not know.
    "lg with m": (ANONYMIZE + "lg --k 2 --m 2", 2, ["k-anonymity", "--m", "--k"]),
    "lg without k": (ANONYMIZE + "lg", 2, ["k-anonymity needs --k"]),
    "lg with k of 1": (ANONYMIZE + "lg --k 1", 2, ["k must be", "got 1"]),
    "hghs without m": (ANONYMIZE + "hghs --k 2", 2, ["needs --m"]),
    "mhghs without k and m": (ANONYMIZE + "mhghs", 2, ["needs --k, --m"]),
    "hghs with p": (ANONYMIZE + "hghs --k 2 --m 2 --p 3", 2, ["has no --p"]),
    "aa with private items": (ANONYMIZE + "aa --k 2 --m 2 --private a", 2, ["has no --private"]),
    "coat without constraints": (ANONYMIZE + "coat --k 2 --m 2", 2, ["needs --privacy"]),
    "coat without k": (ANONYMIZE + "coat --privacy P.txt", 2, ["needs --k"]),
    "coat, all of no size": (ANONYMIZE + "coat --k 2 --privacy all", 2, ["--privacy all needs --m"]),
    "coat, all of size 0": (ANONYMIZE + "coat --k 2 --privacy all --m 0", 2, ["m must be", "got 0"]),
    "coat, all of size x": (ANONYMIZE + "coat --k 2 --privacy all --m x", 2, ["--m", "'x'"]),
    "coat, a size and a file": (CONSTRAINTS + "--m 2", 2, ["--m", "--privacy all"]),
    "coat, a size and pgen": (ANONYMIZE + "coat --k 2 --privacy pgen --m 2", 2, ["--m", "--privacy all"]),
    "coat with k of 1": (ANONYMIZE + "coat --k 1 --privacy P.txt", 2, ["k must be", "got 1"]),
    "border without h": (ANONYMIZE + "border --k 2 --p 2", 2, ["coherence needs --h"]),
    "border with m": (ANONYMIZE + "border --h 0.5 --k 2 --p 2 --m 2", 2, ["has no --m"]),
    "mm with sensitive items": (ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --sensitive b", 2, ["--sensitive"]),
    "cahd without p": (ANONYMIZE + "cahd --sensitive b", 2, ["privacy-degree needs --p"]),
    "cahd without sensitive items": (ANONYMIZE + "cahd --p 2", 2, ["--sensitive", "--sensitive-random"]),
    "cahd with k": (CAHD + "--k 3", 2, ["has no --k"]),
    "cahd, named and drawn": (CAHD + "--sensitive-random 2", 2, ["--sensitive", "--sensitive-random"]),
    "no such algorithm": (ANONYMIZE + "pgen --k 2", 2, ["'pgen'", "coat", "cahd"]),
    # Options of another algorithm.
    "coat's option for aa": (ANONYMIZE + "aa --k 2 --m 2 --utility U.txt", 2, ["utility"]),
    "coat's default for aa": (ANONYMIZE + "aa --k 2 --m 2 --utility any", 2, ["utility"]),
    "border's option for mm": (ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --k-nugget 3", 2, ["mm has no"]),
    "cahd's option for lg": (ANONYMIZE + "lg --k 2 --alpha 3", 2, ["lg has no"]),
    "refine for lg": (ANONYMIZE + "lg --k 2 --refine", 2, ["lg has no", "refine"]),
    "bound for cahd": (CAHD + "--bound", 2, ["bound"]),
    "a format for groups": (CAHD + "--output-format jsonl", 2, ["--output-format"]),
    # Parameters.
    "h of 2": (ANONYMIZE + "border --h 2 --k 2 --p 2", 2, ["h must be", "'2'"]),
    "h of 0": (ANONYMIZE + "border --h 0 --k 2 --p 2", 2, ["h must be", "'0'"]),
    "h of 1": (ANONYMIZE + "mm --h 1 --k 2 --p 2", 2, ["h must be", "'1'"]),
    "h of abc": (ANONYMIZE + "mm --h abc --k 2 --p 2", 2, ["h must be", "'abc'"]),
    "h of nan": (ANONYMIZE + "mm --h nan --k 2 --p 2", 2, ["h must be", "'nan'"]),
    "p of abc": (ANONYMIZE + "border --h 0.5 --k 2 --p abc", 2, ["--p", "'abc'", "inf"]),
    "p of 0": (ANONYMIZE + "border --h 0.5 --k 2 --p 0", 2, ["p must be", "got 0"]),
    "k of 0": (ANONYMIZE + "border --h 0.5 --k 0 --p 1", 2, ["k must be", "got 0"]),
    "nuggets of no row": (BORDER + "--k-nugget 0", 2, ["nugget", "got 0"]),
    "nuggets of x items": (BORDER + "--p-nugget x", 2, ["--p-nugget", "'x'"]),
    "degree of 1": (ANONYMIZE + "cahd --p 1 --sensitive b", 2, ["p must be", "2", "got 1"]),
    "degree of abc": (ANONYMIZE + "cahd --p abc --sensitive b", 2, ["--p", "'abc'"]),
    "degree of inf": (ANONYMIZE + "cahd --p inf --sensitive b", 2, ["--p", "'inf'"]),
    "alpha of 0": (CAHD + "--alpha 0", 2, ["alpha", "got 0"]),
    "200 per cent": (CONSTRAINTS + "--max-suppressed-items 200%", 2, ["100%", "'200%'"]),
    "less than nothing": (CONSTRAINTS + "--max-suppressed-items -1%", 2, ["0%", "'-1%'"]),
    "no share": (CONSTRAINTS + "--max-suppressed-items abc", 2, ["'abc'"]),
    # Items.
    "unknown private item": (BORDER + "--private zz", 4, ["'zz'", "not in the data"]),
    "unknown private items": (BORDER + "--private a,zz,yy", 4, ["2 items", "'zz'", "'yy'"]),
    "file of unknown private items": (BORDER + "--private S.txt", 4, ["S.txt", "'1', '2', '3'"]),
    "unknown sensitive item": (ANONYMIZE + "cahd --p 2 --sensitive zz", 4, ["'zz'", "not in the data"]),
    "missing file of sensitive items": (ANONYMIZE + "cahd --p 2 --sensitive no.txt", 4, ["'no.txt'", "file"]),
    "no sensitive item": (ANONYMIZE + "cahd --p 2 --sensitive ,", 2, ["No sensitive item"]),
    "only sensitive items": (ANONYMIZE + "cahd --p 2 --sensitive a,b,c,d,e,f,g,h", 2, ["All 8 items"]),
    "too many drawn": (ANONYMIZE + "cahd --p 3 --sensitive-random 9", 2, ["9", "only 1", "p = 3"]),
    # Promises that no release can keep.
    "private item too frequent": (
        ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --private c", 3, ["'c'", "6 of 10 rows", "h = 0.5", "0.6"],
    ),
    "private items too frequent": (
        ANONYMIZE + "border --h 0.3 --k 2 --p 2 --private h,c,b", 3, ["'c'", "most frequent of 2", "0.6"],
    ),
    "more than all rows": (ANONYMIZE + "border --h 0.5 --k 11 --p 1", 3, ["10 rows", "greatest k", "10"]),
    "sensitive item too frequent": (
        ANONYMIZE + "cahd --p 4 --sensitive b", 3, ["'b'", "3 of 10 rows", "greatest p", "is 3"],
    ),
    "sensitive items too frequent": (
        ANONYMIZE + "cahd --p 4 --sensitive b,h", 3, ["'h'", "4 of 10 rows", "greatest p", "is 2"],
    ),
    "sensitive item in most rows": (ANONYMIZE + "cahd --p 2 --sensitive c", 3, ["'c'", "6 of 10", "No p"]),
    "too few rows for constraints": (
        ANONYMIZE + "coat --k 11 --privacy P.txt", 3, ["10 rows", "greatest k", "10"],
    ),
    "unreachable threshold": (
        CONSTRAINTS + "--utility U.txt --max-suppressed-items 5%", 3,
        ["constraint 3", "'d'", "5%", "12.5%", "1 of the 8 items"],
    ),
    "no suppression at all": (CONSTRAINTS + "--utility U.txt", 3, ["constraint 3", "'d'", "0%"]),
    "too few empty rows": (
        "anonymize empty-rows.csv --out OUT -a lg --k 3", 3, ["1", "hold none", "3", "row without items"],
    ),
    "too few rows with items": (ANONYMIZE + "lg --k 11", 3, ["10 hold items", "greatest k", "10"]),
    # Files of constraints and hierarchies.
    "unknown item in a privacy constraint": (
        ANONYMIZE + "coat --k 5 --privacy bad.txt", 4, ["bad.txt", "line 2", "no item", "line 3", "'zz'"],
    ),
    "an item in two groups": (
        CONSTRAINTS + "--utility overlap.txt", 4,
        ["overlap.txt", "line 2", "'b'", "line 1", "line 3", "'zz'", "line 4"],
    ),
    "many unknown items": (ANONYMIZE + "coat --k 5 --privacy many.txt", 4, ["500 problems", "495 more"]),
    "missing privacy constraints": (ANONYMIZE + "coat --k 5 --privacy no.txt", 4, ["no.txt"]),
    "missing utility constraints": (CONSTRAINTS + "--utility no.txt", 4, ["no.txt"]),
    "siblings of no hierarchy": (CONSTRAINTS + "--utility siblings", 2, ["siblings", "--hierarchy"]),
    "groups of no hierarchy": (CONSTRAINTS + "--utility groups:2", 2, ["groups:2", "--hierarchy"]),
    "groups of no size": (CONSTRAINTS + "--utility groups -H letters.csv", 2, ["groups:SIZE", "integer"]),
    "groups of size x": (CONSTRAINTS + "--utility groups:x -H letters.csv", 2, ["groups", "'x'"]),
    "groups of size 0": (CONSTRAINTS + "--utility groups:0 -H letters.csv", 2, ["size", "got 0"]),
    "no such level": (CONSTRAINTS + "--utility siblings:3 -H letters.csv", 2, ["level", "0", "2", "got 3"]),
    "a hierarchy of other items": (CONSTRAINTS + "-H tree.csv", 4, ["8 of 8 items", "'a'"]),
    # Other commands.
    "no such model": ("verify coat.csv --model nonsense --k 2", 2, ["'nonsense'", "coherence"]),
    "an original for another model": (
        "verify coat.csv --model k-anonymity --k 2 --original coat.csv", 2, ["--original", "k-anonymity"],
    ),
    "a recoding for another model": (
        "verify coat.csv --model k-anonymity --k 2 --recoding U.txt", 2, ["--recoding", "k-anonymity"],
    ),
    "verify with m": ("verify coat.csv --model k-anonymity --k 2 --m 2", 2, ["has no --m"]),
    "verify without constraints": ("verify coat.csv --model constraints --k 2", 2, ["needs --privacy"]),
    "verify pgen": ("verify coat.csv --model constraints --k 2 --privacy pgen", 2, ["policy pgen"]),
    "verify an unknown private item": (
        "verify coat.csv --model coherence --h 0.5 --k 2 --p 2 --private zz", 4, ["'zz'"],
    ),
    "verify baskets as groups": (
        "verify coat.csv --model privacy-degree --p 2", 4, ["coat.csv", "groups.csv"],
    ),
    "verify groups as rows": ("verify FINISHED/cahd --k 2 --m 2", 4, ["groups", "--model privacy-degree"]),
    "verify groups as rows, published": (
        "verify FINISHED/cahd/published --model k-anonymity --k 2", 4, ["groups", "--model privacy-degree"],
    ),
    "verify groups as rows, the file": (
        "verify FINISHED/cahd/published/data.csv --k 2 --m 2", 4, ["groups", "--model privacy-degree"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Done]]:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in INPUTS.items():
        write(folder / name, content)
    for name, content in BAD_CONSTRAINTS.items():
        write(folder / name, content)
    write(folder / "many.txt", MANY)
    write(folder / "empty-rows.csv", "a,b\na,b\na,b\na,b\n\na\na\na\na\n")
    write(folder / "letters.csv", "".join(f"{x};{'low' if x < 'd' else 'high'};*\n" for x in "abcdefgh"))
    commands = [
        [word.replace("OUT", f"out{i}").replace("FINISHED", str(finished[0])) for word in line.split()]
        for i, (line, _, _) in enumerate(BAD.values())
    ]
    before = files_under(folder)
    done = together(commands, folder)
    assert {name for name in files_under(folder) - before if not name.startswith("out")} == set()
    return folder, dict(zip(BAD, done, strict=True))


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, answers: tuple[Path, dict[str, Done]]) -> None:
    _, code, words = BAD[name]
    folder, done = answers
    refused(done[name], code, *words, out=folder / f"out{list(BAD).index(name)}")


def test_the_command_in_a_hint_works(answers: tuple[Path, dict[str, Done]]) -> None:
    """Whoever is told to look at all problems of a file gets to see them."""
    folder, done = answers
    hints = []
    for name in ("unknown item in a privacy constraint", "an item in two groups"):
        hint = re.search(r"`setveil (policy check .*?)`", done[name].err.replace("\n", " "))
        assert hint, done[name].err
        hints.append(hint[1].replace("DATA", "coat.csv").split())
    for words, answer in zip(hints, together(hints, folder), strict=True):
        assert answer.code == 4, (words, answer)
        assert "line 2" in answer.out, (words, answer)


def test_a_sample_of_sensitive_items(tmp_path: Path) -> None:
    write(tmp_path / "in.dat", dump(SAMPLE, "fimi"))
    command = ["anonymize", "in.dat", "-a", "cahd", "--p", 4, "--sensitive-random", 2, "--json"]
    done = together(
        [
            *([*command, "--out", f"out{i}", "--seed", seed] for i, seed in enumerate((1, 1, 2, 3, 4))),
            ["verify", "out0", "--model", "privacy-degree", "--p", 4, "--original", "in.dat"],
            *(["measure", "in.dat", "out0", "--group-by", 2, "--seed", seed, "--json"] for seed in (0, 0, 1)),
        ],
        tmp_path,
    )
    drawn = [answer.ok().json()["guarantee"]["sensitive"] for answer in done[:5]]
    counts = Counter(item for row in SAMPLE for item in row)
    assert all(len(items) == 2 and all(4 * counts[x] <= len(SAMPLE) for x in items) for items in drawn)
    assert drawn[0] == drawn[1]
    assert len(set(map(tuple, drawn))) > 1
    done[5].ok()
    kl = [answer.ok().json()["utility"]["kl"]["mean"] for answer in done[6:]]
    assert kl[0] == kl[1] != kl[2]
    rows, sizes, hidden = _grouped(tmp_path / "out0" / "published")
    assert Counter(rows) == Counter(row - set(drawn[0]) for row in SAMPLE)
    assert _degree(sizes, hidden) >= 4
    total = sum(map(Counter, hidden), Counter[str]())
    assert total == {item: counts[item] for item in drawn[0]}


def test_rows_that_hold_only_sensitive_items(tmp_path: Path) -> None:
    """They are rows like others, and no line of data.csv tells of them."""
    rows = [*GROUPS, frozenset({"viagra"}), frozenset[str](), frozenset({"wine"})]
    write(tmp_path / "in.csv", dump(rows, "basket"))
    run, check = together(
        [
            ["anonymize", "in.csv", *_words("-a cahd --p 2 --sensitive viagra"), "--out", "out", "--json"],
            ["verify", "out", "--model", "privacy-degree", "--p", 2, "--original", "in.csv"],
        ],
        tmp_path,
    )
    assert run.ok().json()["published"]["empty_rows"] == 2
    check.ok()
    published, _, hidden = _grouped(tmp_path / "out" / "published")
    assert Counter(published) == Counter(row - {"viagra"} for row in rows)
    assert sum(found.get("viagra", 0) for found in hidden) == 2
