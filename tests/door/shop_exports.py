"""Sales, visits of pages, and files of other tools."""

from __future__ import annotations

import uuid
from random import Random

from exports import (
    GOODS,
    Export,
    Lines,
    Rows,
    as_rows,
    ask,
    baskets,
    by,
    columns_of,
    either,
    grouped,
    read,
    table,
)

SALES = baskets(40)
RECEIPTS = [str(n) for n in Random(4).sample(range(8_200_000, 8_300_000), 40)]
PAIRS = [(receipt, good) for receipt, sale in zip(RECEIPTS, SALES, strict=True) for good in sale]
ROWS = as_rows(SALES)


def receipts() -> list[Export]:
    """Lines of receipts, as tills and shops export them."""
    rng = Random(7)
    lines: Lines = [["receipt", "article", "quantity", "price"]]
    lines += [
        [receipt, good, str(rng.randint(1, 3)), f"{rng.randint(49, 999) / 100:.2f}".replace(".", ",")]
        for receipt, good in PAIRS
    ]
    till: Lines = [["date", "time", "till", "receipt no", "EAN", "text", "amount"]]
    till += [
        [
            "2024-05-04",
            f"{8 + i // 30:02}:{i % 60:02}",
            f"T{i % 3}",
            receipt,
            f"40{GOODS.index(good):011}",
            good,
            "1",
        ]
        for i, (receipt, good) in enumerate(PAIRS)
    ]
    instacart: Lines = [["order_id", "product_id", "add_to_cart_order", "reordered"]]
    instacart += [
        [
            receipt,
            str(13_000 + GOODS.index(good)),
            str(SALES[RECEIPTS.index(receipt)].index(good) + 1),
            str(rng.randint(0, 1)),
        ]
        for receipt, good in PAIRS
    ]
    two = [["order_id", "item"], *PAIRS]
    coded = [
        ["order_id", "product_id"],
        *((receipt, str(13_000 + GOODS.index(good))) for receipt, good in PAIRS),
    ]
    codes = grouped((line[0], line[1]) for line in coded[1:])
    shuffled = PAIRS[:]
    Random(3).shuffle(shuffled)
    retail: Lines = [
        [
            "InvoiceNo",
            "StockCode",
            "Description",
            "Quantity",
            "InvoiceDate",
            "UnitPrice",
            "CustomerID",
            "Country",
        ]
    ]
    retail += [
        [
            receipt,
            f"8{5000 + GOODS.index(good)}A",
            good.upper(),
            "6",
            "12/1/2010 8:26",
            "2.55",
            str(17_000 + int(receipt) % 97),
            "United Kingdom",
        ]
        for receipt, good in PAIRS
    ]
    price = [f"{good} {GOODS.index(good) + 1}.49" for good in GOODS]
    print_out = "".join(
        f"RECEIPT {receipt}\n" + "".join(f"{price[GOODS.index(good)]}\n" for good in sale) + "\n"
        for receipt, sale in zip(RECEIPTS, SALES, strict=True)
    )
    return [
        ask(
            "lines of receipts",
            "receipts.csv",
            table(lines, ";"),
            ROWS,
            *by("receipt", "article"),
            columns=columns_of(lines),
            ids=RECEIPTS,
        ),
        ask(
            "a till",
            "till.csv",
            table(till, ";", "\r\n"),
            ROWS,
            *by("receipt no", "text"),
            columns=columns_of(till, "receipt no", "text", "EAN"),
            shown=False,
            ids=RECEIPTS,
        ),
        ask(
            "Instacart's order_products",
            "order_products.csv",
            table(instacart),
            codes,
            *by("order_id", "product_id"),
            columns=columns_of(instacart),
            ids=RECEIPTS,
        ),
        ask(
            "online retail",
            "online_retail.csv",
            table(retail),
            ROWS_UPPER,
            *by("InvoiceNo", "Description"),
            "--rows-are-events",
            shown=False,
            ids=RECEIPTS,
        ),
        read("order_id,item", "orders.csv", table(two), ROWS, words=("order_id", "item")),
        read(
            "order_id;product",
            "orders2.csv",
            table([["order_id", "product"], *PAIRS], ";"),
            ROWS,
            words=("order_id", "product"),
        ),
        read("order_id|item, an ending of its own", "orders.psv", table(two, "|"), ROWS, words=("order_id",)),
        read("order_id and item with tabs", "orders.tsv", table(two, "\t"), ROWS, words=("order_id",)),
        read(
            "order_id,item in no order",
            "orders3.csv",
            table([two[0], *shuffled]),
            grouped(shuffled),
            words=("order_id",),
        ),
        read(
            "order_id,item all quoted, with a mark",
            "orders4.csv",
            b"\xef\xbb\xbf" + table(two, quote_all=True).encode(),
            ROWS,
            words=("order_id",),
        ),
        read(
            "item,order_id",
            "orders5.csv",
            table([["item", "order_id"], *((b, a) for a, b in PAIRS)]),
            ROWS,
            words=("order_id",),
        ),
        either(
            ask(
                "order_id,product_id",
                "orders6.csv",
                table(coded),
                codes,
                *by("order_id", "product_id"),
                ids=RECEIPTS,
            )
        ),
        either(
            ask(
                "an order for each line",
                "orders7.csv",
                table([["order_id", "item"], *((r, s[0]) for r, s in zip(RECEIPTS, SALES, strict=True))]),
                [frozenset(sale[:1]) for sale in SALES],
                *by("order_id", "item"),
                ids=RECEIPTS,
            )
        ),
        read(
            "order_id,item as rows of items",
            "orders8.csv",
            table(two),
            [frozenset(line) for line in two],
            "--format",
            "basket",
            "--not-ids",
            "1",
        ),
        ask(
            "a printed roll of receipts",
            "roll.csv",
            print_out,
            ids={f"RECEIPT {receipt}" for receipt in RECEIPTS},
        ),
        either(
            ask(
                "customers and purchases",
                "customers.csv",
                table([["customer", "product"], *PAIRS]),
                ROWS,
                *by("customer", "product"),
                ids=RECEIPTS,
            )
        ),
    ]


RENAMED = dict(zip(GOODS, ("semi-finished bread", "cheese, old", "a-b", "b"), strict=False))
ROWS_UPPER: Rows = [frozenset(good.upper() for good in row) for row in ROWS]


def _onehot(yes: str, no: str, goods: list[str]) -> Lines:
    return [goods, *([yes if good in sale else no for good in goods] for sale in SALES)]


def of_tools() -> list[Export]:
    """Return files as arules, mlxtend, pandas, R, Amnesia, ARX and SPMF write them."""
    goods = list(GOODS)
    zeros, truths = _onehot("1", "0", goods), _onehot("True", "False", goods)
    span = ("--item-columns", f"{goods[0]}-{goods[-1]}")
    listed = ("--item-columns", ",".join(goods))
    numbered = [["", *truths[0]], *([str(i), *line] for i, line in enumerate(truths[1:]))]
    rownames = [["", "pat", "icd"], *([str(i), *pair] for i, pair in enumerate(PAIRS, 1))]
    unnamed = [["", "receipt", "article", "qty"], *([str(i), *pair, "1"] for i, pair in enumerate(PAIRS))]
    named = [
        ["basket", *zeros[0]],
        *([receipt, *line] for receipt, line in zip(RECEIPTS, zeros[1:], strict=True)),
    ]
    counted = [
        zeros[0],
        *([str(int(cell) * (1 + i % 3)) for cell in line] for i, line in enumerate(zeros[1:])),
    ]
    single = "".join(f"{receipt} {good.replace(' ', '_')}\n" for receipt, good in PAIRS)
    spmf = "".join("".join(f"{GOODS.index(good) + 1} -1 " for good in sale) + "-2\n" for sale in SALES)
    names = "@CONVERTED_FROM_TEXT\n" + "".join(f"@ITEM={i}={good}\n" for i, good in enumerate(GOODS, 1))
    numbers = as_rows([str(GOODS.index(good) + 1) for good in sale] for sale in SALES)
    fimi = "".join(" ".join(str(GOODS.index(good) + 1) for good in sale) + " \n" for sale in SALES)
    rel = [
        ["id", "age", "zip", "items"],
        *(
            [receipt, str(20 + i), f"1{i:04}", "|".join(sale)]
            for i, (receipt, sale) in enumerate(zip(RECEIPTS, SALES, strict=True))
        ),
    ]
    adult = [["sex", "age", "race", "marital-status", "education", "salary-class"]]
    rng = Random(11)
    adult += [
        [
            rng.choice(["Male", "Female"]),
            str(rng.randint(18, 80)),
            rng.choice(["White", "Black", "Other"]),
            rng.choice(["Married", "Divorced"]),
            rng.choice(["Bachelors", "HS-grad"]),
            rng.choice(["<=50K", ">50K"]),
        ]
        for _ in range(60)
    ]
    return [
        ask("one-hot with 0 and 1", "onehot.csv", table(zeros), ROWS, *span),
        ask("one-hot with 0 and 1, a list of columns", "onehot2.csv", table(zeros, ";"), ROWS, *listed),
        ask(
            "mlxtend's one-hot table with an index",
            "encoded.csv",
            table(numbered),
            ROWS,
            *span,
            ids=[str(i) for i in range(40)],
        ),
        ask("mlxtend's one-hot table without", "encoded2.csv", table(truths), ROWS, *span),
        ask(
            "a one-hot matrix of R",
            "matrix.csv",
            table(
                [
                    [f"{c}" for c in line]
                    for line in [
                        ["", *_onehot("TRUE", "FALSE", goods)[0]],
                        *([str(i), *line] for i, line in enumerate(_onehot("TRUE", "FALSE", goods)[1:], 1)),
                    ]
                ],
                quote_all=True,
            ),
            ROWS,
            *span,
            ids=[str(i) for i in range(1, 41)],
        ),
        ask("one-hot with an id", "onehot3.csv", table(named), ROWS, *span, ids=RECEIPTS),
        ask(
            "one-hot with the id last",
            "onehot4.csv",
            table([[*line[1:], line[0]] for line in named]),
            ROWS,
            *span,
            ids=RECEIPTS,
        ),
        ask(
            "one-hot with names that contain commas and dashes",
            "onehot6.csv",
            table([["semi-finished bread", "cheese, old", "a-b", "b", *goods[4:]], *zeros[1:]]),
            [frozenset(RENAMED.get(good, good) for good in row) for row in ROWS],
            "--item-columns",
            "*",
        ),
        ask("one-hot, no header", "onehot5.csv", table(zeros[1:])),
        ask("a table of counts", "counts.csv", table(counted)),
        ask(
            "R's write.csv with row names",
            "r.csv",
            table(rownames, quote_all=True),
            ROWS,
            *by("pat", "icd"),
            columns=columns_of(rownames, "pat", "icd"),
            shown=False,
            ids=RECEIPTS,
        ),
        ask(
            "R's write.table",
            "r.txt",
            "".join(f'"{i}" "{a}" "{b}"\n' for i, (a, b) in enumerate(PAIRS, 1)),
            ids=RECEIPTS,
        ),
        ask(
            "pandas' to_csv",
            "pandas.csv",
            table(unnamed),
            ROWS,
            *by("receipt", "article"),
            columns=columns_of(unnamed, "receipt", "article"),
            ids=RECEIPTS,
        ),
        ask(
            "pandas' to_csv of ids alone",
            "pandas2.csv",
            table([["", "pat"], *([str(i), r] for i, r in enumerate(RECEIPTS))]),
            ids=RECEIPTS,
        ),
        ask(
            "a series of pandas",
            "series.csv",
            table([["", "0"], *([str(i), str(sale)] for i, sale in enumerate(SALES))]),
        ),
        ask("arules' single", "single.txt", single, ids={*single.splitlines(), *RECEIPTS}),
        ask("arules' single, as .csv", "single.csv", single, ids={*single.splitlines(), *RECEIPTS}),
        ask("arules' single with commas", "single2.csv", table(PAIRS), ids=RECEIPTS),
        ask(
            "arules' write with row names",
            "arules.csv",
            '"items"\n' + "".join(f'"{i}" "{{{",".join(sale)}}}"\n' for i, sale in enumerate(SALES, 1)),
        ),
        read("arules' basket", "arules2.csv", "".join(",".join(sale) + "\n" for sale in SALES), ROWS),
        read("Amnesia's set", "amnesia.csv", "".join("|".join(sale) + "\n" for sale in SALES), ROWS),
        ask(
            "Amnesia's set below a header of ids",
            "amnesia2.csv",
            "id,items\n"
            + "".join(f"{r},{'|'.join(sale)}\n" for r, sale in zip(RECEIPTS, SALES, strict=True)),
            ids=RECEIPTS,
        ),
        ask(
            "Amnesia's relational set",
            "relset.csv",
            table(rel),
            columns=columns_of(rel, "id", "age", "items"),
            ids=RECEIPTS,
        ),
        ask("ARX", "adult.csv", table(adult, ";"), columns=columns_of(adult)),
        read("SPMF", "sales.txt", spmf, numbers),
        read("SPMF with names", "named.txt", names + spmf, ROWS),
        read("SPMF without marks", "plain.txt", fimi.replace(" \n", "\n"), numbers),
        read("FIMI with blanks at the ends", "sales.dat", fimi, numbers),
        read("FIMI with CR LF", "sales2.dat", fimi.replace("\n", "\r\n"), numbers),
        ask(
            "FIMI of sessions and items",
            "sessions.dat",
            "".join(f"{r} {GOODS.index(g) + 1}\n" for r, g in PAIRS),
            ids=RECEIPTS,
        ),
        ask(
            "FIMI of sessions and items, as .txt",
            "sessions.txt",
            "".join(f"{r} {GOODS.index(g) + 1}\n" for r, g in PAIRS),
            ids=RECEIPTS,
        ),
        ask(
            "FIMI of items and sessions",
            "sessions2.dat",
            "".join(f"{GOODS.index(g) + 1} {r}\n" for r, g in PAIRS),
            ids=RECEIPTS,
        ),
        ask(
            "FIMI with tabs",
            "sessions3.dat",
            "".join(f"{r}\t{GOODS.index(g) + 1}\n" for r, g in PAIRS),
            ids=RECEIPTS,
        ),
        ask(
            "FIMI of three columns",
            "triples.dat",
            "".join(f"{r} {GOODS.index(g) + 1} {20 + i % 60}\n" for i, (r, g) in enumerate(PAIRS)),
            ids=RECEIPTS,
        ),
        ask(
            "FIMI that begins with a number of the row",
            "numbered.dat",
            "".join(
                " ".join([r, *(str(GOODS.index(g) + 1) for g in sale)]) + "\n"
                for r, sale in zip(RECEIPTS, SALES, strict=True)
            ),
            ids=RECEIPTS,
        ),
        ask("FIMI of ids alone", "alone.dat", "".join(f"{r}\n" for r in RECEIPTS), ids=RECEIPTS),
        ask(
            "SPMF that begins with a number of the row",
            "numbered.txt",
            "".join(f"{r} -1 {row}\n" for r, row in zip(RECEIPTS, spmf.splitlines(), strict=True)),
            ids=RECEIPTS,
        ),
        ask(
            "IBM's data of three columns",
            "ibm.data",
            "".join(f"{r:>10} {r:>10} {GOODS.index(g) + 1:>10}\n" for r, g in PAIRS),
            ids=RECEIPTS,
        ),
    ]


def web() -> list[Export]:
    """Logs of web servers."""
    rng = Random(9)
    pages = ["/", "/search", "/cart", "/login", "/help", "/about", "/product?id=7", "/product?id=12"]
    sessions = [uuid.UUID(int=rng.getrandbits(128)).hex for _ in range(25)]
    hits = [(s, p) for s in sessions for p in dict.fromkeys(rng.choices(pages, k=rng.randint(1, 5)))]
    timed = [
        ["session", "url", "time"],
        *([s, p, f"2024-06-01 12:{i // 60:02}:{i % 60:02}"] for i, (s, p) in enumerate(hits)),
    ]
    rows = grouped(hits)
    hosts = {s: f"192.168.{i}.{i * 7 % 256}" for i, s in enumerate(sessions)}
    common = "".join(
        f'{hosts[s]} - - [10/Oct/2023:13:55:{i % 60:02} +0000] "GET {p} HTTP/1.1" 200 {2000 + i}\n'
        for i, (s, p) in enumerate(hits)
    )
    tokens = [["session_id", "url"], *([s, f"{p}#sid={s}{i}"] for i, (s, p) in enumerate(hits))]
    return [
        ask(
            "session,url,time",
            "log.csv",
            table(timed),
            rows,
            *by("session", "url"),
            columns=columns_of(timed),
            ids=sessions,
        ),
        ask("a log with tabs, no header", "log.tsv", table(timed[1:], "\t"), ids=sessions),
        ask("a server's log", "access.log", common, ids=set(common.splitlines()) | set(hosts.values())),
        ask(
            "a server's log as .csv", "access.csv", common, ids=set(common.splitlines()) | set(hosts.values())
        ),
        ask(
            "pages that hold the session",
            "tokens.csv",
            table(tokens),
            ids={*sessions, *(line[1] for line in tokens[1:])},
        ),
        either(
            ask(
                "session_id,url",
                "two.csv",
                table([["session_id", "url"], *hits]),
                rows,
                *by("session_id", "url"),
                ids=sessions,
            )
        ),
        ask("addresses and pages", "hosts.csv", table([[hosts[s], p] for s, p in hits]), ids=hosts.values()),
        ask(
            "msnbc with a number",
            "msnbc.csv",
            "".join(
                f"{s},{' '.join(str(pages.index(p)) for p in row)}\n"
                for s, row in zip(sessions, rows, strict=True)
            ),
            ids=sessions,
        ),
    ]


def shop_exports() -> list[Export]:
    return [*receipts(), *of_tools(), *web()]
