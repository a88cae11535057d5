"""Find everything that keeps what a hierarchy file says from being a tree, with line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from setveil.base.errors import shorten
from setveil.rows.hierarchy.outline import FileProblem, Outline

_CYCLE_SHOWN = 20  # nodes of a cycle that are all named

# For each node its parents, each with the first line that says so.
_Parents = Mapping[str, Mapping[str, int | None]]


def find_problems(outline: Outline) -> list[FileProblem]:
    """Find everything that keeps an outline from being a tree, in order of the lines."""
    parents: dict[str, dict[str, int | None]] = {}
    for line, labels in outline.paths:
        for child, parent in pairwise(labels):
            parents.setdefault(child, {}).setdefault(parent, line)
    problems = [
        *outline.problems,
        *_two_parents(parents),
        *_cycles(parents),
        *_repeats(outline),
        *(_loose_ends(outline, parents) if outline.whole else _many_roots(outline, parents)),
    ]
    if not outline.paths and not problems:
        problems.append(FileProblem(None, "no node found, expected at least one item"))
    return sorted(problems, key=by_line)


def by_line(problem: FileProblem) -> tuple[bool, int]:
    """Sort problems by their lines, those without a line last."""
    return problem.line is None, problem.line or 0


def _at(line: int | None) -> str:
    return "" if line is None else f" (line {line})"


def _two_parents(parents: _Parents) -> Iterator[FileProblem]:
    for child, ups in parents.items():
        (first, first_line), *others = ups.items()
        for other, line in others:
            yield FileProblem(
                line,
                f"{shorten(child)} has two parents: {shorten(first)}{_at(first_line)} and {shorten(other)}",
            )


def _cycles(parents: _Parents) -> Iterator[FileProblem]:
    """Walk up from every node; a walk that meets itself has found a cycle."""
    done: set[str] = set()
    named: set[str] = set()
    for start in parents:
        trail: dict[
            str, Iterator[str]
        ] = {}  # the walk under way, in order, and what each of its nodes has left
        node: str | None = None if start in done else start
        while node is not None:
            if node not in trail:
                trail[node] = iter(parents.get(node, ()))
            for up in trail[node]:
                if up in trail:
                    steps = list(trail)
                    cycle = steps[steps.index(up) :]
                    if not named.issuperset(cycle):
                        named.update(cycle)
                        yield _cycle(cycle, parents)
                elif up not in done:
                    node = up
                    break
            else:
                done.add(node)
                del trail[node]
                node = next(reversed(trail), None)


def _cycle(nodes: list[str], parents: _Parents) -> FileProblem:
    lines = [parents[a][b] for a, b in zip(nodes, [*nodes[1:], nodes[0]], strict=True)]
    names = [shorten(node, 40) for node in nodes]
    if len(names) > _CYCLE_SHOWN:
        names[5:] = [f"{len(names) - 5:,} more"]
    text = " -> ".join([*names, names[0]])
    return FileProblem(
        max((n for n in lines if n is not None), default=None), f"a cycle, each under the next: {text}"
    )


def _repeats(outline: Outline) -> Iterator[FileProblem]:
    """Name labels that are placed twice in the same way (in different ways they have two parents)."""
    seen: dict[tuple[str, ...], int | None] = {}
    for line, labels in outline.paths:
        key = tuple(labels[:2])
        if key not in seen:
            seen[key] = line
        elif outline.whole:
            yield FileProblem(line, f"item {shorten(labels[0])} is already listed{_at(seen[key])}")
        else:
            yield FileProblem(
                line, f"{shorten(key[0])} is already listed under {shorten(key[1])}{_at(seen[key])}"
            )


def _loose_ends(outline: Outline, parents: _Parents) -> Iterator[FileProblem]:
    """Check both ends of paths that should lead from an item to the root."""
    inner: dict[str, int | None] = {}
    for line, labels in outline.paths:
        for label in labels[1:]:
            inner.setdefault(label, line)
    reported = set()
    root, root_line = None, None
    for line, labels in outline.paths:
        item, end = labels[0], labels[-1]
        if item in inner and item not in reported:
            reported.add(item)
            yield FileProblem(
                line,
                f"{shorten(item)} is an item here and an inner node elsewhere{_at(inner[item])}: "
                "an inner node that is also an item",
            )
        if end in parents:
            up, up_line = next(iter(parents[end].items()))
            yield FileProblem(
                line, f"the path ends at {shorten(end)}, which has the parent {shorten(up)}{_at(up_line)}"
            )
        elif root is None:
            root, root_line = end, line
        elif end != root:
            yield FileProblem(line, f"a second root: {shorten(end)}, after {shorten(root)}{_at(root_line)}")


def _many_roots(outline: Outline, parents: _Parents) -> Iterator[FileProblem]:
    roots: dict[str, int | None] = {}
    for line, labels in outline.paths:
        if labels[-1] not in parents:
            roots.setdefault(labels[-1], line)
    (first, first_line), *others = roots.items() or [("", None)]
    for other, line in others:
        yield FileProblem(line, f"a second root: {shorten(other)}, after {shorten(first)}{_at(first_line)}")
