"""Facts: what an order costs, on patients' diagnoses in the order of their encounters.

    python benchmarks/facts.py DATA [--lines] [--parts WEIGHT]

DATA is a folder with diabetes_encounters.csv (patient, encounter, days, primary, others) and
diabetes_rt_diagnoses.csv, the hierarchy of the codes. The encounters are cut into four periods of equal size,
and `primary` and `others` are one column of codes; k = 5, m = 2. Each plain order is solved with the exact
algorithm: LM, the share of facts that keep their period, the LM of the codes by themselves, seconds.

--columns takes eighths, the days of stays in bands, and `primary` and `others` as two columns, of which
somebody may know 1 and 2; and then the same with m = 3 for all.

--lines then searches for a line in each branch; --parts minimizes the loss by parts instead, with this weight
of the codes beside 1 for the period.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polars as pl

import setveil as sv

PERIODS = 4
FIRST_YEAR = 2001  # made-up years, which have no others below them


def encounters(data: Path, periods: int = PERIODS) -> pl.DataFrame:
    """Read the encounters, each with its period."""
    table = pl.read_csv(data / "diabetes_encounters.csv", infer_schema=False)
    years = [str(FIRST_YEAR + periods * at // table.height) for at in range(table.height)]
    return table.with_columns(period=pl.Series(years))


def of_columns(data: Path, seconds: float, order: str) -> None:
    """Anonymize two columns with an m of their own, and with one for all."""
    start = time.perf_counter()
    facts = sv.read_facts(
        encounters(data, 2 * PERIODS), id="patient", sets={"primary": {"m": 1}, "others": {"m": 2}},
        when={"period": "year"}, amount={"days": [1, 3, 7, 15]},
    )  # fmt: skip
    print(f"{facts}: read in {time.perf_counter() - start:.1f} s")
    tree = sv.read_hierarchy(data / "diabetes_rt_diagnoses.csv")
    for m in (facts.m, 3):
        cpu, start = time.process_time(), time.perf_counter()
        release = sv.anonymize(
            facts, k=5, m=m, hierarchy={"primary": tree, "others": tree},
            algorithm=sv.Exact(time_limit=seconds), fact_order=order,
        )  # fmt: skip
        told, found = release.report["facts"], release.report["optimality"]
        print(
            f"m = {m}: LM {release.utility['lm']:.4f}, gap {found['gap']:.2%}, {found['clauses']:,} clauses, "
            f"{time.perf_counter() - start:.0f} s ({time.process_time() - cpu:.0f} s of CPU), "
            f"{release.report['peak_memory_mb']:,.0f} MB; kept "
            + ", ".join(f"{name} {share:.0%}" for name, share in told["kept"].items())
        )
        print(f"{release.verdict} verified again in {_again(release, m):.1f} s")


def _again(release: Any, m: Any) -> float:
    start = time.perf_counter()
    assert sv.verify(release, k=5, m=m)  # noqa: S101
    return time.perf_counter() - start


def main() -> None:
    """Run the orders and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", action="store_true", help="also search for a line in each branch")
    parser.add_argument("--parts", type=float, help="minimize the loss by parts; the weight of the codes")
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit (300)")
    parser.add_argument("--columns", action="store_true", help="primary and others as two columns")
    parser.add_argument("--order", default="first", help="with --columns, the order (first)")
    asked = parser.parse_args()
    if asked.columns:
        of_columns(asked.data, asked.seconds, asked.order)
        return
    start = time.perf_counter()
    facts = sv.read_facts(
        encounters(asked.data), id="patient", sets="codes", item_columns="primary,others",
        when={"period": "year"},
    )  # fmt: skip
    print(f"{facts}: read in {time.perf_counter() - start:.1f} s")
    parts = {"fact_loss": "parts", "fact_weights": {"codes": asked.parts}}
    more: dict[str, Any] = {} if asked.parts is None else parts
    tree = sv.read_hierarchy(asked.data / "diabetes_rt_diagnoses.csv")
    release = sv.anonymize(
        facts, k=5, m=2, hierarchy=tree, algorithm=sv.Exact(time_limit=asked.seconds),
        fact_lines=asked.lines, **more,
    )  # fmt: skip
    told = release.report["facts"]
    for one in told["orders"]:
        proven = "proven" if one.get("proven") else f"gap {one.get('gap', 0):.2%}"
        print(
            f"{one['order']:>6}  loss {one['loss']:.4f}  LM {one['lm']:.4f}  "
            f"keep their period {one['kept']['period']:.1%}  {proven}  {one['seconds']:.1f} s"
        )
    kept, codes = told["kept"]["period"], told["by_part"]["codes"]
    print(
        f"taken: {told['order']}, LM {release.utility['lm']:.4f}, of the codes {codes:.4f}, kept {kept:.1%}"
    )
    print(release.verdict)
    for branch in told.get("branches", ()):
        print(f"  {branch['label']}: {branch['depths']}")


if __name__ == "__main__":
    main()
