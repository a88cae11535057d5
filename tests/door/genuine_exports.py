"""Rows of items, which must be read without asking."""

from __future__ import annotations

import json
from random import Random

from exports import CODES, Export, as_rows, ask, baskets, either, patients, read

TAIL = [f"item {i}" for i in range(300)]


def genuine_exports() -> list[Export]:
    sales = baskets(80, seed=21)
    rows = as_rows(sales)
    text = _lines(sales)
    ordered = [sorted(sale) for sale in sales]
    lonely = [sale[:1] if i % 10 else sale for i, sale in enumerate(sales)]
    numbers = baskets(80, seed=22, goods=[str(i) for i in range(1, 41)])
    ascending = [sorted(sale, key=int) for sale in numbers]
    commas = [[f"{good}, fresh" if good.endswith("s") else good for good in sale] for sale in sales]
    tail = baskets(150, seed=23, most=8, goods=TAIL)
    same = [["milk", "bread"], ["milk"], ["milk", "bread"], ["beer"], ["milk", "bread"], ["milk"]] * 6
    blank = [sale if i % 7 else [] for i, sale in enumerate(sales)]
    long = baskets(25, seed=24, most=40, goods=[str(i) for i in range(1000, 1120)])
    umlauts = [[good.replace("a", "ä") for good in sale] for sale in sales]
    diagnoses = [list(patient.codes) for patient in patients(70, seed=25, most=7)]
    pages = baskets(
        50,
        seed=26,
        goods=["/", "/shop?x=1&y=2", "/cart", "/login", "/search;jsessionid", "/help#top", "/about"],
    )
    uneven = [
        [*CODES],
        *(["I10"] * 1 for _ in range(20)),
        *([c, "I10"] for c in CODES[:1] + CODES[2:]),
        ["R51", "H25", "Z37"],
    ]
    Random(1).shuffle(uneven)
    return [
        read("baskets in no order", "a.csv", text, rows),
        read("baskets in order", "b.csv", _lines(ordered), rows),
        read("baskets, mostly of one item", "c.csv", _lines(lonely), as_rows(lonely)),
        read(
            "baskets of one item each",
            "d.csv",
            _lines([sale[:1] for sale in sales]),
            as_rows([sale[:1] for sale in sales]),
        ),
        read(
            "three baskets",
            "e.csv",
            "milk,bread\nmilk\nbeer,milk,bread\n",
            as_rows([["milk", "bread"], ["milk"], ["beer", "milk", "bread"]]),
        ),
        read("baskets of numbers", "f.csv", _lines(numbers), as_rows(numbers)),
        read("baskets of ascending numbers", "g.csv", _lines(ascending), as_rows(ascending)),
        read(
            "quoted commas",
            "h.csv",
            "".join(",".join(f'"{x}"' for x in sale) + "\n" for sale in commas),
            as_rows(commas),
        ),
        read(
            "some quoted commas",
            "i.csv",
            "".join(",".join(f'"{x}"' if "," in x else x for x in sale) + "\n" for sale in commas),
            as_rows(commas),
        ),
        read("equal rows", "j.csv", _lines(same), as_rows(same)),
        read("empty rows", "k.csv", _lines(blank), as_rows(blank)),
        read("baskets with semicolons", "l.csv", _lines(sales, ";"), rows),
        read("baskets with tabs", "m.tsv", _lines(sales, "\t"), rows),
        read("baskets with tabs in a .csv", "n.csv", _lines(sales, "\t"), rows),
        read("baskets with bars", "o.csv", _lines(sales, "|"), rows),
        ask(
            "semicolons and commas in the items",
            "p.csv",
            _lines(commas, ";"),
            as_rows(commas),
            "--separator",
            ";",
            words=["--separator"],
            shown=False,
        ),
        read("umlauts", "q.csv", _lines(umlauts), as_rows(umlauts)),
        read("umlauts with a mark", "r.csv", b"\xef\xbb\xbf" + _lines(umlauts).encode(), as_rows(umlauts)),
        read("umlauts in UTF-16", "s.csv", _lines(umlauts, ";").encode("utf-16"), as_rows(umlauts)),
        read(
            "umlauts in Windows-1252",
            "t.csv",
            _lines(umlauts).encode("cp1252"),
            as_rows(umlauts),
            "--encoding",
            "cp1252",
        ),
        read("baskets, lines end with CR LF", "u.csv", text.replace("\n", "\r\n"), rows),
        read("baskets, lines end with CR", "v.csv", text.replace("\n", "\r"), rows),
        read("baskets, no line end at the end", "w.csv", text.rstrip("\n"), rows),
        read("a long tail of rare items", "x.csv", _lines(tail), as_rows(tail)),
        read("long rows", "y.csv", _lines(long), as_rows(long)),
        read("long rows in FIMI", "y.dat", _lines(long, " "), as_rows(long)),
        read("baskets of diagnoses", "z.csv", _lines(diagnoses), as_rows(diagnoses)),
        read("baskets of pages", "pages.csv", _lines(pages), as_rows(pages)),
        read("a long row among short ones", "uneven.csv", _lines(uneven), as_rows(uneven)),
        read(
            "separators at the ends of ragged lines",
            "ends.csv",
            "".join(",".join(sale) + ",\n" for sale in sales),
            rows,
        ),
        read("blanks around items", "blanks.csv", _lines(sales, " , "), rows),
        read("baskets in JSON lines", "a.jsonl", "".join(json.dumps(sale) + "\n" for sale in sales), rows),
        *_of_equal_length(),
    ]


def _of_equal_length() -> list[Export]:
    """Return sets of two or three, which may be tables; commands that are shown must read them."""
    threes = [Random(i).sample([str(n) for n in range(1, 30)], 3) for i in range(90)]
    twos = [Random(i).sample(CODES, 2) for i in range(90)]
    asbasket = ("--format", "basket")
    return [
        either(
            ask(
                "FIMI of sets of three", "three.dat", _lines(threes, " "), as_rows(threes), "--format", "fimi"
            )
        ),
        ask("sets of three", "three.csv", _lines(threes), as_rows(threes), *asbasket),
        ask("sets of two", "two.csv", _lines(twos), as_rows(twos), *asbasket),
        ask("sets of two with tabs", "two.tsv", _lines(twos, "\t"), as_rows(twos), *asbasket),
    ]


def _lines(rows: list[list[str]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)
