"""Audit a run of setveil: its release is valid, and no release of its kind loses less than the bound.

    python3 -I audit.py RUN ORIGINAL HIERARCHY [--certificate FILE]

RUN is a folder with published/ and internal/. It needs Python 3.9 or later and nothing else.
It counts everything again from the original rows and the hierarchy, in whole numbers. The page on
certificates in setveil's documentation explains why that is a proof.
Its output names rare items: do not share it.

Exit codes: 0 accepted, 1 refused (with the reason), 4 something cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import decimal
import functools
import gzip
import hashlib
import io
import json
import math
import pathlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

# A row: its items or labels, each once, in ascending order.
Row = tuple[str, ...]

# Characters that would steer a terminal.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class RefusedError(Exception):
    """Something is not as the run or its certificate says."""


def require(holds: object, reason: str) -> None:
    """Refuse the run unless a condition holds."""
    if not holds:
        raise RefusedError(reason)


# --- Step 1: read rows and hierarchy.


class Layout(NamedTuple):
    """The way in which rows are written in a file."""

    format: str
    separator: str
    id_column: str | None
    item_column: str | None
    rows: int  # as a long table does not show rows without items


def fields(text: str, separator: str) -> list[list[str]]:
    """Split a text into lines of fields; a blank line has no field."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    return [[field.strip(" \t") for field in line] for line in lines]


def read_jsonl(text: str, item_column: Any) -> list[list[str]]:
    """Read one row per line: a list in JSON, or an object with a list."""
    rows = []
    for line in io.StringIO(text):
        value = json.loads(line) if line.strip() else []
        items = value if type(value) is list else value[item_column] or []
        rows.append(list(map(str, items)))
    return rows


def read_long(text: str, layout: Layout) -> list[list[str]]:
    """Read a table with one occurrence per line: a row, and an item of it."""
    header, *lines = [line for line in fields(text, layout.separator) if line] or [[]]
    columns = [str(layout.id_column), str(layout.item_column)]
    if not set(columns) <= set(header):  # without a header, columns are named by their numbers
        header, lines = [str(at + 1) for at in range(len(header))], [header, *lines]
    rows: dict[str, list[str]] = {}
    for line in lines if text.strip() else []:
        filled = line + [""] * len(header)
        row, item = (filled[header.index(name)] for name in columns)
        rows.setdefault(row, []).append(item)
    return list(rows.values()) + [[]] * (layout.rows - len(rows))


def read_rows(text: str, layout: Layout) -> list[Row]:
    """Read the rows of a file."""
    if layout.format == "basket":
        rows = fields(text, layout.separator)
    elif layout.format == "fimi":
        rows = [line.split() for line in io.StringIO(text)]
    elif layout.format == "jsonl":
        rows = read_jsonl(text, layout.item_column)
    elif layout.format == "long":
        rows = read_long(text, layout)
    else:
        raise ValueError(f"files of the format {layout.format} are not read here: make a .jsonl file of them")
    return [tuple(sorted(set(row) - {""})) for row in rows]


def separator_of(lines: list[str]) -> str:
    """Find the separator of a hierarchy: a semicolon, or else a sign that is in all lines."""
    if any(";" in line for line in lines):
        return ";"
    return next((sign for sign in "\t|," if all(sign in line for line in lines)), ";")


def read_hierarchy(text: str) -> dict[str, str | None]:
    """Read the parent of each node from lines that lead from an item to the root, which has none."""
    lines = [line for line in io.StringIO(text, newline=None) if line.strip()]
    parents: dict[str, str | None] = {}
    for line in fields("\n".join(lines), separator_of(lines)):
        path = list(dict.fromkeys(label for label in line if label))
        for node, parent in zip(path, [*path[1:], None]):
            if parents.setdefault(node, parent) != parent:
                raise ValueError(f"{node!r} has two parents in the hierarchy")
    return parents


class Hierarchy:
    """The nodes of a hierarchy, and the part of it in which releases of these rows differ."""

    def __init__(self, parents: Mapping[str, str | None], used: set[str]) -> None:
        self.parents = parents
        self.root = next(node for node, parent in parents.items() if parent is None)
        self.children: dict[str, list[str]] = defaultdict(list)
        for node, parent in parents.items():
            if parent is not None:
                self.children[parent].append(node)
        top_down = self.below(self.root)
        if len(top_down) != len(parents):
            raise ValueError("the hierarchy is not one tree")
        self.bottom_up = top_down[::-1]  # children before their parents
        self.leaves = {node for node in top_down if not self.children.get(node)}
        self._find_counting(used)

    def _find_counting(self, used: set[str]) -> None:
        """Find the nodes that count: used leaves, nodes with two or more such children, and the root.

        All other nodes represent the same used leaves as a node below them, or for none.
        """
        self.counting_parent: dict[str, str | None] = {self.root: None}
        self.counting_children: dict[str, list[str]] = {}
        tops: dict[str, list[str]] = {}  # the highest counting nodes at or below each node
        for node in self.bottom_up:
            if node in self.leaves:
                tops[node] = [node] if node in used else []
                continue
            tops[node] = [top for child in self.children[node] for top in tops[child]]
            if len(tops[node]) > 1 or node == self.root:
                self.counting_children[node] = tops[node]
                self.counting_parent.update(dict.fromkeys(tops[node], node))
                tops[node] = [node]
        self.counting = [node for node in self.bottom_up if node in self.counting_parent]

    def below(self, node: str) -> list[str]:
        """Give a node and all nodes below it, parents before their children."""
        nodes = [node]
        for each in nodes:  # the list grows while it is read
            nodes += self.children.get(each, [])
        return nodes

    def path(self, node: str) -> list[str]:
        """Give a node and all nodes above it, up to the root."""
        nodes, parent = [node], self.parents.get(node)
        while parent is not None:
            nodes.append(parent)
            parent = self.parents.get(parent)
        return nodes


# --- Step 2: the release is valid.


class Request(NamedTuple):
    """The guarantee and the objective that the certificate is about."""

    k: int
    m: float  # math.inf if an attacker may know any number of items
    objective: str
    weights: dict[str, Fraction]  # of items; 1 if not named
    keep: set[str]  # items that must stay unchanged
    suppress: bool  # whether items may be suppressed
    most: float  # occurrences that may be suppressed


def supports(rows: Iterable[tuple[Row, int, int]], m: float) -> Iterator[int]:
    """Give the support of each set of 1 to m labels that some row contains.

    A row comes as its labels, the place after the last label of the set, and the number of rows like it.
    """
    rows_with: dict[str, list[tuple[Row, int, int]]] = defaultdict(list)
    for row, first, number in rows:
        for place in range(first, len(row)):
            rows_with[row[place]].append((row, place + 1, number))
    for containing in rows_with.values():
        yield sum(number for _, _, number in containing)
        if m > 1:
            yield from supports(containing, m - 1)


def bits_of_rows(rows: Sequence[Row]) -> dict[str, int]:
    """Give, for each label, a number with one bit per row: 1 if the row contains the label."""
    bits: dict[str, bytearray] = defaultdict(lambda: bytearray(len(rows) // 8 + 1))
    for number, row in enumerate(rows):
        for label in row:
            bits[label][number // 8] |= 1 << number % 8
    return {label: int.from_bytes(some, "little") for label, some in bits.items()}


def in_all(bits: Mapping[str, int], labels: Iterable[str]) -> int:
    """Give the bits of the rows that contain all labels."""
    return functools.reduce(int.__and__, (bits.get(label, 0) for label in labels), -1)


def ones(bits: int) -> int:
    """Count rows."""
    return bin(bits).count("1")


def check_cut(hierarchy: Hierarchy, label_of: Mapping[str, str]) -> None:
    """Check that a node above items is the label of all of them or of none."""
    broader = {label for item, label in label_of.items() if label != item}
    for item, label in label_of.items():
        above = broader & set(hierarchy.path(item))
        require(above <= {label}, "a label is that of only some items")


def check_recoding(
    request: Request, hierarchy: Hierarchy, label_of: Mapping[str, str], occurrences: Counter[str]
) -> None:
    """Check the label of each item: itself, a node above it, or none ("")."""
    require(
        set(label_of) == hierarchy.leaves >= set(occurrences)
        and all(not label or label in hierarchy.path(item) for item, label in label_of.items()),
        "recoding.csv does not list each item of original and hierarchy once, as itself or a node above it",
    )
    check_cut(hierarchy, label_of)
    require(
        all(label_of.get(item) == item for item in request.keep), "an item to keep is not published as itself"
    )
    suppressed = [item for item, label in label_of.items() if not label]
    require(
        sum(occurrences[item] for item in suppressed) <= request.most
        and (request.suppress or not suppressed),
        "more is suppressed than allowed",
    )


def check_rows(
    request: Request, rows: Sequence[Row], published: Sequence[Row], label_of: Mapping[str, str]
) -> None:
    """Check that the published rows are the original rows, recoded, and that the guarantee holds."""
    recoded = Counter(tuple(sorted({label_of[item] for item in row} - {""})) for row in rows)
    require(recoded == Counter(published), "the published rows are not the original rows, recoded")
    found: Iterable[int]
    if request.m >= max(map(len, recoded), default=0):
        # Every set is part of a whole row, and at least as many rows contain it as contain that row.
        bits = bits_of_rows(published)
        found = (ones(in_all(bits, row)) for row in recoded if row)
    else:
        found = supports(((row, 0, number) for row, number in recoded.items()), request.m)
    require(
        all(support >= request.k for support in found),
        f"a set of at most {request.m} labels is in fewer than k rows",
    )


# --- Step 3: the information loss, in whole numbers.


class Losses(NamedTuple):
    """The loss of each decision; the loss of a release is their sum."""

    published: dict[str, int]  # if a node is the label of all items below it
    suppressed: dict[str, int]  # if an item is suppressed


def losses_of(hierarchy: Hierarchy, request: Request, occurrences: Counter[str]) -> Losses:
    """Compute the losses by the request's objective."""
    given = request.weights
    require(
        set(given) <= hierarchy.leaves and min(given.values(), default=0) >= 0,
        "the weights are none of items",
    )
    # Weights are multiplied by their common denominator, so that losses are whole numbers.
    unit = math.lcm(*(weight.denominator for weight in given.values()))
    size: dict[str, int] = {}  # of each node: the leaves below it,
    total: dict[str, int] = {}  # their occurrences,
    weight: dict[str, int] = {}  # and the sum of their weights, for each occurrence or each item
    for node in hierarchy.bottom_up:
        children = hierarchy.children.get(node, [])
        if children:
            for values in (size, total, weight):
                values[node] = sum(values[child] for child in children)
        else:
            number = occurrences[node]
            times = min(number, 1) if request.objective == "items" else number
            size[node], total[node] = 1, number
            weight[node] = int(given.get(node, 1) * unit) * times
    if request.objective in ("ncp", "lm", "items"):
        return losses_by_size(hierarchy, request.objective, size, weight)
    require(request.objective in ("entropy", "entropy-max"), f"there is no objective {request.objective}")
    return losses_by_entropy(hierarchy, request.objective, total, weight)


def losses_by_size(
    hierarchy: Hierarchy, objective: str, size: Mapping[str, int], weight: Mapping[str, int]
) -> Losses:
    """Compute losses that grow with the number of items that a label represents."""
    every = len(hierarchy.leaves)
    # ncp counts all items of a label, the others all but one; to suppress is the same as to publish the root.
    less, worst = (0, every) if objective == "ncp" else (1, max(every - 1, 1))
    published = {
        node: weight[node] * (size[node] - less if size[node] > 1 else 0) for node in hierarchy.bottom_up
    }
    return Losses(published, {leaf: weight[leaf] * worst for leaf in hierarchy.leaves})


def losses_by_entropy(
    hierarchy: Hierarchy, objective: str, total: Mapping[str, int], weight: Mapping[str, int]
) -> Losses:
    """Compute losses in units of 2^-32 bit: what a label leaves open about which item was there."""
    every = total[hierarchy.root]
    digits, logarithms = decimal.Context(prec=60), dict[int, int]()
    for number in {every, *total.values()}:  # logarithms to base 2, in units of 2^-128
        natural = digits.ln(decimal.Decimal(max(number, 1)))
        log = digits.divide(natural, digits.ln(decimal.Decimal(2)))
        scaled = digits.multiply(log, decimal.Decimal(1 << 128))
        logarithms[number] = int(scaled.to_integral_value(context=digits))

    def bits(node: str, number: int) -> int:
        """Multiply the weight of a node by a logarithm."""
        return (weight[node] * logarithms[number] + (1 << 95)) >> 96  # rounded

    known = {node: bits(node, total[node]) for node in hierarchy.bottom_up}
    published: dict[str, int] = {}
    for node in hierarchy.bottom_up:
        children = hierarchy.children.get(node, [])
        below = sum(published[child] for child in children)
        step = max(known[node] - sum(known[child] for child in children), 0) if children else 0
        published[node] = step + below
    # entropy-max counts a suppressed item as if not even its number of occurrences were known.
    relative = objective == "entropy"
    suppressed = {leaf: bits(leaf, every) - (known[leaf] if relative else 0) for leaf in hierarchy.leaves}
    return Losses(published, suppressed)


# --- Step 4: the proof that no release loses less than the bound.


class Clause(NamedTuple):
    """A valid release publishes one of the nodes, or one above it, or suppresses one of the leaves."""

    nodes: set[str]
    leaves: list[str]


class Problem(NamedTuple):
    """All that the bound of a branch depends on."""

    request: Request
    hierarchy: Hierarchy
    clauses: list[Clause]
    occurrences: Counter[str]
    losses: Losses


def clauses_of(
    certificate: Mapping[str, Any], request: Request, hierarchy: Hierarchy, rows: Sequence[Row]
) -> Iterator[Clause]:
    """Check and read the clauses of the certificate.

    Each names a set of nodes in fewer than k rows, and a leaf below each node; one row contains these leaves.
    A release whose labels of these leaves are at or below the nodes would show a set of at most m labels in
    fewer than k rows. So it must publish a node above one of them, or suppress one of the leaves.
    """
    bits_of_leaf, bits_of_node = bits_of_rows(rows), dict[str, int]()
    for clause in certificate["clauses"]:
        nodes, leaves = clause["nodes"], clause["leaves"]
        check_clause(request, hierarchy, nodes, leaves)
        for node in nodes:
            if node not in bits_of_node:
                found = (bits_of_leaf.get(below, 0) for below in hierarchy.below(node))
                bits_of_node[node] = functools.reduce(int.__or__, found)
        support = ones(in_all(bits_of_node, nodes))
        require(
            0 < support < request.k and in_all(bits_of_leaf, leaves),
            f"{nodes} are in {support} rows, or {leaves} in none",
        )
        yield Clause(
            {str(hierarchy.counting_parent[node]) for node in nodes}, leaves if request.suppress else []
        )


def check_clause(request: Request, hierarchy: Hierarchy, nodes: list[str], leaves: list[str]) -> None:
    """Check that a clause is a set of 1 to m nodes, none above another, with a leaf below each."""
    sizes = 0 < len(set(nodes)) == len(nodes) == len(leaves) <= request.m
    below_root = all(hierarchy.counting_parent.get(node) for node in nodes)
    require(
        sizes
        and below_root
        and not any(above in nodes for node in nodes for above in hierarchy.path(node)[1:]),
        f"{nodes} are no set of up to m nodes",
    )
    require(
        all(leaf in hierarchy.leaves and node in hierarchy.path(leaf) for node, leaf in zip(nodes, leaves)),
        "a leaf is not below its node",
    )


def prices_of(
    problem: Problem, multipliers: Mapping[str, Any]
) -> tuple[int, int, Counter[str], Counter[str]]:
    """Check and read multipliers: that of the limit, their sum, and what each decision is paid by clauses."""
    limit, limited = multipliers.get("limit", 0), problem.request.most < math.inf
    require(type(limit) is int and limit >= 0 and (limited or limit == 0), "a false multiplier of the limit")
    total, published, suppressed = 0, Counter[str](), Counter[str]()
    for number, price in multipliers["clauses"]:
        require(
            type(number) is type(price) is int and 0 <= number < len(problem.clauses) and price > 0,
            "a false multiplier",
        )
        total += price
        published.subtract(dict.fromkeys(problem.clauses[number].nodes, price))
        suppressed.subtract(dict.fromkeys(problem.clauses[number].leaves, price))
    return limit, total, published, suppressed


def least_of_leaf(request: Request, leaf: str, decision: int | None, price: float) -> float:
    """Choose the cheaper decision that the branch allows: publish a leaf, or suppress it at a price."""
    may_stay = decision != 1
    may_go = request.suppress and leaf not in request.keep and decision != 0
    return min(0 if may_stay else math.inf, price if may_go else math.inf)


def least_of_branch(
    problem: Problem, multipliers: Mapping[str, Any], fixed: Mapping[str, int], scale: int
) -> float:
    """Compute a lower bound of scale * loss for all valid releases in a branch.

    It is the least, over all recodings of the branch, valid or not, of
    scale * loss + sum of price * (1 - decisions that satisfy the clause) + limit * (suppressed - most).
    If a recoding is valid, the second and the third term are at most 0.
    """
    request, hierarchy, losses = problem.request, problem.hierarchy, problem.losses
    limit, total, published, suppressed = prices_of(problem, multipliers)
    least: dict[str, float] = {}  # of all recodings of the leaves below a node
    prices: dict[str, int] = {}  # of the node and all nodes below it: they count if a label covers them
    closed: dict[str, bool] = {}  # whether no label can stand for all leaves below the node
    for node in hierarchy.counting:
        children, decision = hierarchy.counting_children.get(node), fixed.get(node)
        if children is None:
            prices[node], closed[node] = 0, node in request.keep or decision == 1
            price = limit * problem.occurrences[node] + suppressed[node]
            least[node] = least_of_leaf(request, node, decision, scale * losses.suppressed[node] + price)
            continue
        prices[node] = published[node] + sum(prices[child] for child in children)
        closed[node] = decision == 0 or any(closed[child] for child in children)
        finer = math.inf if decision == 1 else sum(least[child] for child in children)
        label = math.inf if closed[node] else scale * losses.published[node] + prices[node]
        least[node] = min(finer, label)
    return total - (limit * problem.request.most if limit else 0) + least[hierarchy.root]


def check_branches(certificate: Mapping[str, Any], problem: Problem) -> None:
    """Check that the branches contain all releases, and none that loses less than the bound."""
    scale, bound, branches = certificate["scale"], certificate["bound"], certificate["tree"]
    require(type(scale) is type(bound) is int and scale > 0, "the scale or the bound is no number")
    losses, counting = problem.losses, problem.hierarchy.counting
    below = (losses.suppressed[node] for node in counting if node in losses.suppressed)
    unit = math.gcd(*(losses.published[node] for node in counting), *below) or 1
    waiting: list[tuple[Any, dict[str, int]]] = [(0, {})]  # a branch, and the decisions that lead to it
    reached: set[int] = set()
    while waiting:
        at, fixed = waiting.pop()
        require(type(at) is int and 0 <= at < len(branches) and at not in reached, "the branches are no tree")
        reached.add(at)
        branch = branches[at]
        if "on" in branch:
            node = decided_node(branch, problem.hierarchy, fixed)
            waiting += [(branch["zero"], {**fixed, node: 0}), (branch["one"], {**fixed, node: 1})]
            continue
        check_end(certificate, problem, at, fixed, unit)
    require(len(reached) == len(branches), "branches are never reached")


def check_end(
    certificate: Mapping[str, Any], problem: Problem, at: int, fixed: Mapping[str, int], unit: int
) -> None:
    """Check the proof at the end of a branch: no valid release is in it, or none below the bound."""
    ((end, number),) = certificate["tree"][at].items()
    require(
        end in ("bound", "none") and type(number) is int and number >= 0,
        f"branch {at} ends without a proof",
    )
    multipliers = certificate["multipliers"][number]
    if end == "none":  # without the loss, a valid release would have at most 0
        least = least_of_branch(problem, multipliers, fixed, 0)
        require(least > 0, f"branch {at} proves {least} only")
        return
    scale = certificate["scale"]
    least = least_of_branch(problem, multipliers, fixed, scale)
    if least < math.inf:  # losses are multiples of the unit: round up
        least = -(-least // (scale * unit)) * unit
    require(least >= certificate["bound"], f"branch {at} proves {least} only")


def decided_node(branch: Mapping[str, Any], hierarchy: Hierarchy, fixed: Mapping[str, int]) -> str:
    """Check and read the decision of a branch: to publish an inner node, or to suppress a leaf."""
    kind, node = branch["on"]
    expected = "up" if node in hierarchy.counting_children else "out"
    require(node in hierarchy.counting_parent and node not in fixed and kind == expected, f"no branch {node}")
    return str(node)


# --- The four steps together, and the command.


def text_of(path: pathlib.Path, encoding: str = "utf-8") -> str:
    """Read a text file, and print its SHA-256."""
    content = path.read_bytes()
    print(hashlib.sha256(content).hexdigest(), path)
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    return content.decode(encoding).lstrip("\ufeff")


def read_original(path: pathlib.Path, report: Mapping[str, Any]) -> tuple[list[Row], str]:
    """Read the original rows in the way in which the run read them, and name their format."""
    given = report["input"]
    details = dict(given["read"] or {})
    if path.suffix == ".jsonl":
        details.update(layout="jsonl", delimiter=None)
    form = str(details.get("layout"))
    if details.get("delimiter"):
        form = f"{form} with several items in a cell"
    columns = details.get("item_columns") or [None]
    layout = Layout(
        form, details.get("separator") or ",", details.get("id_column"), columns[0], given["rows"]
    )
    return read_rows(text_of(path, details.get("encoding") or "utf-8"), layout), form


def read_published(folder: pathlib.Path, about: Mapping[str, Any]) -> list[Row]:
    """Read the published rows as about.json says."""
    columns = about.get("item_columns") or [about.get("item_column")]
    layout = Layout(
        about["format"], about.get("separator", ","), about.get("id_column"), columns[0], about["rows"]
    )
    name = about["file"]
    inside = name not in ("", "..") and pathlib.PureWindowsPath(name).name == name
    require(inside, "about.json names a file elsewhere")
    return read_rows(text_of(folder / name), layout)


def read_request(
    certificate: Mapping[str, Any], guarantee: Mapping[str, Any], recoding: list[list[str]]
) -> Request:
    """Read the request of the certificate; it must be for the guarantee of the run."""
    k, m, most = certificate["k"], certificate["m"], certificate["max_suppressed"]
    require(
        (k, m) == (guarantee["k"], guarantee["m"]) and len(recoding) == len({item for item, _ in recoding}),
        "about.json guarantees another k or m, or recoding.csv has an item twice",
    )
    keep, suppress = set(certificate["keep"]), certificate["suppress"]
    require(type(k) is int and k > 1 and type(suppress) is bool, "this is no certificate of a known kind")
    require(
        certificate["setveil-certificate"] == 1 and type(most) in (int, type(None)),
        "this is no certificate of a known kind",
    )
    return Request(
        k,
        math.inf if m in ("inf", None) else m,
        certificate["objective"],
        {item: Fraction(weight) for item, weight in certificate["weights"].items()},
        keep,
        suppress,
        math.inf if most is None else most,
    )


def audit(
    run: pathlib.Path, original: pathlib.Path, hierarchy_file: pathlib.Path, file: pathlib.Path
) -> None:
    """Check a run against the original rows, the hierarchy and the certificate."""
    # Step 1: read.
    certificate = json.loads(text_of(file))
    about = json.loads(text_of(run / "published" / "about.json"))
    report = json.loads(text_of(run / "internal" / "report.json"))
    rows, form = read_original(original, report)
    published = read_published(run / "published", about)
    recoding = fields(text_of(run / "internal" / "recoding.csv"), ",")[1:]
    request = read_request(certificate, about["guarantee"], recoding)
    occurrences = Counter(item for row in rows for item in row)
    hierarchy = Hierarchy(read_hierarchy(text_of(hierarchy_file)), {*occurrences, *request.keep})
    label_of = {line[0]: line[1] for line in recoding}

    # Step 2: the release is valid.
    check_recoding(request, hierarchy, label_of, occurrences)
    check_rows(request, rows, published, label_of)

    # Step 3: it loses what the certificate says.
    losses = losses_of(hierarchy, request, occurrences)
    loss = sum(losses.published[label] for label in set(label_of.values()) - {""})
    loss += sum(losses.suppressed[item] for item, label in label_of.items() if not label)
    require(certificate["loss"] == loss, f"the release loses {loss}")

    # Step 4: no other release loses less than the bound.
    clauses = list(clauses_of(certificate, request, hierarchy, rows))
    check_branches(certificate, Problem(request, hierarchy, clauses, occurrences, losses))
    optimal = ": it is optimal" if loss == certificate["bound"] else ""
    print(
        f"Accepted: {len(rows)} rows, read as {form}; k={request.k}, m={request.m}; the release loses "
        f"{loss}, no other of its model less than {certificate['bound']}{optimal}."
    )


def printable(text: str) -> str:
    """Write control characters as JSON does."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("run", "original", "hierarchy", "--certificate"):
        parser.add_argument(name, type=pathlib.Path)
    options = parser.parse_args()
    certificate = options.certificate or options.run / "internal" / "certificate.json"
    try:
        audit(options.run, options.original, options.hierarchy, certificate)
    except RefusedError as error:
        print(printable(f"Refused: {error}."))
        sys.exit(1)
    except Exception as error:  # whatever is wrong with a file: there is no verdict
        print(printable(f"No verdict: {type(error).__name__}: {error}"), file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main()
