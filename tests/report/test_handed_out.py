"""Check that every sentence of the external page is true, by the published files and the original rows.

A sentence without a check here is a failure, so that nobody adds one without.
"""

from __future__ import annotations

import copy
import csv
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from setveil.rows.data.personal import NOTHING
from setveil.runs.folder import write_folder
from strategies import many

ITEMS = [f"i{number:02}" for number in range(14)]
TREE = sv.Hierarchy.from_paths([[item, f"g{at // 4}", "*"] for at, item in enumerate(ITEMS)])
Row = frozenset[str]


@dataclass
class Handed:
    """Everything that a recipient has, read by hand, and details that only the test knows."""

    about: Any
    shown: list[tuple[tuple[str, ...], Row]]  # published quasi-identifiers, and labels, of each row
    groups: list[tuple[int, Counter[str]]]  # their sizes, and how often each sensitive item is in them
    counts: list[tuple[str, str, int]] | None
    original: list[Row]
    place: list[int]  # of each original row among those shown
    secret: set[str]
    report: Any
    class_of: list[int]  # of each published row; 0 without classes
    by_class: list[tuple[str, str, str, int]]  # counts of classes, with the class of each; "": a total
    step: float = 0.0
    said: set[str] = field(default_factory=set)

    @property
    def members(self) -> dict[str, set[str]]:
        """Map each label to the items that it represents."""
        broader = {label: set(items) for label, items in self.about.get("labels", {}).items()}
        return {item: {item} for item in ITEMS} | broader

    def supports(self, rows: Iterable[Row]) -> Counter[str]:
        return Counter(label for row in rows for label in row)

    def became(self, row: int, item: str) -> str:
        """Find the narrowest label under which an item of a row is published; empty: it is suppressed."""
        _, labels = self.shown[self.place[row]]
        holding = [label for label in labels if item in self.members[label]]
        return min(holding, key=lambda label: (len(self.members[label]), label), default="")

    def least(self, m: int) -> list[int]:
        """Count the rows that fit a person with all columns and the m most revealing items known.

        The class is also known, if rows are in classes.
        """
        known = [
            ((*qi, str(c)), labels - self.secret)
            for (qi, labels), c in zip(self.shown, self.class_of, strict=True)
        ]
        found: Counter[tuple[tuple[str, ...], Row]] = Counter()
        for qi, labels in known:
            for size in range(m + 1):
                found.update((qi, frozenset(some)) for some in combinations(sorted(labels), size))
        return [
            min(found[qi, frozenset(some)] for some in combinations(sorted(labels), min(m, len(labels))))
            for qi, labels in known
        ]


Check = Callable[[Handed, "re.Match[str]"], None]
CHECKS: dict[str, list[tuple[str, Check]]] = {}


def says(part: str, pattern: str) -> Callable[[Check], Check]:
    """Let a function check the sentences of a part of the page that look like this."""

    def add(check: Check) -> Check:
        CHECKS.setdefault(part, []).append((pattern, check))
        return check

    return add


def number(text: str) -> int:
    return int(text.replace(",", ""))


def is_about(text: str, value: float, step: float) -> None:
    """Compare a rounded figure with the true one."""
    figure = float(re.sub(r"[^\d.]", "", text)) / (100 if "%" in text else 1)
    if text.startswith("under"):
        assert 0 < value < figure
    elif text.startswith("over"):
        assert figure < value < 1
    elif text.startswith("about"):
        assert abs(figure - value) <= step + 0.006
    else:
        assert figure == value
        assert value in (0, 1)


# --- the guarantee


@says("", r"The guarantee holds")
def _holds(handed: Handed, _: re.Match[str]) -> None:
    assert handed.report["guarantee"]["holds"]


@says("", r"[^:]*: ((?:[kmp]|rho) = .*)")
def _parameters(handed: Handed, found: re.Match[str]) -> None:
    named = dict(one.split(" = ") for one in found[1].split(", "))
    assert named
    assert all(str(handed.about["guarantee"][name]) == value for name, value in named.items())


# If the class of a person is known, only its rows count, as in `Handed.least` and `learned`.
EVERY_CLASS = r"(?P<every> This is so in every class, even if the class is known\.)?"


@says(
    "",
    r"Guarantee: Anyone who knows (?:any of a person's quasi-identifiers and )?up to (\d+) items? "
    r"of (?:a|the) person's row finds at least (\d+) rows that fit, or none\." + EVERY_CLASS,
)
def _promise(handed: Handed, found: re.Match[str]) -> None:
    assert bool(found["every"]) == ("classes" in handed.about)
    m, k = int(found[1]), int(found[2])
    for size in range(m + 1):
        assert min(handed.least(size)) >= k
    columns = len(handed.shown[0][0])
    for one in range(columns):  # someone who knows only some of the columns finds more
        some = Counter(qi[one] for qi, _ in handed.shown)
        assert min(some.values()) >= k


@says("", r"It holds, recounted from the published rows: the smallest group found has (\d+) rows\.")
def _smallest(handed: Handed, found: re.Match[str]) -> None:
    m = handed.about["guarantee"]["m"]
    # The set of all rows is no group.
    least = [min(handed.least(size)) for size in range(0 if handed.shown[0][0] else 1, m + 1)]
    filled = [
        one
        for size in range(1, m + 1)
        for one, (_, row) in zip(handed.least(size), handed.shown, strict=True)
        if row
    ]
    assert int(found[1]) in {min(least), min(filled)}


@says("", r"Guarantee: Every published row is one of at least (\d+) that are the same\.")
def _same(handed: Handed, found: re.Match[str]) -> None:
    assert min(Counter(handed.shown).values()) >= int(found[1])


@says("", r"It holds, recounted from the published rows: the rarest row stands there (\d+) times\.")
def _rarest(handed: Handed, found: re.Match[str]) -> None:
    assert min(Counter(handed.shown).values()) == int(found[1])


@says(
    "",
    r"Guarantee: In every group at most one row in (\d+) contains any one sensitive item: nobody "
    r"learns one about a person with a probability above ([\d.]+)\.",
)
def _degree(handed: Handed, found: re.Match[str]) -> None:
    p = int(found[1])
    assert float(found[2]) == pytest.approx(1 / p, abs=0.001)
    assert all(size >= p * most for size, hidden in handed.groups for most in hidden.values())


@says(
    "",
    r"It holds, recounted from the published rows: (\d+) groups; the most frequent sensitive item "
    r"of any group is in one row of (\d+)\.",
)
def _groups_found(handed: Handed, found: re.Match[str]) -> None:
    assert int(found[1]) == len(handed.groups)
    shares = [size / max(hidden.values()) for size, hidden in handed.groups if hidden]
    assert int(found[2]) == min(shares)


@says(
    "",
    r"Guarantee: Anyone who knows up to (\d+) public items of a person (?:finds at least (\d+) rows "
    r"that fit, or none, and )?is right about any sensitive item \((\d+) named\) with a chance of "
    r"at most ([\d.]+)\." + EVERY_CLASS,
)
def _rho(handed: Handed, found: re.Match[str]) -> None:
    assert bool(found["every"]) == ("classes" in handed.about)
    assert int(found[3]) == len(handed.secret)
    assert learned(handed, int(found[1])) <= float(found[4]) + 1e-9
    if found[2]:
        assert min(one for m in range(1, int(found[1]) + 1) for one in handed.least(m)) >= int(found[2])


def learned(handed: Handed, m: int) -> float:
    """Find the greatest chance that a row which fits m public items holds some sensitive item."""
    best = 0.0
    for size in range(m + 1):
        fits: Counter[tuple[int, Row]] = Counter()
        holding: Counter[tuple[tuple[int, Row], str]] = Counter()
        for (_, row), c in zip(handed.shown, handed.class_of, strict=True):
            for some in map(frozenset, combinations(sorted(row - handed.secret), size)):
                fits[c, some] += 1
                holding.update(((c, some), item) for item in row & handed.secret)
        best = max([best, *(n / fits[some] for (some, _), n in holding.items())])
    return best


@says(
    "",
    r"It holds, recounted from the published rows: (?:the smallest group found has (\d+) rows, "
    r"and )?the most certain inference is a sensitive item with a chance of ([\d.]+)\.",
)
def _most_learned(handed: Handed, found: re.Match[str]) -> None:
    m = handed.about["guarantee"]["m"]
    assert float(found[2]) == pytest.approx(learned(handed, m), rel=0.01)


# --- contents


@says(
    "Contents",
    r"Rows: ([\d,]+) \(([\d,]+) empty\), in an order that reveals nothing about the original order",
)
def _rows(handed: Handed, found: re.Match[str]) -> None:
    assert number(found[1]) == len(handed.shown) == handed.about["rows"]
    assert number(found[2]) == sum(not row for _, row in handed.shown) == handed.about["empty_rows"]


@says(
    "Contents",
    r"Different labels(?: of items)?: ([\d,]+), (?:([\d,]+) of them broader than an item|each that "
    r"of an item)",
)
def _names(handed: Handed, found: re.Match[str]) -> None:
    names = set().union(*(row for _, row in handed.shown))
    assert number(found[1]) == len(names)
    assert number(found[2] or "0") == len(names - set(ITEMS))
    assert names - set(ITEMS) <= handed.about.get("labels", {}).keys()


@says("Contents", r"Different items: ([\d,]+), except those counted in groups\.csv")
def _items(handed: Handed, found: re.Match[str]) -> None:
    names = set().union(*(row for _, row in handed.shown))
    assert number(found[1]) == len(names)
    assert not names & handed.secret


@says("Contents", r"Groups: ([\d,]+)")
def _groups(handed: Handed, found: re.Match[str]) -> None:
    assert number(found[1]) == len(handed.groups)


@says("Contents", r"Occurrences: ([\d,]+), ([\d.]+) in a row on average")
def _occurrences(handed: Handed, found: re.Match[str]) -> None:
    whole = sum(len(row) for _, row in handed.shown)
    assert number(found[1]) == whole
    assert found[2] == f"{whole / len(handed.shown):.1f}"


@says(
    "Contents",
    r"Counts: counts\.csv says in how many rows of the original each of ([\d,]+) (published "
    r")?items? was: all that at least (\d+) rows contained",
)
def _counts_whole(handed: Handed, found: re.Match[str]) -> None:
    """Check the sentence, which would be wrong for tables, whose items may be in more rows."""
    assert handed.counts is not None
    counts = {item: rows for item, _, rows in handed.counts}
    assert number(found[1]) == len(counts) == len(handed.counts)
    published = {
        item
        for row in range(len(handed.original))
        for item in handed.original[row]
        if handed.became(row, item)
    }
    true = handed.supports(handed.original)
    among = published if found[2] else set(true)
    assert counts == {item: n for item, n in true.items() if n >= int(found[3]) and item in among}


@says(
    "Contents",
    r"Counts: counts\.csv lists the number of original rows that contained each of ([\d,]+) items? and "
    r"publish it under one label(, or suppress it)?: all such numbers of at least (\d+)\. An item was "
    r"in at least as many rows as its lines add up to",
)
def _counts_by_name(handed: Handed, found: re.Match[str]) -> None:
    assert handed.counts is not None
    counts = {(item, label): rows for item, label, rows in handed.counts}
    assert number(found[1]) == len({item for item, _ in counts})
    true = Counter((item, handed.became(at, item)) for at, row in enumerate(handed.original) for item in row)
    assert counts == {
        (item, label): n for (item, label), n in true.items() if n >= int(found[3]) and (label or found[2])
    }
    whole, sums = handed.supports(handed.original), Counter[str]()
    for item, _, rows in handed.counts:
        sums[item] += rows
    assert all(sums[item] <= whole[item] for item in sums)


@says("Contents", r"Classes: ([\d,]+), with the rows of each in classes\.csv")
def _classes(handed: Handed, found: re.Match[str]) -> None:
    assert number(found[1]) == len(set(handed.class_of)) == handed.about["classes"]["number"]


@says(
    "Contents",
    r"Counts: counts\.csv says class by class how many rows of the original held an item "
    r"\(([\d,]+) lines?\), and of ([\d,]+) items? how many of all classes did: such numbers from (\d+) on",
)
def _counts_by_class(handed: Handed, found: re.Match[str]) -> None:
    least, untold = number(found[3]), handed.about["counts"]["untold"]
    counts = {(int(c), item, label): n for c, item, label, n in handed.by_class if c}
    totals = {item: n for c, item, _, n in handed.by_class if not c}
    assert (len(counts), len(totals)) == (number(found[1]), number(found[2]))
    assert len(counts) + len(totals) == len(handed.by_class)
    true = Counter(
        (handed.class_of[handed.place[at]], item, handed.became(at, item))
        for at, row in enumerate(handed.original)
        for item in row - handed.secret
    )
    assert counts == {
        (c, item, label): n for (c, item, label), n in true.items()
        if n >= least and (label or c not in untold)
    }  # fmt: skip
    whole = handed.supports(row - handed.secret for row in handed.original)
    assert all(n == whole[item] >= least for item, n in totals.items())


@says(
    "Contents",
    r"About: about\.json says how to read the files(, and lists the items that each broader label "
    r"represents)?",
)
def _about(handed: Handed, found: re.Match[str]) -> None:
    assert bool(found[1]) == bool(handed.about.get("labels"))
    assert handed.about["file"]


@says(
    "Broader labels",
    r"The most used broader labels|Each represents one or more of the items below it\. Bars: share "
    r"of all published rows\.|Label: Items below: In rows: Share",
)
def _heads(_handed: Handed, _found: re.Match[str]) -> None:
    pass


@says("Broader labels", r"(g\d|\*): (\d+): ([\d,]+): ([\d.]+)%")
def _label(handed: Handed, found: re.Match[str]) -> None:
    rows = sum(found[1] in row for _, row in handed.shown)
    assert number(found[2]) == len(handed.members[found[1]])
    assert number(found[3]) == rows
    assert float(found[4]) == pytest.approx(100 * rows / len(handed.shown), rel=0.06)


# --- information loss


@says("Information loss", r"Not told: (.*)")
def _unlisted(handed: Handed, found: re.Match[str]) -> None:
    if "sensitive items were suppressed" in found[1]:
        assert "rho" in handed.about["guarantee"]
    else:
        assert "too small" in found[1]
        assert sum(map(len, handed.original)) < 400


@says("Information loss", r"Of all occurrences of an item in a row of the original")
def _of_all(_handed: Handed, _found: re.Match[str]) -> None:
    pass


@says(
    "Information loss",
    r"((?:about|under|over)? ?[\d.]+%) (published unchanged|under a broader label|suppressed|as "
    r"counts of groups)",
)
def _share(handed: Handed, found: re.Match[str]) -> None:
    became = Counter(
        "as counts of groups" if handed.groups and item in handed.secret
        else {item: "published unchanged", "": "suppressed"}.get(
            handed.became(at, item), "under a broader label"
        )
        for at, row in enumerate(handed.original) for item in row
    )  # fmt: skip
    is_about(found[1], became[found[2]] / became.total(), handed.step)


@says("Information loss", r"((?:\w+ (?:about |under |over )?[\d.]+,? ?)+)\.( Proven: the smallest .*\.)?")
def _measures(handed: Handed, found: re.Match[str]) -> None:
    utility = handed.report["utility"]
    known = {"NCP": "ncp", "LM": "lm", "R": "relational_loss", "T": "transaction_loss", "f": "weighed_loss"}
    for name, text in re.findall(r"(\w+) ((?:about |under |over )?[\d.]*\d)", found[1]):
        if known.get(name) in utility:
            is_about(text, utility[known[name]], handed.step)
    if found[2]:
        assert handed.report["optimality"]["gap"] == 0


@says(
    "Information loss",
    r"Accurate to (\d+)%: figures that compare the release with the original are coarse on "
    r"purpose\.",
)
def _rounded(handed: Handed, found: re.Match[str]) -> None:
    assert handed.step * sum(map(len, handed.original)) >= 100
    assert int(found[1]) == round(100 * handed.step)


# --- queries that the data still answer


def holding(handed: Handed) -> dict[str, tuple[int, int]]:
    """Count the published rows with each label, and the original rows with any item that it represents."""
    return {
        label: (n, sum(bool(row & handed.members[label]) for row in handed.original))
        for label, n in handed.supports(row for _, row in handed.shown).items()
    }


@says(
    "Remaining usefulness",
    r"Rows with a published label: exact\. Each is in as many rows as contained any of the items that "
    r"it represents\.",
)
def _exact(handed: Handed, _: re.Match[str]) -> None:
    assert all(now == then for now, then in holding(handed).values())


@says(
    "Remaining usefulness",
    r"Rows with a published label: at least this many\. An item has a narrow label in some "
    r"rows and under a broad one in others, so the rows of different names cannot be added\.",
)
def _fewest(handed: Handed, _: re.Match[str]) -> None:
    assert all(now <= then for now, then in holding(handed).values())
    names = {(item, handed.became(at, item)) for at, row in enumerate(handed.original) for item in row}
    assert max(Counter(item for item, label in names if label).values()) > 1


@says(
    "Remaining usefulness",
    r"Rows with a published label: exact, or at least this many if an item was suppressed in some "
    r"rows only\.",
)
def _some_suppressed(handed: Handed, _: re.Match[str]) -> None:
    assert all(now <= then for now, then in holding(handed).values())


@says(
    "Remaining usefulness",
    r"Items that are not sensitive: published row by row; every count of them is exact\.",
)
def _row_by_row(handed: Handed, _: re.Match[str]) -> None:
    before = [row - handed.secret for row in handed.original]
    for size in (1, 2, 3):
        sets = [
            Counter(some for row in rows for some in combinations(sorted(row), size))
            for rows in (before, [row for _, row in handed.shown])
        ]
        assert sets[0] == sets[1]


@says(
    "Remaining usefulness",
    r"Counts of (?:item pairs|single items|sets of items) of the original: estimated from the "
    r"release they are typically (?:exact|off by (?:about )?(.+?)); the mean relative error "
    r"\(ARE\) is about ([\d.,]+)%\.",
)
def _pairs(handed: Handed, found: re.Match[str]) -> None:
    are = handed.report["answers"]["are"]
    assert bool(found[1]) == bool(float(f"{are['median']:.1g}"))
    assert float(found[2].replace(",", "")) / 100 == pytest.approx(are["mean"], rel=0.5, abs=0.006)


@says(
    "Remaining usefulness",
    r"Frequent itemsets: (.*?) of the sets(?: of at most (\d+) items)? that at least ([\d,]+) "
    r"rows of the original contain are still there under the items' own names(, each in exactly as "
    r"many rows)?\.",
)
def _itemsets(handed: Handed, found: re.Match[str]) -> None:
    longest, least = int(found[2] or len(ITEMS)), number(found[3])
    before, after = (
        Counter(
            some for row in rows for size in range(1, longest + 1) for some in combinations(sorted(row), size)
        )
        for rows in (handed.original, [row for _, row in handed.shown])
    )
    frequent = {some for some, n in before.items() if n >= least}
    kept = {some for some in frequent if after[some] >= least}
    is_about(found[1], len(kept) / len(frequent), 0.05)
    if found[4]:
        assert all(before[some] == after[some] for some in kept)


# --- who can still be found


@says(
    "People still at risk",
    r"Rows that match someone if (all quasi-identifiers and )?the most identifying items are "
    r"known, counted in the published rows alone: anyone can repeat it\.( Chance: .*)?",
)
def _found(handed: Handed, found: re.Match[str]) -> None:
    assert bool(found[1]) == bool(handed.shown[0][0])
    assert bool(found[2]) <= bool(handed.secret)


@says(
    "People still at risk",
    r"Known: unique: among fewer than 5: among fewer than 10(?:: chance of a private item)?",
)
def _columns(_handed: Handed, _found: re.Match[str]) -> None:
    pass


@says(
    "People still at risk",
    r"the (?:quasi-identifiers)?(?: and the )?(?:(\d+ )?most identifying items?)?: ([^:]*): "
    r"([^:]*): ([^:]*)(?:: ([\d.]+)%)?",
)
def _alone(handed: Handed, found: re.Match[str]) -> None:
    m = int(found[1]) if found[1] else 1 if "most identifying" in found[0] else 0
    least = handed.least(m)
    for text, below in zip(found.group(2, 3, 4), (2, 5, 10), strict=True):
        rows = sum(n < below for n in least)
        match = re.fullmatch(r"([\d,]+) \(([\d.]+)%\)", text)
        assert (number(match[1]) if match else 0) == rows, (m, below)
        assert match or text == "no row"
    if found[5] and not handed.groups:
        assert float(found[5]) / 100 == pytest.approx(learned(handed, m), rel=0.06)


# --- the rest of the page


FIXED = {
    "Limits of the guarantee": {
        "Knowing more than", "Other data about the same row.", "Knowing that an item is absent.",
        "Kept columns.",
        "What all matching rows share.", "How likely an item is.", "Other files.", "Being found.",
        "Knowing who has a sensitive item.", "Knowing sensitive items.", "Several sensitive items together.",
        "Knowing how releases are made.",
    },
    "Provenance": {"Privacy model", "Algorithm", "Parameters", "Reference", "Made with"},
    "Explanations": {
        "Row:", "Generalized:", "Group:", "Class:", "k:", "m:", "p:", "rho:", "R", "T", "NCP and LM", "NCP",
        "LM", "The check",
    },
}  # fmt: skip


def fixed(handed: Handed, part: str, line: str) -> None:
    """Check the lines that depend on the kind of release alone."""
    assert line.startswith(tuple(FIXED[part])), f"{part}: {line}"
    guarantee = handed.about["guarantee"]
    if line.startswith("Knowing more than"):
        assert re.match(rf"Knowing more than {guarantee['m']} items?\.", line)
        assert f"{guarantee['m'] + 1} or more items" in line
    here = re.match(r"(k|m|p|rho): .*, here ([\d.]*\d)", line)
    if here:
        assert float(here[2]) == float(guarantee[here[1]])
    if line.startswith("Generalized:"):
        assert ("not the same one" in line or "perhaps another" in line) == (
            handed.about["recoding"] in {"local", "table"}
        ) or (handed.about["recoding"].startswith("table"))
    if part == "Provenance" and line.startswith("Privacy model"):
        assert line.endswith(guarantee["model"])


INSIDE = {
    "Remaining usefulness": "Which counts of the original can be read from the release, and how accurately.",
    "Provenance": "Privacy model, algorithm, parameters, versions.",
    "Explanations": "The terms, and how to read the figures.",
}


def check_folded(handed: Handed, page: str) -> None:
    """Check the sentence about a folded part, and that the contents name just these parts."""
    folded = re.findall(r'<summary><h2>(.*?)</h2><div class="inside">(.*?)</div></summary>', page)
    contents = re.search(r"<nav.*?</nav>", page, re.DOTALL)
    assert contents
    assert re.findall(r"<a[^>]*>(.*?)</a>", contents[0]) == [title for title, _ in folded]
    for title, inside in folded:
        plain = re.sub(r"<[^>]+>", "", inside)
        if title == "Broader labels":
            number_of = re.fullmatch(r"(\d+) labels? that represent other items\.", plain)
            assert number_of
            assert int(number_of[1]) == len(handed.about["labels"])
        elif title == "Limits of the guarantee":
            known = sorted(FIXED[title], key=len, reverse=True)
            known[known.index("Knowing more than")] = (
                rf"Knowing more than {handed.about['guarantee'].get('m')}"
            )
            begun = "|".join(re.escape(one).replace("\\ ", " ") for one in known)
            assert re.fullmatch(rf"(?:(?:{begun})(?: items?\.)?(?: |$))+", plain), plain
        else:
            assert plain == INSIDE[title]


def parts(page: str) -> list[tuple[str, list[str]]]:
    """Split a page into its parts: titles, and the sentences, facts and lines of tables under them."""
    body = re.sub(r"<style.*?</style>|<svg.*?</svg>|<head>.*?</head>", "", page, flags=re.DOTALL)
    body = re.sub(
        r'<div class="small names">.*?</div>|<div class="inside">.*?</div>', "", body, flags=re.DOTALL
    )
    body = re.sub(r"<(nav|button|aside)\b.*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r"</?(?:b|bdi|code|em|strong|span)\b[^>]*>", "", body)
    body = re.sub(r"</(dt|t[hd])>\s*(?=<(dd|t[hd])\b)", ": ", body)
    found: list[tuple[str, list[str]]] = [("", [])]
    for text in re.split(
        r"(<h2[^>]*>.*?</h2>)|</?(?:p|div|li|ul|tr|dl|dd|dt|h1|h3|section|table|tbody|thead)\b[^>]*>", body
    ):
        if not text:
            continue
        plain = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text))).strip(" :")
        if text.startswith("<h2"):
            found.append((plain, []))
        elif plain:
            found[-1][1].append(plain)
    return found


def check_page(handed: Handed, page: str) -> int:
    """Check every sentence of a page; return how many there were."""
    check_folded(handed, page)
    step = re.search(r"Accurate to (\d+)%", "\n".join(line for _, lines in parts(page) for line in lines))
    handed.step = int(step[1]) / 100 if step else 0.0
    checked = 0
    for part, lines in parts(page):
        for line in lines[2:] if not part else lines:  # the title, and the file with the algorithm
            if part in FIXED:
                fixed(handed, part, line)
                handed.said.add(re.split(r"[.:]", line)[0])
                continue
            known = [
                (match, check) for pattern, check in CHECKS[part] if (match := re.fullmatch(pattern, line))
            ]
            assert len(known) == 1, f"{len(known)} checks of a sentence: {part!r}: {line!r}"
            try:
                known[0][1](handed, known[0][0])
            except AssertionError as error:
                raise AssertionError(f"{part}: {line}: {error}") from error
            checked += 1
    assert ("How likely an item is" in handed.said) == (handed.counts is not None)
    return checked


# --- releases


def rows_of(rng: Random, n: int) -> list[list[str]]:
    usual = rng.sample(ITEMS, 5)
    rare = rng.randint(2, 12)
    rows = [
        {rng.choice(usual if rng.random() < 0.7 else ITEMS) for _ in range(rng.randint(0, 5))}
        for _ in range(n)
    ]
    return [sorted(row - set(ITEMS[12:]) if at > rare else row) for at, row in enumerate(rows)]


def table_of(rng: Random, rows: Sequence[Sequence[str]], folder: Path) -> sv.Table:
    file = folder / "visits.csv"
    lines = [f"{rng.randint(20, 45)},{rng.choice('mf')},{' '.join(row)}\n" for row in rows]
    file.write_text("age,sex,items\n" + "".join(lines))
    return sv.read_table(file, qi=["age", "sex"], set="items", delimiter=" ")


SECRET = ["i05", "i09"]
IN_CLASSES = {"classes": 3, "class_size": 50}
RELEASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "exact": (sv.KmAnonymity(6, 2), {"hierarchy": TREE}),
    "exact without counts": (sv.KmAnonymity(6, 2), {"hierarchy": TREE, "counts": False}),
    "nothing left out": (sv.KmAnonymity(4, 3), {"hierarchy": TREE, "algorithm": "exact", "suppress": False}),
    "few counts": (sv.KmAnonymity(4, 2), {"hierarchy": TREE, "algorithm": "aa", "counts": 30}),
    "much left out": (sv.KmAnonymity(25, 2), {"hierarchy": TREE, "algorithm": "mhghs"}),
    "lg": (sv.TransactionalKAnonymity(5), {"hierarchy": TREE, "algorithm": "lg"}),
    "lg without counts": (
        sv.TransactionalKAnonymity(5), {"hierarchy": TREE, "algorithm": "lg", "counts": False}
    ),
    "groups": (sv.PrivacyDegree(2, ("i05",)), {"algorithm": "cahd"}),
    "rho": (sv.KmRho(4, 2, "0.4", SECRET), {"hierarchy": TREE, "algorithm": "exact"}),
    "partial": (sv.KmRho(1, 2, "0.4", SECRET), {"algorithm": "partial"}),
    "classes": (sv.KmAnonymity(4, 2), {"hierarchy": TREE, **IN_CLASSES}),
    "classes without counts": (sv.KmAnonymity(4, 2), {"hierarchy": TREE, "counts": False, **IN_CLASSES}),
    "classes, rho": (sv.KmRho(4, 2, "0.4", SECRET), {"hierarchy": TREE, **IN_CLASSES}),
    "table": (sv.KKmAnonymity(6, 2), {"hierarchy": TREE}),
    "table without counts": (sv.KKmAnonymity(6, 2), {"hierarchy": TREE, "counts": False}),
    "table, few counts": (sv.KKmAnonymity(5, 1), {"hierarchy": TREE, "counts": 20}),
    "table, one name": (sv.KKmAnonymity(6, 2), {"hierarchy": TREE, "algorithm": "forest"}),
}  # fmt: skip


def hand_out(name: str, rows: list[list[str]], rng: Random, folder: Path) -> tuple[Handed, str]:
    """Make a release with its page, and read the files by hand."""
    guarantee, options = RELEASES[name]
    data = table_of(rng, rows, folder) if "table" in name else sv.Transactions.from_rows(rows)
    release = sv.anonymize(data, guarantee, **options, details=True)
    out = folder / "run"
    report = write_folder(
        release.release, copy.deepcopy(release.report), release.layout, out, NOTHING, external=True
    )
    about = json.loads((out / "published" / "about.json").read_text())
    with (out / "internal" / "rows.csv").open() as lines:
        place = [int(to) for _, to in list(csv.reader(lines))[1:]]
    text = (out / "published" / about["file"]).read_text()
    shown: list[tuple[tuple[str, ...], Row]] = []
    groups: list[tuple[int, Counter[str]]] = []
    if about["format"] == "basket":
        shown = [((), frozenset(line.split(",")) - {""}) for line in text.removesuffix("\n").split("\n")]
    elif about["format"] == "table":
        shown = [
            (tuple(line[:-1]), frozenset(line[-1].split()))
            for line in list(csv.reader(text.splitlines()))[1:]
        ]
    else:
        cells: dict[int, set[str]] = {at: set() for at in range(about["rows"])}
        for _, row, item in list(csv.reader(text.splitlines()))[1:]:
            cells[int(row)] |= {item} - {""}
        shown = [((), frozenset(row)) for row in cells.values()]
        sizes: dict[str, tuple[int, Counter[str]]] = {}
        for group, item, n in list(csv.reader((out / "published" / "groups.csv").read_text().splitlines()))[
            1:
        ]:
            if item:
                sizes[group][1][item] += int(n)
            else:
                sizes[group] = int(n), Counter()
        groups = list(sizes.values())
    counts = None
    if (out / "published" / "counts.csv").exists():
        with (out / "published" / "counts.csv").open(newline="") as lines:
            counts = [(item, label, int(n)) for *_, item, label, n in list(csv.reader(lines))[1:]]
    class_of, by_class = [0] * len(shown), []
    if "classes" in about:
        with (out / "published" / "classes.csv").open(newline="") as lines:
            class_of = [int(c) for c, n in list(csv.reader(lines))[1:] for _ in range(int(n))]
        if counts is not None:
            with (out / "published" / "counts.csv").open(newline="") as lines:
                by_class = [(c, item, label, int(n)) for c, item, label, n in list(csv.reader(lines))[1:]]
    secret = set(about["guarantee"].get("sensitive", []))
    handed = Handed(
        about, shown, groups, counts, [*map(frozenset, rows)], place, secret, report, class_of, by_class
    )
    return handed, (out / "published" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("seed", range(many(1)))
def test_every_sentence_that_is_handed_out_is_true(name: str, seed: int, tmp_path: Path) -> None:
    rng = Random(f"{seed} {name.removesuffix(' without counts')}")
    rows = rows_of(rng, rng.choice([150, 300, 450]) if seed else 300)
    try:
        handed, page = hand_out(name, rows, rng, tmp_path)
    except sv.InfeasibleError:
        pytest.skip("there is no such release of these rows")
    assert check_page(handed, page) >= 8


def test_each_kind_of_release_is_among_them(tmp_path: Path) -> None:
    kinds = set()
    for name in ("exact", "lg", "groups", "classes", "table", "table, one name"):
        folder = tmp_path / name
        folder.mkdir()
        handed, _ = hand_out(name, rows_of(Random(1), 150), Random(1), folder)
        kinds.add(handed.about["recoding"])
    from setveil.report.run.kinds import _kinds

    elsewhere = {"facts", "disassociated", "noisy"}  # in tests/cli/test_cli_*
    assert kinds | elsewhere == _kinds().keys()
