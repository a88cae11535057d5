"""Tables on the command line: roles, models, errors and the commands that fix them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, files_under, refused, setveil, together, write

WARD = """patient,age,sex,outcome,codes
1,34,F,well,I21;J18
2,36,F,well,I21
3,41,M,ill,J18;J44
4,45,M,well,I50;J44
5,47,F,ill,I50
6,62,M,well,I21;J44
7,64,M,ill,I21;I50
8,71,F,,J18
"""
ROLES = """
[columns.age]
role = "qi"
ranges = 10
[columns.sex]
role = "qi"
hierarchy = "trees/sex.csv"
weight = "1/2"
[columns.codes]
role = "set"
hierarchy = "codes.csv"
[columns.outcome]
role = "keep"
"""
SAID = ["--qi", "age,sex", "--set", "codes", "--keep-columns", "outcome", "-H", "codes.csv"]
SAID += ["--hierarchy", "sex=trees/sex.csv", "--ranges", "age=10", "--weight", "sex=1/2"]
PROMISE = ["--model", "kkm", "-k", 2, "-m", 2]
QUICK = ["--no-details"]
NOT_IDS = ["--not-ids", "patient"]
USUAL = ["ward.csv", *PROMISE, *SAID, *QUICK]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write(folder / "ward.csv", WARD)
    write(folder / "roles.toml", ROLES)
    write(folder / "codes.csv", "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n")
    (folder / "trees").mkdir()
    write(folder / "trees" / "sex.csv", "F;*\nM;*\n")
    return folder


@pytest.fixture(scope="module")
def runs(place: Path) -> dict[str, Done]:
    mixed = ["ward.csv", "--model", "mixed-km", *PROMISE[2:], *SAID, *QUICK]
    lines: dict[str, list[Any]] = {
        "said": USUAL,
        "roles": ["ward.csv", *PROMISE, "--roles", "roles.toml", *QUICK],
        "again": ["--config", "said/internal/report.json"],
        "global": [*USUAL, "--global"],
        "mixed": mixed,
        "long": [*USUAL, "--output-format", "long"],
        "sample": [*USUAL, "--sample", 6],
    }
    done = together([["anonymize", *line, "--out", name] for name, line in lines.items()], place)
    return dict(zip(lines, done, strict=True))


def report(folder: Path) -> Any:
    return json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))


def published(folder: Path) -> dict[str, bytes]:
    inside = folder / "published"
    return {name: (inside / name).read_bytes() for name in files_under(inside)}


def test_runs_succeed_and_say_what_was_read(place: Path, runs: dict[str, Done]) -> None:
    for name, done in runs.items():
        assert done.code == 0, (name, done)
    assert (
        "Reading ward.csv: table, one row per line; quasi-identifiers: age (numbers with built ranges), "
        "sex (categories with a hierarchy); items: codes; kept as they are: outcome; "
        "dropped, having no role: patient." in runs["said"].err
    )
    first, *lines = (place / "said" / "published" / "data.csv").read_text().splitlines()
    assert (first, len(lines)) == ("age,sex,outcome,codes", 8)


def test_a_file_of_roles_says_the_same(place: Path, runs: dict[str, Done]) -> None:
    assert runs["roles"].err == runs["said"].err
    assert published(place / "roles") == published(place / "said")


def test_the_record_repeats_the_run(place: Path, runs: dict[str, Done]) -> None:
    assert runs["again"].code == 0
    first, again = report(place / "said"), report(place / "again")
    assert first["options"]["hierarchy"] == ["codes.csv", "sex=trees/sex.csv"]
    assert first["options"]["ranges"] == "age=10"
    assert again["options"] == first["options"]
    for inside in ("published", "internal"):
        for name in files_under(place / "said" / inside):
            if not name.startswith("report."):
                one, other = (place / run / inside / name for run in ("said", "again"))
                assert one.read_bytes() == other.read_bytes(), name
    words = shlex.split(first["command"])
    assert words.count("--hierarchy") == 2
    words[words.index("--out") + 1] = "typed"
    setveil(*words[1:], cwd=place).ok()
    assert published(place / "typed") == published(place / "said")


def test_options_in_a_file(place: Path, runs: dict[str, Done]) -> None:
    lines = [
        "input = 'ward.csv'", "model = 'kkm'", "k = 2", "m = 2", "qi = 'age,sex'", "set = 'codes'",
        "keep-columns = 'outcome'", "hierarchy = ['codes.csv', 'sex=trees/sex.csv']", "ranges = ['age=10']",
        "weight = 'sex=1/2'", "no-details = true",
    ]  # fmt: skip
    write(place / "run.toml", "\n".join(lines))
    setveil("anonymize", "--config", "run.toml", "--out", "from-file", cwd=place).ok()
    assert published(place / "from-file") == published(place / "said")


def test_what_the_models_are(place: Path, runs: dict[str, Done]) -> None:
    found = {name: report(place / name) for name in runs}
    assert found["said"]["algorithm"]["name"] == "rt"
    assert found["global"]["algorithm"]["name"] == "forest"
    assert found["mixed"]["guarantee"]["model"] == "mixed-km"
    assert found["sample"]["sample"] == {"rows": 6, "of": 8, "seed": 0}
    assert "items.csv" in published(place / "long")
    for name in ("said", "global", "long"):
        assert found[name]["guarantee"] | {"holds": True} == found[name]["guarantee"]


def test_tables_are_verified_with_and_without_about(place: Path, runs: dict[str, Done]) -> None:
    write(place / "theirs.csv", (place / "said" / "published" / "data.csv").read_bytes())
    promise, columns = [*PROMISE], ["--qi", "age,sex", "--set", "codes"]
    lines = [
        ["verify", "said", *promise],
        ["verify", "said/published/data.csv", *promise],
        ["verify", "said", *promise, *columns],
        ["verify", "theirs.csv", *promise, *columns],
        ["verify", "theirs.csv", *promise, "--roles", "roles.toml"],
        ["verify", "long", *promise],
        ["verify", "global", *promise],
        ["verify", "mixed", "--model", "mixed-km", "-k", 2, "-m", 2],
        ["verify", "theirs.csv", "--model", "kkm", "-k", 6, "-m", 1, *columns, "--json"],
    ]
    *kept, broken = together(lines, place)
    for line, done in zip(lines, kept, strict=False):
        assert done.code == 0, (line, done)
        assert "holds" in done.out
    assert broken.code == 1
    first = json.loads(broken.out)["first"][0]
    assert set(first["class"]) == {"age", "sex"}
    assert first["support"] < 6


OUT = ["--out", "no"]


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (["ward.csv", "-k", 2, "-m", 2, "--qi", "age", "--set", "codes"], 2,
         ["--qi, --set: only tables have such columns", "km-anonymity is about rows of items",
          "For tables there is --model kkm"]),
        (["ward.csv", "-k", 2, "-m", 2, "--set", "codes"], 2,
         ["--set: only tables have such columns", "--item-column names the column of items"]),
        (["ward.csv", *PROMISE], 4,
         ["what someone may know of a person (--qi) and which column contains the items (--set)",
          "--out no --qi age,sex,outcome --set codes"]),
        (["ward.csv", *PROMISE, "--set", "codes"], 4, ["--set codes --out no --qi age,sex,outcome"]),
        (["ward.csv", *PROMISE, "--qi", "age"], 4, ["--qi age --out no --set codes"]),
        (["ward.csv", *PROMISE, *SAID, "-a", "aa"], 2, ["aa does not give kkm but km-anonymity", "forest"]),
        (["ward.csv", *PROMISE, *SAID, "-a", "rt", "--global"], 2, ["--global chooses the algorithm forest"]),
        (["ward.csv", "--model", "coherence", "--global"], 2, ["--global does not give coherence"]),
        (["ward.csv", *PROMISE, *SAID, "--roles", "roles.toml"], 2, ["cannot be added", "roles.toml"]),
        (["ward.csv", *PROMISE, "--roles", "roles.toml", "-H", "sex=trees/sex.csv"], 2, ["cannot be added"]),
        (["ward.csv", *PROMISE, "--roles", "gone.toml"], 4, ["There is no file gone.toml"]),
        (["ward.csv", *PROMISE, *SAID[:4], "-H", "age=gone.csv"], 4, ["There is no file gone.csv"]),
        (["ward.csv", *PROMISE, *SAID, "-H", "roles.toml"], 2, ["2 files are given for the items"]),
        (["ward.csv", "-k", 2, "-m", 2, "-H", "codes.csv", "-H", "roles.toml"], 2, ["2 files are given"]),
        (["ward.csv", *PROMISE, *SAID, "-H", "sex=codes.csv"], 2, ["column 'sex' has two"]),
        (["ward.csv", *PROMISE, *SAID, "--ranges", "age=5"], 2, ["'age' is given twice"]),
        (["ward.csv", *PROMISE, *SAID, "--weight", "age"], 2, ["--weight must be COLUMN=NUMBER"]),
        (["ward.csv", *PROMISE, *SAID, "--weight", "age=no"], 2, ["must be a number"]),
        (["ward.csv", *PROMISE, *SAID, "--drop", "age"], 2, ["'age' has two roles, qi and drop"]),
        (["ward.csv", *PROMISE, *SAID, "--drop", "zip"], 4, ["no column 'zip'"]),
        (["ward.csv", *PROMISE, *SAID, "--numeric", "outcome"], 2, ["no quasi-identifier"]),
        (["ward.csv", *PROMISE, *SAID, "--same-ids"], 2, ["--same-ids does not apply"]),
        (["ward.csv", *PROMISE, *SAID, "--format", "fimi"], 2, ["format fimi is not that of a table"]),
        (["ward.csv", "roles.toml", *PROMISE, *SAID], 2, ["is one file"]),
        (["ward.csv", *PROMISE, "--qi", "age", "--set", "codes", "-H", "trees/sex.csv"], 4,
         ["4 of 4 items of the data are not in the hierarchy", "Add them to the hierarchy of the items"]),
        (["ward.csv", *PROMISE, "--qi", "age", "--numeric", "age", "--set", "sex", "--id-column", "outcome"],
         4, ["'outcome' is empty"]),
        (["ward.csv", "--model", "kkm", "-k", 9, "-m", 2, *SAID], 3, ["8 rows", "possible k is 8"]),
    ],
)  # fmt: skip
def test_refused(place: Path, line: list[Any], code: int, words: list[str]) -> None:
    (done,) = together([["anonymize", *line, *OUT]], place)
    shown = " ".join(done.err.replace("│", " ").split())
    assert done.code == code, done
    assert "Traceback" not in shown
    for word in words:
        assert word in shown, shown
    assert not (place / "no").exists()


def test_refused_by_verify(place: Path) -> None:
    lines = [
        ["verify", "ward.csv", "-k", 2, "-m", 2, "--qi", "age", "--set", "codes"],
        ["verify", "ward.csv", *PROMISE],
        ["verify", "ward.csv", *PROMISE, "--qi", "zip", "--set", "codes"],
    ]
    rows, result, unknown = together(lines, place)
    refused(rows, 2, "only tables have such columns")
    refused(result, 4, "nothing says", "setveil verify ward.csv --model kkm -k 2 -m 2 --qi")
    refused(unknown, 4, "no column 'zip'")


def test_a_kept_value_of_one_row_is_warned_of(place: Path) -> None:
    line = ["ward.csv", *PROMISE, "--qi", "sex", "--set", "codes", "--keep-columns", "patient", *QUICK]
    result, done = together([["anonymize", *line, *more, "--out", "kept"] for more in ([], NOT_IDS)], place)
    refused(result, 4, "column 'patient' looks like person IDs", "--out kept --not-ids patient")
    assert done.code == 0, done
    assert "Warning: Column 'patient' is published as it is, and 8 rows have a value there" in done.err


def test_items_in_a_second_file(place: Path, runs: dict[str, Done]) -> None:
    rows = [line.split(",") for line in WARD.splitlines()]
    write(place / "persons.csv", "\n".join(",".join(row[:4]) for row in rows))
    pairs = [f"{row[0]},{code}" for row in rows[1:] for code in row[4].split(";")]
    write(place / "pairs.csv", "\n".join(["patient,code", *pairs]))
    more = ["--items-file", "pairs.csv", "--id-column", "patient", "--out", "joined"]
    line = ["anonymize", "persons.csv", *PROMISE, *SAID, *QUICK, *more]
    (done,) = together([line], place)
    assert done.code == 0, done
    assert published(place / "joined")["data.csv"] == published(place / "said")["data.csv"]
    assert "no role" not in done.err


def test_the_command_that_is_shown_publishes_no_ids(place: Path) -> None:
    lines = [line.split(",") for line in WARD.splitlines()[1:]]
    long = [[f"70{line[0]}", *line[1:3], code] for line in lines for code in line[4].split(";")]
    write(place / "long.csv", "\n".join(map(",".join, [["patient_id", "age", "sex", "icd10"], *long])) + "\n")
    usual = ["anonymize", "long.csv", *PROMISE, *QUICK]
    result, lines_of = together(
        [[*usual, "--out", "pasted"], [*usual, "--out", "also", "--qi", "age,sex", "--set", "icd10"]], place
    )
    refused(result, 4, "--qi age,sex --set icd10 --id-column patient_id")
    refused(lines_of, 4, "'patient_id' is named like person IDs", "--not-ids patient_id")
    commands = [
        shlex.split(next(line for line in done.err.splitlines() if line.startswith("    setveil")))[1:]
        for done in (result, lines_of)
    ]
    for done, out in zip(together(commands, place), ("pasted", "also"), strict=True):
        assert done.code == 0, done
        assert "one row per value of patient_id" in done.err
        data = (place / out / "published" / "data.csv").read_text(encoding="utf-8")
        assert len(data.splitlines()) == 9
        assert not any(line[0] in data for line in long)
