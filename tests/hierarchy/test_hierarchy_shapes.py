"""Hierarchies in the shapes that people have, and hierarchies that do not quite fit the data."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.base.errors import HierarchyError, MissingItemsError
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.check import check_hierarchy
from setveil.rows.hierarchy.fit import fit_rows, fitted
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

PLAIN = [
    ["E11.8", "E11", "E", "*"],
    ["E11.9", "E11", "E", "*"],
    ["I10", "I10-I15", "I", "*"],
    ["K64.1", "K64", "K", "*"],
]
UP = ["E11.8;E11;E", "E11.9;E11;E", "I10;I10-I15;I", "K64.1;K64;K"]
DOWN = [";".join(reversed(line.split(";"))) for line in UP]
PAIRS = ["E11.8,E11", "E11.9,E11", "I10,I10-I15", "K64.1,K64", "E11,E", "I10-I15,I", "K64,K"]
SHAPES = {
    "no common root": (UP, ["no common root: 3 groups"]),
    "a header": (["code;group;chapter", *UP], ["line 1 is a header", "no common root: 3 groups"]),
    "a header, and a root": (
        ["code;group;chapter;all", *(f"{line};*" for line in UP)],
        ["line 1 is a header"],
    ),
    "a header of other words": (["Z;Y;X;W", "E11.7;E11;E;*", *(f"{line};*" for line in UP)], ["line 1"]),
    "levels from the root down": (DOWN, ["levels go from the root down", "no common root"]),
    "down, with a header": (["level 1;level 2;level 3", *DOWN], ["line 1", "levels go", "no common root"]),
    "down, with a root": ([f"*;{line}" for line in DOWN], ["levels go from the root down"]),
    "child and parent": (PAIRS, ["each line is a child and its parent", "no common root"]),
    "child and parent, a header": (["child,parent", *PAIRS], ["line 1", "each line is a child", "no common"]),
    "parent and child": (
        ["parent,child", *(",".join(reversed(line.split(","))) for line in PAIRS)],
        ["line 1", "each line is a parent and its child", "no common root"],
    ),
    "pairs with a root": ([*PAIRS, "E,*", "I,*", "K,*"], ["each line is a child and its parent"]),
}


@pytest.mark.parametrize(("lines", "notes"), SHAPES.values(), ids=SHAPES)
def test_a_shape_is_recognized_and_reported(tmp_path: Path, lines: list[str], notes: list[str]) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("\n".join(lines) + "\n")
    tree = read_hierarchy(path)
    assert [one for one in tree.paths() if one[0] != "E11.7"] == PLAIN
    assert tree.origin is not None
    assert len(tree.origin.notes) == len(notes)
    for note, words in zip(tree.origin.notes, notes, strict=True):
        assert note.startswith(words)
    assert check_hierarchy(path) == []


OUTLINES = {
    "blanks": (".txt", "E\n  E11\n    E11.8\n    E11.9\nI\n  I10-I15\n    I10\nK\n  K64\n    K64.1\n"),
    "tabs": (".txt", "E\n\tE11\n\t\tE11.8\n\t\tE11.9\nI\n\tI10-I15\n\t\tI10\nK\n\tK64\n\t\tK64.1\n"),
    "indented from the first line on": (
        ".csv",
        "  E\n\n    E11\n        E11.8\n        E11.9\n  I\n   I10-I15\n    I10\n  K\n    K64\n     K64.1\n",
    ),
    "bullets": (
        ".md",
        "- E\n  - E11\n    - E11.8\n    - E11.9\n- I\n  - I10-I15\n    - I10\n- K\n  - K64\n    - K64.1\n",
    ),
    "cells of a spreadsheet": (
        ".csv",
        "E,,\n,E11,\n,,E11.8\n,,E11.9\nI,,\n,I10-I15,\n,,I10\nK,,\n,K64,\n,,K64.1\n",
    ),
    "a group once": (".csv", "E;E11;E11.8\n;;E11.9\nI;I10-I15;I10\nK;K64;K64.1\n"),
    "a group once, a header": (
        ".csv",
        "level 1;level 2;code\nE;E11;E11.8\n;;E11.9\nI;I10-I15;I10\nK;K64;K64.1\n",
    ),
    "objects of a name and children": (
        ".json",
        '{"name": "*", "children": [{"name": "E", "children": [{"name": "E11", "children": [{"name": "E11.8",'
        ' "size": 3}, {"name": "E11.9"}]}]}, {"name": "I", "children": [{"name": "I10-I15", "children": '
        '[{"name": "I10", "children": []}]}]}, {"name": "K", "children": [{"name": "K64", "children": '
        '[{"name": "K64.1"}]}]}]}',
    ),
    "lists of objects with codes": (
        ".json",
        '[{"code": "E", "name": "glands", "concept": [{"code": "E11", "concept": [{"code": "E11.8"}, {"code":'
        ' "E11.9"}]}]}, {"code": "I", "concept": [{"code": "I10-I15", "concept": [{"code": "I10"}]}]}, '
        '{"code": "K", "concept": [{"code": "K64", "concept": [{"code": "K64.1"}]}]}]',
    ),
    "groups as keys": (
        ".json",
        '{"E": {"E11": ["E11.8", "E11.9"]}, "I": {"I10-I15": {"I10": null}}, "K": {"K64": {"K64.1": {}}}}',
    ),
}


@pytest.mark.parametrize(("suffix", "text"), OUTLINES.values(), ids=OUTLINES)
def test_an_outline_is_a_hierarchy(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"tree{suffix}"
    path.write_text(text)
    tree = read_hierarchy(path)
    assert tree.paths() == PLAIN
    assert tree.origin is not None
    assert tree.origin.notes  # each shape is reported
    assert check_hierarchy(path) == []


def test_an_item_may_be_at_the_top_of_an_outline(tmp_path: Path) -> None:
    for name, text in (
        ("a.txt", "drinks\n  tea\n  milk\n    milk\n    cream\nbread\n"),
        ("a.json", '{"drinks": {"tea": [], "milk": {"milk": {}, "cream": {}}}, "bread": null}'),
    ):
        (tmp_path / name).write_text(text)
        assert read_hierarchy(tmp_path / name).paths() == [
            ["bread", "*"],
            ["cream", "milk*", "drinks", "*"],
            ["milk", "milk*", "drinks", "*"],
            ["tea", "drinks", "*"],
        ]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "a.txt",
            "drinks\n  hot\n    tea\n   coffee\n",
            "line 4: 'coffee' is indented by 3, expected as much",
        ),
        ("a.txt", "drinks\n  hot\n    other\n  cold\n    other\n", "line 5: 'other' has two parents: 'hot'"),
        ("a.txt", "drinks\n  tea\n  tea\n", "line 3: item 'tea' is already listed"),
        ("a.txt", "tea\nmilk\n", "no line has a parent"),
        ("a.json", '{"drinks": {"tea": 12, "milk": 3}}', "below the key 'tea' is no list or object"),
        ("a.json", '{"tea": "hot", "milk": "cold"}', "below the key 'tea' is no list or object"),
        ("a.json", '{"hot": ["tea"], "cold": ["tea"]}', "'tea' has two parents: 'hot' and 'cold'"),
        ("a.json", '{"hot": ["tea"], "cold": [12.5, true]}', "found 'True', expected a label"),
        ("a.json", '{"name": "a", "x": ["b"], "y": ["c"]}', "'a' has several lists: 'x', 'y'"),
        ("a.json", '{"name": "a", "name": "b", "x": ["c"]}', "has a key twice"),
        ("a.json", '["tea", "milk"]', "got no object with keys"),
    ],
)
def test_what_is_wrong_in_an_outline_is_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(tmp_path / name)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "paths", "note"),
    [
        ("a;x;*\nb;;*\n", [["a", "x", "*"], ["b", "*"]], "1 line without one of the levels, such as line 2"),
        (
            "a;x;y;*\nb;x;*\n",
            [["a", "x", "y", "*"], ["b", "x", "y", "*"]],
            "1 line without a level that other lines have, such as line 2",
        ),
        (
            "K64.8;K64;*\nK64.1;K64;*\nK64;*\n",
            [["K64", "K64*", "*"], ["K64.1", "K64*", "*"], ["K64.8", "K64*", "*"]],
            "1 item is a group, too, and became an item below it: 'K64' is below 'K64*'",
        ),
        ("parent,child\n,drinks\ndrinks,tea\ndrinks,milk\n", [["milk", "drinks"], ["tea", "drinks"]], ""),
    ],
)
def test_a_level_is_missing(tmp_path: Path, text: str, paths: list[list[str]], note: str) -> None:
    path = tmp_path / "tree.csv"
    path.write_text(text)
    tree = read_hierarchy(path)
    assert tree.paths() == paths
    assert tree.origin is not None
    assert any(note in one for one in tree.origin.notes)


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;x;*\nc;y;all\nd;y;*\n",  # a slip of the pen
        "a;x;*\nb;y;+\nc;y;+\n",  # two roots, one of them *
        "a;fruit;plants;*\nb;fruit;food;*\n",
        "a;x;all\nb;y;all\nb;x;all\nc;z;other\nx;y;all\n",
        'a;x\n"b;x\nc;y\n',
    ],
)
def test_what_is_wrong_stays_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tree.csv"
    path.write_text(text)
    with pytest.raises(HierarchyError):
        read_hierarchy(path)


def test_a_plain_hierarchy_has_no_notes(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("".join(";".join(one) + "\n" for one in PLAIN))
    origin = read_hierarchy(path).origin
    assert origin is not None
    assert origin.notes == ()


def test_convert_writes_the_plain_form(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("\n".join(["child,parent", *PAIRS]))
    done = setveil("hierarchy", "convert", "pairs.csv", "plain.csv", cwd=tmp_path).ok()
    assert "pairs.csv: line 1 is a header and no item: 'child;parent'." in done.err
    assert (tmp_path / "plain.csv").read_text() == "".join(";".join(one) + "\n" for one in PLAIN)


def test_data_and_hierarchy_each_in_their_own(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("Käse,Brot\n".encode("latin-1") * 5)
    (tmp_path / "tree.csv").write_text("Käse;*\nBrot;*\n", encoding="utf-8")
    common = ["anonymize", "rows.csv", "--format", "basket", "--k", "2", "--m", "1", "-H", "tree.csv"]
    for number, encoding in enumerate(("latin-1", "rows.csv=latin-1", "latin-1,tree.csv=utf-8")):
        setveil(*common, "--out", str(number), "--encoding", encoding, cwd=tmp_path).ok()
    assert sv.read(tmp_path / "rows.csv", format="basket", encoding="rows.csv=latin-1").n_items == 2


def test_an_encoding_that_is_named_again_is_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Käse,Brot\n" * 5, encoding="utf-8")
    (tmp_path / "tree.csv").write_bytes("Käse;*\nBrot;*\n".encode("cp1252"))
    common = ["anonymize", "rows.csv", "--format", "basket", "--k", "2", "--m", "1", "-H", "tree.csv"]
    for number, several in enumerate(
        (["--encoding", "cp1252", "--encoding", "rows.csv=utf-8"],
         ["--encoding=tree.csv=cp1252", "--encoding", "utf-8"],
         ["--encoding", "tree.csv=cp1252", "--encoding", "rows.csv=utf-8"]),
    ):  # fmt: skip
        setveil(*common, "--out", str(number), *several, cwd=tmp_path).ok()
    for wrong in (["cp1252", "utf-8"], ["tree.csv=cp1252", "tree.csv=utf-8"]):
        several = [word for one in wrong for word in ("--encoding", one)]
        refused = setveil(*common, "--out", "w", *several, cwd=tmp_path)
        assert f"The encoding is '{','.join(wrong)}', expected one encoding for all files" in refused.err


# --- data and hierarchy


TREE = Hierarchy.from_paths([["K64.81", "K64.8", "*"], ["E11.9", "E11", "*"], ["I10", "*"]])


def test_a_group_that_is_an_item_of_the_data() -> None:
    tree = fitted(TREE, ["K64.8", "K64.81", "I10"])
    assert ["K64.8", "K64.8*", "*"] in tree.paths()
    assert ["K64.81", "K64.8*", "*"] in tree.paths()
    assert fitted(tree, ["K64.8", "K64.81"]) is tree
    assert fitted(TREE, ["K64.81", "I10"]) is TREE
    data = Transactions.from_rows([["K64.8", "I10"], ["K64.81"], ["K64.8"], ["I10", "E11.9"]] * 3)
    assert sv.anonymize(data, k=2, m=2, hierarchy=TREE).verdict.holds


def test_a_leaf_in_another_spelling() -> None:
    tree = fitted(TREE, ["e119", "k64.8", "I10"])
    assert tree.paths() == [
        ["I10", "*"],
        ["K64.81", "K64.8", "*"],
        ["k64.8", "K64.8", "*"],
        ["e119", "E11", "*"],
    ]
    numbers = Hierarchy.from_paths([["1.5", "x", "*"], ["250.01", "x", "*"]])
    with pytest.raises(MissingItemsError):
        fitted(numbers, ["15"]).locate(Transactions.from_rows([["15"]]).vocabulary)
    assert "25001" in fitted(numbers, ["25001"])


def test_several_spellings_of_one_leaf_ask_for_the_option() -> None:
    data = Transactions.from_rows([["E11.9"], ["E119"], ["e11.9"], ["I10"]])
    with pytest.raises(MissingItemsError, match="2 of them are other spellings of items in it") as caught:
        fitted(TREE, data.vocabulary.labels).locate(data.vocabulary)
    assert "Read with normalize='codes'" in caught.value.hint
    one = data.with_normal_labels("codes")
    assert one.supports().tolist() == [3, 1]
    fitted(TREE, one.vocabulary.labels).locate(one.vocabulary)


def test_several_spellings_of_a_code_are_one_item() -> None:
    data = Transactions.from_rows([["E11.9"], ["E119"], ["e11.9"], ["I10"], ["k648"], ["K648"]])
    tree, rows = fit_rows(TREE, data)
    assert rows.rows()[:3] == [("E11.9",)] * 3
    assert rows.rows()[4] == rows.rows()[5] == ("K648",)  # below the group K64.8
    assert ["K648", "K64.8", "*"] in tree.paths()
    assert fit_rows(tree, rows) == (tree, rows)
    release = sv.anonymize(
        Transactions.from_rows([["E11.9"], ["e119"], ["I10"]] * 3), k=3, m=1, hierarchy=TREE
    )
    assert release.published.vocabulary.labels == ("E11.9", "I10")


def test_attack_verify_and_apply_fit_the_hierarchy(tmp_path: Path) -> None:
    rows = 6 * [["K64.8", "I10"], ["K64.81"], ["e119", "I10"], ["K64.82", "K64.8"]]
    lines = "K64.81;K64.8;*\nK64.82;K64.8;*\nE11.9;E11;*\nI10;*\n"
    (tmp_path / "tree.csv").write_text(lines)
    (tmp_path / "rows.csv").write_text("".join(f"{','.join(row)}\n" for row in rows))
    (tmp_path / "more.csv").write_text("K64.8,I10\nK648\nE119\n" * 6)
    common = ["--format", "basket"]
    tree = ["-H", "tree.csv"]
    setveil("anonymize", "rows.csv", "--k", "3", "--m", "2", *tree, "--out", "o", *common, cwd=tmp_path).ok()
    setveil("verify", "o", "--reading", "cover", *tree, cwd=tmp_path).ok()
    attack = ["attack", "o/published/data.csv", "--original", "rows.csv", "--control", "more.csv", *common]
    assert setveil(*attack, *tree, cwd=tmp_path).code in (0, 1)
    split = ["attack", "rows.csv", "--split", "0.5", "--k", "2", "--m", "1", *common]
    assert setveil(*split, *tree, cwd=tmp_path).code in (0, 1)
    done = setveil("apply", "o", "more.csv", "--people", "other", "--out", "a", *common, cwd=tmp_path).ok()
    assert "a/published" in done.out


def test_apply_when_the_group_is_published(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("K64.81;K64.8;*\nK64.82;K64.8;*\nI10;I;*\nI11;I;*\n")
    first = [["K64.81", "I10"], ["K64.81", "I10"], ["K64.82", "I10"], ["K64.82", "I10"]]
    release = sv.anonymize(first, k=3, m=2, hierarchy=tmp_path / "tree.csv")
    assert release.published.vocabulary.labels == ("I10", "K64.8")
    second = [["K64.8", "I10"], ["K64.81"], ["K648"]] * 3
    applied = sv.apply(release, second, people="other", hierarchy=tmp_path / "tree.csv", repair=True)
    assert applied.published.vocabulary.labels == ("I10", "K64.8")
    assert applied.published.rows().count(("K64.8",)) == 6


def test_the_hierarchy_of_the_codes_of_facts_is_fitted(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("K64.81;K64.8;*\nE11.9;E11;*\nI10;*\n")
    codes = ["K64.8", "K64.81", "e119", "I10"]
    lines = "".join(f"{n},2024-01-01,{codes[n % 4]}\n" for n in range(24))
    (tmp_path / "l.csv").write_text("who,day,code\n" + lines)
    columns = ["--id-column", "who", "--set", "code", "--when", "day:year"]
    setveil(
        "anonymize", "l.csv", "--k", "2", "--m", "1", "-H", "tree.csv", *columns, "--out", "o", cwd=tmp_path
    ).ok()
    for command in (["verify", "o"], ["why", "o", "K64.8@2024"]):
        setveil(*command, cwd=tmp_path).ok()


@pytest.mark.parametrize(
    ("rare", "expected"),
    [
        # The group is published as a label: it stays unchanged, and the item gets another one.
        (2, [{"K64.8", "I10"}, {"K64.81", "K64.8 (itself)", "I10", "I11"}, {"K64.8 (itself)", "I11"}]),
        (4, [{"K64.81", "I10"}, {"K64.8", "K64.81", "I10", "I11"}, {"K64.8", "I11"}]),
    ],
)
def test_the_second_year_of_a_series_has_a_code_that_is_a_group(
    tmp_path: Path, rare: int, expected: list[set[str]]
) -> None:
    lines = "K64.81;K64.8;*\nK64.82;K64.8;*\nI10;I;*\nI11;I;*\n"
    (tmp_path / "tree.csv").write_text(lines)
    first = {f"p{n}": ["K64.81" if n < rare else "K64.82", "I10"] for n in range(4)}
    second = {f"q{n}": ["K64.8", "I11"] for n in range(4)} | {f"r{n}": ["K64.81", "I10"] for n in range(4)}
    third = {f"s{n}": ["K64.8", "I11"] for n in range(4)}
    series = sv.Series.create(tmp_path / "s", k=3, m=2)
    series.add(first, name="2023", out=tmp_path / "a", hierarchy=tmp_path / "tree.csv")
    series.add(second, name="2024", out=tmp_path / "b", hierarchy=tmp_path / "tree.csv")
    series.add(third, name="2025", out=tmp_path / "c", hierarchy=tmp_path / "tree.csv")
    assert series.verify()["holds"]
    files = [tmp_path / year / "published" / "data.csv" for year in "abc"]
    labels = [set(sv.read(file, format="basket").vocabulary.labels) for file in files]
    assert labels == expected
