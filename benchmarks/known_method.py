"""The gain of an attacker who knows that the release is the optimum of a public method.

    python benchmarks/known_method.py [--check 50]

All inputs of a few rows over a few items are listed, and each is published as the method says: the recoding
of least loss (LM) that satisfies k^m-anonymity, items suppressed if that loses less, the first of equal ones.
An attacker without knowledge of the method considers all inputs with the same published rows, by the labels
and counts of the release. An attacker who knows it can also rule out every input for which the method chooses
another recoding. Both know the number of rows and the items that exist. Each line says, without and with
counts (of items that at least k rows contain):

`inputs`    their number; each is the original of one release
`releases`  how many different releases they lead to
`below k`   sets of up to m known items that fit some row, but fewer than k rows, of some release, if all
            inputs are considered that the attacker who knows the method is left with
`open`      labels with several items in published rows, whose item is not certain by labels and counts alone,
            over the releases of all inputs
`certain`   how many of them are certain for the attacker who knows the method, and their share

`--check` also publishes that many inputs with setveil and compares losses and guarantees.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from random import Random

Rows = tuple[int, ...]  # each a set of items, as bits
View = tuple[int, tuple[int, ...], tuple[tuple[int, int], ...]]  # recoding, published rows, counts

CASES = [((2, 2), 6, 2, 2), ((2, 2), 6, 3, 1), ((2, 2), 7, 3, 2), ((3, 2), 4, 2, 2)]  # groups, rows, k, m


@dataclass(frozen=True)
class Recoding:
    """The label of each item, as bits for its items; 0: the item is suppressed."""

    label: tuple[int, ...]
    loss: tuple[int, ...]  # of each set of items, in parts of the greatest loss of an occurrence
    image: tuple[tuple[int, ...], ...]  # the labels of each set of items


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What knowledge of the method makes certain.")
    parser.add_argument("--check", type=int, default=0, help="inputs to publish with setveil, too")
    check = parser.parse_args().check
    print(f"{'groups':<8}{'rows':>5}{'k':>3}{'m':>3} {'counts':<7}{'inputs':>8}{'releases':>9}"
          f"{'below k':>8}{'open':>9}{'certain':>8}{'share':>8}")  # fmt: skip
    total: Counter[tuple[bool, str]] = Counter()
    for sizes, n, k, m in CASES:
        recodings = list(recodings_of(sizes))
        inputs = list(combinations_with_replacement(range(1, 1 << sum(sizes)), n))
        chosen = [best(rows, recodings, k, m) for rows in inputs]
        for rows in Random(0).sample(inputs, check):  # noqa: S311
            compare(rows, sizes, recodings[best(rows, recodings, k, m)], k, m)
        for counts in (False, True):
            found = figures(inputs, chosen, recodings, k, m, counts=counts)
            total.update({(counts, name): number for name, number in found.items()})
            groups = "+".join(map(str, sizes))
            print(f"{groups:<8}{n:>5}{k:>3}{m:>3} {'yes' if counts else 'no':<7}{line(found)}", flush=True)
    for counts in (False, True):
        whole = {name: number for (with_counts, name), number in total.items() if with_counts == counts}
        print(f"{'all':<19} {'yes' if counts else 'no':<7}{line(Counter(whole))}")


def line(found: Counter[str]) -> str:
    """Write figures."""
    share = found["certain"] / max(found["open"], 1)
    return (f"{found['inputs']:>8,}{found['releases']:>9,}{found['below']:>8,}{found['open']:>9,}"
            f"{found['certain']:>8,}{share:>8.2%}")  # fmt: skip


def recodings_of(sizes: tuple[int, ...]) -> Iterator[Recoding]:
    """List the recodings: of each group one label, or its items, some suppressed; or one label for all."""
    n = sum(sizes)
    of_groups, first = [], 0
    for size in sizes:
        items = range(first, first + size)
        whole = sum(1 << item for item in items)
        split = [
            {item: 0 if item in out else 1 << item for item in items}
            for length in range(size + 1)
            for out in combinations(items, length)
        ]
        of_groups.append([*split, dict.fromkeys(items, whole)])
        first += size
    everything = (1 << n) - 1
    found = [{item: to for part in parts for item, to in part.items()} for parts in product(*of_groups)]
    for image in [*found, dict.fromkeys(range(n), everything)]:
        label = tuple(image[item] for item in range(n))
        lost = [n - 1 if to == 0 else to.bit_count() - 1 for to in label]
        sets = range(1 << n)
        yield Recoding(
            label,
            tuple(sum(lost[item] for item in range(n) if one >> item & 1) for one in sets),
            tuple(
                tuple(sorted({label[item] for item in range(n) if one >> item & 1 and label[item]}))
                for one in sets
            ),
        )


def best(rows: Rows, recodings: list[Recoding], k: int, m: int) -> int:
    """Find the recoding of least loss that satisfies k^m-anonymity, the first of equal ones."""
    losses = [sum(map(recoding.loss.__getitem__, rows)) for recoding in recodings]
    order = sorted(range(len(recodings)), key=losses.__getitem__)
    return next(at for at in order if holds([recodings[at].image[row] for row in rows], k, m))


def holds(published: list[tuple[int, ...]], k: int, m: int) -> bool:
    """Return whether at least k rows show every set of up to m labels that occurs in a row."""
    supports: Counter[tuple[int, ...]] = Counter()
    for labels in published:
        for size in range(1, m + 1):
            supports.update(combinations(labels, size))
    return all(support >= k for support in supports.values())


def view_of(rows: Rows, at: int, recoding: Recoding, k: int, *, counts: bool) -> tuple[object, ...]:
    """Return the release: which recoding, the rows, and perhaps counts of items that k rows contain."""
    shown = tuple(sorted(Counter(recoding.image[row] for row in rows).items()))
    if not counts:
        return at, shown
    number = Counter(item for row in rows for item in range(len(recoding.label)) if row >> item & 1)
    hidden = [item for item, to in enumerate(recoding.label) if to.bit_count() != 1]
    return at, shown, tuple((item, number[item]) for item in hidden if number[item] >= k)


def figures(
    inputs: list[Rows], chosen: list[int], recodings: list[Recoding], k: int, m: int, *, counts: bool
) -> Counter[str]:
    """Count the items uncertain by a release alone, and those certain if the method is known."""
    releases: dict[tuple[object, ...], list[Rows]] = defaultdict(list)
    for rows, at in zip(inputs, chosen, strict=True):
        releases[view_of(rows, at, recodings[at], k, counts=counts)].append(rows)
    open_worlds: dict[tuple[object, ...], dict[tuple[int, ...], int]] = {}
    for at in sorted(set(chosen)):
        for rows in inputs:
            view = view_of(rows, at, recodings[at], k, counts=counts)
            if view in releases:
                open_worlds[view] = sure(rows, recodings[at], open_worlds.get(view))
    found = Counter(inputs=len(inputs), releases=len(releases))
    for view, worlds in releases.items():
        recoding, number = recodings[view[0]], dict(view[1])  # type: ignore[call-overload]
        known: dict[tuple[int, ...], int] | None = None
        for rows in worlds:
            known = sure(rows, recoding, known)
        for labels, items in (known or {}).items():
            for label in labels:
                if label.bit_count() > 1 and not open_worlds[view][labels] & label:
                    found["open"] += number[labels] * len(worlds)
                    found["certain"] += bool(items & label) * number[labels] * len(worlds)
        found["below"] += sets_below(worlds, recoding, number, k, m)
    return found


def sure(
    rows: Rows, recoding: Recoding, known: dict[tuple[int, ...], int] | None
) -> dict[tuple[int, ...], int]:
    """Keep the items that all rows with the same labels contain, in this input and in those before."""
    found = {} if known is None else dict(known)
    for row in rows:
        labels = recoding.image[row]
        found[labels] = found.get(labels, -1) & row
    return found


def sets_below(
    worlds: list[Rows], recoding: Recoding, number: dict[tuple[int, ...], int], k: int, m: int
) -> int:
    """Count the sets of up to m items, none suppressed, that fit some published rows, but fewer than k."""
    shown = [item for item, to in enumerate(recoding.label) if to]
    fitting: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for row in {row for rows in worlds for row in rows}:
        inside = [item for item in shown if row >> item & 1]
        for size in range(1, m + 1):
            for items in combinations(inside, size):
                fitting[items].add(recoding.image[row])
    return sum(sum(number[labels] for labels in some) < k for some in fitting.values())


def compare(rows: Rows, sizes: tuple[int, ...], recoding: Recoding, k: int, m: int) -> None:
    """Publish an input with setveil, and compare the loss."""
    import setveil as sv

    names = "abcdefgh"[: sum(sizes)]
    parents: dict[str, str | None] = {"*": None}
    first = 0
    for group, size in enumerate(sizes):
        parents |= {f"group {group}": "*"} | dict.fromkeys(names[first : first + size], f"group {group}")
        first += size
    data = [[name for item, name in enumerate(names) if row >> item & 1] for row in rows]
    release = sv.anonymize(data, sv.KmAnonymity(k, m), hierarchy=sv.Hierarchy(parents))
    proven = release.report["optimality"]
    occurrences = sum(row.bit_count() for row in rows)
    expected = sum(map(recoding.loss.__getitem__, rows)) / (occurrences * (len(names) - 1))
    if not proven["proven"] or abs(proven["loss"] - expected) > 1e-9:
        raise AssertionError(f"setveil loses {proven['loss']}, the best recoding {expected}: {data}")


if __name__ == "__main__":
    main()
