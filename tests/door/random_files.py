"""Random files with a column of ids, in every format that is read, and random rows of items without any."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import polars as pl

from exports import Lines
from workbooks import xlsx

IDS: dict[str, Callable[[int], str]] = {
    "integers": str,
    "UUIDs": lambda n: str(uuid.UUID(int=n * 7919**9 % 2**128)),
    "hashes": lambda n: hashlib.sha256(str(n).encode()).hexdigest()[:20],
    "prefixed": lambda n: f"DE-{n}",
    "letters": lambda n: f"P{n}",
    "addresses": lambda n: f"user{n}@example.org",
    "telephones": lambda n: f"+49 {n}",
    "in brackets": lambda n: f"[{n}]",
    "with slashes": lambda n: f"{n}/24",
}
"""Kinds of ids that are made of a number of seven digits."""

FIRST = [
    "Anna",
    "Bert",
    "Clara",
    "Doris",
    "Emil",
    "Frieda",
    "Georg",
    "Hanna",
    "Ines",
    "Jonas",
    "Karl",
    "Lena",
]
LAST = ["Adler", "Beck", "Conrad", "Dietz", "Ernst", "Frank", "Graf", "Huber", "Iser", "Jung", "Koch", "Lang"]
PEOPLE = len(FIRST) * len(LAST)


def person(n: int) -> str:
    """Name a person; 144 have different names."""
    return f"{FIRST[n % len(FIRST)]} {LAST[n // len(FIRST) % len(LAST)]}"


def day(n: int, form: str = "{y}-{m:02}-{d:02}") -> str:
    return form.format(y=1930 + n % 79, m=1 + n // 79 % 12, d=1 + n // 948 % 28)


PERSONAL: dict[str, Callable[[int], str]] = {
    **IDS,
    "consecutive": str,
    "leading zeros": lambda n: f"{n:09}",
    "codes": lambda n: f"{'ABCDEFGH'[n % 8]}{n // 8 % 100:02}-{n:05}",
    "telephones, spaced": lambda n: f"+49 {n % 90 + 10} {n:07}",
    "telephones, bare": lambda n: f"0{n % 90 + 10} {n:07}",
    "telephones, slash": lambda n: f"0{n % 90 + 10}/{n:07}",
    "telephones, dashes": lambda n: f"({n % 900 + 100}) {n // 1000 % 900 + 100}-{n % 9000 + 1000}",
    "telephones, joined": lambda n: f"+49{n:010}",
    "mail with names": lambda n: f"{person(n).replace(' ', '.').lower()}{n}@example.org",
    "names": person,
    "surnames first": lambda n: ", ".join(reversed(person(n).split())),
    "dates of birth": day,
    "German dates of birth": lambda n: day(n, "{d:02}.{m:02}.{y}"),
}
"""Kinds of values that tell persons apart, from a number."""

SMALL = {"consecutive", "names", "surnames first", "dates of birth", "German dates of birth"}

OTHERS: dict[str, Callable[[Random], str]] = {
    "codes": lambda rng: rng.choice(["E11.9", "I10", "J45", "K21", "M54.5"]),
    "words": lambda rng: rng.choice(["milk", "bread", "beer", "cheese, old", "jam"]),
    "small numbers": lambda rng: str(rng.randint(1, 9)),
    "numbers": lambda rng: str(rng.randint(100, 140)),
    "sexes": lambda rng: rng.choice("mf"),
    "flags": lambda rng: rng.choice("01"),
    "truths": lambda rng: rng.choice(["True", "False"]),
    "dates": lambda rng: f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.2024",
    "prices": lambda rng: f"{rng.randint(1, 40)},{rng.randint(10, 99)}",
    "mostly nothing": lambda rng: rng.choice(["", "", "", "Z37"]),
    "nothing": lambda rng: "",
}
"""Kinds of other columns."""

MORE: dict[str, Callable[[Random], str]] = {
    **OTHERS,
    "ages": lambda rng: str(rng.randint(18, 94)),
    "goods": lambda rng: rng.choice(
        ["whole milk", "rice", "beer", "rolls", "root vegetables", "soda", "tea"]
    ),
    "days": lambda rng: f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "notes": lambda rng: rng.choice(["see\nletter", "", 'said "no"', "none", "line 1\r\nline 2"]),
    "article numbers": lambda rng: str(rng.randint(1000, 1040)),
}
ITEMS = ("codes", "words", "small numbers", "numbers", "goods", "article numbers")
ID_HEADS = ("patient_id", "id", "pat", "MRN", "Fall", "customer", "person", "order_id", "phone", "V1")
ITEM_HEADS = ("item", "icd10", "product", "code", "thing", "V2", "diagnosis", "article", "dx")
OTHER_HEADS = ("age", "date", "sex", "zip", "V3", "V4", "ward", "amount", "note", "x", "Alter", "unit")

SEPARATORS = (",", ";", "\t", "|", " ", "  ")
ENDINGS = (".csv", ".tsv", ".txt", ".dat", ".data", "", "-")


@dataclass(frozen=True)
class Found:
    """A file with ids, or without any.

    Attributes
    ----------
    kind : str
        The kind of file, for counts.
    name : str
        The name of the file; ``-`` for standard input.
    content : bytes
        Its bytes.
    ids : frozenset of str
        The values of the column of ids.
    column : str
        The name of that column; empty: the IDs are among the items.
    rows : list of sets, optional
        The rows of a file that contains no ids.
    """

    kind: str
    name: str
    content: bytes
    ids: frozenset[str] = frozenset()
    column: str = ""
    rows: list[frozenset[str]] | None = None


# --- files with ids


def random_file(rng: Random, form: str = "text") -> Found:
    """Make a file with a column of ids, anywhere, below names or none: text, xlsx, jsonl or parquet."""
    kind = rng.choice(list(PERSONAL))
    layout = rng.choice(("long", "long", "record", "wide", "ragged", "ragged", "single"))
    lines, at, header = _lines(rng, kind, layout)
    ids = frozenset(line[at] for line in lines[header:])
    named = f"{form} / {layout} / {kind}"
    if form == "xlsx":
        if not header:
            lines = [[f"c{i + 1}" for i in range(max(map(len, lines)))], *lines]
        name = (lines[0][at] if at >= 0 else "") or f"column {at + 1}"
        return Found(named, "a.xlsx", xlsx({"Sheet": lines}), ids, name)
    if form == "jsonl":
        return _json(rng, named, lines, at, header, ids)
    if form == "parquet":
        return _parquet(rng, named, lines, at, header, ids)
    column = lines[0][at] if header else str(at + 1)
    separator = rng.choice(SEPARATORS)
    text = as_text(rng, lines, separator)
    ending = rng.choice(ENDINGS)
    name = ending if ending == "-" else f"a{ending}"
    content = (rng.choice(("", "", "", "\ufeff")) + text).encode()
    return Found(f"{named} / {separator!r} {ending or 'none'}", name, content, ids, column)


def how_many(rng: Random) -> int:
    """Draw a number of lines: mostly few."""
    return rng.choice(
        [rng.randint(3, 5), rng.randint(3, 12), rng.randint(6, 30), rng.randint(30, 90), _many(rng)]
    )


def _many(rng: Random) -> int:
    return rng.randint(100, 2000) if rng.random() < 0.12 else rng.randint(13, 60)


def _lines(rng: Random, kind: str, layout: str) -> tuple[Lines, int, bool]:
    """Make lines, and tell where the ids stand (-1: at their ends) and whether the first line is a header."""
    n = how_many(rng)
    often = 0.2 if layout == "ragged" and kind != "consecutive" else 0.7 * (layout == "long")
    again = rng.random() < often
    n_ids = max(3, n // rng.randint(2, 4)) if again else n
    n_ids = min(n_ids, 250)
    start = rng.choice((0, 1, 1, 1000)) if kind == "consecutive" else 0
    numbers = [*range(start, start + n_ids)]
    if kind != "consecutive":
        space = PEOPLE if kind in {"names", "surnames first"} else 20000 if kind in SMALL else 9_000_000
        low = 1_000_000 if space == 9_000_000 else 0
        numbers = rng.sample(range(low, low + space), min(n_ids, space))
    keys = [PERSONAL[kind](number) for number in numbers]
    if again:
        keys = [key for key in keys for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.2:
        rng.shuffle(keys)
    item = rng.choice(ITEMS)
    if layout == "single":
        lines, at, heads = [[key] for key in keys], 0, [rng.choice(ID_HEADS)]
    elif layout == "ragged":
        return _ragged(rng, keys, kind, item)
    else:
        width = rng.choice((2, 2, 3, 4, 6)) if layout == "long" else rng.choice((2, 3, 4, 7))
        kinds = [item, *(rng.choice(list(MORE)) for _ in range(width - 2))]
        if layout == "wide":
            kinds = ["ages", *["codes"] * (width - 1), "mostly nothing"]
        rng.shuffle(kinds)
        at = rng.choice((0, 0, 0, len(kinds), rng.randint(0, len(kinds))))
        heads = [*rng.sample(ITEM_HEADS, 1), *rng.sample(OTHER_HEADS, len(kinds) - 1)]
        if layout == "wide":
            heads = [f"DX{i}" for i in range(1, len(kinds) + 1)]
        else:
            place = kinds.index(item)
            heads[0], heads[place] = heads[place], heads[0]
        lines = [[MORE[one](rng) for one in kinds] for _ in keys]
        for line, key in zip(lines, keys, strict=True):
            line.insert(at, key)
        heads.insert(at, rng.choice(ID_HEADS))
    header = rng.random() < 0.5
    return [heads, *lines] if header else lines, at, header


def _ragged(rng: Random, keys: Sequence[str], kind: str, item: str) -> tuple[Lines, int, bool]:
    """Put an id before, after or in the second place of as many items as there are."""
    if kind == "consecutive" and rng.random() < 0.7:
        item = rng.choice(("codes", "words", "goods", "numbers"))
    at = rng.choice((0, 0, 0, -1, 1))
    first = MORE[rng.choice(("ages", "sexes", "days", "codes"))] if at == 1 or rng.random() < 0.2 else None
    longest = rng.choice((2, 5, 12))
    lines = []
    for key in keys:
        items = list(dict.fromkeys(MORE[item](rng) for _ in range(rng.randint(1, longest))))
        more = [first(rng)] if first else []
        lines.append([*more, *items, key] if at < 0 else [*more, key, *items] if at else [key, *more, *items])
    return lines, at, False


def as_text(rng: Random, lines: Lines, separator: str) -> str:
    """Write lines as text, with quotes or without, and ends of lines of any sort."""
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    style = rng.choice(("where needed", "where needed", "all", "none"))
    if style == "none":
        plain = [[" ".join(field.split()) for field in line] for line in lines]
        text = "".join(separator.join(line) + end for line in plain)
    elif len(separator) == 1:
        out = io.StringIO()
        broken = any("\n" in field for line in lines for field in line)
        every = style == "all" or broken
        writer = csv.writer(
            out,
            delimiter=separator,
            lineterminator=end,
            quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL,
        )
        writer.writerows(lines)
        text = out.getvalue()
    else:
        widths = [
            max(len(line[at]) for line in lines if len(line) > at) for at in range(max(map(len, lines)))
        ]
        text = ""
        for line in lines:
            fields = [f'"{field}"' if " " in field or "\n" in field or not field else field for field in line]
            if style == "all":
                fields = [field if field.startswith('"') else f'"{field}"' for field in fields]
            pad = rng.random() < 0.5
            text += (
                separator.join(field.ljust(widths[at]) if pad else field for at, field in enumerate(fields))
                + end
            )
    if rng.random() < 0.1:
        text = text.replace(end, separator + end)
    if rng.random() < 0.05:
        text = end + text
    return text.removesuffix(end) if rng.random() < 0.1 else text


def _json(rng: Random, named: str, lines: Lines, at: int, header: bool, ids: frozenset[str]) -> Found:
    def cell(value: str) -> object:
        return int(value) if value.isdigit() and str(int(value)) == value and numbers else value

    numbers = rng.random() < 0.5
    body = lines[header:]
    style = rng.choice(("arrays", "arrays", "objects", "sets", "sets with ids"))
    if style == "arrays":
        rows: list[object] = [[cell(field) for field in line if field] for line in body]
        column = ""
    elif style == "objects":
        heads = lines[0] if header else [f"c{i + 1}" for i in range(max(map(len, lines)))]
        rows = [{head: cell(field) for head, field in zip(heads, line, strict=False)} for line in body]
        column = heads[at]
    else:
        rows = []
        for line in body:
            place = at % len(line)
            items = [field for i, field in enumerate(line) if field and (i != place or style != "sets")]
            rows.append({"who": line[at], "items": [cell(field) for field in items]})
        column = "who" if style == "sets" else ""
    text = "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows)
    ending = rng.choice((".jsonl", ".jsonl", ".txt", "", "-", ".data"))
    name = ending if ending == "-" else f"a{ending}"
    return Found(f"{named} / {style} {ending or 'none'}", name, text.encode(), ids, column)


def _parquet(rng: Random, named: str, lines: Lines, at: int, header: bool, ids: frozenset[str]) -> Found:
    width = max(map(len, lines))
    heads = lines[0] if header else [f"c{i + 1}" for i in range(width)]
    body = lines[header:]
    style = rng.choice(("columns", "sets", "sets with ids"))
    if style == "columns":
        columns: dict[str, object] = {
            head: [line[i] if len(line) > i else None for line in body] for i, head in enumerate(heads)
        }
        column = heads[at]
    else:
        sets = [
            [field for i, field in enumerate(line) if field and (i != at % len(line) or style != "sets")]
            for line in body
        ]
        columns = {"who": [line[at] for line in body], "items": sets}
        column = "who" if style == "sets" else ""
    out = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(out)
    return Found(f"{named} / {style}", "a.parquet", out.getvalue(), ids, column)


# --- rows of items


def random_rows(rng: Random) -> Found:
    """Make rows of items of different lengths, in which items come back; from three to two thousand."""
    sort = rng.choice(("words", "two words", "integers", "large integers", "codes"))
    n_goods = rng.choice((6, 15, 40, 150, 600))
    goods = [_good(sort, i) for i in rng.sample(range(1, 4 * n_goods), n_goods)]
    power = rng.choice((0.3, 0.7, 1, 1.3))
    weights = [1 / (i + 1) ** power for i in range(len(goods))]
    longest = rng.choice((3, 6, 12, 30))
    n = rng.choice((3, 5, 10, 20, 50, 100, 400, 2000 if rng.random() < 0.2 else 200))
    lines = [list(dict.fromkeys(rng.choices(goods, weights, k=rng.randint(1, longest)))) for _ in range(n)]
    order = rng.choice(("drawn", "sorted", "ascending"))
    if order == "ascending":
        lines = [sorted(line, key=lambda one: (len(one), one)) for line in lines]
    elif order == "sorted":
        lines = [sorted(line) for line in lines]
    numbers = sort in {"integers", "large integers"}
    separator = " " if numbers and rng.random() < 0.7 else rng.choice((",", ";", "\t", "|"))
    ending = (
        rng.choice((".dat", ".txt", "", "-")) if separator == " " else rng.choice((".csv", ".csv", "", "-"))
    )
    if separator == "\t" and ending == ".csv":
        ending = ".tsv"
    text = "".join(separator.join(line) + "\n" for line in lines)
    kind = f"{sort}, {order}"
    name = ending if ending == "-" else f"a{ending}"
    return Found(f"{n:4} / {kind}", name, text.encode(), rows=[frozenset(line) for line in lines])


def _good(sort: str, number: int) -> str:
    if sort == "integers":
        return str(number)
    if sort == "large integers":
        return str(80_000 + 7 * number)
    if sort == "codes":
        return f"{'ABCDEFGHIJ'[number % 10]}{number // 10 % 100:02}.{number // 1000}"
    word = "".join("bcdfgklmnprst"[number // 13**i % 13] + "aeiou"[number // 5**i % 5] for i in range(3))
    return f"{('fresh', 'old', 'sweet', 'red')[number % 4]} {word}" if sort == "two words" else word


# --- events of people


def event_table(rng: Random, person: str, event: str) -> tuple[list[str], Lines]:
    """Make 90 events of 30 people, with a line for each of their products."""
    goods = ["whole milk", "rice", "beer", "rolls", "soda", "tea"]
    lines = []
    for number in range(90):
        who, what = f"{5000 + number // 3}", f"{800000 + number}"
        lines += [[who, what, good] for good in rng.sample(goods, rng.randint(2, 3))]
    return [person, event, "product"], lines


def _as_file(rng: Random, kind: str, head: list[str], lines: Lines, ids: set[str]) -> Found:
    separator = rng.choice(",;\t|")
    name = rng.choice((".csv", ".txt", ".tsv", "", ".data"))
    text = "".join(separator.join(line) + "\n" for line in [head, *lines])
    return Found(kind, name, text.encode(), frozenset(ids), head[0])


def _orders(rng: Random) -> Found:
    person = rng.choice(("user_id", "Kundennr", "cliente", "PATNR", "socio", "AnonID"))
    event = rng.choice(("order_id", "pedido", "fallnr", "InvoiceNo", "séjour"))
    head, lines = event_table(rng, person, event)
    at = [0, 1, 2]
    rng.shuffle(at)
    turned = [[line[i] for i in at] for line in lines]
    return _as_file(rng, "orders", [head[i] for i in at], turned, {line[0] for line in lines})


def _ward(rng: Random) -> Found:
    head = [rng.choice(("patient_id", "PATNR", "paciente", "NIR")), "age", "sex", "zip", "icd"]
    ids = rng.sample(range(100_000, 900_000), 60)
    lines = [
        [
            str(one),
            str(rng.randint(1, 90)),
            rng.choice("FM"),
            rng.choice(["10115", "20095"]),
            OTHERS["codes"](rng),
        ]
        for one in ids
    ]
    return _as_file(rng, "ward", head, lines, set(map(str, ids)))


def _days(rng: Random) -> Found:
    head, lines = ["PATNR", "sex", "AUFNDAT", "ICD10"], []
    ids = rng.sample(range(100_000, 900_000), 40)
    for one in ids:
        sex = rng.choice("mf")
        lines += [[str(one), sex, MORE["days"](rng), OTHERS["codes"](rng)] for _ in range(rng.randint(1, 4))]
    return _as_file(rng, "days", head, lines, set(map(str, ids)))


def _mails(rng: Random) -> Found:
    ids = [PERSONAL["addresses"](one) for one in rng.sample(range(10**6, 10**7), 60)]
    lines = [[one, MORE["goods"](rng), str(rng.randint(18, 90))] for one in ids for _ in range(2)]
    return _as_file(rng, "mails", ["e-mail", "product", "age"], lines, set(ids))


EVENT_TABLES = (_orders, _ward, _days, _mails)


def sorted_numbers(rng: Random) -> list[list[int]]:
    """Make 2,377 rows of up to 173 ascending numbers below 1,000."""
    lengths = [
        rng.choice((rng.randint(1, 173), min(173, int(rng.expovariate(1 / 30)) + 1))) for _ in range(2377)
    ]
    return [sorted({rng.randrange(1, 1000) for _ in range(n)}) for n in lengths]
