"""A table of people is proposed with roles, and a log with dates, next to the readings as rows of items."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from random import Random

import pytest

from cli_helpers import setveil
from printed_commands import PROMISE, printed
from strategies import seeded

CODES = ("E11", "I10", "J45", "K21")


def of_people(rng: Random, heads: list[str], separator: str, *, n: int = 40, same_name: bool = False) -> str:
    """Write a line for each code of each person, whose sex and age are the same on all of them."""
    lines = [heads]
    for at in range(n):
        who, sex, age = f"P{rng.randint(10**6, 10**7)}", rng.choice("mf"), str(rng.randint(20, 24))
        if same_name:  # two people have one name
            who = (
                f"Anna Adler-{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[at // 26]}{'abcdefghijklmnopqrstuvwxyz'[at % 26]}"
            )
            who = "Anna Adler-Aa" if at == n - 1 else who
            sex = "x" if at == n - 1 else sex
        for code in rng.sample(CODES, rng.randint(1, 3)):
            day = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            lines.append([who, day, sex, age, code])
    return "".join(separator.join(line) + "\n" for line in lines)


def one_hot(rng: Random, separator: str, signs: tuple[str, str], heads: list[str]) -> str:
    """Write a line for each person, with a column for each code."""
    lines = [[*heads, *CODES]]
    for _ in range(40):
        cells = [f"P{rng.randint(10**6, 10**7)}", rng.choice("mf"), str(rng.randint(20, 24))]
        lines.append([*cells, *(signs[rng.random() < 0.4] for _ in CODES)])
    return "".join(separator.join(line) + "\n" for line in lines)


def commands_of(path: Path, text: str, *words: str) -> list[str]:
    """Write a file, and return what is printed about it; all of it works."""
    path.write_text(text)
    done = setveil("anonymize", path.name, *words, *PROMISE, cwd=path.parent)
    assert done.code == 4, done
    found = printed(done.err)
    for at, command in enumerate(found):
        again = shlex.split(command)[1:]
        again[again.index("out")] = f"out{at}{len(words)}"
        setveil(*again, cwd=path.parent).ok()
    return found


HEADS = ["patient_id", "date", "sex", "age", "icd10"]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.txt", ";"), ("a.csv", " ")])
def test_a_table_and_dates_are_proposed_together(name: str, separator: str, tmp_path: Path) -> None:
    found = commands_of(tmp_path / name, of_people(seeded(1), HEADS, separator))
    assert len(found) == 3, found
    assert "--qi sex,age --set icd10 --id-column patient_id" in found[0]
    assert "--id-column patient_id --item-column icd10" in found[1]
    assert "--id-column patient_id --set icd10 --when date:month" in found[2]


@pytest.mark.parametrize("signs", [("0", "1"), ("no", "yes"), ("False", "True")])
@pytest.mark.parametrize("separator", [",", " "])
def test_columns_of_marks_are_items_next_to_what_is_known(
    separator: str, signs: tuple[str, str], tmp_path: Path
) -> None:
    heads = ["patient_id", "sex", "age"]
    found = commands_of(tmp_path / "a.csv", one_hot(seeded(2), separator, signs, heads))
    assert "--qi sex,age --item-columns E11-K21 --id-column patient_id" in found[0], found
    again = commands_of(
        tmp_path / "a.csv", one_hot(seeded(2), ",", signs, heads), "--qi", "sex", "--model", "kkm"
    )
    assert "--item-columns E11-K21" in again[0], again


def test_people_of_one_name_are_proposed_with_their_most_frequent_values(tmp_path: Path) -> None:
    heads = ["patient", *HEADS[1:]]
    found = commands_of(tmp_path / "a.csv", of_people(seeded(3), heads, ",", same_name=True))
    assert "--id-column patient --per-person sex=most-frequent" in found[0], found


def test_days_or_months_first_are_both_proposed(tmp_path: Path) -> None:
    text = of_people(seeded(4), HEADS, ",").replace("2024-", "")
    lines = [line.split(",") for line in text.splitlines()]
    days = [f"{(int(one[1][:2]) * 7) % 12 + 1:02}/{int(one[1][3:5]) % 12 + 1:02}/2024" for one in lines[1:]]
    lines[1:] = [[one[0], day, *one[2:]] for one, day in zip(lines[1:], days, strict=True)]
    found = commands_of(tmp_path / "a.csv", "".join(",".join(line) + "\n" for line in lines))
    written = [shlex.split(command)[-1] for command in found if "--when date:month" in command]
    assert written == ["%d/%m/%Y", "%m/%d/%Y"], found


def test_a_date_of_each_event_comes_before_the_date_of_birth(tmp_path: Path) -> None:
    text = of_people(seeded(5), ["patient_id", "date", "birthdate", "sex", "icd10"], ",")
    lines = [line.split(",") for line in text.splitlines()]
    born = {line[0]: f"19{40 + at % 50}-03-04" for at, line in enumerate(lines)}
    lines[1:] = [[one[0], one[1], born[one[0]], one[2], one[4]] for one in lines[1:]]
    turned = [[one[2], one[0], one[1], *one[3:]] for one in lines]
    found = commands_of(tmp_path / "a.csv", "".join(",".join(line) + "\n" for line in turned))
    assert "--when date:month" in found[-1], found


def test_a_table_is_proposed_where_rows_would_be_events(tmp_path: Path) -> None:
    rng = seeded(6)
    lines = []
    for at in range(40):
        who = {"patient_id": f"P{rng.randint(10**6, 10**7)}", "sex": rng.choice("mf"), "age": 20 + at % 5}
        for _ in range(1 + at % 2):
            visit, codes = f"V{rng.randint(10**6, 10**7)}", rng.sample(CODES, rng.randint(1, 3))
            lines.append(json.dumps({**who, "visit": visit, "icd10": codes}) + "\n")
    found = commands_of(tmp_path / "a.jsonl", "".join(lines))
    assert "--qi sex,age --set icd10 --id-column patient_id" in found[0], found


def test_addresses_are_no_items(tmp_path: Path) -> None:
    """Check a log in which two people share an address, and two a name."""
    rng = seeded(8)
    streets = ["Mill Lane", "Am Markt", "Rue Hugo", "Lindenweg", "Hauptstr.", "Calle Mayor"]
    firsts, lasts = (
        ["Doris", "Anna", "Karl", "Bert", "Lena", "Emil", "Ines"],
        ["Ernst", "Iser", "Beck", "Huber"],
    )
    ends = ["Voss", "Ott", "Hahn", "Reh", "Kurz"]
    names = [f"{rng.choice(firsts)} {rng.choice(lasts)}-{rng.choice(ends)}" for _ in range(55)]
    lines = []
    homes = [f"{rng.choice(streets)} {at}" for at in rng.sample(range(100, 1100), 55)]
    homes[30] = homes[2]
    for who, where in zip(names, homes, strict=True):
        code = rng.randint(10100, 10140)
        for _ in range(rng.randint(1, 4)):
            visit = f"R{rng.randint(10**7, 10**8)}"
            lines += [
                f"{where},{who},{code},{visit},{rng.randint(1001, 1010)}\n" for _ in range(rng.randint(1, 3))
            ]
    found = commands_of(tmp_path / "a.csv", "Anschrift,Kundennr,PLZ,fallnr,Artikel\n" + "".join(lines))
    assert not any("Anschrift" in command for command in found), found
