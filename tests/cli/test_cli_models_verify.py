"""The command `verify` for the other privacy models: violations that it finds, and limits."""

from __future__ import annotations

import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import Done, dump, dump_parquet, refused, rows_of, together, write
from model_runs import (
    MOLES,
    PRIVACY,
    RUNS,
    SAMPLE,
    has_counts,
    json_of,
    messages_of,
    minimal_of,
    moles_of,
    recoding_of,
    threats_of,
    verifying,
)
from setveil.base.errors import RequestError


@pytest.fixture(scope="module")
def verified(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Done]]:
    """Verify each release: its folder, published/, the file alone, the original, and a stronger guarantee."""
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
        commands[name, "folder"] = [*verifying(name, name), "--json"]
        commands[name, "published"] = [*verifying(name, f"{name}/published"), "--json"]
        commands[name, "alone"] = [*verifying(name, target), *more, "--json"]
        commands[name, "text"] = verifying(name, name)
        commands[name, "nothing asked"] = ["verify", name, "--json"]
        commands[name, "too much"] = [*verifying(name, name, run.too_much), "--json", "--show", 1]
        commands[name, "too much, text"] = [*verifying(name, name, run.too_much), "--show", 1]
        if run.kind == "grouped":
            commands[name, "original"] = [*verifying(name, name), "--original", f"{run.data}.csv", "--json"]
            commands[name, "nothing named"] = [*verifying(name, name, "--p 2"), "--json"]
        else:
            commands[name, "not anonymized"] = [*verifying(name, f"{run.data}.csv"), "--json"]
    done = dict(zip(commands, together(list(commands.values()), folder), strict=True))
    return {name: {how: answer for (n, how), answer in done.items() if n == name} for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_the_promise_of_about_json_is_checked_by_default(
    name: str, finished: tuple[Path, dict[str, Done]], verified: dict[str, dict[str, Done]]
) -> None:
    folder, done = finished[0] / name, verified[name]["nothing asked"]
    guarantee = json_of(folder / "published" / "about.json")["guarantee"]
    assert "checking the guarantee in its about.json" in messages_of(done)
    if "itemsets" in guarantee:  # about.json has their number, not the itemsets
        assert (done.code, "constraints needs --privacy" in done.err) == (2, True)
        with pytest.raises(RequestError, match="Nothing says what to guarantee"):
            sv.verify(folder)
        return
    assert done.ok().json() == verified[name]["folder"].json()
    assert {**sv.verify(folder).as_dict(), "first": []} == {**done.json(), "first": []}


@pytest.mark.parametrize("name", RUNS)
def test_the_promise_is_found_again(
    name: str, finished: tuple[Path, dict[str, Done]], verified: dict[str, dict[str, Done]]
) -> None:
    guarantee = json_of(finished[0] / name / "internal" / "report.json")["guarantee"]
    expected = {key: value for key, value in guarantee.items() if key != "phrase"} | {"first": []}
    for how in ("folder", "published", "alone", *(["original"] if RUNS[name].kind == "grouped" else [])):
        done = verified[name][how].ok()
        found = done.json()
        counts = found.pop("counts", None)
        assert (counts is not None) == (has_counts(name) and how != "alone"), how
        assert counts is None or (counts["holds"] and counts["lines"] > 0), how
        assert found == expected, how
        said = messages_of(done)
        if how == "alone" and RUNS[name].kind != "grouped":  # no other file says what it is
            assert "baskets, one row per line" in said
            assert said.count("\n") == 1
        else:
            assert said == "", how
    assert verified[name]["text"].ok().out.startswith(f"Yes: {guarantee['phrase']} holds.")


@pytest.mark.parametrize("name", RUNS)
def test_too_great_a_promise_does_not_hold(name: str, verified: dict[str, dict[str, Done]]) -> None:
    done, text = verified[name]["too much"], verified[name]["too much, text"]
    assert done.code == text.code == 1
    answer = done.json()
    assert answer["holds"] is False
    assert answer["violations"] >= len(answer["first"]) == 1
    assert text.out.startswith("No: ")
    assert (f"and {answer['violations'] - 1} more" in text.out) == (answer["violations"] > 1)
    assert messages_of(text) == messages_of(done) == ""


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].kind != "grouped"])
def test_the_original_does_not_keep_the_promise(name: str, verified: dict[str, dict[str, Done]]) -> None:
    done = verified[name]["not anonymized"]
    assert done.code == 1
    answer = done.json()
    if name in {"border", "mm"}:
        smallest = minimal_of(moles_of(MOLES, Fraction(1, 2), 3, 3, set("123")))
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
    """Check that a message asks for the file that maps the items of a constraint to labels."""
    folder, _ = finished
    shutil.copy(folder / "coat" / "published" / "data.csv", tmp_path / "alone.csv")
    recoding = (folder / "coat" / "internal" / "recoding.csv").read_text()
    write(tmp_path / "P.txt", PRIVACY)
    write(tmp_path / "twice.csv", recoding + "a,c\n")
    write(tmp_path / "short.csv", recoding.replace("c,c\n", "c\n"))
    command = ["verify", "alone.csv", "--model", "constraints", "--k", 5, "--privacy", "P.txt"]
    write(tmp_path / "other.csv", recoding.replace('"(a,b)"', '"(a,b,d)"'))
    write(tmp_path / "gone.csv", recoding.replace("c,c\n", "c,\n"))
    files = ("twice.csv", "short.csv", "no.csv", "other.csv", "gone.csv")
    without, twice, short, missing, other, gone = together(
        [command, *([*command, "--recoding", file] for file in files)], tmp_path
    )
    refused(twice, 4, "twice.csv, line 10")
    refused(short, 4, "short.csv, line 4")
    refused(missing, 4, "no.csv")
    refused(without, 4, "--recoding")
    refused(other, 4, "1 label is none that the recoding gives", "'(a,b)'")
    refused(gone, 4, "1 item stands", "'c' is suppressed")


def test_an_item_of_a_local_recoding_became_no_one_label(
    finished: tuple[Path, dict[str, Done]], tmp_path: Path
) -> None:
    write(tmp_path / "P.txt", "101,102\n")
    shutil.copytree(finished[0] / "lg", tmp_path / "lg")
    constraints = ["verify", "lg", "--model", "constraints", "--k", 2]
    some, every = together(
        [[*constraints, "--privacy", "P.txt"], [*constraints, "--privacy", "all", "--m", 2]], tmp_path
    )
    refused(some, 4, "several labels", "the guarantee that its about.json names")
    every.ok()


def test_a_sensitive_item_that_is_nowhere_is_refused(
    finished: tuple[Path, dict[str, Done]], tmp_path: Path
) -> None:
    shutil.copytree(finished[0] / "cahd", tmp_path / "cahd")
    write(tmp_path / "before.csv", "tea\n")
    command = ["verify", "cahd", "--model", "privacy-degree", "--p", 2, "--sensitive", "viagra,tea"]
    alone, beside = together([command, [*command, "--original", "before.csv"]], tmp_path)
    refused(alone, 4, "1 item is neither counted", "'tea'")
    assert beside.code == 1
    assert "tea" in beside.out


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
    recoding, published = recoding_of(tmp_path / "out"), rows_of(tmp_path / "out" / "published" / "data.csv")
    for itemset in ("101 102", "103 104 105"):
        assert threats_of(published, {recoding[item] for item in itemset.split()} - {""}, 4) == {}
    for check in checks:
        assert check.ok().out.startswith("Yes")


@pytest.mark.parametrize("form", ["long", "parquet"])
def test_the_published_file_itself_is_read_as_about_json_says(form: str, tmp_path: Path) -> None:
    """A long table shows no rows without items, but they count: c is in 4 rows of 6, not in all."""
    if form == "long":
        write(
            tmp_path / "in.csv",
            "id,item\n" + "".join(f"{i},{'c' if i < 4 else 'ab'[i % 2]}\n" for i in range(6)),
        )
    else:
        rows = [["c"]] * 4 + [["a"], ["b"]]
        dump_parquet(rows, tmp_path / "in.parquet", nested=False)
    promise = ["--h", 0.7, "--k", 3, "--p", 2, "--private", "c"]
    name, file = ("in.csv", "data.csv") if form == "long" else ("in.parquet", "data.parquet")
    columns = ["--id-column", "id", "--item-column", "item"] if form == "long" else []
    done, verified, risk, measured = together(
        [
            ["anonymize", name, "-a", "mm", *promise, *columns, "--out", "out", "--verbose"],
            ["verify", f"out/published/{file}", "--model", "coherence", *promise],
            ["risk", f"out/published/{file}", "--json"],
            ["measure", name, f"out/published/{file}", *columns, "--json"],
        ],
        tmp_path,
    )
    assert "2 rows are empty and show only in about.json" in " ".join(done.ok().out.split())
    assert verified.ok().out.startswith("Yes")
    assert (risk.ok().json()["rows"], risk.json()["empty_rows"]) == (6, 2)
    assert measured.ok().json()["rows"] == {"original": 6, "release": 6}
