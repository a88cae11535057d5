"""Random tables about people at the door: meanings of lines, names of columns, owners of values."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import polars as pl

from exports import table as as_csv
from random_files import IDS, day, person

LANGUAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "English": {
        "person": ("patient_id", "user_id", "customer_id", "member", "subject_id", "MRN", "patientNo"),
        "event": ("order_id", "invoice", "stay_id", "visit", "encounter_id", "case_no"),
        "item": ("icd10", "product_id", "item", "diagnosis", "drug"),
        "day": ("date", "admitted", "order_date"),
        "born": ("date_of_birth", "birthdate"),
        "age": ("age",), "sex": ("sex", "gender"), "zip": ("zip", "postcode"), "bmi": ("BMI", "weight"),
        "amount": ("amount", "price"), "mail": ("email", "e-mail"), "phone": ("phone", "telephone"),
        "ip": ("ip", "ip_address"), "card": ("card_number", "card"), "address": ("address", "street"),
        "name": ("name", "full_name"), "flag": ("asthma", "diabetes", "gout", "angina", "eczema", "migraine"),
    },
    "German": {
        "person": ("PATNR", "Patientennummer", "Kundennr", "KundenID", "Versichertennummer", "Mitglied"),
        "event": ("fallnr", "Bestellnummer", "Rechnungsnr", "Aufenthalt", "Bon"),
        "item": ("ICD10", "Artikel", "Diagnose", "Produkt"),
        "day": ("AUFNDAT", "Datum", "Bestelldatum"),
        "born": ("GEBDAT", "Geburtsdatum"),
        "age": ("Alter",), "sex": ("Geschlecht", "SEX"), "zip": ("PLZ",), "bmi": ("BMI", "Gewicht"),
        "amount": ("Betrag", "Menge"), "mail": ("E-Mail", "Mailadresse"), "phone": ("Telefon", "Handy"),
        "ip": ("IP-Adresse", "IP"), "card": ("Kartennummer",), "address": ("Anschrift", "Adresse"),
        "name": ("Name", "Patient"), "flag": ("Asthma", "Diabetes", "Gicht", "Angina", "Ekzem", "Rheuma"),
    },
    "French": {
        "person": ("numero_patient", "id_client", "matricule", "num_adherent"),
        "event": ("num_commande", "facture", "sejour", "visite"),
        "item": ("code_cim10", "produit", "article", "diagnostic"),
        "day": ("date_entree", "date"),
        "born": ("date_naissance",),
        "age": ("age",), "sex": ("sexe",), "zip": ("code_postal",), "bmi": ("IMC", "poids"),
        "amount": ("montant", "prix"), "mail": ("courriel",), "phone": ("telephone", "portable"),
        "ip": ("adresse_ip",), "card": ("carte",), "address": ("adresse",),
        "name": ("nom", "nom_complet"), "flag": ("asthme", "diabete", "goutte", "angine", "eczema", "zona"),
    },
    "Spanish": {
        "person": ("id_paciente", "num_paciente", "cliente", "id_usuario"),
        "event": ("pedido", "factura", "ingreso", "visita"),
        "item": ("codigo_cie10", "producto", "articulo", "diagnostico"),
        "day": ("fecha", "fecha_ingreso"),
        "born": ("fecha_nacimiento",),
        "age": ("edad",), "sex": ("sexo",), "zip": ("codigo_postal",), "bmi": ("IMC", "peso"),
        "amount": ("importe", "precio"), "mail": ("correo",), "phone": ("telefono", "movil"),
        "ip": ("direccion_ip",), "card": ("tarjeta",), "address": ("direccion",),
        "name": ("nombre",), "flag": ("asma", "diabetes", "gota", "angina", "eccema", "migrana"),
    },
    "Italian": {
        "person": ("n_socio", "cod_cliente", "tesserato", "id_assistito", "paziente", "codice_fiscale"),
        "event": ("ricovero", "scontrino", "ordine", "n_fattura", "id_visita"),
        "item": ("codice_icd9", "prodotto", "articolo", "diagnosi", "farmaco"),
        "day": ("data_ricovero", "data", "data_ordine"),
        "born": ("data_nascita",),
        "age": ("eta",), "sex": ("sesso",), "zip": ("CAP",), "bmi": ("IMC", "peso"),
        "amount": ("importo", "prezzo"), "mail": ("posta_elettronica", "mail"),
        "phone": ("telefono", "cellulare"), "ip": ("indirizzo_ip",), "card": ("numero_carta",),
        "address": ("indirizzo",), "name": ("nome", "nominativo"),
        "flag": ("asma", "diabete", "gotta", "angina", "eczema", "emicrania"),
    },
}  # fmt: skip
"""What columns are called."""

NAMES = ("Abel", "Ott", "Voss", "Wolf", "Zorn", "Hahn", "Reh", "Kurz")
STREETS = ("Hauptstr.", "Lindenweg", "Rue Hugo", "Calle Mayor", "Mill Lane", "Am Markt")


def _card(n: int) -> str:
    digits = [int(one) for one in f"4{n % 10**14:014}"]
    total = sum(sum(divmod(2 * d, 10)) if at % 2 == 0 else d for at, d in enumerate(reversed(digits)))
    return "".join(map(str, digits)) + str(-total % 10)


OF_PEOPLE: dict[str, Callable[[int], str]] = {
    "mail": lambda n: f"{person(n).replace(' ', '.').lower()}{n}@example.org",
    "phone": lambda n: f"+49 {n % 90 + 10} {n:07}",
    "ip": lambda n: f"{n % 190 + 20}.{n // 7 % 250}.{n // 11 % 250}.{n // 13 % 250}",
    "card": lambda n: _card(n * 7919**3),
    "address": lambda n: f"{STREETS[n % 6]} {n % 997 + 100}",
    "name": lambda n: f"{person(n)}-{NAMES[n // 144 % 8]}",
}
"""What tells people apart besides ids, from a number of seven digits."""

CODES = ("E11.9", "I10", "J45.0", "K21", "M54.5", "F32.1", "N39.0", "Z37", "O80", "R51")
WARES = ("milk", "bread", "beer", "jam", "rice", "tea", "soda", "rolls", "oil", "salt")
NUMBERS = tuple(str(n) for n in range(1001, 1011))
SEPARATORS = (",", ",", ";", ";", "\t", "|", " ")
ENDINGS = (".csv", ".csv", ".tsv", ".txt", ".dat", "", "-")
FORMS = ("long", "long", "long", "wide", "wide", "one-hot", "lists", "ragged", "bare")


@dataclass(frozen=True)
class DoorTable:
    """A table about people, with its expected reading.

    Attributes
    ----------
    kind : str
        The kind of table, for counts.
    name : str
        The name of the file; ``-``: standard input; ``frame``: a data frame.
    content : bytes
        Its bytes.
    frame : data frame, optional
        The table as columns, if it is a data frame.
    ids : dict of str
        The identifying values, which must not be published, with their kinds.
    people : int
        The number of people.
    several : bool
        Whether a person has several events with IDs or dates in the file.
    named : bool
        Whether a column identifies the person.
    roles : tuple of str
        The meanings of the columns other than the items.
    """

    kind: str
    name: str
    content: bytes
    frame: pl.DataFrame | None
    ids: dict[str, str]
    people: int
    several: bool
    named: bool
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Event:
    who: int
    event: str
    day: str
    items: tuple[str, ...]


def door_table(rng: Random, form: str = "") -> DoorTable:
    """Draw a table."""
    form = form or rng.choice(FORMS)
    language = rng.choice(list(LANGUAGES))
    words = {role: rng.choice(names) for role, names in LANGUAGES[language].items() if role != "flag"}
    n = rng.randint(18, 60)
    numbers = rng.sample(range(1_000_000, 9_999_999), n)
    make = (
        IDS[rng.choice(list(IDS))]
        if rng.random() < 0.85
        else OF_PEOPLE[rng.choice(("mail", "phone", "name"))]
    )
    keys = [make(number) for number in numbers]
    goods = list(rng.choice((CODES, WARES, NUMBERS)))
    several = form in {"long", "wide", "lists", "one-hot"} and rng.random() < 0.5
    with_event = (several and rng.random() < 0.8) or rng.random() < 0.2
    with_day = (several and not with_event) or rng.random() < 0.3
    events = _events(rng, n, goods, several=several)
    if rng.random() < 0.4:
        rng.shuffle(events)
    extra = [role for role in ("born", "age", "sex", "zip", "bmi", "amount") if rng.random() < 0.3]
    named_roles = [role for role in OF_PEOPLE if rng.random() < (0.1 if form != "bare" else 0)]
    german = rng.random() < 0.5
    separator, ending = rng.choice(SEPARATORS), rng.choice(ENDINGS)
    facts = {
        "person": keys,
        **{role: [OF_PEOPLE[role](number) for number in numbers] for role in named_roles},
        "born": [day(number, "{d:02}.{m:02}.{y}" if german else "{y}-{m:02}-{d:02}") for number in numbers],
        "age": [str(rng.randint(18, 94)) for _ in numbers],
        "sex": [rng.choice("mf") for _ in numbers],
        "zip": [str(rng.randint(10100, 10140)) for _ in numbers],
        "bmi": [f"{rng.uniform(17, 40):.1f}".replace(".", "," if german else ".") for _ in numbers],
    }
    roles = ["person"] * (form != "bare") + ["event"] * with_event + ["day"] * with_day + extra + named_roles
    if form == "bare":  # only rows of items, sometimes after a person ID
        roles = []
    rng.shuffle(roles)
    flags = list(LANGUAGES[language]["flag"])
    lines, heads = _lines(rng, form, roles, words, flags, events, facts, goods)
    ids: dict[str, str] = {}
    for role in ("person", *named_roles) if form != "bare" else ():
        ids |= dict.fromkeys(facts[role], role)
    if "event" in roles:
        ids |= {event.event: "event" for event in events}
    header = form not in {"ragged", "bare"} and rng.random() < 0.8
    if form == "one-hot":
        header = True
    packing = rng.choice(("text", "text", "text", "text", "jsonl", "parquet", "frame"))
    if form in {"ragged", "bare"} or not header:
        packing = rng.choice(("text", "text", "text", "jsonl"))
    whole = f"{form}{' events' if several else ''} / {packing} / {language if header else 'no header'}"
    frame = None
    if packing == "text":
        if separator == " " and any(" " in cell for line in lines for cell in line):
            separator = ";"
        name = "-" if ending == "-" else f"a{ending}"
        content = as_csv(
            [heads, *lines] if header else lines, separator, rng.choice(("\n", "\n", "\r\n"))
        ).encode()
        whole += f" / {separator!r} {ending or 'none'}"
    else:
        content, frame, name = _packed(rng, packing, form, lines, heads, header=header)
    whole += f" / {make_name(make)}{' + ' + ','.join(named_roles) if named_roles else ''}"
    return DoorTable(whole, name, content, frame, ids, n, several, header and form != "bare", tuple(roles))


def make_name(make: Callable[[int], str]) -> str:
    return next(name for name, one in {**IDS, **OF_PEOPLE}.items() if one is make)


def _events(rng: Random, n: int, goods: list[str], *, several: bool) -> list[_Event]:
    made = []
    numbers = iter(rng.sample(range(20_000_000, 90_000_000), 6 * n))
    prefix = rng.choice(("", "", "R", "F-"))
    for who in range(n):
        for _ in range(rng.randint(1, 4) if several else 1):
            held = rng.choices(goods, [1 / (1 + i) for i in range(len(goods))], k=rng.randint(1, 3))
            date = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            made.append(_Event(who, f"{prefix}{next(numbers)}", date, tuple(dict.fromkeys(held))))
    return made


def _lines(
    rng: Random, form: str, roles: list[str], words: dict[str, str], flags: list[str],
    events: list[_Event], facts: dict[str, list[str]], goods: list[str],
) -> tuple[list[list[str]], list[str]]:  # fmt: skip
    def cells(event: _Event) -> list[str]:
        own = {
            "event": event.event,
            "day": event.day,
            "amount": f"{rng.randint(1, 60)}.{rng.randint(10, 99)}",
        }
        return [own[role] if role in own else facts[role][event.who] for role in roles]

    heads = [words[role] for role in roles]
    at = rng.randint(0, len(roles))
    if form == "long":
        lines = [[*(row := cells(event))[:at], item, *row[at:]] for event in events for item in event.items]
        return lines, [*heads[:at], words["item"], *heads[at:]]
    if form == "lists":
        sign = rng.choice((";", "|", ", ")) if rng.random() < 0.5 else ";"
        lines = [[*cells(event), sign.join(event.items)] for event in events]
        return lines, [*heads, words["item"]]
    if form == "wide":
        width, stem = 3, rng.choice(("DX", "ICD", "item_"))
        lines = [[*cells(event), *event.items, *[""] * (width - len(event.items))] for event in events]
        return lines, [*heads, *(f"{stem}{i + 1}" for i in range(width))]
    if form == "one-hot":
        shown = goods[: len(flags)]
        signs = rng.choice((("1", "0"), ("yes", "no"), ("True", "False")))
        lines = [[*cells(event), *(signs[one not in event.items] for one in shown)] for event in events]
        return lines, [*heads, *flags]
    lines = [[*cells(event), *event.items] for event in events]
    if form == "ragged" and rng.random() < 0.3:
        lines = [[*event.items, *cells(event)] for event in events]
    return lines, []


def _packed(
    rng: Random, packing: str, form: str, lines: list[list[str]], heads: list[str], *, header: bool
) -> tuple[bytes, pl.DataFrame | None, str]:
    def listed(head: str, cell: str) -> Any:
        if form == "lists" and head == heads[-1]:
            return [part.strip() for part in cell.replace("|", ";").replace(",", ";").split(";")]
        return cell

    if packing == "jsonl":
        rows: list[Any] = lines
        if header:
            rows = [
                {head: listed(head, cell) for head, cell in zip(heads, line, strict=True)} for line in lines
            ]
        elif form == "bare" or rng.random() < 0.7:
            rows = [[cell for cell in line if cell] for line in lines]
        return (
            "".join(json.dumps(row) + "\n" for row in rows).encode(),
            None,
            rng.choice(("a.jsonl", "a.jsonl", "-")),
        )
    columns = {head: [listed(head, line[i]) for line in lines] for i, head in enumerate(heads)}
    frame = pl.DataFrame(columns)
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue(), frame, "frame" if packing == "frame" else "a.parquet"
