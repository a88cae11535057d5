"""Tables of facts: read, and looked at as they are published, in a few lines of plain Python."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from pathlib import Path

from naive.anonymize import Tree, leaves, up_from

Fact = tuple[str, str]  # column and text


@dataclass(frozen=True)
class Person:
    """The knowledge that an attacker may have of a person: quasi-identifiers and facts."""

    known: tuple[str, ...]
    facts: frozenset[Fact]


def published(folder: Path) -> tuple[list[Person], dict[str, list[dict[str, list[str]]]], str]:
    """Read the published folder: its rows, and the values that the labels of parts represent."""
    about = json.loads((folder / "about.json").read_text())
    fact_record, sets = about["facts"], about["roles"]["set"]
    names = [sets] if isinstance(sets, str) else sets
    with (folder / "data.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    facts: list[set[Fact]] = [set() for _ in lines]
    if "items_file" in about:
        with (folder / about["items_file"]).open(newline="") as file:
            for number, *fact in list(csv.reader(file))[1:]:
                column = names[0] if len(names) == 1 else fact.pop(0)
                header = (folder / about["items_file"]).read_text().splitlines()[0].split(",")[1:]
                attributes = [one["name"] for one in fact_record["sets"][column]["attributes"]]
                parts = [fact[header.index(name) - (len(names) > 1)] for name in attributes]
                facts[int(number)].add((column, fact_record["sign"].join([fact[0], *parts])))
    else:
        for at, line in enumerate(lines):
            for name in names:
                texts = next(csv.reader([line[name]], delimiter=about["delimiter"]), [])
                facts[at] |= {(name, text) for text in texts}
    meaning = {
        name: [one["labels"][part] for part in (name, *(a["name"] for a in one["attributes"]))]
        for name, one in fact_record["sets"].items()
    }
    rows = [
        Person(tuple(line[name] for name in about["roles"]["qi"]), frozenset(some))
        for line, some in zip(lines, facts, strict=True)
    ]
    return rows, meaning, fact_record["sign"]


def some_of(things: Sequence[Fact], most: Mapping[str, int] | int) -> Iterator[tuple[Fact, ...]]:
    """List the sets of facts that may be known, by one maximum number, or one for each column."""
    whole = sum(most.values()) if isinstance(most, Mapping) else most
    every = chain.from_iterable(combinations(things, n) for n in range(min(whole, len(things)) + 1))
    for some in every:
        names = [name for name, _ in some]
        if not isinstance(most, Mapping) or all(names.count(name) <= most[name] for name in names):
            yield some


def keeps(rows: Sequence[Person], k: int, m: Mapping[str, int] | int, *, mixed: bool) -> bool:
    """Return whether known facts fit no row or at least k rows, within a class or with mixed knowledge."""
    of_rows = [
        [*(("qi", f"{at} {value}") for at, value in enumerate(row.known) if mixed), *sorted(row.facts)]
        for row in rows
    ]
    for row, things in zip(rows, of_rows, strict=True):
        for known in some_of(things, m):
            fits = sum(
                set(known) <= set(others) and (mixed or other.known == row.known)
                for other, others in zip(rows, of_rows, strict=True)
            )
            if fits < k:
                return False
    return True


def overlap(
    rows: Sequence[Person], meaning: Mapping[str, list[dict[str, list[str]]]], sign: str, *, mixed: bool
) -> bool:
    """Return whether two published labels contain the same fact, in a class or overall."""
    classes: dict[tuple[str, ...], set[Fact]] = {}
    for row in rows:
        classes.setdefault(() if mixed else row.known, set()).update(row.facts)
    for facts in classes.values():
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for name, text in facts:
            parts = zip(text.split(sign), meaning[name], strict=True)
            inside = {(name, one) for one in product(*(known.get(part, [part]) for part, known in parts))}
            if inside & seen:
                return True
            seen |= inside
    return False


def recodings(tree: Tree, codes: Sequence[str]) -> Iterator[dict[str, str]]:
    """List the recodings of codes by the cuts of their tree; single codes may be suppressed."""
    below = {node: {x for x in codes if node in up_from(tree, x)} for node in tree}
    for choice in product(*([*up_from(tree, x), ""] for x in codes)):
        to = {x: node for x, node in zip(codes, choice, strict=True) if node}
        if all(to.get(x) == node for node in to.values() for x in below[node]):
            yield to


def least_loss(
    rows: Sequence[Person],
    trees: Mapping[str, Tree],
    k: int,
    m: Mapping[str, int],
    share: float,
    *,
    mixed: bool,
) -> float:
    """Find the least loss of all recodings of codes, and of the one quasi-identifier, which may be hidden."""
    codes = {name: sorted({x for row in rows for of, x in row.facts if of == name}) for name in trees}
    best = 1.0
    every = product(*(recodings(tree, codes[name]) for name, tree in trees.items()))
    for choice, hides in product(list(every), (False, True)):
        to = dict(zip(trees, choice, strict=True))
        shown = [
            Person(
                ("*",) if hides else row.known,
                frozenset((name, to[name][x]) for name, x in row.facts if x in to[name]),
            )
            for row in rows
        ]
        lost = [_lost(trees[name], to[name].get(x)) for row in rows for name, x in row.facts]
        gone = hides and len({row.known for row in rows}) > 1
        loss = share * gone + (1 - share) * sum(lost) / len(lost)
        if loss < best and keeps(shown, k, m, mixed=mixed):
            best = loss
    return best


def _lost(tree: Tree, node: str | None) -> float:
    """LM of an occurrence."""
    every = leaves(tree)
    if node is None:
        return 1.0
    return (sum(node in up_from(tree, x) for x in every) - 1) / max(len(every) - 1, 1)
