"""Hierarchy files: accepted formats, round trips, and errors."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_data import DATA
from setveil.base.errors import DataError, HierarchyError, OutputError, RequestError
from setveil.rows.hierarchy.check import check_hierarchy
from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

TREE = Hierarchy.from_paths(
    [["apple", "fruit", "food", "*"], ["pear", "fruit", "food", "*"], ["leek", "food", "*"], ["soap", "*"]]
)
CSV = "apple;fruit;food;*\npear;fruit;food;*\nleek;leek;food;*\nsoap;soap;soap;*\n"
AMNESIA = """distinct
name goods
type string
height 4

fruit has apple pear

food has fruit leek

* has food soap

"""
JSON = """{
 "hierType": "distinct",
 "name": "goods",
 "type": "string",
 "height": 4,
 "level1": {
  "*": [
   "food",
   "soap"
  ]
 },
 "level2": {
  "food": [
   "fruit",
   "leek"
  ]
 },
 "level3": {
  "fruit": [
   "apple",
   "pear"
  ]
 }
}
"""


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def trees(alphabet: str) -> st.SearchStrategy[Hierarchy]:
    labels = st.text(alphabet, min_size=1, max_size=4).filter(lambda s: s == s.strip())

    @st.composite
    def build(draw: st.DrawFn) -> Hierarchy:
        names = draw(st.lists(labels, min_size=1, max_size=15, unique=True))
        parents: dict[str, str | None] = {names[0]: None}
        for i, name in enumerate(names[1:], 1):
            parents[name] = names[draw(st.integers(max(0, i - 4), i - 1))]
        return Hierarchy(parents)

    return build()


def round_trip(tree: Hierarchy, *names: str) -> Hierarchy:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / name
            write_hierarchy(tree, path)
            assert check_hierarchy(path) == []
            tree = read_hierarchy(path)
    return tree


NASTY = "\"';,|\t 0017aé\u2028\u00a0\ufeff*hs{}\\"


@given(trees(NASTY))
def test_csv_gives_the_same_tree(tree: Hierarchy) -> None:
    assert round_trip(tree, "a.csv") == tree


@given(trees(NASTY + "\n\0\r").filter(lambda tree: tree.n_nodes > 1))
def test_json_gives_the_same_tree(tree: Hierarchy) -> None:
    assert round_trip(tree, "a.json") == tree


@given(trees("\"';,|\t017aé\u2028\u00a0*{}").filter(lambda tree: tree.n_nodes > 1))
def test_csv_to_text_to_csv_gives_the_same_tree(tree: Hierarchy) -> None:
    assert round_trip(tree, "a.csv", "a.txt", "b.csv", "c.json", "d.TXT") == tree


def test_the_three_forms(tmp_path: Path) -> None:
    for name, text in (("a.csv", CSV), ("a.txt", AMNESIA), ("a.json", JSON)):
        path = tmp_path / name
        write_hierarchy(TREE, path, name="goods")
        assert path.read_bytes().decode() == text
        assert read_hierarchy(path) == TREE


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "apple;fruit;food;*\npear;fruit;food;*\nleek;food;*\nsoap;*\n",
        "\ufeff" + CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\r"),
        "\n" + CSV.replace("\n", "\n \n").rstrip(),
        CSV.replace(";", " ;\t"),
        "apple;fruit;food;*;;\npear;fruit;food;*;*;*\nleek;food;*\nsoap;*;;;\n",
        '"apple";fruit;"food" ; "*"\npear;fruit;food;*\nleek;leek;food;*\nsoap;*\n',
        CSV.replace(";", "\t"),
        CSV.replace(";", "|"),
        CSV.replace(";", ","),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a"])
def test_csv_as_people_write_it(tmp_path: Path, text: str, name: str) -> None:
    assert read_hierarchy(put(tmp_path, name, text)) == TREE


def test_the_separator_is_found_or_named(tmp_path: Path) -> None:
    commas = put(tmp_path, "a.csv", "a,b;x;*\nc;*\n")
    assert read_hierarchy(commas).labels == ("a,b", "c", "x", "*")
    mixed = put(tmp_path, "b.csv", "a,1|x|*\nb|*\n")
    assert read_hierarchy(mixed).labels == ("a,1", "b", "x", "*")
    one_file = put(tmp_path, "c.csv", "a;1/x/*\nb;1/x/*\n")
    assert read_hierarchy(one_file, separator="/").labels == ("a;1", "b;1", "x", "*")
    for wrong in ("", ";;", '"', "\n"):
        with pytest.raises(RequestError, match="expected one character"):
            read_hierarchy(mixed, separator=wrong)


def test_quotes(tmp_path: Path) -> None:
    text = '"a;b";"say ""x""";*\n5" pipe;"say ""x""";*\n" c ";*\n'
    assert read_hierarchy(put(tmp_path, "a.csv", text)).labels == ('5" pipe', "a;b", "c", 'say "x"', "*")


def test_labels_are_texts(tmp_path: Path) -> None:
    tree = read_hierarchy(put(tmp_path, "a.csv", "007;x;*\n7;x;*\n1.0;x;*\n"))
    assert tree.labels == ("007", "1.0", "7", "x", "*")
    numbers = '{"hierType": "distinct", "level1": {"*": [7, 1.0, "007", NaN]}}'
    assert read_hierarchy(put(tmp_path, "a.json", numbers)).labels == ("007", "1.0", "7", "NaN", "*")


def test_a_single_node(tmp_path: Path) -> None:
    for label in ("a", "a,b", "a|b\tc"):
        assert round_trip(Hierarchy({label: None}), "a.csv").labels == (label,)
    assert read_hierarchy(put(tmp_path, "b.csv", "a\n")).labels == ("a",)
    for name in ("a.txt", "a.json"):
        with pytest.raises(HierarchyError, match="the single node 'a'") as caught:
            write_hierarchy(Hierarchy({"a": None}), tmp_path / name)
        assert ".csv" in caught.value.hint


def test_amnesia_text_as_amnesia_writes_it(tmp_path: Path) -> None:
    text = AMNESIA.replace("pear\n", "pear \n").replace("\n", "\r\n")
    assert read_hierarchy(put(tmp_path, "a.txt", text)) == TREE
    assert read_hierarchy(put(tmp_path, "b.txt", AMNESIA.rstrip())) == TREE


@pytest.mark.parametrize(
    ("label", "name", "form"),
    [
        ("a b", "x.txt", ".json"),
        ("has", "x.txt", ".json"),
        ("a\nb", "x.txt", ".json"),
        (" a", "x.csv", ".json"),
        ("a\nb", "x.csv", ".json"),
    ],
)
def test_labels_that_a_form_cannot_hold(tmp_path: Path, label: str, name: str, form: str) -> None:
    with pytest.raises(HierarchyError, match="cannot contain") as caught:
        write_hierarchy(Hierarchy({label: "*", "*": None}), tmp_path / name)
    assert repr(label) in str(caught.value)
    assert form in caught.value.hint
    assert not (tmp_path / name).exists()


def test_writing_refuses(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="a word without spaces"):
        write_hierarchy(TREE, tmp_path / "a.txt", name="my goods")
    with pytest.raises(OutputError, match="Cannot write"):
        write_hierarchy(TREE, tmp_path / "missing" / "a.csv")
    with pytest.raises(HierarchyError, match="a label is not text"):
        write_hierarchy(Hierarchy({"\ud800": "*", "*": None}), tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \r\n\n", "is empty"),
        ("a.csv", b"ok;*\nb\xe4r;*\n", r"is not utf-8: byte 0xe4 at offset 6 \(line 2\)"),
        ("a.csv", b"\xff\xfea\0;\0*\0", "is not utf-8"),
        ("a.csv", b"a;\0;*", "binary"),
        ("a.csv", b"\xff\0\xff", "binary"),
        ("a.ahs", b"\xac\xed\x00\x05sr", "binary"),
        ("a.deid", b"PK\x03\x04xx", "binary"),
        ("a.txt", b"range\nname n\ntype decimal\nheight 2\n\n0.0,2.0 has 0.0,1.0\n\n", "kind 'range'"),
        ("a.json", b'{"hierType": "range", "level1": {}}', "kind 'range'"),
        ("a.json", b"a;b;*", r"is not JSON: .* \(line 1, column 1\)"),
        ("a.json", b'{"a": 1}', "expected level1, level2, ...; got the keys 'a'"),
        ("a.json", b"[]", "got no object with keys"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = put(tmp_path, name, content)
    for use in (read_hierarchy, check_hierarchy):
        with pytest.raises(DataError, match=message):
            use(path)


def test_the_encoding_can_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "bär;*\nkuh;*\n".encode("cp1252"))
    assert read_hierarchy(path, encoding="cp1252").labels == ("bär", "kuh", "*")
    wide = put(tmp_path, "b.csv", "bär;*\nkuh;*\n".encode("utf-16"))
    assert read_hierarchy(wide, encoding="utf-16").labels == ("bär", "kuh", "*")
    for file, hint in ((path, "encoding='a.csv=cp1252'"), (wide, "encoding='b.csv=utf-16'")):
        with pytest.raises(DataError) as caught:
            read_hierarchy(file)
        assert hint in caught.value.hint
    with pytest.raises(RequestError, match="Unknown encoding 'klingon'"):
        read_hierarchy(path, encoding="klingon")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot read the hierarchy .*none\.csv"):
        read_hierarchy(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_hierarchy(tmp_path)


def test_reading_names_the_first_problems_and_holds_all(tmp_path: Path) -> None:
    text = "".join(f"{i};x;*\n{i};y;*\n" for i in range(8))
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(put(tmp_path, "a.csv", text))
    assert len(caught.value.problems) == 8
    assert "a.csv is not a hierarchy, 8 problems:" in caught.value.message
    assert "line 2: '0' has two parents: 'x' (line 1) and 'y'" in caught.value.message
    assert caught.value.message.endswith("and 3 more")
    assert "setveil hierarchy check" in caught.value.hint


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "leaves"),
    [
        ("bms_webview1", 497),
        ("bms_webview2", 3_340),
        ("groceries", 169),
        ("diabetes_icd9", 915),
        ("icd9cm2014", 14_567),
        ("instacart", 49_688),
    ],
)
def test_real_hierarchies(tmp_path: Path, name: str, leaves: int) -> None:
    path = DATA / f"{name}_hierarchy.csv"
    if not path.exists():
        pytest.skip(f"no {path.name} in {DATA}: set SETVEIL_DATA to the folder that contains it")
    tree = read_hierarchy(path)
    assert tree.n_leaves == leaves
    assert check_hierarchy(path) == []
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == leaves
    for form in ("csv", "json"):
        write_hierarchy(tree, tmp_path / f"a.{form}")
        assert read_hierarchy(tmp_path / f"a.{form}") == tree
    for line in lines[:: max(1, leaves // 100)]:
        leaf, *above = line.split(";")
        assert [tree.labels[v] for v in tree.ancestors(tree.id(leaf))] == above
