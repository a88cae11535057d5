"""Check the guarantee of a release of setveil, from its published files alone.

    python3 -I check.py [FOLDER] [--k K] [--m M] [--json]

FOLDER is the folder of a run, or its folder published/ (default: the folder that contains this program).
It needs Python 3.9 or later and nothing else, opens no connection and writes no file.

Exit codes: 0 the guarantee holds, 1 it does not, 2 it is not checked here, 4 the files cannot be read.

This program cannot tell whether labels mean what about.json says, or whether rows were invented or emptied.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
import pathlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

# A fact of a row: a column and its value, or no column ("") and the label of an item.
Fact = tuple[str, str]

# A row as the numbers of its facts, in ascending order.
NumberedRow = tuple[int, ...]

# Characters that would steer a terminal.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class NoVerdictError(Exception):
    """There is no verdict, for a reason and with an exit code."""

    def __init__(self, reason: str, code: int = 4) -> None:
        super().__init__(reason)
        self.code = code


class Guarantee(NamedTuple):
    """The guarantee to check."""

    model: str
    k: int
    m: float  # math.inf if an attacker may know any number of items


class Row(NamedTuple):
    """A published row: the columns that an attacker may know, with their values, and the labels."""

    columns: tuple[Fact, ...]
    labels: tuple[str, ...]  # each once, in ascending order


class Rare(NamedTuple):
    """A set of facts that fewer than k rows contain, and the columns of its class of rows."""

    length: int
    facts: tuple[Fact, ...]
    columns: tuple[Fact, ...]
    support: int


def require(holds: object, reason: str, code: int = 4) -> None:
    """Stop without a verdict unless a condition holds."""
    if not holds:
        raise NoVerdictError(reason, code)


# --- Step 1: read the published rows, in exactly the bytes that setveil writes.
#
# Other bytes for the same labels (blanks, quotes, another order) could tell rows apart that look alike here.


def quoted(field: str, separator: str) -> str:
    """Write a field as setveil does: in quotes if it contains a special character or an outer blank."""
    special = f'[{re.escape(separator)}"\r\n]|^[ \t\ufeff]|[ \t]$'
    return '"' + field.replace('"', '""') + '"' if re.search(special, field) else field


def split(text: str, separator: str) -> list[list[str]]:
    """Split a text into lines of fields; a blank line has no field."""
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    written = ""
    if lines:
        # A line with one empty field is written as "", as a blank line means a row without items.
        fields = (['""'] if line == [""] else [quoted(field, separator) for field in line] for line in lines)
        written = "\n".join(map(separator.join, fields)) + "\n"
    require(written == text.replace("\0", ""), "quotes, blanks or line ends are others")
    return lines


def read_table(text: str, separator: str, names: Collection[str]) -> list[dict[str, str]]:
    """Read a table with a header that has exactly these names (any, if there are none)."""
    header, *lines = split(text, separator)
    require(
        len(set(header)) == len(header) and set(header) == set(names or header),
        f"the columns are {header}, not {names}",
    )
    require(
        all(len(line) == len(header) for line in lines), "a line does not have as many fields as the header"
    )
    return [dict(zip(header, line)) for line in lines]


def read_basket(about: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read one row per line, its items between separators."""
    return split(data, about.get("separator", ","))


def read_fimi(_: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read one row per line, its items whole numbers between single blanks."""
    lines = list(io.StringIO(data))
    plain = re.compile("([+-]?[0-9]+( [+-]?[0-9]+)*)?\n")
    require(all(plain.fullmatch(line) for line in lines), "a line has other blanks or signs")
    return [line.split() for line in lines]


def read_spmf(_: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read one row per line, `-1` after each item and `-2` at the end; a head may name the items."""
    lines = list(io.StringIO(data))
    head = list(itertools.takewhile(lambda line: line.startswith("@"), lines))
    body = lines[len(head) :]
    plain = re.compile("([1-9][0-9]* -1 )*-2\n")
    require(all(plain.fullmatch(line) for line in body), "a line has other blanks or signs")
    known = re.compile("@ITEM=|@CONVERTED_FROM_TEXT\n")
    require("\r" not in data and all(known.match(line) for line in head), "no head")
    # A line of the head reads @ITEM=NUMBER=NAME.
    named = [line.rstrip("\n")[len("@ITEM=") :] for line in head if line.startswith("@ITEM=")]
    names = dict(line.split("=", 1) for line in named)
    return [[names.get(word, word) for word in line.split() if word not in ("-1", "-2")] for line in body]


def read_jsonl(about: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read one row per line: a list in JSON, or an object with one key whose value is the list."""
    name, lines = about.get("item_column"), list(io.StringIO(data))
    values = [json.loads(line) for line in lines]
    again = (json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    require(list(again) == lines, "other blanks")
    if name is not None:
        require(all(set(value) == {name} for value in values), "a line says more than its items")
        values = [value[name] for value in values]
    require(all(type(row) is list for row in values), "a line says more than its items")
    return values


def read_long(about: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read a table with one occurrence per line: the number of a row, and an item of it."""
    key, item = about["id_column"], about["item_column"]
    table = read_table(data, about.get("separator", ","), [key, item])
    require(all(re.fullmatch("0|[1-9][0-9]*", line[key]) for line in table), "a row has no number")
    numbers = [int(line[key]) for line in table]
    require(numbers == sorted(numbers), "rows are not in the order of their numbers")
    rows: dict[str, list[str]] = {}
    for line in table:
        rows.setdefault(line[key], []).append(line[item])
    return list(rows.values())


def read_wide(about: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read a table with one row per line and an item in each cell; the last cells may be empty."""
    table = read_table(data, about.get("separator", ","), about["item_columns"])
    rows = []
    for line in table:
        cells = list(line.values())
        row = [cell for cell in cells if cell]
        require(cells == row + [""] * (len(cells) - len(row)), "a gap")
        rows.append(row)
    return rows


def read_onehot(about: Mapping[str, Any], data: str) -> list[list[str]]:
    """Read a table with a column per label, and 1 in the rows that contain it, else 0."""
    table = read_table(data, about.get("separator", ","), []) if data.strip() else []
    require(all(set(line.values()) <= {"0", "1"} for line in table), "a cell is neither 0 nor 1")
    return [[label for label, cell in line.items() if cell == "1"] for line in table]


FORMATS = {
    "basket": read_basket,
    "fimi": read_fimi,
    "spmf": read_spmf,
    "jsonl": read_jsonl,
    "long": read_long,
    "wide": read_wide,
    "onehot": read_onehot,
}


def read_columns(about: Mapping[str, Any], data: str) -> list[tuple[tuple[Fact, ...], list[str]]]:
    """Read a table with further columns: those that an attacker may know, and the items, of each row."""
    roles = about["roles"]
    rows = []
    for line in read_table(data, ",", [*roles["qi"], *roles["keep"], roles["set"]]):
        items = split(line[roles["set"]] + "\n", about["delimiter"])
        require(len(items) == 1, "a field of items has a line end")
        rows.append((tuple((name, line[name]) for name in roles["qi"]), items[0]))
    return rows


def read_rows(about: Mapping[str, Any], data: str) -> list[Row]:
    """Read the published rows; rows with the same labels must be written in the same way."""
    form = about["format"]
    require(form == "table" or form in FORMATS, f"files of the format {form} are not read here", 2)
    if form == "table":
        found = read_columns(about, data)
    else:
        found = [((), items) for items in FORMATS[form](about, data)]
    rows: list[Row] = []
    written: dict[Row, list[str]] = {}
    for columns, items in found:
        require(all(type(item) is str for item in items), "an item is no text")
        row = Row(columns, tuple(sorted(set(items) - {""})))
        same_way = len(items) == len(row.labels) and written.setdefault(row, items) == items
        require(same_way, "rows with the same labels are written in several ways")
        rows.append(row)
    return rows


def unseen_rows(about: Mapping[str, Any], data: str, rows: list[Row]) -> int:
    """Count the rows without items that the file cannot show; about.json must agree with the file."""
    empty = sum(not row.labels for row in rows)
    require(type(about["rows"]) is int, "about.json speaks of other rows")
    unseen = int(about["rows"]) - len(rows)
    # A long table shows no row without items, nor does a one-hot table without labels show any row.
    hides = about["format"] == "long" or (about["format"] == "onehot" and not data.strip())
    require(unseen == 0 or (unseen > 0 and hides), "about.json speaks of other rows")
    require(empty + unseen == about["empty_rows"], "about.json speaks of other rows")
    return unseen


# --- Step 2: count the guarantee, by its definition.


def sets_of(
    rows: Iterable[tuple[NumberedRow, int, int]], m: float, start: NumberedRow = ()
) -> Iterator[tuple[NumberedRow, int]]:
    """Give each set of at most m facts that some row contains and that begins with `start`, with its support.

    A row comes as its facts, the place after the last fact of `start`, and the number of rows like it.
    """
    rows_with: dict[int, list[tuple[NumberedRow, int, int]]] = defaultdict(list)
    for row, first, number in rows:
        for place in range(first, len(row)):
            rows_with[row[place]].append((row, place + 1, number))
    for fact in sorted(rows_with):
        # The rows with one more fact; those of another next fact are not needed any more.
        containing, facts = rows_with.pop(fact), (*start, fact)
        yield facts, sum(number for _, _, number in containing)
        if len(facts) < m:
            yield from sets_of(containing, m, facts)


def whole_rows(rows: Counter[NumberedRow]) -> list[tuple[NumberedRow, int]]:
    """Give each distinct row that has facts, with the number of rows that contain all of them."""
    rows_with: dict[int, set[NumberedRow]] = defaultdict(set)
    for row in rows:
        for fact in row:
            rows_with[fact].add(row)
    supports = []
    for row in rows:
        if row:
            containing = set.intersection(*(rows_with[fact] for fact in row))
            supports.append((row, sum(rows[other] for other in containing)))
    return supports


def supports_of(rows: Counter[NumberedRow], k: int, m: float) -> Iterable[tuple[NumberedRow, int]]:
    """Give sets of at most m facts with their supports: all, or enough of them to decide."""
    if m >= max(map(len, rows), default=0):
        # Every set is part of a whole row, and at least as many rows contain it as contain that row.
        supports = whole_rows(rows)
        if m == math.inf or all(support >= k for _, support in supports):
            return supports
    return sets_of(((row, 0, number) for row, number in rows.items()), m) if m > 0 else []


class NumberedRows(NamedTuple):
    """All rows, each as the numbers of its facts, in classes of rows that are counted together."""

    facts: list[Fact]  # by number
    classes: dict[tuple[Fact, ...], Counter[NumberedRow]]  # by what is known of their columns
    empty: Counter[tuple[Fact, ...]]  # rows without items, by their columns


def facts_of(row: Row, model: str) -> list[Fact]:
    """Give the facts of a row that may be in one set: its labels, and its columns if they are mixed."""
    labels = [("", label) for label in row.labels]
    return [*row.columns, *labels] if model == "mixed-km" else labels


def numbered_rows(model: str, rows: list[Row], unseen: int) -> NumberedRows:
    """Give each fact a number, and put the rows into classes."""
    facts = sorted({fact for row in rows for fact in facts_of(row, model)})
    number = {fact: at for at, fact in enumerate(facts)}
    classes: dict[tuple[Fact, ...], Counter[NumberedRow]] = defaultdict(Counter)
    for row in rows:
        # Only (k,k^m)-anonymity has several classes: rows with the same columns.
        same = row.columns if model == "kkm" else ()
        classes[same][tuple(sorted(number[fact] for fact in facts_of(row, model)))] += 1
    empty = Counter(row.columns for row in rows if not row.labels)
    if unseen:
        classes[()][()] += unseen
        empty[()] += unseen
    return NumberedRows(facts, classes, empty)


def count_guarantee(guarantee: Guarantee, numbered: NumberedRows) -> tuple[int | None, int, list[Rare]]:
    """Count the least support, the number of sets that fewer than k rows contain, and show ten of them."""
    model, k, m = guarantee
    least, violations, first = math.inf, 0, list[Rare]()
    for columns, rows in numbered.classes.items():
        # k-anonymity counts rows; else at least k rows must contain each set of at most m facts.
        supports = rows.items() if model == "k-anonymity" else supports_of(rows, k, m)
        if model == "kkm":  # and each class has at least k rows
            supports = itertools.chain([((), sum(rows.values()))], supports)
        for some, support in supports:
            least = min(least, support)
            if support < k:
                violations += 1
                rare = Rare(len(some), tuple(numbered.facts[at] for at in some), columns, support)
                first = sorted([*first, rare])[:10]
    return None if least == math.inf else int(least), violations, first


# --- Step 3: check the counts of items (counts.csv), if there are any.


class CountedItem(NamedTuple):
    """A line of counts.csv: this many rows of the original have this item, published under this label."""

    item: str
    label: str  # "" if the item is suppressed
    rows: int


def in_order(texts: Collection[str]) -> list[str]:
    """Sort texts by their value if all are whole numbers, else by their characters."""
    if all(re.fullmatch("[+-]?[0-9]+", text) for text in texts):
        return sorted(texts, key=lambda text: (int(text), text))
    return sorted(texts)


def read_counts(text: str) -> list[CountedItem]:
    """Read counts.csv."""
    header, *lines = split(text, ",")
    require(
        header == ["item", "label", "rows"] and all(len(line) == 3 for line in lines),
        "counts.csv has other columns",
    )
    number = re.compile("0|[1-9][0-9]{0,14}")
    require(all(item and number.fullmatch(rows) for item, _, rows in lines), "a line of counts.csv is none")
    return [CountedItem(item, label, int(rows)) for item, label, rows in lines]


def fewest_empty_rows(guarantee: Guarantee, about: Mapping[str, Any], numbered: NumberedRows) -> int:
    """Find the fewest rows without items that look alike to an attacker, if fewer than k do; else 0."""
    if guarantee.model == "mixed-km":
        # Sets of values of columns, one fact fewer than m, as the attacker knows a suppressed item, too.
        number = {fact: at for at, fact in enumerate(sorted({x for row in numbered.empty for x in row}))}
        rows = Counter[NumberedRow]()
        for columns, times in numbered.empty.items():
            rows[tuple(sorted(number[fact] for fact in columns))] += times
        supports = supports_of(rows, guarantee.k, guarantee.m - 1)
        alike = [about["empty_rows"], *(support for _, support in supports)]
    else:
        alike = list(numbered.empty.values())
    return min((rows for rows in alike if 0 < rows < guarantee.k), default=0)


class Labels(NamedTuple):
    """The labels of a release, the items that each of them may represent, and the rows with it."""

    members: dict[str, list[str]]  # the items of each label, from about.json
    rows_with: dict[str, set[int]]  # the numbers of the rows with each label
    labels_of: dict[str, list[str]]  # the labels of each item
    local: bool  # whether an item may have several labels

    def members_of(self, label: str) -> list[str]:
        """Give the items of a label; a label that about.json does not list is an item itself."""
        return self.members.get(label, [label])

    def support(self, label: str) -> int:
        """Count the rows with a label."""
        return len(self.rows_with.get(label, ()))


def labels_in(about: Mapping[str, Any], rows: list[Row]) -> Labels:
    """Collect the labels of a release."""
    rows_with: dict[str, set[int]] = {}
    for number, row in enumerate(rows):
        for label in row.labels:
            rows_with.setdefault(label, set()).add(number)
    labels_of: dict[str, list[str]] = {}
    labels = Labels(about["labels"], rows_with, labels_of, about["recoding"] in ("local", "table"))
    for label in dict.fromkeys([*labels.members, *rows_with]):
        for item in labels.members_of(label):
            labels_of.setdefault(item, []).append(label)
    return labels


def wrong_in_whole(
    about: Mapping[str, Any], labels: Labels, lines: list[CountedItem], k: int, few_empty: int
) -> Iterator[str]:
    """Say what is wrong with the counts as a whole."""
    least, lists_suppressed = about["counts"]["least"], about["counts"]["suppressed"]
    suppressed = {line.item for line in lines if not line.label}
    if least < k:
        yield f"the least count is {least}, below k = {k}"
    if suppressed and not lists_suppressed:
        yield "suppressed items are listed, though about.json says no"
    if few_empty and lists_suppressed:
        yield f"suppressed items may be listed, though only {few_empty} rows are empty"
    if len(suppressed | set(labels.labels_of)) > about.get("domain", math.inf):
        yield "there are more items than about.json says"


def wrong_labels(labels: Labels) -> Iterator[str]:
    """Name items with several labels, if the recoding is global, and rows that show two labels of an item."""
    several = {item: known for item, known in labels.labels_of.items() if len(known) > 1}
    if not labels.local:
        for item in several:
            yield f"{item!r} has several labels"
        return
    pairs = dict.fromkeys(pair for known in several.values() for pair in itertools.combinations(known, 2))
    for a, b in pairs:
        if labels.rows_with.get(a, set()) & labels.rows_with.get(b, set()):
            yield f"a row shows {a!r} and {b!r}, which share an item"


def wrong_line(about: Mapping[str, Any], labels: Labels, line: CountedItem) -> str | None:
    """Say what is wrong with a line of the counts."""
    item, label, rows = line
    known, least = labels.labels_of.get(item, []), about["counts"]["least"]
    # An item is published under its labels only; it is suppressed everywhere, or here and there if local.
    possible = label in known if label else not known or labels.local
    if item in labels.members or not possible:
        return f"{item!r} is not published under {label!r}"
    # At most all rows with the label had the item; if it is suppressed, all rows without a label of it.
    most = labels.support(label) if label else about["rows"] - sum(map(labels.support, known))
    if not least <= rows <= most:
        return f"{rows} rows of {item!r}, can be {least} to {most}"
    return None


def wrong_lines(about: Mapping[str, Any], labels: Labels, lines: list[CountedItem]) -> Iterator[str]:
    """Say what is wrong with each line of the counts, and with the order of the lines."""
    item_place = {item: at for at, item in enumerate(in_order({line.item for line in lines}))}
    used = in_order({line.label for line in lines if line.label})
    label_place = {label: at for at, label in enumerate(["", *used])}
    before = (-1, 0)
    for number, line in enumerate(lines, start=2):  # the header is line 1
        here = (item_place[line.item], label_place[line.label] if labels.local else 0)
        if here <= before:
            yield f"line {number}: {line.item!r} is not in item order, or there before"
        reason = wrong_line(about, labels, line)
        if reason:
            yield f"line {number}: {reason}"
        before = here


def wrong_sums(about: Mapping[str, Any], labels: Labels, lines: list[CountedItem]) -> Iterator[str]:
    """Name labels that more rows show than contained their items."""
    least, others = about["counts"]["least"], about.get("others", {}).get("labels", [])
    counted: dict[str, dict[str, int]] = defaultdict(dict)
    for line in lines:
        counted[line.label][line.item] = counted[line.label].get(line.item, 0) + line.rows
    for label in labels.rows_with:
        if label in others:  # it has items that about.json does not list, in any number of rows
            continue
        support, listed = labels.support(label), counted.get(label, {})
        unlisted = set(labels.members_of(label)) - set(listed)  # each in fewer rows than the least count
        most = sum(listed.values()) + len(unlisted) * min(least - 1, support)
        if most < support:
            yield f"{support} rows show {label!r}, but its items can be in {most} at most"


def wrong_counts(
    about: Mapping[str, Any], rows: list[Row], lines: list[CountedItem], k: int, few_empty: int
) -> list[str]:
    """Say what cannot be true of the counts, or reveals too much."""
    labels = labels_in(about, rows)
    return [
        *wrong_in_whole(about, labels, lines, k, few_empty),
        *wrong_labels(labels),
        *wrong_lines(about, labels, lines),
        *wrong_sums(about, labels, lines),
    ]


# --- The three steps together, and the command.


def guarantee_of(about: Mapping[str, Any], k: int | None, m: int | str | None) -> Guarantee:
    """Read the guarantee of about.json, or the same with another k or m."""
    declared = about["guarantee"]
    model, rows = declared["model"], about["recoding"] in ("global", "local")
    checked = ("km-anonymity", "k-anonymity") if rows else ("kkm", "mixed-km")
    unchecked = {"sensitive", "absent", "files", "items_file"} & {*declared, *about}
    require(model in checked and not unchecked, f"{model} of such a release is not checked here", 2)
    k = declared["k"] if k is None else k
    any_number = "inf" if model == "k-anonymity" else None
    m = declared.get("m", any_number) if m is None else m
    possible = type(k) is int and k > 1 and (m == "inf" or (type(m) is int and m > 0))
    require(possible, f"k = {k} and m = {m} cannot be", 2)
    return Guarantee(model, int(k or 0), float(m))


def require_lists(about: Mapping[str, Any]) -> None:
    """Require that about.json lists the items of each label; with `others`, it may list none of them."""
    others = about.get("others", {}).get("labels", [])
    for label, items in about["labels"].items():
        texts = type(items) is list and all(type(item) is str for item in items)
        require(texts and (items or label in others), "labels are no lists")


def described(rare: Rare) -> dict[str, Any]:
    """Describe a set of facts that too few rows contain."""
    return {
        "class": {column: value for column, value in (*rare.columns, *rare.facts) if column},
        "support": rare.support,
        "itemset": tuple(label for column, label in rare.facts if not column),
    }


def recount(
    about: Mapping[str, Any], data: str, counts: str | None, k: int | None = None, m: int | str | None = None
) -> dict[str, Any]:
    """Check a guarantee from the texts of the published files; `counts` is None if there is no counts.csv."""
    guarantee = guarantee_of(about, k, m)
    require_lists(about)
    rows = read_rows(about, data)
    numbered = numbered_rows(guarantee.model, rows, unseen_rows(about, data, rows))
    least, violations, first = count_guarantee(guarantee, numbered)
    declared = about.get("counts") is not None
    require(declared == (counts is not None), "counts.csv is missing, or about.json says nothing of it")
    wrong = []
    if counts is not None:
        few_empty = fewest_empty_rows(guarantee, about, numbered)
        wrong = wrong_counts(about, rows, read_counts(counts), guarantee.k, few_empty)
    # For any number of items, only whole rows were counted, not all sets in them.
    complete = guarantee.m < math.inf or guarantee.model == "k-anonymity" or not violations
    return {
        "model": guarantee.model,
        "k": guarantee.k,
        "m": "inf" if guarantee.m == math.inf else int(guarantee.m),
        "holds": not violations and not wrong,
        "counts": wrong,
        "violations": violations if complete else None,
        "first": [described(rare) for rare in first],
        "greatest_k": least,
    }


def check(folder: pathlib.Path, k: int | None, m: int | str | None) -> dict[str, Any]:
    """Check the release in a folder."""
    if (folder / "published").is_dir():
        folder = folder / "published"

    def text_of(name: str) -> str:
        """Read a text file of the folder, and none elsewhere."""
        inside = name not in ("", "..") and pathlib.PureWindowsPath(name).name == name
        require(inside, "about.json names a file elsewhere")
        return (folder / name).read_bytes().decode("utf-8")

    about = json.loads(text_of("about.json"))
    # Step 1 refuses a Parquet file, which is not text.
    data = "" if about["format"] == "parquet" else text_of(about["file"])
    counts = text_of("counts.csv") if (folder / "counts.csv").exists() else None
    return recount(about, data, counts, k, m)


def printable(text: str) -> str:
    """Write control characters as JSON does."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def number_of_items(text: str) -> int | str:
    """Read the value of --m."""
    return text if text == "inf" else int(text)


def main() -> NoReturn:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = pathlib.Path(__file__).parent
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=here)
    parser.add_argument("--k", type=int)
    parser.add_argument("--m", type=number_of_items)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        result = check(options.folder, options.k, options.m)
    except NoVerdictError as error:
        print(printable(f"No verdict: {error}"), file=sys.stderr)
        sys.exit(error.code)
    except Exception as error:  # the files are wrong in some other way: no verdict either
        print(printable(f"No verdict: {type(error).__name__}: {error}"), file=sys.stderr)
        sys.exit(4)
    if options.json:
        print(printable(json.dumps(result, indent=2)))
    else:
        answer = "Yes" if result["holds"] else "No"
        summary = (
            "{model} (k={k}, m={m}); in fewer than k rows: {violations}; fewest rows: {greatest_k}"
        ).format(**result)
        lines = [f"{answer}: {summary}", *map(str, result["first"]), *result["counts"]]
        print(printable("\n  ".join(lines)))
    sys.exit(0 if result["holds"] else 1)


if __name__ == "__main__":
    main()
