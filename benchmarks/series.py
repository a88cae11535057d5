"""Several releases about the same people: exposure by linked rows, and the cost of each way to continue.

    python benchmarks/series.py [--data FOLDER] [--time-limit 60] [exposure] [ways] [quarters] [million]

`exposure`: people of the diabetes register who are exposed by releases together that are each proven safe;
`ways`: its second half, published in each way; `quarters`: its four quarters; `million`: synthetic people.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runs import data_folder
from setveil.judges.guarantees.series import Known, SeriesAnonymity
from setveil.judges.guarantees.verify.series import verify_series
from setveil.methods.histories import exact, greedy, together
from setveil.methods.histories.exposed import exposed
from setveil.methods.histories.found import FoundLabels
from setveil.methods.histories.hold_back import smallest, without
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

K, M = 5, 2
KNOWN: tuple[Known, ...] = ("histories", "facts")


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description="Several releases about the same people.")
    options.add_argument("tables", nargs="*", default=["exposure", "ways", "quarters", "million"])
    options.add_argument("--data", type=Path)
    options.add_argument("--time-limit", type=float, default=60.0)
    options.add_argument("--people", type=int, default=1_000_000, help="of `million`")
    arguments = options.parse_args()
    tables = {"exposure": exposure, "ways": ways, "quarters": quarters, "million": million}
    for name in arguments.tables:
        tables[name](arguments)


def exposure(arguments: argparse.Namespace) -> None:
    """Count who is found when releases, each with its own proven labels, are linked."""
    data, tree = Data(arguments), tree_of(arguments)
    print(
        f"{'series':<9} {'releases':>8} {'known':<9} {'returning':>9} {'below k':>7} {'alone':>5} "
        f"{'seconds':>7}"
    )
    for register in (False, True):
        for parts in (2, 4):
            series = data.series(parts, register=register)
            series = shown(series, [alone(series, t, tree, arguments).labels for t in range(parts)])
            again = np.bincount(np.concatenate([one.people for one in series.releases])) > 1
            for known in KNOWN:
                start = time.perf_counter()
                below, single = (exposed(series, SeriesAnonymity(k, M, known)).size for k in (K, 2))
                print(
                    f"{'register' if register else 'periods':<9} {parts:>8} {known:<9} {again.sum():>9,} "
                    f"{below:>7,} {single:>5,} {time.perf_counter() - start:>7.1f}",
                    flush=True,
                )
    print(f"peak memory {peak():,} MB")


def ways(arguments: argparse.Namespace) -> None:
    """Price the ways to publish the second half; the first one is out, with its own proven labels."""
    data, tree = Data(arguments), tree_of(arguments)
    print(f"{'way':<24} {'known':<9} {'LM':>7} {'bound':>7} {'proven':<6} {'suppressed':>10} {'withheld':>9} "
          f"{'before':>6} {'after':>5} {'seconds':>7}")  # fmt: skip
    for known in KNOWN:
        promise = SeriesAnonymity(K, M, known)
        for register in (True, False):
            series = data.series(2, register=register)
            first, second = (alone(series, t, tree, arguments) for t in range(2))
            out = shown(series, [first.labels, second.labels])
            before = exposed(out, promise).size
            for name, search in (("", exact), (", greedy", greedy)):
                found = following(out, 1, promise, tree, search, time_limit=arguments.time_limit)
                told(("register" if register else "append") + name, known, found, out, promise, before)
            if register:
                continue
            held = smallest(out, promise)
            told("hold back: found", known, replace(second, held=held), out, promise, before)
            returning = np.intersect1d(series.releases[0].people, series.releases[1].people)
            newcomers = replace(out, releases=(out.releases[0], gone(out.releases[1], returning)))
            found = following(newcomers, 1, promise, tree, exact, time_limit=arguments.time_limit)
            told("hold back: returners", known, replace(found, held=returning), out, promise, before)
            planned(series, promise, tree, arguments, before)


def planned(
    series: SeriesPeople,
    promise: SeriesAnonymity,
    tree: Hierarchy,
    arguments: argparse.Namespace,
    before: int,
) -> None:
    """Choose the labels of all releases together."""
    plan = together.plan(series, promise, tree, time_limit=arguments.time_limit)
    after = exposed(kept(shown(series, [one.labels for one in plan.releases]), plan.releases), promise).size
    each = ", ".join(f"{one.lm:.4f}" for one in plan.releases)
    out = sum(one.left_out for one in plan.releases) / sum(one.items.size for one in series.releases)
    held = sum(one.held.size for one in plan.releases)
    print(f"{'planned':<24} {promise.known:<9} {plan.lm:>7.4f} {plan.bound:>7.4f} {plan.proven!s:<6} "
          f"{out:>8.1%} {held:>9,} {before:>6,} {after:>5,} {plan.seconds:>7.1f}  "
          f"({each})", flush=True)  # fmt: skip


def quarters(arguments: argparse.Namespace) -> None:
    """Publish the four quarters, planned and as a register, each release with the earlier ones frozen."""
    data, tree = Data(arguments), tree_of(arguments)
    for known in KNOWN:
        promise = SeriesAnonymity(K, M, known)
        series = data.series(4, register=True)
        releases: tuple[Appearance, ...] = ()
        for t in range(4):
            found = following(
                replace(series, releases=(*releases, series.releases[t])), t, promise, tree, exact,
                time_limit=arguments.time_limit,
            )  # fmt: skip
            releases = (*releases, replace(series.releases[t], labels=found.labels))
            so_far = replace(series, releases=releases)
            own = alone(series, t, tree, arguments)
            print(f"register {t + 1}: alone {own.lm:.4f}", flush=True)
            told(f"register {t + 1}", known, found, so_far, promise, 0)
        periods = data.series(4, register=False)
        out = shown(periods, [alone(periods, t, tree, arguments).labels for t in range(4)])
        planned(periods, promise, tree, arguments, exposed(out, promise).size)


def million(arguments: argparse.Namespace) -> None:
    """Publish a second release about synthetic people, half of them in both, ten of 1,000 items each."""
    rng = np.random.default_rng(33)
    n, n_items, each = arguments.people, 1000, 10
    tree = Hierarchy.from_paths([[f"i{i:03}", f"g{i // 10:02}", f"c{i // 100}", "*"] for i in range(n_items)])
    chance = 1 / (np.arange(n_items) + 20.0)
    order = rng.permutation(n_items)
    releases = []
    habits = drawn(rng, n, each, chance, order)
    for t in range(2):
        rows = np.where(rng.random((n, each)) < 0.5, habits, drawn(rng, n, each, chance, order))
        people = np.sort(rng.choice(n, 3 * n // 4, replace=False))
        rows = np.sort(rows[people], axis=1)
        fresh = np.concatenate([np.ones((people.size, 1), bool), rows[:, 1:] != rows[:, :-1]], axis=1)
        indptr = np.concatenate(([0], np.cumsum(fresh.sum(axis=1))))
        releases.append(
            Appearance(people, indptr, rows[fresh].astype(np.int32), np.full(n_items, -1, np.int32))
        )
        print(f"release {t + 1}: {people.size:,} people, {indptr[-1]:,} occurrences", flush=True)
    series = SeriesPeople(tuple(releases), tree.labels[:n_items], n)
    for known in KNOWN:
        promise = SeriesAnonymity(K, M, known)
        only = replace(series, releases=series.releases[:1])
        first = following(only, 0, promise, tree, greedy, time_limit=0)
        out = shown(series, [first.labels, first.labels])
        print(f"first: LM {first.lm:.4f}, {first.seconds:.0f} s", flush=True)
        for limit in (0, arguments.time_limit):
            found = following(out, 1, promise, tree, greedy, time_limit=limit)
            told(f"greedy, {limit:.0f} s to refine", known, found, out, promise, 0)
        done = kept(shown(out, [first.labels, found.labels]), [found])
        start = time.perf_counter(), time.process_time()
        verdict = verify_series(done, promise)
        print(f"verified: {verdict.holds}, {time.perf_counter() - start[0]:.0f} s, "
              f"{time.process_time() - start[1]:.0f} s of processors", flush=True)  # fmt: skip
        print(f"peak memory {peak():,} MB", flush=True)


def drawn(
    rng: np.random.Generator, n: int, each: int, chance: NDArray[np.float64], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Draw `each` items for each person, frequent items more often; some twice."""
    total = np.cumsum(chance) / chance.sum()
    rows: NDArray[np.int64] = order[np.searchsorted(total, rng.random((n, each)))]
    return rows


def told(
    way: str, known: str, found: FoundLabels, out: SeriesPeople, promise: SeriesAnonymity, before: int
) -> None:
    """Print the cost of a way, and recount the exposed people."""
    last = out.releases[-1]
    series = kept(shown(out, [*(one.labels for one in out.releases[:-1]), found.labels]), [found])
    after = exposed(series, promise).size
    print(f"{way:<24} {known:<9} {found.lm:>7.4f} {found.bound:>7.4f} {found.proven!s:<6} "
          f"{found.left_out / max(last.items.size, 1):>10.1%} {found.held.size:>9,} {before:>6,} {after:>5,} "
          f"{found.seconds:>7.1f}", flush=True)  # fmt: skip


def shown(series: SeriesPeople, labels: Sequence[NDArray[np.int32]]) -> SeriesPeople:
    """Give the releases labels."""
    some = zip(series.releases, labels, strict=True)
    return replace(series, releases=tuple(replace(one, labels=to) for one, to in some))


def gone(release: Appearance, held: NDArray[np.int64]) -> Appearance:
    """Take people out of a release."""
    return without(release, np.isin(release.people, held))


def kept(series: SeriesPeople, found: Sequence[FoundLabels]) -> SeriesPeople:
    """Remove withheld people from the last releases."""
    (*others,) = series.releases
    for t, one in enumerate(found, len(others) - len(found)):
        others[t] = gone(others[t], one.held)
    return replace(series, releases=tuple(others))


def following(
    series: SeriesPeople, t: int, promise: SeriesAnonymity, tree: Hierarchy, search: ModuleType, **more: Any
) -> FoundLabels:
    """Find the labels of a release, with those of earlier ones frozen."""
    new = series.releases[t]
    earlier = replace(series, releases=series.releases[:t])
    found: FoundLabels = search.next_labels(earlier, new.people, new.indptr, new.items, promise, tree, **more)
    return found


def alone(series: SeriesPeople, t: int, tree: Hierarchy, arguments: argparse.Namespace) -> FoundLabels:
    """Find the labels of a release as if there were no others."""
    only = replace(series, releases=(series.releases[t],))
    return following(only, 0, SeriesAnonymity(K, M), tree, exact, time_limit=arguments.time_limit)


def tree_of(arguments: argparse.Namespace) -> Hierarchy:
    """Read the hierarchy of the diabetes register."""
    return read_hierarchy(data_folder(arguments.data) / "diabetes_rt_diagnoses.csv")


def peak() -> int:
    """Return the greatest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class Data:
    """The encounters of the diabetes register."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        path = data_folder(arguments.data) / "diabetes_encounters.csv"
        with path.open(encoding="utf-8") as file:
            self.rows = sorted(csv.DictReader(file), key=lambda row: int(row["encounter"]))

    def series(self, parts: int, *, register: bool) -> SeriesPeople:
        """Make `parts` releases of equally many encounters; in a register, each has all encounters so far."""
        rows = self.rows
        number = {patient: i for i, patient in enumerate(sorted({row["patient"] for row in rows}))}
        there: list[set[int]] = [set() for _ in range(parts)]
        facts: set[tuple[int, int, str]] = set()
        for i, row in enumerate(rows):
            part, person = i * parts // len(rows), number[row["patient"]]
            for t in range(part, parts if register else part + 1):
                there[t].add(person)
                facts |= {(t, person, code) for code in (row["primary"], *row["others"].split(";")) if code}
        items = tuple(sorted({code for *_, code in facts}))
        place = {code: i for i, code in enumerate(items)}
        had = np.array(sorted((t, person, place[code]) for t, person, code in facts), np.int64)
        releases = []
        for t in range(parts):
            people, own = np.array(sorted(there[t]), np.int64), had[had[:, 0] == t]
            indptr = np.concatenate(([0], np.searchsorted(own[:, 1], people, "right")))
            labels = np.full(len(items), -1, np.int32)
            releases.append(Appearance(people, indptr, own[:, 2].astype(np.int32), labels))
        return SeriesPeople(tuple(releases), items, len(number))


if __name__ == "__main__":
    main()
