"""Hierarchies in the shapes that people have, and hierarchies that do not quite fit the data."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.data.transactions import Transactions
from setveil.errors import HierarchyError, MissingItemsError
from setveil.hierarchy.check import check_hierarchy
from setveil.hierarchy.fit import fitted
from setveil.hierarchy.io import read_hierarchy
from setveil.hierarchy.tree import Hierarchy

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
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
def test_a_shape_is_recognized_and_told(tmp_path: Path, lines: list[str], notes: list[str]) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("\n".join(lines) + "\n")
    tree = read_hierarchy(path)
    assert [one for one in tree.paths() if one[0] != "E11.7"] == PLAIN
    assert tree.origin is not None
    assert len(tree.origin.notes) == len(notes)
    for note, words in zip(tree.origin.notes, notes, strict=True):
        assert note.startswith(words)
    assert check_hierarchy(path) == []


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
        "a;x;*\nb;y;+\nc;y;+\n",  # two roots, of which one is *
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


def test_a_hierarchy_in_another_encoding(tmp_path: Path) -> None:
    rows, tree = (CASES / "52-hierarchy-in-another-encoding" / name for name in ("b.csv", "h_cp1252.csv"))
    if not rows.exists():
        pytest.skip("the cases are not here")
    for file in (rows, tree):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    common = ["anonymize", "b.csv", "--format", "basket", "--k", "5", "--m", "2", "-H", "h_cp1252.csv"]
    refused = setveil(*common, "--out", "o", cwd=tmp_path)
    assert refused.code == 4
    assert "`--encoding h_cp1252.csv=cp1252`" in refused.err
    done = setveil(*common, "--out", "o", "--encoding", "h_cp1252.csv=cp1252", cwd=tmp_path).ok()
    assert "Items      9 of 9 unchanged" in done.out
    wrong = setveil(*common, "--out", "w", "--encoding", "cp1252", cwd=tmp_path)
    assert "'KÃ¤se' is 'Käse', whose file is in UTF-8 and was read as cp1252." in wrong.err
    setveil("verify", "o", cwd=tmp_path).ok()
    setveil("apply", "o", "b.csv", "--format", "basket", "--people", "same", "--out", "a", cwd=tmp_path).ok()


def test_data_and_hierarchy_each_in_their_own(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("Käse,Brot\n".encode("latin-1") * 5)
    (tmp_path / "tree.csv").write_text("Käse;*\nBrot;*\n", encoding="utf-8")
    common = ["anonymize", "rows.csv", "--format", "basket", "--k", "2", "--m", "1", "-H", "tree.csv"]
    for number, encoding in enumerate(("latin-1", "rows.csv=latin-1", "latin-1,tree.csv=utf-8")):
        setveil(*common, "--out", str(number), "--encoding", encoding, cwd=tmp_path).ok()
    assert sv.read(tmp_path / "rows.csv", format="basket", encoding="rows.csv=latin-1").n_items == 2


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


@pytest.mark.parametrize(
    ("rare", "expected"),
    [
        # The group is out as a label: it keeps its name, and the item gets another one.
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
