"""Files of constraints, what `policy check` finds, and utility constraints from a hierarchy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naive import coat as naive
from setveil.base.errors import DataError, OutputError, RequestError
from setveil.methods.constraints.check import check_policy, count_satisfied
from setveil.methods.constraints.io import (
    ConstraintsFile,
    parse_privacy,
    parse_utility,
    read_privacy,
    read_utility,
    rest_note,
    write_privacy,
)
from setveil.methods.constraints.utility import groups_of, siblings
from setveil.rows.data.layout import Layout
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, random_case, random_tree, seeded, transactions

FIMI, BASKET = Layout("fimi"), Layout("basket")
ITEMS = list("abcdefgh")


def write(folder: Path, text: str, name: str = "P.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def problems(listing: ConstraintsFile) -> list[str]:
    return [str(problem) for problem in listing.problems]


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ("a,b,c\nd,e\n", BASKET, (("a", "b", "c"), ("d", "e"))),
        ("b, a ,b\r\nd", BASKET, (("b", "a"), ("d",))),
        ('"a","b"\n', BASKET, (("a", "b"),)),
        ("a;b\n", Layout("basket", separator=";"), (("a", "b"),)),
        ("a,b\n", Layout("long"), (("a", "b"),)),
        ("a,b\n", None, (("a", "b"),)),
        ("a b\tc\n d\n", FIMI, (("a", "b", "c"), ("d",))),
        ("", BASKET, ()),
        ("\ufeffa,b\n", BASKET, (("a", "b"),)),
    ],
)
def test_itemsets_are_written_like_rows(
    tmp_path: Path, text: str, layout: Layout, expected: tuple[tuple[str, ...], ...]
) -> None:
    path = write(tmp_path, text)
    assert read_privacy(path, ITEMS, layout) == expected
    assert parse_privacy(path, ITEMS, layout).itemsets == expected


@pytest.mark.parametrize("found", [[["a", "b"], ["c"]], {"privacy": [["a", "b"], ["c"]]}])
def test_json(tmp_path: Path, found: Any) -> None:
    assert read_privacy(write(tmp_path, json.dumps(found), "P.json"), ITEMS) == (("a", "b"), ("c",))


def test_json_integers_are_labels(tmp_path: Path) -> None:
    assert read_privacy(write(tmp_path, "[[1, 2]]", "P.json"), ["1", "2"], FIMI) == (("1", "2"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1: not JSON"),
        ('{"utility": []}', "no key 'privacy'"),
        ("3", "expected a list of lists"),
        ('["ab"]', "entry 1 is '\"ab\"', expected a list of items"),
        ('[["a"], []]', "entry 2 contains no item"),
        ('[["a", true]]', "entry 1 is"),
        ('[["a", "zz"]]', "no item 'zz'"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        read_privacy(write(tmp_path, text, "P.json"), ITEMS)
    assert words in str(caught.value)


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b\n\nx,c\n"q\nr",d\ny,z\n')
    listing = parse_privacy(path, ITEMS, BASKET)
    assert problems(listing) == [
        "line 2: no item, expected at least one",
        "line 3: there is no item 'x'",
        "line 4: there is no item 'q\\nr'",
        "line 6: there is no item 'y'",
        "line 6: there is no item 'z'",
    ]
    assert listing.sets[-1] == (6, ("y", "z"))
    with pytest.raises(DataError) as caught:
        read_privacy(path, ITEMS, BASKET)
    assert "5 problems" in str(caught.value)
    assert "line 3: there is no item 'x'" in str(caught.value)
    assert "policy check" in str(caught.value)


def test_items_in_two_groups(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nc,a\n\nb,d,a\n", "U.txt")
    assert problems(parse_utility(path, ITEMS, BASKET)) == [
        "line 2: the item 'a' is in the group of line 1 and in this one",
        "line 3: no item, expected at least one",
        "line 4: the item 'b' is in the group of line 1 and in this one",
        "line 4: the item 'a' is in the group of line 1 and in this one",
    ]
    with pytest.raises(DataError, match="line 2: the item 'a'"):
        read_utility(path, ITEMS, BASKET)
    listing = parse_utility(write(tmp_path, '{"utility": [["a"], ["a"]]}', "U.json"), ITEMS)
    assert problems(listing) == ["the item 'a' is in group 1 and in group 2"]


def test_items_in_no_group_are_said_aloud(tmp_path: Path) -> None:
    groups, note = read_utility(write(tmp_path, "a,b\nc,d,e,f\n", "U.txt"), ITEMS, BASKET)
    assert groups == (("a", "b"), tuple("cdef"))
    assert note == "2 items in no utility constraint may be merged with each other: 'g', 'h'."
    assert rest_note([ITEMS], ITEMS) == ""
    assert "One item" in rest_note([ITEMS[1:]], ITEMS)


@pytest.mark.parametrize("text", ['a,"b\n', 'a,"b"c\n'])
def test_bad_quotes(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="line 1"):
        read_privacy(write(tmp_path, text), ITEMS, BASKET)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        read_privacy(tmp_path / "none.txt", ITEMS)


@pytest.mark.parametrize("name", ["P.txt", "P.json"])
@pytest.mark.parametrize(
    ("itemsets", "layout"),
    [
        ((("1", "2"), ("-3",)), FIMI),
        ((("a", 'b"c'), (" d ", "e,f", "g\nh"), ("\ufeffi",)), BASKET),
        ((("a;b", "c,d"),), Layout("basket", separator=";")),
        ((), BASKET),
    ],
)
def test_what_is_written_is_read(
    tmp_path: Path, name: str, itemsets: tuple[tuple[str, ...], ...], layout: Layout
) -> None:
    path = tmp_path / name
    write_privacy(itemsets, path, layout)
    known = {item for itemset in itemsets for item in itemset}
    assert read_privacy(path, known, layout) == itemsets
    assert parse_privacy(path, known, layout).problems == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="integers"):
        write_privacy([("a b",)], tmp_path / "P.txt", FIMI)
    with pytest.raises(OutputError):
        write_privacy([("1",)], tmp_path / "no" / "such" / "P.txt", FIMI)
    assert list(tmp_path.iterdir()) == []


# SPEC §5: figure 1 of the paper.
ROWS = [
    frozenset(row)
    for row in ("abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh")
]


def test_check(tmp_path: Path) -> None:
    privacy = parse_privacy(write(tmp_path, "a,b,c\nd,e,f,g\na,c\n\n"), ITEMS, BASKET)
    utility = parse_utility(write(tmp_path, "a,b\nc\nd\ne,f,g,a\n", "U.txt"), ITEMS, BASKET)
    check = check_policy(transactions(ROWS), 5, privacy, utility)
    assert check.as_dict() == {
        "k": 5,
        "privacy": {"constraints": 3, "satisfied": 1, "protected_items": 7},
        "utility": {"constraints": 4, "items_in_none": ["h"]},
        "unmentioned_items": ["h"],
        "unreachable": [{"line": 3, "items": ["d"], "support": 4}],
        "problems": [
            {"file": privacy.name, "line": 4, "message": "no item, expected at least one"},
            {
                "file": utility.name,
                "line": 4,
                "message": "the item 'a' is in the group of line 1 and in this one",
            },
        ],
    }
    assert not check.fine
    fine = check_policy(transactions(ROWS), 4, parse_privacy(write(tmp_path, "a,c\n"), ITEMS, BASKET))
    assert fine.fine
    assert fine.rest == ()


def test_an_infrequent_item_that_nobody_protects_can_be_kept(tmp_path: Path) -> None:
    privacy = parse_privacy(write(tmp_path, "a,c\n"), ITEMS, BASKET)
    utility = parse_utility(write(tmp_path, "d\nb\n", "U.txt"), ITEMS, BASKET)
    assert check_policy(transactions(ROWS), 5, privacy, utility).unreachable == ()


def test_satisfied_constraints_are_counted() -> None:
    rng = seeded(95)
    for _ in range(examples(300, 40)):
        case = random_case(rng, most_rows=rng.choice((8, 60)))
        items = [*case.data.vocabulary.labels, "nowhere"]
        privacy = [tuple(rng.sample(items, rng.randint(1, min(5, len(items))))) for _ in range(8)]
        image: dict[str, frozenset[str] | None] = {item: frozenset({item}) for item in items}
        published = naive.publish(case.rows, image)
        expected = sum(naive.is_satisfied(published, naive.image_of(p, image), case.k) for p in privacy)
        assert count_satisfied(case.data, privacy, case.k) == expected, (case, privacy)


@pytest.mark.parametrize("k", [1, True, 2.5])
def test_check_refuses_k(tmp_path: Path, k: Any) -> None:
    with pytest.raises(RequestError, match="k must be"):
        check_policy(transactions(ROWS), k, ConstraintsFile("P"))


def test_siblings_and_groups() -> None:
    tree = Hierarchy.from_paths(
        [["1", "A", "X", "*"], ["2", "B", "X", "*"], ["10", "A", "X", "*"], ["3", "*"]]
    )
    assert siblings(tree) == (("1", "10"), ("2",), ("3",))
    assert siblings(tree, 0) == (("1", "2", "3", "10"),)
    assert siblings(tree, 1) == (("1", "2", "10"), ("3",))
    assert siblings(tree, 2) == siblings(tree)
    assert siblings(tree, 3) == (("1",), ("2",), ("3",), ("10",))
    assert groups_of(tree, 2) == (("1", "10"), ("2", "3"))
    assert groups_of(tree, 100) == (("1", "2", "3", "10"),)


def test_groups_are_partitions() -> None:
    rng = seeded(96)
    for _ in range(examples(200, 40)):
        tree = Hierarchy(random_tree(rng, [str(i) for i in range(rng.randint(1, 20))]))
        made = [siblings(tree, level) for level in (None, *range(tree.height + 1))]
        made.append(groups_of(tree, rng.randint(1, 8)))
        for groups in made:
            assert sorted(i for g in groups for i in g) == sorted(tree.labels[: tree.n_leaves])


@pytest.mark.parametrize("level", [-1, 4, 1.5, True])
def test_no_such_level(level: Any) -> None:
    tree = Hierarchy.from_paths([["1", "A", "*"], ["2", "A", "*"]])
    with pytest.raises(RequestError, match=r"from 0 \(the root\) to 2"):
        siblings(tree, level)


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_no_such_size(size: Any) -> None:
    with pytest.raises(RequestError, match="size of a group"):
        groups_of(Hierarchy.from_paths([["1", "*"], ["2", "*"]]), size)
