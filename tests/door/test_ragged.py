"""Lines without a header, and JSON arrays, are read by the places of their fields, if these show items."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from cli_helpers import setveil
from strategies import seeded

GOODS = ("milk", "bread", "beer", "jam", "rice", "tea")
CODES = ("1001", "1002", "1003", "1004", "1005")
Line = list[str]


def lines(rng: Random, goods: tuple[str, ...], n: int = 60, each: int = 1) -> list[Line]:
    """Draw lines of an age, an ID and one to three items; `each` lines for each person."""
    return [
        [str(rng.randint(20, 60)), f"P{1_000_003 + 17 * (at // each)}", *rng.sample(goods, 1 + at % 3)]
        for at in range(n)
    ]


def as_text(separator: str) -> Callable[[list[Line]], str]:
    return lambda rows: "".join(separator.join(row) + "\n" for row in rows)


def as_arrays(rows: list[Line]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMS: dict[str, tuple[str, Callable[[list[Line]], str]]] = {
    "commas": ("a.csv", as_text(",")),
    "semicolons": ("a.csv", as_text(";")),
    "tabs": ("a.tsv", as_text("\t")),
    "bars": ("a.dat", as_text("|")),
    "arrays": ("a.jsonl", as_arrays),
}


@pytest.mark.parametrize("goods", [GOODS, CODES])
@pytest.mark.parametrize("form", FORMS)
def test_items_are_the_fields_up_to_the_end_of_the_line(
    form: str, goods: tuple[str, ...], tmp_path: Path
) -> None:
    rng = seeded(53)
    name, written = FORMS[form]
    rows = lines(rng, goods)
    (tmp_path / name).write_text(written(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / name)
    (options,) = [dict(options) for options, _ in caught.value.readings]
    assert options == {"item_columns": "3-5"}
    found = sv.read(tmp_path / name, **options)
    assert [frozenset(row) for row in found.rows()] == [frozenset(row[2:]) for row in rows]


@pytest.mark.parametrize("form", FORMS)
def test_lines_of_one_person_are_one_row(form: str, tmp_path: Path) -> None:
    name, written = FORMS[form]
    rows = lines(seeded(54), GOODS, n=90, each=3)
    (tmp_path / name).write_text(written(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / name)
    (options,) = [dict(options) for options, _ in caught.value.readings]
    assert options == {"id_column": "2", "item_columns": "3-5"}
    assert sv.read(tmp_path / name, **options).n_rows == 30


@pytest.mark.parametrize("form", [*FORMS, "blanks"])
@pytest.mark.parametrize("amount", ["12.5", "12,5"])
@pytest.mark.parametrize("first", [True, False])
def test_items_are_the_fields_before_or_after_those_of_people(
    form: str, first: bool, amount: str, tmp_path: Path
) -> None:
    name, written = {**FORMS, "blanks": ("a.csv", as_text(" "))}[form]
    if form == "commas" and "," in amount:
        pytest.skip("an amount would be two fields")
    rows = [[amount, *row] for row in lines(seeded(53), GOODS)]
    placed = [[*row[3:], *row[:3]] if first else row for row in rows]
    (tmp_path / name).write_text(written(placed))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / name)
    (options,) = [dict(options) for options, _ in caught.value.readings]
    assert options["item_columns"] == ("1-3" if first else "4-6")
    found = sv.read(tmp_path / name, **options)
    assert [frozenset(row) for row in found.rows()] == [frozenset(row[3:]) for row in rows]


@pytest.mark.parametrize(("lists", "header"), [(True, True), (True, False), (False, True)])
def test_columns_between_blanks(lists: bool, header: bool, tmp_path: Path) -> None:
    """Other signs are those of decimals and of lists."""
    rng = seeded(57)
    rows = [
        [f"P{1_000_003 + 17 * at}", "20,5", "m", ";".join(rng.sample(CODES, 1 + at % 3 if lists else 1))]
        for at in range(60)
    ]
    text = "patient_id weight sex icd10\n" * header + as_text(" ")(rows)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    options = dict(caught.value.readings[0][0])
    assert options["separator"] == " "
    found = sv.read(tmp_path / "a.csv", **options)
    assert [frozenset(row) for row in found.rows()] == [frozenset(row[3].split(";")) for row in rows]


@pytest.mark.parametrize("named", [True, False])
def test_words_between_blanks_are_items_unless_they_are_names(named: bool, tmp_path: Path) -> None:
    rng = seeded(58)
    firsts, lasts = ("Anna", "Bert", "Clara", "Emil"), ("Abel", "Beck", "Conrad", "Dietz", "Frank", "Graf")
    rows = [[a, f"{b}-{c}"] for a in firsts for b in lasts for c in lasts if b != c][:60]
    rows = rows if named else [rng.sample(GOODS, 1 + at % 3) for at in range(60)]
    (tmp_path / "a.csv").write_text(as_text(" ")(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    ways = [] if named else [{"format": "basket", "separator": " "}]
    assert [dict(options) for options, _ in caught.value.readings] == ways


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_proposed_where_ids_may_be_items(form: str, tmp_path: Path) -> None:
    name, written = FORMS[form]
    rng = seeded(55)
    rows = [row[2:] for row in lines(rng, GOODS)]
    for at, row in enumerate(rows):
        row.insert(rng.randint(0, len(row)), f"P{1_000_003 + 17 * at}")
    (tmp_path / name).write_text(written(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / name)
    assert caught.value.readings == ()


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_texts_in_a_file_for_numbers(separator: str, tmp_path: Path) -> None:
    rng = seeded(56)
    rows = [rng.sample(GOODS, 1 + at % 3) for at in range(60)]
    (tmp_path / "a.dat").write_text(as_text(separator)(rows))
    done = setveil("anonymize", "a.dat", "--k", "2", "--m", "1", "--out", "out", cwd=tmp_path)
    assert done.code == 4
    (command,) = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert setveil(*shlex.split(command)[1:], cwd=tmp_path).code == 0


def test_a_series_without_a_hierarchy_prints_how_to_make_one(tmp_path: Path) -> None:
    rows = [["patient", "item"], *([f"P{at // 2}", GOODS[at % 6]] for at in range(60))]
    (tmp_path / "a.csv").write_text(as_text(",")(rows))
    assert setveil("series", "init", "s", "--k", "2", "--m", "1", cwd=tmp_path).code == 0
    named = ["--id-column", "patient", "--item-column", "item"]
    done = setveil("series", "add", "s", "a.csv", "--name", "q1", "--out", "q1", *named, cwd=tmp_path)
    assert done.code == 2
    commands = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert [setveil(*shlex.split(one)[1:], cwd=tmp_path).code for one in commands] == [0, 0]


def test_a_series_prints_which_columns_may_be_ids(tmp_path: Path) -> None:
    """Mail addresses are those of people; of two papers of each line either may be."""
    rng = seeded(59)
    rows = lines(rng, GOODS)
    papers = [[f"K{20_000_001 + 31 * at}", *row[1:]] for at, row in enumerate(rows)]
    mails = [[f"anna{at}@example.org", *row[1:]] for at, row in enumerate(rows)]
    assert setveil("series", "init", "s", "--k", "2", "--m", "1", cwd=tmp_path).code == 0
    for found, columns in ((papers, ["1", "2"]), (mails, ["1"]), (rows, ["2"])):
        (tmp_path / "a.csv").write_text(as_text(",")(found))
        done = setveil("series", "add", "s", "a.csv", "--name", "q1", "--out", "q1", cwd=tmp_path)
        commands = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
        assert [shlex.split(one)[-4:] for one in commands] == [
            ["--id-column", column, "--item-columns", "3-5"] for column in columns
        ]


def test_a_series_prints_how_rows_without_ids_are_published(tmp_path: Path) -> None:
    rows = [GOODS[at % 3 : at % 3 + 1 + at % 2] for at in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    assert setveil("series", "init", "s", "--k", "2", "--m", "1", cwd=tmp_path).code == 0
    done = setveil("series", "add", "s", "a.csv", "--name", "q1", "--out", "q1", cwd=tmp_path)
    (command,) = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert setveil(*shlex.split(command)[1:], cwd=tmp_path).code == 0


def test_a_series_asks_for_the_people_of_lists(tmp_path: Path) -> None:
    records = [{"Versichertennr": f"P{1000 + at}", "ICD10": [GOODS[at % 6]]} for at in range(60)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    assert setveil("series", "init", "s", "--k", "2", "--m", "1", cwd=tmp_path).code == 0
    done = setveil("series", "add", "s", "a.jsonl", "--name", "q1", "--out", "q1", cwd=tmp_path)
    assert done.code == 4
    assert "--id-column Versichertennr --item-column ICD10" in done.err


def test_no_column_is_proposed_into_which_short_lines_shift_names(tmp_path: Path) -> None:
    """Ten codes in front of names: neither are the names items, nor the codes people."""
    rng = seeded(50)
    firsts, lasts = ("Anna", "Bert", "Clara", "Emil", "Lena"), ("Beck", "Conrad", "Frank", "Huber", "Jung")
    for number in range(5):
        lines = [
            [
                *rng.sample([str(1001 + at) for at in range(10)], rng.randint(1, 3)),
                rng.choice("mf"),
                f"{rng.choice(firsts)} {rng.choice(lasts)}-{rng.choice(lasts)}",
                f"DE-{rng.randint(1_000_000, 9_999_999)}",
            ]
            for _ in range(59)
        ]
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join("\t".join(line) for line in lines) + "\n")
        with pytest.raises(sv.TableError) as caught:
            sv.read(path)
        assert [options["item_columns"] for options, _ in caught.value.readings] == ["1-3"]
        found = sv.read(path, **dict(caught.value.readings[0][0]))
        assert {*found.vocabulary.labels} <= {str(1001 + at) for at in range(10)}


@pytest.mark.parametrize("sex", [False, True])
@pytest.mark.parametrize("make", ["P{:07}", "{:07}", "[{:07}]", "anna{}@example.org"])
def test_a_long_table_without_a_header_in_any_order_is_proposed(make: str, sex: bool, tmp_path: Path) -> None:
    """The lines of an ID are not adjacent; whose they are is seen by how its values are written."""
    rng = seeded(61)
    pairs = [
        (make.format(1_000_003 + 17 * at), item) for at in range(60) for item in rng.sample(GOODS, 1 + at % 3)
    ]
    rng.shuffle(pairs)
    rows = [[who, *(["mf"[len(item) % 2]] if sex else []), item] for who, item in pairs]
    (tmp_path / "a.csv").write_text(as_text(",")(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert [dict(options) for options, _ in caught.value.readings] == [
        {"id_column": "1", "item_column": "3" if sex else "2"}
    ]
    found = sv.read(tmp_path / "a.csv", **dict(caught.value.readings[0][0]))
    assert (found.n_rows, found.n_items, found.n_occurrences) == (60, len(GOODS), len(pairs))


def test_of_two_papers_on_lines_in_any_order_none_is_proposed(tmp_path: Path) -> None:
    """Either may say whose the lines are, so that rows could be visits."""
    rng = seeded(62)
    visits = [(f"{7_000_003 + 17 * (at // 2)}", f"{20_000_001 + 31 * at}") for at in range(60)]
    rows = [[*visit, item] for visit in visits for item in rng.sample(GOODS, 2)]
    rng.shuffle(rows)
    (tmp_path / "a.csv").write_text(as_text(",")(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert all(options["id_column"] == "1" for options, _ in caught.value.readings)


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_quotes_that_are_not_closed_are_signs(separator: str, tmp_path: Path) -> None:
    """A quote that begins a field goes on over other lines, so that these seem to be one."""
    rng = seeded(63)
    goods = ['"big screen', "tea", 'rack 19"', "milk", "oil"]
    rows = [rng.sample(goods, 1 + at % 3) for at in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(map(separator.join, rows)) + "\n")
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert [dict(options) for options, _ in caught.value.readings] == [{"quote": "none"}]
    found = sv.read(tmp_path / "a.csv", quote="none")
    assert [frozenset(row) for row in found.rows()] == [frozenset(row) for row in rows]


def test_lists_of_events_on_standard_input_are_proposed_as_a_table() -> None:
    rng = seeded(64)
    records = [
        {
            "patient": f"P{1_000_003 + 17 * at}",
            "age": str(rng.randint(20, 30)),
            "events": [{"code": code, "date": f"2024-03-{10 + at % 9}"} for code in rng.sample(GOODS, 2)],
        }
        for at in range(60)
    ]
    text = "".join(json.dumps(one) + "\n" for one in records)
    done = setveil("anonymize", "-", "--k", "2", "--m", "1", "--out", "out", stdin=text.encode())
    commands = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert [one.partition("--out out ")[2] for one in commands] == [
        "--model kkm --qi age --id-column patient --set events.code",
        "--id-column patient --item-column events.code",
    ]


def test_amounts_in_quotes_come_after_items_and_ids(tmp_path: Path) -> None:
    """Lines begin with one to three codes, and end alike; a decimal comma is within quotes."""
    rng = seeded(65)
    rows = [
        [
            *rng.sample([str(1001 + i) for i in range(10)], 1 + at % 3),
            f"user{4_960_756 + 37 * at}@example.org",
            str(rng.randint(10100, 10140)),
            f'"{rng.randint(17, 39)},{rng.randint(0, 9)}"',
        ]
        for at in range(51)
    ]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert [dict(options) for options, _ in caught.value.readings] == [{"item_columns": "1-3"}]
    found = sv.read(tmp_path / "a.csv", item_columns="1-3")
    assert [frozenset(row) for row in found.rows()] == [frozenset(row[:-3]) for row in rows]


@pytest.mark.parametrize("longest", [1, 4])
def test_few_of_many_lengths_are_the_longest(longest: int, tmp_path: Path) -> None:
    """Of 24 lines one or four have three items, and half of the lines have two."""
    rng = seeded(66)
    numbers = [3] * longest + [2] * 12 + [1] * (12 - longest)
    rows = [
        [f"{4_606_017 + 37 * at}", str(rng.randint(10100, 10140)), *rng.sample(GOODS, number)]
        for at, number in enumerate(rng.sample(numbers, 24))
    ]
    (tmp_path / "a.csv").write_text(as_text(",")(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert [dict(options) for options, _ in caught.value.readings] == [{"item_columns": "3-5"}]
    assert sv.read(tmp_path / "a.csv", item_columns="3-5").n_occurrences == sum(numbers)


def test_orders_of_people_on_standard_input_are_proposed_as_a_table() -> None:
    """Check a question that is known after the rows were read, when standard input is at its end."""
    rng = seeded(67)
    people = [(f"P{5_471_961 + 37 * at}", str(rng.randint(20, 25)), rng.choice("mf")) for at in range(40)]
    records = [
        {
            "user_id": who,
            "age": age,
            "sex": sex,
            "order_id": f"{22_624_720 + 31 * at}",
            "item": GOODS[at % 3 : 4],
        }
        for at, (who, age, sex) in enumerate(people * 2)
    ]
    text = "".join(json.dumps(one) + "\n" for one in records)
    done = setveil("anonymize", "-", "--k", "2", "--m", "1", "--out", "out", stdin=text.encode())
    assert done.err.startswith("Error: standard input: 40 users have 80")
    commands = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert "--model kkm --qi age,sex --set item --id-column user_id" in commands[0]
    assert "--id-column user_id --item-column item" in commands[1]


@pytest.mark.parametrize("make", ["{:08x}-c212-46f7-8918-2933146d94d8", "{:032x}"])
def test_codes_in_front_of_hashes_are_proposed(make: str, tmp_path: Path) -> None:
    """Both have letters and digits, but what ends each line is written as nothing but IDs are."""
    rng = seeded(68)
    rows = [[*rng.sample(CODES, 1 + at % 3), make.format(rng.getrandbits(31) + 2**31)] for at in range(29)]
    (tmp_path / "a.csv").write_text(as_text("|")(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    assert [dict(options)["item_columns"] for options, _ in caught.value.readings] == ["1-3"]


@pytest.mark.parametrize("n", [14, 19, 60])
@pytest.mark.parametrize("form", FORMS)
def test_few_lines_whose_ids_are_at_their_ends(form: str, n: int, tmp_path: Path) -> None:
    """Check items of numbers in front of an address, a telephone number and an amount."""
    rng = seeded(57)
    name, written = FORMS[form]
    rows = [
        [*rng.sample(CODES, 1 + at % 3), f"user{at * 37 + 4_000}@example.org", f"{rng.uniform(17, 40):.1f}"]
        for at in range(n)
    ]
    (tmp_path / name).write_text(written(rows))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / name)
    (options,) = [dict(options) for options, _ in caught.value.readings]
    found = sv.read(tmp_path / name, **options)
    assert [{*one} for one in found] == [{*row[:-2]} for row in rows]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_blanks_in_telephone_numbers_separate_nothing(separator: str, first: bool, tmp_path: Path) -> None:
    rng = seeded(58)
    rows = [rng.sample(CODES, 1 + at % 3) for at in range(40)]
    persons = [[f"+49 {at + 10} {7_000_003 + 17 * at:07}", f"[{7_000_003 + 17 * at}]"] for at in range(40)]
    every = [[*own, *row] if first else [*row, *own[::-1]] for own, row in zip(persons, rows, strict=True)]
    (tmp_path / "a.csv").write_text(as_text(separator)(every))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    (options,) = [dict(options) for options, _ in caught.value.readings]
    assert [{*one} for one in sv.read(tmp_path / "a.csv", **options)] == [{*row} for row in rows]


def test_ids_in_front_of_integers_between_tabs(tmp_path: Path) -> None:
    rng = seeded(59)
    rows = [rng.sample(CODES, 1 + at % 3) for at in range(57)]
    every = [[str(rng.randint(1_000_000, 9_999_999)), *row] for row in rows]
    (tmp_path / "a.dat").write_text(as_text("\t")(every))
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.dat")
    (options,) = [dict(options) for options, _ in caught.value.readings]
    assert [{*one} for one in sv.read(tmp_path / "a.dat", **options)] == [{*row} for row in rows]
