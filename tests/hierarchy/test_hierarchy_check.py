"""Every kind of malformed hierarchy, with its line numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.alone import alone_note, likely_lengths, standing_alone
from setveil.rows.hierarchy.check import check_hierarchy
from setveil.rows.hierarchy.outline import FileProblem
from setveil.rows.hierarchy.tree import Hierarchy

HEAD = "distinct\nname n\ntype string\nheight 3\n\n"  # blocks begin at line 6


def problems(folder: Path, name: str, text: str, data: Transactions | None = None) -> list[str]:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="\n")
    return [str(problem) for problem in check_hierarchy(path, data)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;x;*\nb;y;*\nc\n", ["line 3: a second root: 'c', after '*' (line 1)"]),
        ("a;x;*\nb;y;+\nc;y;+", [f"line {n}: a second root: '+', after '*' (line 1)" for n in (2, 3)]),
        (
            "a;fruit;plants;*\nb;fruit;food;*\nc;fruit;food;*\nd;fruit;plants;*\n",
            ["line 2: 'fruit' has two parents: 'plants' (line 1) and 'food'"],
        ),
        ("a;x;*\nb;x;*\n\na;y;*\n", ["line 4: 'a' has two parents: 'x' (line 1) and 'y'"]),
        ("a;x;*\nb;x;*\na;x;*\n", ["line 3: item 'a' is already listed (line 1)"]),
        ("a;x;*\nx;*\n", []),  # x is an item below a group that is called like it
        (
            "a;b;*\nb;*;*\n*;*\n",
            [
                f"line {line}: '{label}' is an item here and an inner node elsewhere (line 1): "
                "an inner node that is also an item"
                for line, label in ((2, "b"), (3, "*"))
            ],
        ),
        ("a;x;*\nb;;*\n", []),  # b has no group
        (
            "a;x;*\n;x;*\n;;\n",
            [f"line {n}: an empty label, expected leaf, parent, ..., root" for n in (2, 3)],
        ),
        ("a;x;*\nb;x\n", ["line 2: the path ends at 'x', which has the parent '*' (line 1)"]),
        (
            'a;*\n"b;*\n"c"d;*\n',
            [f"line {n}: a quoted field is not closed, or goes on after its closing quote" for n in (2, 3)],
        ),
        (
            "a\nb\nc\n",
            ["line 1: no line has a parent, expected leaf, parent, ..., root separated by ';'; got 'a'"],
        ),
        (
            "p;a;b;c;*\nq;b;*\nr;c;a;*\n",
            [
                "line 2: 'b' has two parents: 'c' (line 1) and '*'",
                "line 3: 'c' has two parents: '*' (line 1) and 'a'",
                "line 3: 'a' has two parents: 'b' (line 1) and '*'",
                "line 3: a cycle, each under the next: 'a' -> 'b' -> 'c' -> 'a'",
            ],
        ),
        (
            "a;b;a;*\n",
            [
                "line 1: 'a' has two parents: 'b' (line 1) and '*'",
                "line 1: a cycle, each under the next: 'a' -> 'b' -> 'a'",
                "line 1: 'a' is an item here and an inner node elsewhere (line 1): "
                "an inner node that is also an item",
            ],
        ),
    ],
)
def test_csv(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert sorted(problems(tmp_path, "a.csv", text)) == sorted(expected)


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ("x has a b\ny has b c\n\n* has x y\n\n", ["line 7: 'b' has two parents: 'x' (line 6) and 'y'"]),
        ("x has a a\n\n* has x\n\n", ["line 6: 'a' is already listed under 'x' (line 6)"]),
        ("x has a\n\ny has b\n\n", ["line 8: a second root: 'y', after 'x' (line 6)"]),
        ("x has a\n\ny has x\n\nx has y\n\n", ["line 10: a cycle, each under the next: 'x' -> 'y' -> 'x'"]),
        ("x has x a\n\n", ["line 6: a cycle, each under the next: 'x' -> 'x'"]),
        (
            "a has b\nb has a\nc has d\nd has c\n* has e\n",
            [
                "line 7: a cycle, each under the next: 'b' -> 'a' -> 'b'",
                "line 9: a cycle, each under the next: 'd' -> 'c' -> 'd'",
            ],
        ),
        (
            "red fruit has a\nx has\n* has a\n",
            [
                "line 6: 'red fruit has a': expected `parent has child child ...`, labels without spaces",
                "line 7: 'x has': expected `parent has child child ...`, labels without spaces",
            ],
        ),
        ("", ["no node found, expected at least one item"]),
    ],
)
def test_amnesia_text(tmp_path: Path, blocks: str, expected: list[str]) -> None:
    assert problems(tmp_path, "a.txt", HEAD + blocks) == expected


def test_amnesia_text_without_the_empty_line_after_the_header(tmp_path: Path) -> None:
    assert problems(tmp_path, "a.txt", "distinct\nname n\nx has a\n\n* has x y\n\n") == [
        "line 3: 'x has a': expected name, type, height or the empty line that ends them"
    ]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (
            '"level1": {"*": ["x", "y"]}, "level2": {"x": ["a"], "y": ["a"]}',
            ["'a' has two parents: 'x' and 'y'"],
        ),
        ('"level1": {"*": ["x", "x"]}', ["'x' is already listed under '*'"]),
        ('"level1": {"*": ["a"], "+": ["b"]}', ["a second root: '+', after '*'"]),
        ('"level1": {"*": ["a"]}, "level1": {"+": ["b"]}', ["a second root: '+', after '*'"]),
        (
            '"level1": {"*": ["a"]}, "level2": {"a": "b"}',
            ["level2: 'a' has no list of non-empty labels as its children"],
        ),
        (
            '"level1": {"*": ["a", null]}, "level2": {"a": []}, "level3": {"a": [""]}',
            [
                f"level{n}: '{label}' has no list of non-empty labels as its children"
                for n, label in ((1, "*"), (2, "a"), (3, "a"))
            ],
        ),
        ('"level1": ["a"]', ["level1: expected an object of parents and their children"]),
        ('"level1": {}', ["no node found, expected at least one item"]),
    ],
)
def test_amnesia_json(tmp_path: Path, levels: str, expected: list[str]) -> None:
    assert problems(tmp_path, "a.json", f'{{"hierType": "distinct", {levels}}}') == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "soap;*\n\napple;fruit;*\npear;fruit;*\n"),
        ("a.txt", HEAD + "fruit has apple pear\n\n* has soap fruit\n\n"),
        ("a.json", '{"level1": {"*": ["soap", "fruit"]}, "level2": {"fruit": ["apple", "pear"]}}'),
    ],
)
def test_against_the_data(tmp_path: Path, name: str, text: str) -> None:
    data = Transactions.from_rows([["apple", "brush"], ["fruit", "comb"], ["soap"]])
    assert problems(tmp_path, name, text, data) == [
        "item 'brush' of the data is not in the hierarchy",
        "item 'comb' of the data is not in the hierarchy",
    ]
    assert problems(tmp_path, name, text, Transactions.from_rows([["apple"]])) == []
    assert problems(tmp_path, name, text, Transactions.from_rows([])) == []


def test_everything_at_once_in_order_of_the_lines(tmp_path: Path) -> None:
    text = "a;x;*\na;x;*\nb;;*\nc;y;x;*\nd;y;*\ne;+\n"
    found = problems(tmp_path, "a.csv", text, Transactions.from_rows([["a", "z"]]))
    assert [problem.split(":")[0] for problem in found] == [
        "line 2",
        "line 3",
        "line 5",
        "line 6",
        "item 'z' of the data is not in the hierarchy",
    ]


def test_long_labels_are_cut_in_messages(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "a.csv", f"{'a' * 500};*\n{'b' * 500};+\n{'c' * 500};*\n{'a' * 500};*\n")[
        1:
    ]
    assert len(found) < 200


def test_a_problem_prints_its_line() -> None:
    assert str(FileProblem(3, "wrong")) == "line 3: wrong"
    assert str(FileProblem(None, "wrong")) == "wrong"


def test_deep_and_large_files_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    deep = ";".join(str(i) for i in range(20_000))
    assert problems(tmp_path, "a.csv", deep) == []
    cycle, loose = problems(tmp_path, "a.csv", f"{deep};5\n")
    assert cycle == (
        "line 1: a cycle, each under the next: '5' -> '6' -> '7' -> '8' -> '9' -> 19,990 more -> '5'"
    )
    assert loose == "line 1: the path ends at '5', which has the parent '6' (line 1)"


def test_items_that_stand_alone_are_counted() -> None:
    items = [*"abcdefgh", "x1", "x2"]
    tree = Hierarchy.from_paths([*([item, "*"] for item in items[:8]), ["x1", "X", "*"], ["x2", "X", "*"]])
    assert standing_alone(tree, items) == items[:8]
    assert alone_note(tree, items[-2:]) == ""
    supports = [9, 9, 1, 2, 9, 9, 9, 9, 1, 1]
    assert "2 of them are in fewer than 5 rows" in alone_note(tree, items, supports, 5)
    assert alone_note(tree, items, [9] * 10, 5) == ""
    assert likely_lengths(["E11.9", "E11.2", "E10.1", "I10"]) == [3, 1]
    assert likely_lengths(items[:8]) == []
