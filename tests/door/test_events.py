"""Rows of orders, stays or days are never read as people, and printed commands work and publish no ID."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import files_under, together
from random_files import EVENT_TABLES, event_table, sorted_numbers
from setveil.rows.data.io.streams import open_streams
from strategies import many, seeded

PEOPLE = {
    "patient": [
        "patient_id",
        "PATNR",
        "Patientennummer",
        "paciente",
        "id_paziente",
        "Pat-Nr.",
        "Pat.-ID",
        "nº_paciente",
        "assistito",
    ],
    "customer": [
        "customer_id",
        "CustomerID",
        "Kundennr",
        "cliente",
        "client_id",
        "Kunde",
        "Kunden-Nr.",
        "N° client",
        "KdNr",
        "cod_cliente",
    ],
    "user": ["user_id", "AnonID", "utilisateur", "usuario_id", "utente", "Benutzer"],
    "member": ["Member_number", "mitgliedsnr", "socio", "membre", "miembro", "n_socio", "tesserato"],
    "insured person": ["Versichertennr", "asegurado", "assicurato", "bénéficiaire"],
    "person": ["NIR", "MRN", "person_id", "codice_fiscale"],
}
EVENTS = {
    "order": ["order_id", "Auftragsnr", "pedido", "no_commande", "ordine", "Bestell-Nr."],
    "invoice": ["InvoiceNo", "Rechnungsnr", "facture_id", "fattura", "n_fattura"],
    "receipt": ["scontrino", "Bon-Nr.", "ticket_caisse"],
    "stay": ["hadm_id", "séjour", "ricovero", "id_ricovero", "Aufenthalt"],
    "case": ["fallnr", "case_id", "caso"],
}


# Events, and whether the columns are in reverse order.
PLACES = [(event, is_reversed) for event in ("order_id", "fallnr", "séjour") for is_reversed in (False, True)]


@pytest.mark.parametrize(
    ("person", "name", "places"),
    [
        (noun, name, PLACES if number == 0 else [PLACES[number % len(PLACES)]])
        for noun, names in PEOPLE.items()
        for number, name in enumerate(names)
    ],
)
def test_people_beat_events_wherever_they_stand(
    person: str, name: str, places: list[tuple[str, bool]], tmp_path: Path
) -> None:
    """One name of each noun with all events in both orders, and the others with one of these each."""
    rng = seeded(71)
    for event, is_reversed in places:
        head, lines = event_table(rng, name, event)
        step = -1 if is_reversed else 1
        path = tmp_path / "a.csv"
        path.write_text("".join(",".join(line[::step]) + "\n" for line in [head, *lines]))
        with pytest.raises(sv.TableError) as caught:
            sv.read(path)
        assert caught.value.readings[0][0]["id_column"] == name
        with pytest.raises(sv.TableError, match=r"rows would be \w+, not people") as caught:
            sv.read(path, id_column=event, item_column="product")
        assert [dict(options) for options, _ in caught.value.readings] == [
            {"id_column": name},
            {"rows_are_events": True},
        ]
        assert person in caught.value.readings[0][1]
        assert sv.read(path, id_column=name, item_column="product").n_rows == 30
        rows = sv.read(path, id_column=event, item_column="product", rows_are_events=True)
        assert rows.n_rows == 90


@pytest.mark.parametrize(("noun", "name"), [(noun, name) for noun, names in EVENTS.items() for name in names])
def test_events_are_named(noun: str, name: str, tmp_path: Path) -> None:
    head, lines = event_table(seeded(72), "user_id", name)
    path = tmp_path / "a.csv"
    path.write_text("".join(",".join(line) + "\n" for line in [head, *lines]))
    with pytest.raises(sv.TableError, match=f"30 users have 90 {noun}s: rows would be {noun}s, not people"):
        sv.read(path, id_column=name, item_column="product")
    origin = sv.read(path, id_column=name, item_column="product", rows_are_events=True).origin
    assert origin is not None
    assert origin.unit == noun


def shapes(head: list[str], lines: list[list[str]], folder: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Write the same events in every shape, with the options that read rows of events."""
    person, event, _ = head
    long = pl.DataFrame(lines, schema=head, orient="row")
    lists = long.group_by(event, person, maintain_order=True).agg(
        pl.col("product").unique(maintain_order=True)
    )
    wide = lists.with_columns(
        pl.col("product").list.get(i, null_on_oob=True).alias(f"DX{i + 1}") for i in range(3)
    ).drop("product")
    goods = sorted(set(long["product"]))
    marks = lists.with_columns(
        pl.col("product").list.contains(one).cast(pl.Int8).alias(one) for one in goods
    ).drop("product")
    by = {"id_column": event, "item_column": "product"}
    yield long, by
    yield lists, {}
    yield wide, {"item_columns": "DX1-DX3"}
    yield marks, {"item_columns": ",".join(goods)}
    for name, frame, options in (
        ("long.csv", long, by),
        ("wide.csv", wide, {"item_columns": "DX1-DX3"}),
        ("marks.csv", marks, {"item_columns": ",".join(goods)}),
    ):
        frame.write_csv(folder / name)
        yield folder / name, options
    lists.write_ndjson(folder / "lists.jsonl")
    yield folder / "lists.jsonl", {}
    long.write_ndjson(folder / "long.jsonl")
    yield folder / "long.jsonl", by
    lists.write_parquet(folder / "lists.parquet")
    yield folder / "lists.parquet", {}
    wide.write_parquet(folder / "wide.parquet")
    yield folder / "wide.parquet", {"item_columns": "DX1-DX3"}


def test_every_shape_raises_a_question(tmp_path: Path) -> None:
    head, lines = event_table(seeded(73), "user_id", "order_id")
    for source, options in shapes(head, lines, tmp_path):
        with pytest.raises(sv.TableError, match="30 users have 90") as caught:
            sv.read(source, **options)
        people, events = (dict(found) for found, _ in caught.value.readings)
        assert sv.read(source, **{**options, **people}).n_rows == 30, (source, options)
        assert sv.read(source, **{**options, **events}).n_rows == 90, (source, options)


def test_several_files_are_looked_at_together(tmp_path: Path) -> None:
    for month in (1, 2):
        rows = "".join(f"{user},{month}{user},E1{user % 3},I1{user % 2}\n" for user in range(10, 30))
        (tmp_path / f"{month}.csv").write_text("user_id,stay,DX1,DX2\n" + rows)
    sv.read(tmp_path / "1.csv", item_columns="DX1,DX2")
    with pytest.raises(sv.TableError, match="20 users have 40 rows"):
        sv.read([tmp_path / "1.csv", tmp_path / "2.csv"], item_columns="DX1,DX2")


def test_dates_are_no_ids() -> None:
    days = [f"2024-0{1 + i % 9}-1{i % 7}" for i in range(90)]
    frame = pl.DataFrame(
        {
            "PATNR": [str(i // 3) for i in range(90)],
            "AUFNDAT": days,
            "ICD10": [f"I1{i % 4}" for i in range(90)],
        }
    )
    with pytest.raises(sv.TableError):
        sv.read(frame[["AUFNDAT", "ICD10"]])
    with pytest.raises(sv.TableError):
        sv.read(frame[["AUFNDAT", "ICD10"]].with_columns(pl.col("AUFNDAT").str.to_date()))
    with pytest.raises(sv.TableError, match="not be people"):
        sv.read(frame, id_column="AUFNDAT", item_column="ICD10")
    with pytest.raises(sv.TableError) as caught:
        sv.read(frame)
    assert caught.value.readings[0][0] == {"id_column": "PATNR", "item_column": "ICD10"}


@pytest.mark.parametrize(
    "name",
    ["store", "country", "month", "category", "age", "zip", "ward", "product_id", "date", "doctor", "sex"],
)
def test_values_that_many_share_raise_no_question(name: str) -> None:
    rng = seeded(74)
    orders = [str(i // 3) for i in range(300)]
    shared = {order: str(1000 + rng.randrange(40)) for order in orders}
    frame = pl.DataFrame(
        {
            "order_id": orders,
            name: [shared[o] for o in orders],
            "item": [f"a{rng.randrange(9)}" for _ in orders],
        }
    )
    assert sv.read(frame, id_column="order_id", item_column="item").n_rows == 100


def test_values_that_only_ids_have_raise_a_question() -> None:
    orders = list(range(300))
    frame = pl.DataFrame(
        {
            "order_id": orders,
            "V1": [f"someone{i // 3}@example.org" for i in orders],
            "a": ["x" if i % 2 else "z" for i in orders],
            "b": ["y" if i % 3 else "z" for i in orders],
        }
    )
    with pytest.raises(sv.TableError, match="100 people have 300 rows"):
        sv.read(frame, item_columns="a,b")


def test_full_names_without_a_header_raise_a_question(tmp_path: Path) -> None:
    """Check that a column of names is not taken as people if its header is another word (a shop, a town)."""
    random = Random(7)
    first, last = ("Ada", "Ben", "Zoé", "Dan", "Eva"), ("Moss", "Ney-Ott", "Pohl", "Quist", "Rau")
    people = [f"{one} {two}" for one in first for two in last]
    lines = []
    for visit in range(80):
        who = people[visit % 25]
        lines += [f"{who};V-{70000 + visit};{random.choice('abcd')}{random.randint(1, 3)}" for _ in range(2)]
    for header in ([], ["town;visit;code"]):
        (tmp_path / "v.csv").write_text("\n".join([*header, *lines, ""]))
        if header:
            assert sv.read(tmp_path / "v.csv", id_column="visit", item_column="code").n_rows == 80
            continue
        with pytest.raises(sv.TableError, match=r"25 people have 80 rows") as caught:
            sv.read(tmp_path / "v.csv", id_column="2", item_column="3")
        assert caught.value.readings[0][0]["id_column"] == "1"


def test_free_text_raises_a_question() -> None:
    texts = [f"noise from flat {i} baker street" for i in range(40)] + ["weather", "music"] * 40
    frame = pl.DataFrame({"AnonID": [str(i // 3) for i in range(len(texts))], "Query": texts})
    with pytest.raises(sv.TableError, match="free text") as caught:
        sv.read(frame, id_column="AnonID", item_column="Query")
    options, _ = caught.value.readings[0]
    assert sv.read(frame, id_column="AnonID", item_column="Query", **options).n_items == 42


def test_confirmed_events_are_called_so(tmp_path: Path) -> None:
    head, lines = event_table(seeded(75), "user_id", "order_id")
    (tmp_path / "a.csv").write_text("".join(",".join(line) + "\n" for line in [head, *lines]))
    command = ["anonymize", "a.csv", "--k", "3", "--m", "1", "--external", "--out", "out"]
    command += ["--id-column", "order_id", "--item-column", "product", "--rows-are-events"]
    done = together([command], tmp_path)[0].ok()
    assert "of an order finds at least 3 rows" in " ".join(done.out.split())
    assert json.loads((tmp_path / "out/published/about.json").read_text())["rows_are"] == "order"
    assert json.loads((tmp_path / "out/internal/report.json").read_text())["input"]["read"]["unit"] == "order"
    for file in files_under(tmp_path / "out"):
        text = (tmp_path / "out" / file).read_text()
        words = text.replace("for people to", "").replace("<", " <").split()
        assert not {"person", "person's", "people", "persons"} & set(words), file


def test_pages_say_order_and_leave_names_of_items(tmp_path: Path) -> None:
    hat = "the same people of a person's hat"
    lines = [
        f"o{100 + i // 2},{'tea' if i % 2 else hat if i < 4 else 'coat' if i < 8 else 'milk'}"
        for i in range(40)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["order_id,product", *lines]) + "\n")
    (tmp_path / "tree.csv").write_text(f"tea;drink;*\nmilk;drink;*\n{hat};wear;*\ncoat;wear;*\n")
    command = ["anonymize", "a.csv", "--k", "3", "--m", "1", "--external", "--list-members"]
    command += ["--id-column", "order_id", "--item-column", "product", "--hierarchy", "tree.csv"]
    done = together(
        [[*command, "--out", "plain"], [*command, "--rows-are-events", "--out", "events"],
         ["evidence", "events", "--out", "evidence.html"]],
        tmp_path,
    )  # fmt: skip
    for one in done:
        one.ok()
    shown = html.escape(hat)
    for file in ("internal/report.html", "published/report.html"):
        plain, events = ((tmp_path / run / file).read_text() for run in ("plain", "events"))
        assert events.count(shown) == plain.count(shown)
        assert shown in events or file.startswith("published")
        assert "a person" not in events.replace(shown, "")
    page = (tmp_path / "evidence.html").read_text()
    assert "two halves of an order" in page
    assert "person" not in page.replace(shown, "")


def printed(text: str) -> list[list[str]]:
    """List the commands in a message, without the program."""
    lines = (line.strip() for line in text.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.startswith("setveil ")]


def test_every_printed_command_works_and_publishes_no_id(tmp_path: Path) -> None:
    rng = seeded(76)
    found = [EVENT_TABLES[i % len(EVENT_TABLES)](rng) for i in range(many(16))]
    command_list = []
    for i, one in enumerate(found):
        (tmp_path / f"{i}{one.name}").write_bytes(one.content)
        command_list.append(["anonymize", f"{i}{one.name}", "--k", "2", "--m", "1", "--out", f"out{i}"])
    ids = {i: one.ids for i, one in enumerate(found)}
    commands = {i: [words] for i, words in enumerate(command_list)}
    for step in range(3):
        tried = [(i, words) for i, several in commands.items() for words in several]
        commands = {i: [] for i in ids}
        texts = [[*words[: words.index("--out") + 1], f"{step}-{n}", *words[words.index("--out") + 2 :]]
                 for n, (_, words) in enumerate(tried)]  # fmt: skip
        for n, ((i, words), done) in enumerate(zip(tried, together(texts, tmp_path), strict=True)):
            assert "Traceback" not in done.err, (words, done)
            if done.code == 0:
                assert "--rows-are-events" in words or len(ids[i]) >= about_rows(tmp_path / f"{step}-{n}"), (
                    words
                )
                for file in files_under(tmp_path / f"{step}-{n}/published"):
                    text = (tmp_path / f"{step}-{n}/published" / file).read_text("utf-8")
                    assert not [one for one in ids[i] if f'"{one}"' in text or f"\n{one}," in text], (
                        words,
                        file,
                    )
            elif done.code != 3:  # no release of so few people may be possible
                commands[i] += printed(done.err)
                assert step < 2 and printed(done.err), (words, done)  # noqa: PT018


def about_rows(folder: Path) -> int:
    return int(json.loads((folder / "published/about.json").read_text("utf-8"))["rows"])


@pytest.mark.parametrize("name", ["a.dat", "a.csv", "a.txt", "a"])
def test_sorted_numbers_are_baskets(name: str, tmp_path: Path) -> None:
    rng = Random(77)
    rows = sorted_numbers(rng)
    parts = [rows[:50], rows[:400], rows[:1000], [row for row in rows if rng.random() < 0.05], rows[500:520]]
    separator = "," if name == "a.csv" else " "
    for part in parts:
        (tmp_path / name).write_text("".join(separator.join(map(str, row)) + "\n" for row in part))
        assert sv.read(tmp_path / name).n_rows == len(part)


@pytest.mark.parametrize("people", [2, 3, 5, 12, 19])
@pytest.mark.parametrize("form", ["mail", "phone", "hash", "prefixed", "digits"])
def test_few_people_without_a_header_raise_a_question(people: int, form: str, tmp_path: Path) -> None:
    """Two mail addresses or numbers of telephones are enough; of other IDs five."""
    rng = seeded(47)
    made = {
        "mail": "anna.berg{}@example.org",
        "phone": "+49 30 55510{:02}",
        "hash": "4148ebb0fb88bda301{:02}",
        "prefixed": "DE-72477{:02}",
        "digits": "76543{:02}",
    }[form]
    lines = [
        f"F-{at + 2_000_000},{made.format(at % people)},{rng.choice(('tea', 'milk', 'jam'))}"
        for at in range(8 * people)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rng.sample(lines, len(lines))) + "\n")
    if people < 5 and form in {"prefixed", "digits"}:
        assert sv.read(path, id_column="1", item_column="3").n_rows == 8 * people
        return
    with pytest.raises(sv.TableError, match=f"{people} people have {8 * people} rows") as caught:
        sv.read(path, id_column="1", item_column="3")
    for options, _ in caught.value.readings:
        assert sv.read(path, **{"id_column": "1", "item_column": "3", **options}).n_rows in {
            people,
            8 * people,
        }


@pytest.mark.parametrize("id_column", ["order_id", "user_id", None])
@pytest.mark.parametrize("values", ["ids", "marks"])
def test_people_are_no_item_of_a_one_hot_table(id_column: str | None, values: str, tmp_path: Path) -> None:
    """Neither by their name, nor, if the ID column is in the middle of the items, by a printed range."""
    rng = seeded(48)
    head = ["milk", "order_id", "bread", "user_id", "tea"]
    lines = [
        [
            rng.choice("01"),
            str(1000 + at),
            rng.choice("01"),
            rng.choice("01") if values == "marks" else str(rng.randint(1, 20)),
            rng.choice("01"),
        ]
        for at in range(60)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(",".join(line) for line in [head, *lines]) + "\n")
    reading: dict[str, Any] = {"format": "onehot"} | ({"id_column": id_column} if id_column else {})
    with pytest.raises(sv.TableError, match="would be an item of this one-hot table") as caught:
        sv.read(path, **reading)
    for at, (options, _) in enumerate(caught.value.readings):
        read = sv.read(path, **{**reading, **options})
        assert (
            {*read.vocabulary.labels} & {"user_id", "order_id"} == {"user_id", "order_id"} - {id_column}
            if at
            else not {*read.vocabulary.labels} & {"user_id", "order_id"}
        )


@pytest.mark.parametrize("people", [3, 12, 40])
def test_an_amount_is_no_id_of_people_with_telephone_numbers(people: int, tmp_path: Path) -> None:
    """Check that rows by amounts are not read as people if lines of several people have one amount."""
    rng, goods = seeded(49), ("milk", "milk, bread", "tea, jam")
    lines = [
        f"+49 {3175441 + at % people};{rng.randint(1, 30)}.50;{rng.choice(goods)}" for at in range(4 * people)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rng.sample(lines, len(lines))) + "\n")
    with pytest.raises(sv.TableError, match=f"{people} people have [0-9]+ rows"):
        sv.read(path, id_column="2", item_column="3", delimiter=",")
    with pytest.raises(sv.TableError) as caught:
        sv.read(path, separator=";")
    for options, _ in caught.value.readings:
        assert options.get("id_column") != "2"


def _lines_of(people: int, rng: Random, ids: str, last: bool) -> list[list[str]]:
    """Write each person's codes on several lines that follow one another."""
    lines = []
    for person in range(people):
        one = f"{100_000 + 7 * person}" if ids == "number" else f"K{person:04}"
        for _ in range(rng.randint(2, 9)):
            items = [str(x) for x in rng.sample(range(10, 90), rng.randint(1, 3))]
            lines.append([*items, one] if last else [one, *items])
    return lines


AS_ROWS: dict[str, Callable[[list[str]], str]] = {
    "basket": ",".join,
    "fimi": " ".join,
    "spmf": lambda row: f"{' -1 '.join(row)} -1 -2",
    "jsonl": json.dumps,
}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("form", AS_ROWS)
@pytest.mark.parametrize("ids", ["number", "code"])
def test_lines_of_one_person_are_no_rows_of_people(form: str, ids: str, last: bool, tmp_path: Path) -> None:
    """Check files whose lines are said to be rows, although a field of each says whose line it is."""
    if ids == "code" and form in ("fimi", "spmf"):
        pytest.skip("numbers only")
    lines = _lines_of(80, seeded(6), ids, last)
    (tmp_path / "a.txt").write_text("".join(f"{AS_ROWS[form](row)}\n" for row in lines))
    with pytest.raises(sv.TableError, match="80 people have") as caught:
        sv.read(tmp_path / "a.txt", format=form)
    assert "not-ids" not in caught.value.hint
    assert "not_ids" not in caught.value.hint
    named = "last" if last else "1"
    for more in ({"rows_are_events": True}, {"not_ids": named}):
        assert sv.read(tmp_path / "a.txt", format=form, **more).n_rows == len(lines)
    run = ["anonymize", "a.txt", "--format", form, "--k", "2", "--m", "1", "--out", "out"]
    asked, parts, confirmed = together(
        [
            run,
            [*run[:-1], "parts", "--engine", "parts"],
            [*run[:-1], "events", "--rows-are-events", "--list-members"],
        ],
        tmp_path,
    )
    assert asked.code == 4
    assert "80 people have" in asked.err
    assert "--format" not in asked.err.split("Hint:")[1]
    assert parts.code != 0
    assert confirmed.code == 4, "the last check finds the IDs, which are items"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "a.txt"]


@pytest.mark.parametrize("last", [False, True])
def test_lists_of_one_person_are_no_rows_of_people(last: bool, tmp_path: Path) -> None:
    """Check columns of lists, in a data frame, a Parquet file, and one that is read in parts."""
    lists = pl.DataFrame({"codes": _lines_of(80, seeded(7), "number", last)})
    lists.write_parquet(tmp_path / "a.parquet")
    for read in (
        lambda **how: sv.read(lists, item_column="codes", **how),
        lambda **how: sv.read(tmp_path / "a.parquet", item_column="codes", **how),
        lambda **how: open_streams([str(tmp_path / "a.parquet")], "codes", **how),
    ):
        with pytest.raises(sv.TableError, match="80 people have"):
            read()
        read(rows_are_events=True)
        read(not_ids="last" if last else "1")


def test_a_header_names_the_field_of_people(tmp_path: Path) -> None:
    """Check lines of a person that are apart, in a file whose first line names the columns."""
    lines = _lines_of(60, seeded(8), "number", last=False)
    seeded(9).shuffle(lines)
    (tmp_path / "a.txt").write_text("patient_id,icd\n" + "".join(f"{','.join(row[:2])}\n" for row in lines))
    with pytest.raises(sv.TableError, match="60 people have"):
        sv.read(tmp_path / "a.txt", format="basket")


@pytest.mark.parametrize("sep", [" ", ","])
def test_sorted_lines_of_sorted_items_are_baskets(sep: str, tmp_path: Path) -> None:
    """Check that the first item of sorted lines, equal on neighbouring lines, is not taken for an ID."""
    rng = seeded(10)
    rows = sorted(sorted(rng.sample(range(1000, 1400), rng.randint(2, 12))) for _ in range(900))
    (tmp_path / "a.txt").write_text("".join(f"{sep.join(map(str, row))}\n" for row in rows))
    assert sv.read(tmp_path / "a.txt", format="fimi" if sep == " " else "basket").n_rows == 900


def test_lines_of_codes_behind_an_unnamed_id_are_asked_about(tmp_path: Path) -> None:
    """Check columns of items without a header, next to one whose values are equal on neighbouring lines."""
    lines = _lines_of(80, seeded(12), "number", last=False)
    width = max(map(len, lines))
    text = "".join(f"{','.join([*row, *[''] * (width - len(row))])}\n" for row in lines)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(sv.TableError, match="80 people have") as caught:
        sv.read(tmp_path / "a.csv", item_columns="2,3,4")
    assert caught.value.readings[0][0]["id_column"] == "1"


NEUTRAL: dict[str, tuple[str, ...]] = {
    "items": ("--item-columns", "x,icd"),
    "unused": ("--item-columns", "icd,age"),
    "kept": ("--model", "kkm", "--qi", "age,sex", "--set", "icd", "--keep-columns", "x"),
    "known": ("--model", "kkm", "--qi", "x,age,sex", "--set", "icd"),
    "the set": ("--model", "kkm", "--qi", "age,sex", "--set", "x"),
    "no role": ("--model", "kkm", "--qi", "age,sex", "--set", "icd"),
}


@pytest.mark.parametrize("role", NEUTRAL)
def test_ids_under_any_name_are_no_values_to_publish(role: str, tmp_path: Path) -> None:
    """Check a column of numbers under a name that says nothing: lines of a person follow one another."""
    rng = seeded(14)
    lines = []
    for person in range(150):
        who = f"{100_000 + 7 * person},{rng.randint(18, 90)},{rng.choice('fm')}"
        lines += [f"{who},{code}\n" for code in rng.sample(["I10", "E11", "K21", "N18", "J45"], 3)]
    (tmp_path / "a.csv").write_text("x,age,sex,icd\n" + "".join(lines))
    line = ["anonymize", "a.csv", *NEUTRAL[role], "--k", "5", "--m", "1", "--out", "out"]
    (done,) = together([line], tmp_path)
    assert done.code == 4
    reasons = "looks like person IDs", "150 people have", "of its 150"
    assert any(why in done.err for why in reasons), done.err
    assert "--id-column x" in done.err
    assert not (tmp_path / "out").exists()


def test_grouped_codes_of_items_are_none(tmp_path: Path) -> None:
    """Check tables that are sorted by the code of a product: those have a name, or an ID next to them."""
    rng = seeded(15)
    text = "".join(f"P{at // 4 + 100},{rng.randint(1, 60)}\n" for at in range(200))
    (tmp_path / "a.csv").write_text("product_code,person_id\n" + text)
    (tmp_path / "b.csv").write_text("x,y\n" + text)
    assert sv.read(tmp_path / "a.csv", id_column="person_id", item_column="product_code").n_items == 50
    assert sv.read(tmp_path / "b.csv", id_column="y", item_column="x").n_items == 50


def test_rows_of_few_codes_are_baskets(tmp_path: Path) -> None:
    """Check rows of one code each, and rows that come again as a whole: no field says whose they are."""
    rng = seeded(16)
    single = [f"SKU-{rng.randint(1, 400):05}" for _ in range(900)]
    (tmp_path / "a.csv").write_text("".join(f"{one}\n" for one in single))
    assert sv.read(tmp_path / "a.csv", format="basket").n_rows == 900
    items = [f"item {number:05}" for number in range(2000)]
    rows = [",".join(items[at : at + 20]) for at in range(0, 2000, 20)] * 2
    (tmp_path / "b.csv").write_text("".join(f"{row}\n" for row in rows))
    assert sv.read(tmp_path / "b.csv", format="basket").n_rows == 200


def test_published_rows_are_asked_nothing(tmp_path: Path) -> None:
    """Check that rows to verify may begin with equal labels, in memory and in parts."""
    (tmp_path / "a.dat").write_text("".join(f"{100_000 + 7 * (at // 3)} {at % 5}\n" for at in range(120)))
    line = ["verify", "a.dat", "--k", "2", "--m", "1", "--format", "fimi"]
    for done in together([line, [*line, "--engine", "parts"]], tmp_path):
        assert done.code == 0, done.err
