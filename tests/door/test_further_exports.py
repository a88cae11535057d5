"""Files as programs export them: the first command that is printed reads them as rows of people."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

import pytest

from cli_helpers import setveil
from printed_commands import printed
from strategies import seeded

CODES = ["E11.9", "I10", "J45.0", "K21.9", "M54.5", "N18.3", "F32.1", "E78.5"]
NUMBERS = ["4019", "4280", "42731", "41401", "5849", "25000", "51881", "5990"]
GOODS = ["milk", "bread", "butter", "cheese", "apples", "coffee"]
CONCEPTS = ["201826", "320128", "317009", "4193704", "0"]
Line = Sequence[str]
People = dict[str, list[str]]  # the items of each person, which come again
Made = tuple[str, bytes, str, People]  # file, content, end of the first command, people


def people(rng: Random, goods: Sequence[str], ids: str = "P{}", n: int = 60) -> People:
    return {ids.format(20_311 + 37 * at): rng.sample(goods, rng.randint(1, 3)) for at in range(n)}


def table(lines: Iterable[Line], separator: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(lines)
    return out.getvalue().encode(encoding)


def in_events(found: People, rng: Random) -> list[tuple[str, int, str]]:
    """Spread the items of people over two events each: a person, an event, an item."""
    numbers = iter(range(700_000, 800_000, 7))
    lines = []
    for who, items in found.items():
        events = next(numbers), next(numbers)
        lines += [(who, event, item) for event in events for item in items if rng.random() < 0.6]
        lines += [(who, events[0], item) for item in items]
    return lines


def pivot(rng: Random) -> Made:
    """A pivot table writes a customer once, and a grand total; blank values are words."""
    found = people(rng, GOODS)
    lines = [["Customer ID", "Product", "Sum of Qty"]]
    lines += [
        [who if not at else "", item, str(rng.randint(1, 5))]
        for who, items in found.items()
        for at, item in enumerate(items)
    ]
    lines += [["(blank)", "(blank)", ""], ["Grand Total", "", "412"]]
    end = "--id-column 'Customer ID' --item-column Product --fill-id --skip-last 1"
    return "a.csv", table(lines), end, found


def subtotals(rng: Random) -> Made:
    """A pivot table in German, with a total below each customer, and a line above the header."""
    found = people(rng, GOODS)
    lines = [["Summe von Menge", "", ""], ["Kunde", "Artikel", "Ergebnis"]]
    for who, items in found.items():
        lines += [[who if not at else "", item, "2"] for at, item in enumerate(items)]
        lines.append([f"{who} Ergebnis", "", str(2 * len(items))])
    lines += [["(Leer)", "(Leer)", ""], ["Gesamtergebnis", "", "412"]]
    end = "--skip-lines 1 --id-column Kunde --item-column Artikel --fill-id"
    end += " --missing 'Kunde=* Ergebnis,Gesamtergebnis' --missing-id skip"
    return "a.csv", table(lines, ";"), end, found


def stays(rng: Random) -> Made:
    """Diagnoses of cases, next to columns that are the same in all lines, or differ within a case."""
    found = people(rng, CODES, "F{:08}")
    lines = [
        ["IK", "Standort", "KH-internes-Kennzeichen", "Diagnoseart", "ICD-Kode", "Lokalisation", "Sekundär"]
    ]
    lines += [
        ["260123456", "77", who, "ND" if at else "HD", code, rng.choice(["", "R", "L", "B"]), ""]
        for who, codes in found.items()
        for at, code in enumerate(codes)
    ]
    end = "--encoding cp1252 --id-column KH-internes-Kennzeichen --item-column ICD-Kode"
    return "a.csv", table(lines, ";", "cp1252"), end, found


def clicks(rng: Random) -> Made:
    """Sessions of addresses: these say whose they are, and the programs that read pages are no items."""
    found = {f"10.{at}.7.{rng.randint(1, 254)}": rng.sample(GOODS, 3) for at in range(60)}
    agents = ["Mozilla/5.0 (Windows NT 10.0)", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0)", "curl/8.0"]
    lines = [["timestamp", "ip", "user_agent", "session_id", "page"]]
    lines += [
        [f"2024-03-{rng.randint(1, 28):02}T10:00:00Z", who, rng.choice(agents), f"{event:032x}", item]
        for who, event, item in in_events(found, rng)
    ]
    return "a.csv", table(lines), "--id-column ip --item-column page", found


def claims(rng: Random) -> Made:
    """All lines end in a separator, the header too."""
    found = people(rng, CODES, "M{}")
    lines = [["member_id", "claim_id", "dx", ""]]
    lines += [[who, f"C{event}", code, ""] for who, event, code in in_events(found, rng)]
    return "a.csv", table(lines), "--id-column member_id --item-column dx", found


def row_names(rng: Random) -> Made:
    """R writes row names, which the header lacks, and blanks between fields."""
    found = people(rng, GOODS)
    pairs = [(who, item) for who, items in found.items() for item in items]
    lines = [f'"{at}" "{who}" "{item}" {rng.choice([5, 10])}' for at, (who, item) in enumerate(pairs, 1)]
    content = "\n".join(['"patient" "drug" "dose"', *lines]) + "\n"
    return "a.txt", content.encode(), "--separator ' ' --id-column patient --item-column drug", found


def markdown(rng: Random) -> Made:
    """Make a table with a ruled line below the header."""
    found = people(rng, CODES)
    lines = ["| patient | diagnoses |", "|---------|:---------:|"]
    lines += [f"| {who} | {', '.join(codes)} |" for who, codes in found.items()]
    end = "--skip-lines 2-2 --id-column patient --item-column diagnoses --delimiter ,"
    return "a.md", ("\n".join(lines) + "\n").encode(), end, found


def numeric_codes(rng: Random) -> Made:
    """Make few codes in numbered columns, with the first one repeated: they are no answers."""
    found = people(rng, NUMBERS, "{:016X}")
    lines = [["DESYNPUF_ID", "CLM_ID", "AMT", "ADMTNG_DGNS_CD", "DGNS_CD_1", "DGNS_CD_2", "DGNS_CD_3"]]
    lines += [
        [who, str(196_661_177 + event), "500.00", codes[0], *codes, *[""] * (3 - len(codes))]
        for at, (who, codes) in enumerate(found.items())
        for event in (9 * at, 9 * at + 5)
    ]
    return "a.csv", table(lines), "--item-columns DGNS_CD_1-DGNS_CD_3 --id-column DESYNPUF_ID", found


def two_headers(rng: Random) -> Made:
    """Make a question above its answers, each with a column that contains its words."""
    options = ["Car", "Bicycle", "Boat", "Train"]
    found = people(rng, options, "{}")
    lines = [["Respondent ID", "Start Date", "Email", "What do you use?", "", "", ""], ["", "", "", *options]]
    lines += [
        [who, f"05/{rng.randint(1, 28):02}/2024", f"x{who}@home.example",
         *(one if one in items else "" for one in options)]
        for who, items in found.items()
    ]  # fmt: skip
    return "a.csv", table(lines), "--header-lines 2 --item-columns 'What do you use?-Train'", found


def concepts(rng: Random) -> Made:
    """The concept 0 of OMOP is none."""
    found = people(rng, CONCEPTS, "{}")
    lines = [["condition_occurrence_id", "person_id", "condition_concept_id", "condition_start_date"]]
    for who, items in found.items():
        lines += [[str(len(lines)), who, item, f"2020-03-{rng.randint(1, 28):02}"] for item in items]
    kept = {who: [item for item in items if item != "0"] for who, items in found.items()}
    return "a.csv", table(lines, "\t"), "--id-column person_id --item-column condition_concept_id", kept


def checkboxes(rng: Random) -> Made:
    """Columns that are empty, or the same in all lines, are not what someone may know."""
    names = [f"dx___{n}" for n in range(1, 6)]
    found = people(rng, names, "{}")
    lines = [["record_id", "event", "survey_identifier", "age", "sex", *names, "complete"]]
    lines += [
        [
            who,
            "baseline",
            "",
            str(rng.randint(20, 80)),
            rng.choice("12"),
            *(str(int(n in items)) for n in names),
            "2",
        ]
        for who, items in found.items()
    ]  # fmt: skip
    end = "--model kkm --qi age,sex --item-columns dx___1-dx___5 --yes 1"
    return "a.csv", table(lines), end, found


SHAPES: dict[str, Callable[[Random], Made]] = {
    one.__name__: one
    for one in (
        pivot, subtotals, stays, clicks, claims, row_names, markdown, numeric_codes, two_headers, concepts,
        checkboxes,
    )
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_command_reads_rows_of_people(shape: str, tmp_path: Path) -> None:
    name, content, end, found = SHAPES[shape](seeded(71))
    (tmp_path / name).write_bytes(content)
    promise = ("--k", "5", "--m", "2", "--out", "out")
    result = setveil("anonymize", name, *promise, cwd=tmp_path)
    assert result.code == 4
    command = printed(result.err)[0]
    assert command.endswith(end)
    setveil(*shlex.split(command)[1:], cwd=tmp_path).ok()
    read = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))["input"]
    items = {item for some in found.values() for item in some}
    if shape != "checkboxes":  # whose rows are those of a table
        lines = (tmp_path / "out/internal/recoding.csv").read_text("utf-8").splitlines()[1:]
        assert {next(csv.reader([line]))[0] for line in lines} == items
    expected = len(found), sum(map(len, found.values())), len(items)
    assert (read["rows"], read["occurrences"], read["items"]) == expected
    published = "\n".join(path.read_text("utf-8") for path in (tmp_path / "out/published").iterdir())
    if len(next(iter(found))) > 5:
        assert not any(re.search(rf"\b{re.escape(who)}\b", published) for who in found)


def test_a_line_of_a_case_is_no_person(tmp_path: Path) -> None:
    _, content, _, found = stays(seeded(72))
    (tmp_path / "a.csv").write_bytes(content)
    roles = ("--encoding", "cp1252", "--model", "kkm", "--qi", "Lokalisation", "--set", "ICD-Kode")
    result = setveil("anonymize", "a.csv", "--k", "5", "--m", "2", "--out", "out", *roles, cwd=tmp_path)
    assert result.code == 4
    assert "no value of it has one item twice" in result.err
    setveil(*shlex.split(printed(result.err)[0])[1:], cwd=tmp_path).ok()
    read = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))["input"]
    assert read["rows"] == len(found)


def test_a_customer_who_is_written_once_has_all_lines_below(tmp_path: Path) -> None:
    _, content, _, found = pivot(seeded(73))
    (tmp_path / "a.csv").write_bytes(b"\n".join(content.splitlines()[:-2]) + b"\n")
    roles = ("--model", "kkm", "--qi", "Sum of Qty", "--set", "Product")
    result = setveil("anonymize", "a.csv", "--k", "5", "--m", "2", "--out", "out", *roles, cwd=tmp_path)
    assert result.code == 4
    assert "as if a value stood once for a group of lines" in result.err
    command = printed(result.err)[0]
    assert command.endswith("--id-column 'Customer ID' --fill-id")
    again = setveil(*shlex.split(command)[1:], cwd=tmp_path)
    setveil(*shlex.split(printed(again.err)[0])[1:], cwd=tmp_path).ok()
    read = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))["input"]
    assert read["rows"] == len(found)


def test_dates_that_all_lines_have_are_proposed(tmp_path: Path) -> None:
    """Shops write when an order was paid on its first line only."""
    rng = seeded(74)
    found = people(rng, GOODS, "u{}@shop.example")
    lines = [["Name", "Email", "Paid at", "Created at", "Lineitem name"]]
    for at, (who, items) in enumerate(found.items()):
        day = f"2025-10-{rng.randint(1, 28):02} 09:50:26 +0200"
        lines += [[f"#{at}", who, "" if number else day, day, item] for number, item in enumerate(items)]
    (tmp_path / "a.csv").write_bytes(table(lines))
    result = setveil("anonymize", "a.csv", "--k", "5", "--m", "2", "--out", "out", cwd=tmp_path)
    rows, dated = printed(result.err)
    assert rows.endswith("--id-column Email --item-column 'Lineitem name'")
    assert dated.endswith("--id-column Email --set 'Lineitem name' --when 'Created at:month'")
