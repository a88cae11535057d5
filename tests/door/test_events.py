"""Rows of orders, stays or days are never taken for people, and printed commands work and publish no ID."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import files_under, together
from random_files import EVENT_TABLES, event_table, sorted_numbers
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


@pytest.mark.parametrize(
    ("person", "name"), [(noun, name) for noun, names in PEOPLE.items() for name in names]
)
def test_people_beat_events_wherever_they_stand(person: str, name: str, tmp_path: Path) -> None:
    rng = seeded(71)
    for event in ("order_id", "fallnr", "séjour"):
        head, lines = event_table(rng, name, event)
        for order in (head, head[::-1]):
            at = [head.index(one) for one in order]
            path = tmp_path / "a.csv"
            path.write_text(
                "".join(",".join(line) + "\n" for line in [order, *([x[i] for i in at] for x in lines)])
            )
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


def test_every_shape_is_asked_about(tmp_path: Path) -> None:
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
def test_what_many_share_is_not_asked_about(name: str) -> None:
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


def test_values_that_only_ids_have_are_asked_about() -> None:
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


def test_full_names_without_a_header_are_asked_about(tmp_path: Path) -> None:
    """Where columns have names, one of names that is called otherwise (a shop, a town) is none of people."""
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


def test_free_text_is_asked_about() -> None:
    texts = [f"noise from flat {i} baker street" for i in range(40)] + ["weather", "music"] * 40
    frame = pl.DataFrame({"AnonID": [str(i // 3) for i in range(len(texts))], "Query": texts})
    with pytest.raises(sv.TableError, match="free text") as caught:
        sv.read(frame, id_column="AnonID", item_column="Query")
    options, _ = caught.value.readings[0]
    assert sv.read(frame, id_column="AnonID", item_column="Query", **options).n_items == 42


def test_confirmed_events_are_called_so(tmp_path: Path) -> None:
    head, lines = event_table(seeded(75), "user_id", "order_id")
    (tmp_path / "a.csv").write_text("".join(",".join(line) + "\n" for line in [head, *lines]))
    asked = ["anonymize", "a.csv", "--k", "3", "--m", "1", "--external", "--out", "out"]
    asked += ["--id-column", "order_id", "--item-column", "product", "--rows-are-events"]
    done = together([asked], tmp_path)[0].ok()
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
    asked = ["anonymize", "a.csv", "--k", "3", "--m", "1", "--external", "--list-members"]
    asked += ["--id-column", "order_id", "--item-column", "product", "--hierarchy", "tree.csv"]
    done = together(
        [[*asked, "--out", "plain"], [*asked, "--rows-are-events", "--out", "events"],
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
    asked = []
    for i, one in enumerate(found):
        (tmp_path / f"{i}{one.name}").write_bytes(one.content)
        asked.append(["anonymize", f"{i}{one.name}", "--k", "2", "--m", "1", "--out", f"out{i}"])
    ids = {i: one.ids for i, one in enumerate(found)}
    commands = {i: [words] for i, words in enumerate(asked)}
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
def test_few_people_without_a_header_are_asked_about(people: int, form: str, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("given", ["order_id", "user_id", None])
@pytest.mark.parametrize("values", ["ids", "marks"])
def test_people_are_no_item_of_a_one_hot_table(given: str | None, values: str, tmp_path: Path) -> None:
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
    asked: dict[str, Any] = {"format": "onehot"} | ({"id_column": given} if given else {})
    with pytest.raises(sv.TableError, match="would be an item of this one-hot table") as caught:
        sv.read(path, **asked)
    for at, (options, _) in enumerate(caught.value.readings):
        read = sv.read(path, **{**asked, **options})
        assert (
            {*read.vocabulary.labels} & {"user_id", "order_id"} == {"user_id", "order_id"} - {given}
            if at
            else not {*read.vocabulary.labels} & {"user_id", "order_id"}
        )


@pytest.mark.parametrize("people", [3, 12, 40])
def test_an_amount_is_no_id_of_people_with_telephone_numbers(people: int, tmp_path: Path) -> None:
    """If lines of several people have one amount, rows by amounts are rows of nobody."""
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
