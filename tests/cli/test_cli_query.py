"""The command `query` and its function: answers from published files, against the slow estimates."""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import HIERARCHY, dump, refused, sample_rows, setveil, together, write
from naive import estimates as naive
from releases import in_hand

RNG = Random(4)
DRINKS = ["green tea", "tea, black", "coffee", "milk", "juice", "rum", "gin"]
ROWS = (
    [sorted(RNG.sample(DRINKS[:5], RNG.randint(1, 3))) for _ in range(60)]
    + [["rum", "coffee"]] * 4
    + [["gin"]]
)
TREE = "".join(
    f'"{item}";{group};any\n'
    for item, group in zip(DRINKS, ["hot", "hot", "hot", "cold", "cold", "hard", "hard"], strict=True)
)
BASKETS = "".join(",".join(f'"{item}"' for item in row) + "\n" for row in ROWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("query")
    write(place / "in.csv", BASKETS)
    write(place / "tree.csv", TREE)
    write(place / "in.dat", dump(sample_rows(), "fimi"))
    write(place / "numbers.csv", HIERARCHY)
    made = ["anonymize", "in.csv", "--hierarchy", "tree.csv", "--k", 3, "--no-details"]
    for done in together(
        [
            [*made, "--m", 2, "--algorithm", "aa", "--out", "aa"],
            [*made, "--m", 3, "--algorithm", "exact", "--out", "exact"],
            [*made, "--algorithm", "lg", "--out", "lg"],
            ["anonymize", "in.dat", "-H", "numbers.csv", "--k", 2, "--m", 1, "--no-details", "--out", "fimi"],
        ],
        place,
    ):
        done.ok()
    shutil.copytree(place / "aa" / "published", place / "shared")
    shutil.copytree(place / "aa" / "published", place / "rows")
    about = json.loads((place / "rows" / "about.json").read_text())
    del about["counts"]
    write(place / "rows" / "about.json", json.dumps(about))
    (place / "rows" / "counts.csv").unlink()
    return place


def as_published(place: Path, *, counts: bool = True) -> naive.Published:
    """Read the published files by hand."""
    about = json.loads((place / "about.json").read_text())
    rows = sv.read(place / about["file"], format=about["format"])
    listed = None
    if counts:
        import csv

        with (place / "counts.csv").open(newline="") as file:
            listed = {(item, label): int(n) for item, label, n in list(csv.reader(file))[1:]}
    return naive.Published(
        [frozenset(row) for row in rows] + [frozenset[str]()] * (about["rows"] - rows.n_rows),
        about["labels"],
        listed,
        about["counts"]["least"] if counts else 0,
        about["counts"]["suppressed"] if counts else True,
        local=about["recoding"] == "local",
    )


def expected(published: naive.Published, itemsets: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    return [
        {
            "itemset": list(itemset),
            "estimate": pytest.approx(naive.estimate(published, itemset), abs=1e-9),
            "least": naive.bounds(published, itemset)[0],
            "greatest": naive.bounds(published, itemset)[1],
        }
        for itemset in itemsets
    ]


PAIRS = [("green tea", "milk"), ("coffee", "tea, black"), ("rum", "coffee"), ("juice",)]
QUERIES = ["green tea, milk", 'coffee,"tea, black"', " rum ,coffee,rum", "juice"]


@pytest.mark.parametrize("release", ["aa", "exact", "lg"])
def test_answers_are_those_of_the_definition(folder: Path, release: str) -> None:
    published = as_published(folder / release / "published")
    whole, inside, file = (
        done.ok().json()
        for done in together(
            [
                ["query", place, *QUERIES, "--json"]
                for place in (release, f"{release}/published", f"{release}/published/data.csv")
            ],
            folder,
        )
    )
    assert whole == expected(published, PAIRS) == inside == file


def test_nothing_but_published_files_is_needed(folder: Path) -> None:
    whole, shared, rows, text = together(
        [["query", place, *QUERIES, "--json"] for place in ("aa", "shared", "rows")]
        + [["query", "rows", "juice"]],
        folder,
    )
    assert whole.ok().json() == shared.ok().json()
    assert rows.ok().json() == expected(as_published(folder / "rows", counts=False), PAIRS) != whole.json()
    assert "There are no published counts" in text.ok().out


def test_queries_of_a_file(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "asked.txt", "".join(f"{line}\n" for line in QUERIES))
    write(tmp_path / "wrong.txt", "juice\nmilk,jiuce\n")
    write(tmp_path / "gap.txt", "juice\n\nmilk\n")
    write(tmp_path / "nothing.txt", "")
    named, read, both, wrong, gap, nothing, missing = together(
        [
            ["query", "aa", *QUERIES, "--json"],
            ["query", "aa", "--queries-file", tmp_path / "asked.txt", "--json"],
            ["query", "aa", "milk", "--queries-file", tmp_path / "asked.txt", "--json"],
            *(
                ["query", "aa", "--queries-file", tmp_path / name]
                for name in ("wrong.txt", "gap.txt", "nothing.txt", "missing.txt")
            ),
        ],
        folder,
    )
    assert read.ok().json() == named.ok().json() == both.ok().json()[1:]
    assert both.json()[0]["itemset"] == ["milk"]
    refused(wrong, 4, "wrong.txt", "line 2", "'jiuce'", "Did you mean 'juice'?")
    refused(gap, 4, "line 2", "no item")
    refused(nothing, 4, "empty")
    refused(missing, 4, "missing.txt")


def test_an_item_is_known_by_its_name(folder: Path) -> None:
    plain, quoted = together(
        [["query", "aa", "tea, black", "--json"], ["query", "aa", '"tea, black"', "--json"]], folder
    )
    assert plain.ok().json() == quoted.ok().json()
    assert plain.json()[0]["itemset"] == ["tea, black"]


def test_numbers_are_separated_as_in_the_release(folder: Path) -> None:
    about = json.loads((folder / "fimi" / "published" / "about.json").read_text())
    between = " " if about["format"] == "fimi" else ","
    (done,) = together([["query", "fimi", f"101{between}102", "--json"]], folder)
    assert done.ok().json() == expected(as_published(folder / "fimi" / "published"), [("101", "102")])


def test_labels_can_be_queried(folder: Path) -> None:
    published = as_published(folder / "aa" / "published")
    (label, *_) = published.members
    exact, text, local = together(
        [["query", "aa", label, "--json"], ["query", "aa", label], ["query", "lg", "hot"]], folder
    )
    rows = published.size([label])
    assert exact.ok().json() == [{"itemset": [label], "estimate": rows, "least": rows, "greatest": rows}]
    assert text.ok().out.splitlines()[0] == f"Exactly {rows} rows contain an item of {label}."
    refused(local, 4, "'hot'")


def test_answers_in_words(folder: Path) -> None:
    one, many = together([["query", "aa", "green tea, milk"], ["query", "aa", *QUERIES]], folder)
    (found,) = expected(as_published(folder / "aa" / "published"), [PAIRS[0]])
    estimate = round(naive.estimate(as_published(folder / "aa" / "published"), PAIRS[0]))
    between = f"at least {found['least']}, at most {found['greatest']}"
    assert one.ok().out.splitlines()[0] == f"About {estimate} rows contain green tea and milk: {between}."
    lines = many.ok().out.splitlines()
    assert lines[0].split() == ["rows", "at", "least", "at", "most", "items"]
    assert [line.split("  ")[-1] for line in lines[1:5]] == [", ".join(pair) for pair in PAIRS]


def test_items_without_a_count(folder: Path) -> None:
    once, twice = together([["query", "aa", "gin", "--unlisted", n, "--json"] for n in (0, 2)], folder)
    assert once.ok().json() == [{"itemset": ["gin"], "estimate": 1, "least": 1, "greatest": 2}]
    assert twice.ok().json() == [{"itemset": ["gin"], "estimate": 2, "least": 1, "greatest": 2}]


def test_greatest_itemsets_and_rules(folder: Path) -> None:
    published = as_published(folder / "aa" / "published")
    five, pairs, rules, text = together(
        [
            ["query", "aa", "--itemsets", 5, "--json"],
            ["query", "aa", "--itemsets", 100, "--itemset-length", 2, "--json"],
            ["query", "aa", "--itemsets", 5, "--rules", 3, "--json"],
            ["query", "aa", "--itemsets", 5, "--rules", 3],
        ],
        folder,
    )
    names = sorted(DRINKS)
    every = [itemset for size in range(2, 8) for itemset in combinations(names, size)]
    thought = {itemset: naive.estimate(published, itemset) for itemset in every}
    ranked = sorted((x for x in every if thought[x] > 1e-9), key=lambda x: (-round(thought[x], 9), len(x), x))
    assert five.ok().json() == expected(published, ranked[:5])
    assert pairs.ok().json() == expected(published, [x for x in ranked if len(x) == 2])
    found = rules.ok().json()
    assert found["itemsets"] == five.json()
    confidence = sorted(
        (
            thought[itemset] / naive.estimate(published, [x for x in itemset if x != then])
            for itemset in ranked[:5]
            for then in itemset
        ),
        reverse=True,
    )
    assert [rule["confidence"] for rule in found["rules"]] == pytest.approx(confidence[:3])
    assert len(text.ok().out.splitlines()) == 1 + 5 + 2 + 1 + 1 + 3


def test_requests_that_are_refused(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "alone.csv", "a,b\n")
    nothing, both, useless, typo, empty, foreign, absent, negative = together(
        [
            ["query", "aa"],
            ["query", "aa", "milk", "--itemsets", 3],
            ["query", "aa", "milk", "--rules", 3],
            ["query", "aa", "Green Tae"],
            ["query", "aa", " , "],
            ["query", tmp_path / "alone.csv", "a"],
            ["query", tmp_path / "absent", "a"],
            ["query", "aa", "milk", "--unlisted", -1],
        ],
        folder,
    )
    refused(nothing, 2, "Nothing is asked")
    refused(both, 2, "not both")
    refused(useless, 2, "--rules")
    refused(typo, 4, "'Green Tae'", "neither an item nor a label", "Did you mean 'green tea'?")
    refused(empty, 4, "names no item")
    refused(foreign, 4, "about.json")
    assert absent.code == 4
    assert negative.code == 2


def test_groups_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", "a,s\nb\nc\n")
    cahd = [
        "--algorithm",
        "cahd",
        "--p",
        2,
        "--sensitive",
        "s",
        "--no-details",
        "--out",
        "g",
        "--format",
        "basket",
    ]
    made, result = together([["anonymize", "in.csv", *cahd], ["query", "g", "a"]], tmp_path)
    made.ok()
    refused(result, 4, "Of rows in groups nothing need be estimated", "Count in the files: data.csv")
    release = sv.anonymize([["a", "s"], ["b"], ["c"]], sv.PrivacyDegree(2, ["s"]), details=False)
    with pytest.raises(sv.DataError, match="Of rows in groups nothing need be estimated"):
        sv.query(release, [["a"]])


def test_the_function_answers_alike(folder: Path) -> None:
    data = sv.read(folder / "in.csv")
    tree = sv.read_hierarchy(folder / "tree.csv")
    release = sv.anonymize(data, sv.KmAnonymity(3, 2), hierarchy=tree, algorithm="aa")
    expected_ones = expected(in_hand(release), PAIRS)
    sources: list[Any] = [release, release.release, folder / "aa", str(folder / "shared")]
    for source in sources:
        assert [answer.as_dict() for answer in sv.query(source, PAIRS)] == expected_ones
        assert [answer.as_dict() for answer in sv.query(source, QUERIES)] == expected_ones
    (done,) = together([["query", "aa", "--itemsets", 4, "--itemset-length", 3, "--json"]], folder)
    found = sv.query(release, itemsets=4, itemset_length=3)
    assert [answer.as_dict() for answer in found] == done.ok().json()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, sv.RequestError, "Nothing is asked: neither queries nor itemsets"),
        ({"queries": [["milk"]], "itemsets": 3}, sv.RequestError, "not both"),
        ({"queries": "milk"}, sv.RequestError, "list of lists of items"),
        ({"queries": 7}, sv.RequestError, "list of lists of items"),
        ({"queries": [7]}, sv.RequestError, "A query must be a list of items"),
        ({"queries": [[]]}, sv.RequestError, "no item"),
        ({"queries": [["milk"]], "itemset_length": 2}, sv.RequestError, "only with itemsets"),
        ({"itemsets": 0}, sv.RequestError, "itemsets must be an integer of at least 1"),
        ({"queries": [["milk"]], "unlisted": -1}, sv.RequestError, "unlisted"),
        ({"queries": [["milk", "mlik"]]}, sv.DataError, "'mlik' is neither .* Did you mean 'milk'"),
    ],
)
def test_the_function_refuses(folder: Path, arguments: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=f"(?s){message}"):
        sv.query(folder / "aa", **arguments)


def test_the_function_takes_releases_of_rows() -> None:
    with pytest.raises(sv.RequestError, match=r"made here, or its folder, got .* list"):
        sv.query([["milk"]], [["milk"]])  # type: ignore[arg-type]


def test_help_tells_what_to_ask() -> None:
    assert "ITEMS" in setveil("query", "--help").ok().out
