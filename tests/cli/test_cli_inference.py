"""Guarantees about inference on the command line: the default, the check, and watched items."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, dump, files_under, refused, rows_of, together, write
from model_runs import MOLES, json_of, messages_of

Rows = Sequence[frozenset[str]]


def _rows(*rows: str) -> list[frozenset[str]]:
    return [frozenset(row.split()) for row in rows]


# The examples of (k,rho)^m-anonymity and of rho-uncertainty.
HOLE = _rows("a1 b1 H", "a1 b1 H", "a2 b1", "a2 b2 H", "a2 b2", "a1 b2", "b1", "b2", "a2 b1", "a1 b2 H")
RULES = _rows("a1 b1 s", "a1 b1", "a1 b2 s", "a2 b2", "a2 b1 t", "a2 b2 s t", "b1", "a1 b2")
PUBLIC = ["a1;A;ALL", "a2;A;ALL", "b1;B;ALL", "b2;B;ALL"]
BASKET = ["--format", "basket"]
BORDER = ["-a", "border", "--h", 0.5, "--k", 3, "--p", 3]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inference")
    for name, rows in {"hole": HOLE, "rules": RULES, "moles": MOLES}.items():
        write(folder / f"{name}.csv", dump(rows, "basket"))
    write(folder / "hole-tree.csv", "\n".join([*PUBLIC, "H;ALL"]))
    write(folder / "rules-tree.csv", "\n".join([*PUBLIC, "s;ALL", "t;ALL"]))
    write(folder / "S.txt", "H\n")
    write(folder / "wrong.txt", "H\nzz\n")
    return folder


def greatest(answer: dict[str, Any]) -> tuple[str, list[str], int, int] | None:
    """Return the strongest inference of a verdict."""
    found = answer["greatest_confidence"]
    if found is None:
        return None
    assert found["confidence"] == pytest.approx(found["sensitive_rows"] / found["support"])
    return found["item"], found["itemset"], found["sensitive_rows"], found["support"]


def confidence(rows: Rows, itemset: Sequence[str], item: str) -> float:
    holding = [row for row in rows if row >= set(itemset)]
    return sum(item in row for row in holding) / len(holding)


# Items that are only looked at.


@pytest.fixture(scope="module")
def watched(place: Path) -> dict[str, Done]:
    hole = ["anonymize", "hole.csv", *BASKET, "-H", "hole-tree.csv"]
    commands: dict[str, list[object]] = {
        "watched": [*hole, "-k", 2, "-m", 2, "--sensitive", "S.txt", "-o", "watched", "--json"],
        "plain": [*hole, "-k", 2, "-m", 2, "-o", "plain", "--json"],
        "exact": [*hole, "-a", "exact", "-k", 2, "-m", 2, "--sensitive", "H", "-o", "exact", "--json"],
        "lg": [*hole, "-a", "lg", "-k", 2, "--sensitive", "H", "-o", "lg", "--json"],
        "again": ["anonymize", "--config", "watched/internal/report.json", "-o", "again", "--json"],
        "sample": [*hole, "-k", 2, "-m", 1, "--sensitive", "H", "--sample", 3, "--seed", 2, "-o", "some",
                   "--json"],
    }  # fmt: skip
    return dict(zip(commands, together([*commands.values()], place), strict=True))


def test_watched_items_are_looked_at_whatever_is_promised(place: Path, watched: dict[str, Done]) -> None:
    for name, model in {"watched": "km-anonymity", "exact": "km-anonymity", "lg": "k-anonymity"}.items():
        report = watched[name].ok().json()
        assert report["guarantee"]["model"] == model
        assert report["watched"] == ["H"]
        assert report["risk"]["before"]["inference"][1]["items"] == [
            {"item": "H", "probability": 1.0, "itemset": ["a1", "b1"], "support": 2}
        ]
        published = rows_of(place / name / "published" / "data.csv")
        for entry in report["risk"]["after"]["inference"]:
            for found in entry["items"]:
                assert found["probability"] == confidence(published, found["itemset"], found["item"])
    assert "S.txt: only looked at; --rho bounds what is learned of them." in watched["watched"].err
    assert "Inference of private items" in (place / "watched" / "internal" / "report.html").read_text(
        encoding="utf-8"
    )


def test_looking_changes_no_release(place: Path, watched: dict[str, Done]) -> None:
    plain = watched["plain"].ok().json()
    assert "watched" not in plain
    assert "only looked at" not in watched["plain"].err
    for name in ("watched", "again"):
        watched[name].ok()
        assert files_under(place / name / "published") == files_under(place / "plain" / "published")
        for file in ("data.csv", "about.json"):
            assert (place / name / "published" / file).read_bytes() == (
                place / "plain" / "published" / file
            ).read_bytes()
    report = watched["watched"].json()
    for side in ("before", "after"):
        del report["risk"][side]["inference"]
    assert report["risk"] == plain["risk"]
    assert watched["again"].json()["watched"] == ["H"]
    assert watched["sample"].ok().json()["guarantee"]["holds"] is True


# What about.json names need not be given again.


def test_private_items_of_a_release_are_read_from_its_about_json(place: Path) -> None:
    """Else a release that lost them would pass: here one row was changed, and betrays an item."""
    command = ["anonymize", "moles.csv", *BASKET, *BORDER, "--private", "1,2,3", "-o", "coherent"]
    run = together([command], place)[0]
    run.ok()
    shutil.copytree(place / "coherent" / "published", place / "changed")
    rows = rows_of(place / "changed" / "data.csv")
    betraying = [row | {"1"} if row else row for row in rows]
    write(place / "changed" / "data.csv", dump(betraying, "basket"))
    promise = ["--model", "coherence", "--h", 0.5, "--k", 3, "--p", 3]
    kept, named, broken, foreign = together(
        [
            ["verify", "coherent", *promise, "--json"],
            ["verify", "coherent", *promise, "--private", "1,2,3", "--json"],
            ["verify", "changed", *promise, "--json"],
            ["verify", "changed", *promise, "--private", "1,2,3", "--json"],
        ],
        place,
    )
    assert kept.ok().json() == named.ok().json()
    assert kept.json()["private"] == ["1", "2", "3"]
    assert broken.code == foreign.code == 1
    assert broken.json() == foreign.json()
    assert {entry["betrays"] for entry in broken.json()["first"]} == {"1"}


# The guarantees themselves.


@pytest.fixture(scope="module")
def runs(place: Path) -> dict[str, Done]:
    """Releases whose guarantee determines the model."""
    hole, rules = (
        ["anonymize", f"{name}.csv", *BASKET, "-H", f"{name}-tree.csv"] for name in ("hole", "rules")
    )
    both = ["-k", 2, "-m", 2, "--rho", "1/2"]
    commands: dict[str, list[object]] = {
        "km-rho": [*hole, *both, "--sensitive", "S.txt", "-o", "km-rho", "--json"],
        "any": [*hole, *both, "--sensitive", "H", "--knows", "any", "-a", "exact", "-o", "any", "--json"],
        "rho": [*rules, "--rho", "1/2", "--sensitive", "s,t", "-o", "rho", "--json", "--external"],
        "none left": [*hole, "-k", 2, "-m", 2, "--rho", "1/11", "--sensitive", "H", "-o", "none", "--json"],
    }
    return dict(zip(commands, together([*commands.values()], place), strict=True))


def test_the_model_follows_from_the_arguments(place: Path, runs: dict[str, Done]) -> None:
    expected = {
        "km-rho": {"model": "km-rho", "k": 2, "m": 2, "rho": 0.5, "sensitive": ["H"], "knows": "public"},
        "any": {"model": "km-rho", "k": 2, "m": 2, "rho": 0.5, "sensitive": ["H"], "knows": "any"},
        "rho": {"model": "rho-uncertainty", "rho": 0.5, "sensitive": ["s", "t"]},
    }
    for name, guarantee in expected.items():
        report = runs[name].ok().json()
        assert {key: report["guarantee"][key] for key in guarantee} == guarantee
        assert report["guarantee"]["holds"] is True
        assert "watched" not in report
        assert "only looked at" not in runs[name].err
        about = json_of(place / name / "published" / "about.json")["guarantee"]
        assert about == guarantee
        assert not (place / name / "published" / "counts.csv").exists()
        for entry in report["risk"]["after"]["inference"][:2]:
            assert all(found["probability"] <= 0.5 for found in entry["items"])


def test_what_was_promised_is_found_again(place: Path, runs: dict[str, Done]) -> None:
    """By the folder, whose about.json names the sensitive items, and by the file alone."""
    promises: dict[str, list[object]] = {
        "km-rho": ["--rho", "1/2", "-k", 2, "-m", 2],
        "any": ["--rho", 0.5, "-k", 2, "-m", 2, "--knows", "any"],
        "rho": ["--rho", "50%"],
    }
    for name, promise in promises.items():
        runs[name].ok()
        guarantee = json_of(place / name / "internal" / "report.json")["guarantee"]
        file = shutil.copy(place / name / "published" / "data.csv", place / f"{name}-alone.csv")
        named = ["--sensitive", ",".join(guarantee["sensitive"])]
        folder, alone, text = together(
            [
                ["verify", name, *promise, "--json"],
                ["verify", file, *BASKET, *promise, *named, "--json"],
                ["verify", f"{name}/published", *promise],
            ],
            place,
        )
        assert folder.ok().json() == alone.ok().json()
        assert {key: value for key, value in guarantee.items() if key != "phrase"} | {"first": []} == (
            folder.json()
        )
        assert text.ok().out.startswith(f"Yes: {guarantee['phrase']} holds.")
        assert messages_of(folder) == messages_of(text) == ""


def test_any_file_is_checked(place: Path) -> None:
    """The originals: k^m-anonymous, except for inferences about sensitive items."""
    hole: list[object] = ["verify", "hole.csv", *BASKET, "-k", 2]
    commands: dict[str, list[object]] = {
        "hole": [*hole, "-m", 2, "--rho", 0.5, "--sensitive", "S.txt", "--json"],
        "text": [*hole, "-m", 2, "--rho", 0.5, "--sensitive", "S.txt"],
        "one": [*hole, "-m", 1, "--rho", "3/4", "--sensitive", "H", "--json"],
        "rules": ["verify", "rules.csv", *BASKET, "--rho", "1/2", "--sensitive", "s,t", "--json"],
        "a file with more": [*hole, "-m", 1, "--rho", 0.8, "--sensitive", "wrong.txt", "--json"],
    }
    done = dict(zip(commands, together([*commands.values()], place), strict=True))
    assert done["hole"].code == done["text"].code == done["rules"].code == 1
    found = done["hole"].json()
    assert (found["model"], found["holds"]) == ("km-rho", False)
    assert greatest(found) == ("H", ["a1", "b1"], 2, 2)
    assert {(tuple(entry["itemset"]), entry["betrays"], entry["sensitive_rows"], entry["support"])
            for entry in found["first"]} == {(("a1",), "H", 3, 4), (("a1", "b1"), "H", 2, 2)}  # fmt: skip
    assert "a1, b1: H in 2 of 2 rows" in done["text"].out
    one = done["one"].ok().json()  # exactly rho is allowed
    assert greatest(one) == ("H", ["a1"], 3, 4)
    rules = done["rules"].json()
    assert rules["model"] == "rho-uncertainty"
    assert rules["greatest_confidence"]["confidence"] == 1
    assert "1 item in no published row" in done["a file with more"].ok().err
    assert "'zz'" in done["a file with more"].err


def test_suppressed_items_are_known_by_about_json(place: Path, runs: dict[str, Done]) -> None:
    """Check a bound that suppresses every H: without about.json, a named H could be a misspelling."""
    runs["none left"].ok()
    published = rows_of(place / "none" / "published" / "data.csv")
    assert not any("H" in row for row in published)
    shutil.copy(place / "none" / "published" / "data.csv", place / "none-alone.csv")
    promise = ["-k", 2, "-m", 2, "--rho", "1/11"]
    folder, named, alone, listed = together(
        [
            ["verify", "none", *promise, "--json"],
            ["verify", "none", *promise, "--sensitive", "H", "--json"],
            ["verify", "none-alone.csv", *BASKET, *promise, "--sensitive", "H"],
            ["verify", "none-alone.csv", *BASKET, *promise, "--sensitive", "S.txt", "--json"],
        ],
        place,
    )
    assert folder.ok().json() == named.ok().json() == listed.ok().json()
    assert greatest(folder.json()) is None
    assert messages_of(named) == ""
    assert "S.txt: 1 item in no published row" in listed.err.replace("'", "")
    refused(alone, 4, "'H'", "not in the data")


def test_the_page_to_share_names_no_sensitive_item(place: Path, runs: dict[str, Done]) -> None:
    runs["rho"].ok()
    inside = (place / "rho" / "internal" / "report.html").read_text(encoding="utf-8")
    outside = (place / "rho" / "published" / "report.html").read_text(encoding="utf-8")
    assert "Inference of each item" in inside
    assert "Inference of each item" not in outside
    assert "the most certain inference is" in outside


# Records of inferences.


@pytest.fixture(scope="module")
def results(place: Path) -> dict[str, Done]:
    write(place / "more-tree.csv", "\n".join([*PUBLIC, "H;ALL", "U;ALL"]))
    hole = ["anonymize", "hole.csv", *BASKET]
    rules = ["anonymize", "rules.csv", *BASKET, "--rho", "1/2", "--sensitive", "s,t", "--bound"]
    both = ["-m", 2, "--rho", "1/2"]
    commands: dict[str, list[object]] = {
        "unseen": [*hole, "-H", "more-tree.csv", "-k", 2, *both, "--sensitive", "more.txt", "-o", "unseen",
                   "--external", "--verbose"],
        "partial": [*hole, "-k", 1, *both, "--sensitive", "H", "-a", "partial", "--bound", "-o", "bounded"],
        "suppress-control": [*rules, "-a", "suppress-control", "--time-limit", 60, "-o", "bound-1"],
        "td-control": [*rules, "-a", "td-control", "-H", "rules-tree.csv", "-o", "bound-2"],
        "mm": ["anonymize", "moles.csv", *BASKET, "-a", "mm", "--h", 0.5, "--k", 3, "--p", 3, "--private",
               "1,2,3", "--bound", "-o", "bound-3"],
        "lg": [*hole, "-H", "hole-tree.csv", "-k", 2, *both, "--sensitive", "H", "-a", "lg", "--bound", "-o",
               "refused"],
        "single": [*rules, "-a", "partial", "-o", "refused"],
    }  # fmt: skip
    write(place / "more.txt", "H\nU\n")
    return dict(zip(commands, together([*commands.values()], place), strict=True))


def test_suppressed_items_and_their_cost(place: Path, results: dict[str, Done]) -> None:
    out = results["unseen"].ok().out
    assert "Hidden     1 occurrence of sensitive items (H 1)." in out
    assert "Price      All of the loss: k^m-anonymity of the public items alone loses nothing." in out
    recorded = json_of(place / "unseen" / "internal" / "report.json")["algorithm"]
    assert recorded["hidden"] == {"H": 1}
    assert recorded["alone"] == {"loss": 0.0, "proven": True}
    page = (place / "unseen" / "published" / "report.html").read_text(encoding="utf-8")
    for inside in ("items alone", "occurrence of sensitive", "in no row", "3/66", "0.045"):
        assert inside not in page


def test_sensitive_items_in_no_row_are_warned_of(place: Path, results: dict[str, Done]) -> None:
    assert "Warning: 1 sensitive item is in no row: 'U'." in results["unseen"].ok().err
    recorded = json_of(place / "unseen" / "internal" / "report.json")["algorithm"]
    assert recorded["warnings"] == ["1 sensitive item is in no row: 'U'."]
    assert "Warning" not in results["partial"].err


def test_how_far_they_are_from_the_optimum(results: dict[str, Done]) -> None:
    expected = {
        "partial": "Proven: the smallest loss (LM) of any suppression of sensitive occurrences, ",
        "suppress-control": "Proven: the smallest loss (LM) of any suppression, 0.1.",
        "td-control": "Proven: the smallest loss (NCP) possible with this hierarchy, 0.1.",
        "mm": "the smallest loss (LM) of any suppression, ",
    }
    for name, text in expected.items():
        assert text in " ".join(results[name].ok().out.split()), name
    refused(results["lg"], 2, "lg makes none")
    refused(results["single"], 2, "partial and rho-uncertainty", "exact")
