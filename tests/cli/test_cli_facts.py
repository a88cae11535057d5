"""Facts on the command line: from the raw file to a verified folder, and errors."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil, together
from naive import facts as naive
from naive.km import supports

CODES = ("I50.1", "I50.9", "I21.0", "J18.0", "J18.9", "J44")
TREE = "I50.1;I50;I;*\nI50.9;I50;I;*\nI21.0;I;*\nJ18.0;J18;J;*\nJ18.9;J18;J;*\nJ44;J;*\n"
OPTIONS = (
    "--id-column",
    "patient",
    "--set",
    "code:m=2",
    "--when",
    "date:quarter",
    "--k",
    "5",
    "-H",
    "code=icd.csv",
)


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    random = Random(3)
    lines = ["patient,date,code,price,ward"]
    for patient in range(150):
        for _ in range(random.randint(1, 4)):
            day = f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
            lines.append(f"{patient},{day},{random.choice(CODES)},{random.choice(('', '4', '30'))},A")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "icd.csv").write_text(TREE)
    return tmp_path


def test_from_the_raw_file_to_a_release_that_is_checked(ward: Path) -> None:
    done = setveil(
        "anonymize",
        "log.csv",
        *OPTIONS,
        "--amount",
        "price:0,5,20",
        "--external",
        "-o",
        "out",
        "-v",
        cwd=ward,
    ).ok()
    assert "facts, one row per value of patient; codes: code; date: dates as quarters, 4 values" in done.err
    assert "price: amounts, added over lines, in bands at 0,5,20" in done.err
    assert "ignored: ward" in done.err
    assert "\nFacts " in done.out
    assert "\nOrders " in done.out

    # The guarantee, counted from the published file alone.
    lines = (ward / "out/published/data.csv").read_text().splitlines()
    assert lines[0] == "row,code,date,price"
    rows: dict[str, set[str]] = {}
    for line in lines[1:]:
        row, box = line.split(",", 1)
        rows.setdefault(row, set()).add(box)
    assert min(supports([frozenset(row) for row in rows.values()], 2).values()) >= 5

    about: dict[str, Any] = json.loads((ward / "out/published/about.json").read_text())
    part = about["facts"]["sets"]["code"]
    assert part["m"] == 2
    assert set(part["labels"]) == {"code", "date", "price"}
    counts = (ward / "out/published/counts.csv").read_text().splitlines()
    assert counts[0] == "fact,box,rows"
    assert min(int(line.rpartition(",")[2]) for line in counts[1:]) >= 5
    meaning = [part["labels"][name] for name in ("code", "date", "price")]
    boxes = sorted({tuple(box.replace('"', "").split(",", 2)) for row in rows.values() for box in row})
    assert not naive.overlapping(boxes, meaning)

    report: dict[str, Any] = json.loads((ward / "out/internal/report.json").read_text())
    facts = report["facts"]
    assert [one["name"] for one in facts["parts"]] == ["code", "date", "price"]
    assert min(one["loss"] for one in facts["orders"]) == pytest.approx(report["utility"]["lm"])
    assert {one["order"] for one in facts["orders"]} == {"last", "1", "2", "first"}

    page = (ward / "out/published/report.html").read_text()
    assert "log.csv" not in page
    before = (report["input"]["occurrences"], report["utility"]["suppressed_occurrences"])
    shown = {report["published"]["occurrences"], report["published"]["rows"], report["published"]["items"]}
    for number in {*before} - shown - set(range(100)):
        assert not re.search(rf"(?<![\d.,]){number:,}(?![\d.,])", page), number

    checked = setveil("verify", "out", "--k", "5", "--m", "2", "--json", cwd=ward).ok().json()
    assert checked["holds"]
    again = setveil("anonymize", "--config", "out/internal/report.json", "-o", "again", cwd=ward).ok()
    assert "of facts are unchanged" in again.out
    assert (ward / "again/published/data.csv").read_bytes() == (ward / "out/published/data.csv").read_bytes()
    python = sv.anonymize(
        sv.read_facts(
            ward / "log.csv", id="patient", sets="code", when={"date": "quarter"},
            amount={"price": [0, 5, 20]},
        ),
        k=5, m=2, hierarchy=ward / "icd.csv",
    )  # fmt: skip
    assert python.utility["lm"] == report["utility"]["lm"]
    assert [f"{number},{row}" for number, row in _published(python)] == lines[1:]


def _published(release: sv.VerifiedRelease) -> list[tuple[int, str]]:
    rows = release.release.arranged(release.release.layout(release.layout, None)).published
    shown = [[label.split("@") for label in row] for row in rows]
    quoted = [[[f'"{part}"' if "," in part else part for part in box] for box in row] for row in shown]
    return [(number, ",".join(box)) for number, row in enumerate(quoted) for box in row]


def test_what_is_refused_leaves_nothing_behind(ward: Path) -> None:
    (ward / "odd.csv").write_text("patient,date,code\n1,03/04/2024,a\n2,05/06/2024,b\n")
    base = ["anonymize", "log.csv", *OPTIONS, "-o", "out"]

    def without(*words: str) -> list[str]:
        at = base.index(words[0])
        return base[:at] + base[at + 2 :]

    cases: list[tuple[list[str], int, str]] = [
        ([*without("--id-column")], 2, "Nothing says whose facts these are"),
        ([*without("--when"), "--when", "date:fortnight"], 2, "no period 'fortnight'"),
        ([*base, "--amount", "price:5,0"], 2, "bounds of bands fall"),
        ([*base, "--amount", "ward:0,5"], 4, "line 2, column 'ward': found 'A', expected a number"),
        ([*base, "--set", "ward"], 2, "m is said of 'code', but not of 'ward'"),
        ([*base, "--set", "ward:m=1", "--m", "code=2"], 2, "m is given twice: --m code=2 and --set code:m=2"),
        ([*base, "--set", "ward:m=1", "-H", "icd.csv"], 2, "nothing says of which column of codes"),
        ([*base, "--most-facts", "0"], 2, "--most-facts must be an integer of at least 1, got 0"),
        ([*base, "--set", "code:m=1"], 2, "column 'code' is given twice"),
        ([*base, "--m", "3"], 2, "m is given twice: --m 3 and --set code:m=2"),
        ([*without("--set"), "--set", "code:m=0"], 2, "m must be an integer of at least 1, got 0"),
        ([*base, "--qi", "ward"], 2, "--qi: only tables have such columns"),
        ([*base, "--model", "kkm"], 2, "kkm is about tables"),
        ([*base, "--fact-order", "9"], 2, "from 0 to 3"),
        ([*base, "--fact-loss", "parts", "--weight", "day=2"], 2, "no part of this name"),
        ([*base, "--weight", "date=2"], 2, "Add --fact-loss parts"),
        ([*base, "--output-format", "basket"], 2, "facts are written as csv"),
        ([*base, "--counts-min", "4"], 2, "Counts below k = 5"),
        ([*base, "--engine", "parts"], 2, "Facts are read in memory"),
        ([*base, "-H", "date=icd.csv"], 2, "there are hierarchies of codes only"),
        (["anonymize", "odd.csv", *OPTIONS, "-o", "out"], 4, "line 2, column 'date': found '03/04/2024'"),
        (["anonymize", "log.csv", "-k5", "-m2", "--fact-sign", "|", "-o", "out"], 2, "nothing says that"),
    ]  # fmt: skip
    for (words, code, said), done in zip(
        cases, together([words for words, _, _ in cases], ward), strict=True
    ):
        assert (done.code, said in done.err) == (code, True), (words, done)
    assert not (ward / "out").exists()
    assert {path.name for path in ward.iterdir()} == {"log.csv", "icd.csv", "odd.csv"}


def test_other_commands_say_what_they_lack(ward: Path) -> None:
    setveil("anonymize", "log.csv", *OPTIONS, "--no-details", "-o", "out", cwd=ward).ok()
    cases = [["measure", "log.csv", "out/published"], ["why", "out", "J99"], ["checker", "out"]]
    for words, done in zip(cases, together(cases, ward), strict=True):
        assert done.code in (2, 4), (words, done)
        assert "Traceback" not in done.err
        assert done.err.startswith("Error: "), (words, done)


def test_what_is_not_for_facts_says_why(ward: Path) -> None:
    setveil("anonymize", "log.csv", *OPTIONS, "--no-details", "-o", "out", cwd=ward).ok()
    cases = [
        (["apply", "out", "log.csv", "-o", "new"], "out published facts, which are applied to no other rows"),
        (["certify", "out"], "not of facts"),
    ]
    for (_, said), done in zip(cases, together([words for words, _ in cases], ward), strict=True):
        assert (done.code, said in done.err) == (2, True), done


@pytest.fixture
def persons(ward: Path) -> Path:
    random = Random(8)
    known = {patient: (random.choice((30, 40, 50)), random.choice("FM")) for patient in range(152)}
    lines = [f"{patient},{age},{sex}" for patient, (age, sex) in known.items()]
    (ward / "persons.csv").write_text("\n".join(["patient,age,sex", *lines]) + "\n")
    header, *events = (ward / "log.csv").read_text().splitlines()
    long = [f"{line},{','.join(map(str, known[int(line.split(',')[0])]))}" for line in events]
    (ward / "long.csv").write_text("\n".join([f"{header},age,sex", *long]) + "\n")
    return ward


KNOWN = ("--qi", "age,sex", "--model", "kkm", "--no-details")


def test_persons_and_events_become_a_table_that_is_checked(persons: Path) -> None:
    two = ("persons.csv", "--items-file", "log.csv")
    runs = [
        ["anonymize", *two, *OPTIONS, *KNOWN, "--global", "--fact-order", "last", "-o", "two", "-v"],
        ["anonymize", "long.csv", *OPTIONS, *KNOWN, "--global", "--fact-order", "last", "-o", "one"],
        ["anonymize", *two, *OPTIONS, "--qi", "age,sex", "--model", "mixed-km", "--m", "1", "--fact-order",
         "last", "--no-details", "--output-format", "long", "-o", "mixed"],
    ]  # fmt: skip
    done = [one.ok() for one in together(runs, persons)]
    assert "table of facts, one row per line; quasi-identifiers: age (numbers), sex" in done[0].err
    assert "2 persons without facts" in done[0].err
    assert "one row per value of patient" in done[1].err
    assert "\nFacts " in done[0].out
    assert "up to 1 quasi-identifier and 2 facts of code" in done[2].out
    about = json.loads((persons / "two/published/about.json").read_text())
    assert about["roles"] == {"qi": ["age", "sex"], "set": "code", "keep": []}
    assert about["rows"] == 152
    checks = [
        ["verify", "two", "--model", "kkm", "-k5", "-m2"],
        ["verify", "one", "--model", "kkm", "-k5", "-m2"],
        ["verify", "mixed", "--model", "mixed-km", "-k5", "-m", "qi=1,code=2"],
    ]
    assert all("Yes: " in one.ok().out for one in together(checks, persons))


def test_what_is_refused_of_tables(persons: Path) -> None:
    (persons / "few.csv").write_text("patient,age,sex\n0,30,F\n")
    lines = (persons / "long.csv").read_text().splitlines()
    lines.append(f"0,2024-01-01,J44,4,A,99,{lines[1].rsplit(',', 1)[1]}")
    (persons / "differ.csv").write_text("\n".join(lines) + "\n")
    base = ["anonymize", "persons.csv", "--items-file", "log.csv", *OPTIONS, "-o", "out"]
    kkm = [*base, *KNOWN]
    cases: list[tuple[list[str], int, str]] = [
        ([*base, "--qi", "age"], 2, "--qi: only tables have such columns"),
        ([*base, "--model", "kkm"], 2, "no columns are named that someone may know"),
        ([*base, "--qi", "age", "--model", "mixed-km"], 2, "--m must say how many quasi-identifiers"),
        ([*kkm, "--keep-columns", "code"], 2, "'code' has two roles, set and keep"),
        ([*kkm, "--keep-columns", "date"], 2, "'date' has two roles, keep and part of a fact"),
        ([*kkm, "--algorithm", "bounding"], 2, "bounding"),
        ([*kkm, "--per-person", "age"], 2, "--per-person must be COLUMN=WAY"),
        ([*kkm, "--per-person", "age=middle"], 2, "there is no 'middle'"),
        ([*kkm, "--counts-min", "6"], 2, "facts in tables are not counted"),
        (["anonymize", "few.csv", *kkm[2:]], 4, "149 ids of column 'patient' are not in"),
        (["anonymize", "differ.csv", *OPTIONS, *KNOWN, "-o", "out"], 4, "age '99'"),
        (["risk", "long.csv", *OPTIONS[:6], "--qi", "age"], 2, "not rows of facts"),
    ]  # fmt: skip
    for (words, code, said), done in zip(
        cases, together([words for words, _, _ in cases], persons), strict=True
    ):
        assert (done.code, said in done.err) == (code, True), (words, done)
    assert not (persons / "out").exists()


def test_other_commands_say_that_they_take_no_tables_of_facts(persons: Path) -> None:
    two = ("persons.csv", "--items-file", "log.csv")
    setveil(
        "anonymize", *two, *OPTIONS, *KNOWN, "--global", "--fact-order", "first", "-o", "out", cwd=persons
    ).ok()
    cases = [["query", "out", "J44@2024-Q1"], ["reconstruct", "out", "-o", "drawn"], ["why", "out", "J44"]]
    for words, done in zip(cases, together(cases, persons), strict=True):
        assert (done.code, "Facts of tables are" in done.err) == (2, True), (words, done)
    done = setveil("checker", "out", cwd=persons)
    assert (done.code, "of facts" in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("first", "second", "third", "ways"),
    [
        ("03/04/2024", "05/06/2024", "01/02/2024", ["--date-format %d/%m/%Y", "--date-format %m/%d/%Y"]),
        ("19.03.2024", "05.06.2024", "01.02.2024", ["--date-format %d.%m.%Y"]),
        ("2024-03-19", "2024-03-20", "unclear", ["--missing date=unclear"]),
        ("19.03.2024", "05.06.2024", "?", ["--date-format %d.%m.%Y --missing 'date=?'"]),
    ],
)
def test_dates_that_are_not_read_print_a_command_for_each_reading(
    first: str, second: str, third: str, ways: list[str], tmp_path: Path
) -> None:
    days = (first, second, third)
    lines = [f"{who},{day},{code}" for who in range(8) for day in days for code in "ab"]
    (tmp_path / "log.csv").write_text("\n".join(["patient,date,code", *lines]) + "\n")
    command_line = ["anonymize", "log.csv", "--id-column", "patient", "--set", "code", "--when", "date:month"]
    command_line += ["--k", "2", "--m", "1", "--out"]
    done = setveil(*command_line, "out", cwd=tmp_path)
    assert done.code == 4
    printed = [line.strip() for line in done.err.splitlines() if line.startswith("    setveil ")]
    assert printed == [f"setveil {' '.join(command_line)} out {way}" for way in ways], done.err
    for at, command in enumerate(printed):
        words = shlex.split(command.replace(" out ", f" out{at} "))[1:]
        setveil(*words, cwd=tmp_path).ok()
