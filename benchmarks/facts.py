"""Facts: the loss of each order, and the time for large files.

    python benchmarks/facts.py encounters DATA [--eighths] [--lines] [--parts WEIGHT] [--codes]
                                               [--seconds 300]
    python benchmarks/facts.py columns DATA [--order first] [--seconds 300]
    python benchmarks/facts.py events [--people 100000] [--number 1000000] [--codes 1000] [--months 24]
    python benchmarks/facts.py carts DATA
    python benchmarks/facts.py persons DATA [--order last] [--algorithm rt] [--seconds 300]

encounters: DATA is a folder with diabetes_encounters.csv (patient, encounter, days, primary, others) and
diabetes_rt_diagnoses.csv, the hierarchy of the codes. The encounters are cut into four periods of equal size,
and `primary` and `others` are one column of codes; k = 5, m = 2. Each plain order is solved with the exact
algorithm: LM, the share of facts that keep each part, seconds. --eighths cuts them into eight, and puts
`days` in bands. --lines then searches for a line in each branch; --parts minimizes the loss by parts instead,
with this weight for the codes and 1 for the other parts; --codes hides whole codes instead of single facts.

columns: the eighths with `days` in bands, `primary` and `others` as two columns, with 1 and 2 known items;
and then the same with m = 3 for all.

events: synthetic events of people, with a few frequent codes, in a file with a line for each event: read,
released with `aa` (every order), and verified from the published files.

carts: the same with instacart_long.csv in DATA, each line with a made-up weekday and quantity.

persons: the patients of diabetes_rt.csv in DATA with age, gender and race, which an attacker may know, and
their diagnoses, each in a made-up month of a year: (k,k^m)-anonymous, k = 5, m = 2.

Seconds are those of the processor; all is seeded.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import setveil as sv

FIRST_YEAR = 2001  # made-up years, which have no others below them
WEEKDAYS = 7


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took, and how much memory there was at the most until then."""
    start, wall = time.process_time(), time.perf_counter()
    yield
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, wall = time.process_time() - start, time.perf_counter() - wall
    print(f"{what}: {cpu:.1f} s of the processor, {wall:.1f} s, at most {peak:,.0f} MB", flush=True)


def in_periods(data: Path, number: int) -> pl.DataFrame:
    """Read the encounters, each with its period."""
    table = pl.read_csv(data / "diabetes_encounters.csv", infer_schema=False)
    years = [str(FIRST_YEAR + number * at // table.height) for at in range(table.height)]
    return table.with_columns(period=pl.Series(years))


def columns(args: argparse.Namespace) -> None:
    """Anonymize two columns with an m of their own, and with one for all."""
    facts = sv.read_facts(
        in_periods(args.data, 8), id="patient", sets={"primary": {"m": 1}, "others": {"m": 2}},
        when={"period": "year"}, amount={"days": [1, 3, 7, 15]},
    )  # fmt: skip
    print(facts)
    tree = sv.read_hierarchy(args.data / "diabetes_rt_diagnoses.csv")
    for m in (facts.m, 3):
        with timed(f"released, m = {m}"):
            release = sv.anonymize(
                facts, k=5, m=m, hierarchy={"primary": tree, "others": tree},
                algorithm=sv.Exact(time_limit=args.seconds), fact_order=args.order,
            )  # fmt: skip
        tell(release)
        with timed("verified"):
            assert sv.verify(release, k=5, m=m)  # noqa: S101


def encounters(args: argparse.Namespace) -> None:
    """Run the orders on patients' encounters and print a line for each."""
    table = in_periods(args.data, 8 if args.eighths else 4)
    amount = {"days": [1, 2, 4, 7]} if args.eighths else {}
    with timed("read"):
        facts = sv.read_facts(
            table, id="patient", sets="codes", item_columns="primary,others", when={"period": "year"},
            amount=amount,
        )  # fmt: skip
    print(facts)
    parts = {"fact_loss": "parts", "fact_weights": {"codes": args.parts}}
    more: dict[str, Any] = {} if args.parts is None else parts
    tree = sv.read_hierarchy(args.data / "diabetes_rt_diagnoses.csv")
    with timed("released"):
        promise = sv.KmAnonymity(k=5, m=2, known="codes" if args.codes else "facts")
        release = sv.anonymize(
            facts, promise, hierarchy=tree, algorithm=sv.Exact(time_limit=args.seconds),
            fact_lines=args.lines, **more,
        )  # fmt: skip
    tell(release)


def tell(release: sv.VerifiedRelease) -> None:
    """Print a line for each order, and the chosen one."""
    record = release.report["facts"]
    for one in record["orders"]:
        gap = f"gap {one['gap']:.2%}" if "gap" in one else ""
        kept = ", ".join(f"{share:.1%} {name}" for name, share in one["kept"].items())
        print(
            f"{one['order']:>6}  loss {one['loss']:.4f}  LM {one['lm']:.4f}  keep {kept}  "
            f"{'proven' if one.get('proven') else gap}  {one['seconds']:.1f} s"
        )
    kept = ", ".join(f"{share:.1%} {name}" for name, share in record["kept"].items())
    lost = ", ".join(f"{loss:.4f} {name}" for name, loss in record["by_part"].items())
    print(f"taken: {record['order']}, LM {release.utility['lm']:.4f}, by part {lost}, kept {kept}")
    print(release.verdict)
    for branch in record.get("branches", ()):
        print(f"  {branch['label']}: {branch['depths']}")


def events(args: argparse.Namespace) -> None:
    """Read, release and verify made-up events."""
    draw = np.random.default_rng(0)
    often = 1 / np.arange(1, args.codes + 1)
    names = np.array([f"{chr(65 + at % 10)}{at // 10 % 10}.{at // 100}" for at in range(args.codes)])
    month = draw.integers(args.months, size=args.number)
    table = pl.DataFrame(
        {
            "person": draw.integers(args.people, size=args.number),
            "date": [f"{2023 + at // 12}-{1 + at % 12:02}-{day:02}" for at, day in
                     zip(month.tolist(), draw.integers(1, 29, size=args.number).tolist(), strict=True)],
            "code": names[draw.choice(args.codes, size=args.number, p=often / often.sum())],
        }
    )  # fmt: skip
    paths = [[name, name[:2], name[0], "*"] for name in names.tolist()]
    run(table, "person", "code", {"date": "month"}, {}, paths)


def carts(args: argparse.Namespace) -> None:
    """Read, release and verify orders of a shop with made-up weekdays and quantities."""
    draw = np.random.default_rng(0)
    table = pl.read_csv(args.data / "instacart_long.csv", infer_schema=False)
    # A weekday is a year: a period that has no parts, and is not the same for all lines of a cart.
    table = table.with_columns(
        weekday=pl.Series(
            [str(FIRST_YEAR + at) for at in draw.integers(WEEKDAYS, size=table.height).tolist()]
        ),
        quantity=pl.Series(draw.geometric(0.5, size=table.height)),
    )
    lines = (args.data / "instacart_hierarchy.csv").read_text().splitlines()
    paths = [line.split(";") for line in lines]
    run(table, "order_id", "product_id", {"weekday": "year"}, {"quantity": [1, 2, 3, 5]}, paths)


def persons(args: argparse.Namespace) -> None:
    """Anonymize patients with quasi-identifiers, and diagnoses in made-up months."""
    draw = np.random.default_rng(0)
    table = pl.read_csv(args.data / "diabetes_rt.csv", infer_schema=False)
    events = (
        table.select("patient", code=pl.col("diagnoses").str.split(";")).explode("code").drop_nulls("code")
    )
    month = draw.integers(1, 13, size=events.height).tolist()
    events = events.with_columns(date=pl.Series([f"2024-{one:02}-15" for one in month]))
    trees = {name: args.data / f"diabetes_rt_{name}.csv" for name in ("age", "gender", "race")}
    with timed(f"read ({events.height:,} events)"):
        facts = sv.read_facts(
            events, persons=table, id="patient", sets="code", when={"date": "month"}, qi=list(trees),
            hierarchies=trees, not_ids=["code"],
        )  # fmt: skip
    print(facts, flush=True)
    promise = sv.KKmAnonymity(k=5, m=2)
    with timed("released"):
        release = sv.anonymize(
            facts, promise, hierarchy=args.data / "diabetes_rt_diagnoses.csv", algorithm=args.algorithm,
            fact_order=args.order, time_limit=args.seconds,
        )  # fmt: skip
    tell(release)
    lost = {name: release.utility[name] for name in ("relational_loss", "transaction_loss")}
    print(f"{release.utility['classes']['groups']:,} classes; {lost}")
    with tempfile.TemporaryDirectory() as folder:
        release.write(Path(folder) / "out")
        with timed("verified"):
            print(sv.verify(Path(folder) / "out", promise))


def run(
    table: pl.DataFrame, person: str, code: str, when: dict[str, str], amount: dict[str, Any],
    paths: list[list[str]],
) -> None:  # fmt: skip
    """Write a table to a file, read it as facts, release them, and verify the folder."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.csv"
        table.write_csv(file)
        with timed(f"read ({table.height:,} lines)"):
            facts = sv.read_facts(file, id=person, sets=code, when=when, amount=amount, not_ids=[code])
        print(facts, flush=True)
        tree = Path(folder) / "tree.csv"
        tree.write_text("\n".join([*(";".join(path) for path in paths), ""]))
        with timed("released (aa)"):
            release = sv.anonymize(facts, k=5, m=2, hierarchy=tree, algorithm="aa")
        tell(release)
        release.write(Path(folder) / "out")
        with timed("verified"):
            verdict = sv.verify(Path(folder) / "out", k=5, m=2)
        print(verdict)


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = parser.add_subparsers(required=True)
    one = kinds.add_parser("encounters")
    one.add_argument("data", type=Path)
    one.add_argument("--eighths", action="store_true", help="eight periods, and bands of days")
    one.add_argument("--lines", action="store_true", help="also search for a line in each branch")
    one.add_argument("--parts", type=float, help="minimize the loss by parts; the weight of the codes")
    one.add_argument("--codes", action="store_true", help="hide whole codes in place of single facts")
    one.add_argument("--seconds", type=float, default=300.0, help="time limit (300)")
    one.set_defaults(do=encounters)
    own = kinds.add_parser("columns")
    own.add_argument("data", type=Path)
    own.add_argument("--order", default="first", help="the order (first)")
    own.add_argument("--seconds", type=float, default=300.0, help="time limit (300)")
    own.set_defaults(do=columns)
    two = kinds.add_parser("events")
    for name, usual in (("people", 100_000), ("number", 1_000_000), ("codes", 1_000), ("months", 24)):
        two.add_argument(f"--{name}", type=int, default=usual)
    two.set_defaults(do=events)
    three = kinds.add_parser("carts")
    three.add_argument("data", type=Path)
    three.set_defaults(do=carts)
    four = kinds.add_parser("persons")
    four.add_argument("data", type=Path)
    four.add_argument("--order", help="the order (all)")
    four.add_argument("--algorithm", default="rt", choices=("rt", "forest"), help="rt")
    four.add_argument("--seconds", type=float, default=300.0, help="time limit (300)")
    four.set_defaults(do=persons)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
