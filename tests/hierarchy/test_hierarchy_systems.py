"""Codes of classifications: any form reaches its category, chapters never mix, nothing is guessed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import codes as naive
from real_data import DATA
from setveil.base.errors import DataError
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.hierarchy.build import by_system
from setveil.rows.hierarchy.systems import ranges
from setveil.rows.hierarchy.systems.reading import CodesRead, named_system, read_codes
from setveil.rows.hierarchy.tree import Hierarchy

CATEGORIES9 = [
    category
    for category in [
        *(f"{n:03d}" for n in range(1000)),
        *(f"V{n:02d}" for n in range(100)),
        *(f"E{n:03d}" for n in range(1000)),
    ]
    if naive.is_category9(category)
]
CATEGORIES10 = [
    f"{letter}{first}{last}"
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for first in "0123456789"
    for last in "0123456789AB"
    if any(c.split("-")[0] <= f"{letter}{first}{last}" <= c.split("-")[1] for c in naive.CHAPTERS10)
]


def tree_of(codes: list[str], system: str, **how: Any) -> tuple[Hierarchy, CodesRead]:
    return by_system(Transactions.from_rows([[code] for code in codes]), system, **how)


def is_placed9(path: tuple[str, ...], category: str) -> bool:
    """Return whether the groups are the chapter, block and category that a search of every range finds."""
    chapter, block = naive.chapter9(category), naive.block9(category)
    # A block that is its chapter, or its category, is named once.
    label = path[1] if len(path) > 1 and ("-" in path[1] or path[1] == block) else path[0]
    first, _, last = label.partition("-")
    others = [start for start in naive.STARTS9 if len(start) == len(first) and first < start <= last]
    return (
        (path[0], first) == (chapter, block)
        and category in path
        and category <= (last or first)
        and not others
    )


forms9 = st.builds(
    lambda category, rest, undotted, lost, dot, small, name, blank: (
        (category, rest[: 1 if category[0] == "E" else 2]), undotted, lost, dot, small, name, blank
    ),
    st.sampled_from(CATEGORIES9), st.text("0123456789", max_size=2), st.booleans(), st.booleans(),
    st.booleans(), st.booleans(), st.sampled_from(["", "ICD9:", "9:", "ICD-9-CM ", "icd_9 : "]),
    st.sampled_from(["", " "]),
)  # fmt: skip


@st.composite
def codes9(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a code of ICD-9-CM as it is in the lists, and the same in another form."""
    (category, rest), undotted, lost, dot, small, name, blank = draw(forms9)
    code = f"{category}.{rest}" if rest else category
    written = code
    if undotted:
        written = category + rest
    elif lost and category.isdigit() and rest:
        written = f"{category.lstrip('0')}.{rest}"
    if dot and "." not in written:
        written += "."
    return code, f"{name}{blank}{written.lower() if small else written}{blank}"


@given(st.lists(codes9(), min_size=1, max_size=30))
def test_any_form_of_a_code_of_icd9_reaches_its_category(drawn: list[tuple[str, str]]) -> None:
    meant = {written.strip(): code for code, written in drawn}
    read = read_codes([*meant], "icd9", "kept")
    assert not read.unlisted
    for written, code in meant.items():
        assert read.paths[written][-1] == code
        assert is_placed9(read.paths[written], code.split(".")[0])


def test_every_category_of_icd9_is_in_its_block_and_chapter() -> None:
    read = read_codes(CATEGORIES9, "icd9")
    assert [c for c in CATEGORIES9 if not is_placed9(read.paths[c], c)] == []
    others = [f"E{n:03d}" for n in range(31, 800)] + ["000", "V00", *(f"V{n}" for n in range(92, 100))]
    assert set(read_codes(["001", *others], "icd9").missing()) == set(others)


def test_every_category_of_icd10_is_in_its_chapter() -> None:
    read = read_codes(CATEGORIES10, "icd10")
    assert read.missing() == []
    wrong = [c for c in CATEGORIES10 if read.paths[c][0] != naive.chapter10(c)]
    assert wrong == []
    inside = [c for c in CATEGORIES10 if not c[2].isalpha()]
    for category in inside:
        first, _, last = read.paths[category][min(1, len(read.paths[category]) - 1)].partition("-")
        assert first <= category <= (last or first)
    assert {c: read.paths[c][1] for c in ("D3A", "C7B", "M1A", "Z3A", "C4A", "O9A", "D40", "X90", "Y05")} == {
        "D3A": "D3A", "C7B": "C7B", "M1A": "M05-M14", "Z3A": "Z30-Z39", "C4A": "C43-C44", "O9A": "O94-O9A",
        "D40": "D37-D48", "X90": "X85-Y09", "Y05": "X85-Y09",
    }  # fmt: skip


codes10 = st.builds(
    lambda category, rest: f"{category}.{rest}" if rest else category,
    st.sampled_from(CATEGORIES10),
    st.text("0123456789ABCDSX", max_size=4),
)


@given(
    st.lists(
        st.tuples(codes10, st.booleans(), st.booleans(), st.sampled_from(["", "10:", "icd-10-cm "])),
        min_size=1,
    )
)
def test_any_form_of_a_code_of_icd10_reaches_its_category(drawn: list[tuple[str, bool, bool, str]]) -> None:
    meant = {}
    for code, undotted, small, name in drawn:
        written = code.replace(".", "") if undotted else code
        meant[name + (written.lower() if small else written)] = code
    read = read_codes([*meant], "icd10")
    assert not read.unlisted
    for written, code in meant.items():
        assert read.paths[written][-1] == code
        assert read.paths[written][0] == naive.chapter10(code[:3])
        assert code[:3] in read.paths[written]


@given(st.lists(st.text("0123456789", min_size=1, max_size=5), min_size=1, max_size=30, unique=True))
def test_codes_without_their_zeros_are_placed_only_if_they_are_one(codes: list[str]) -> None:
    """Check that a code is where all its possible originals are, or under (unlisted)."""
    try:
        read = read_codes(codes, "icd9", "lost")
    except DataError:
        read = read_codes([*codes, "25001"], "icd9", "lost")
    for code in codes:
        may = naive.lost_zeros(code, 5) if code[0] != "0" else {code if len(code) > 2 else code.zfill(3)}
        may = {one for one in may if len(one) >= 3 and naive.is_category9(one[:3])}
        if len(may) == 1:
            whole = may.pop()
            assert read.paths[code][-1].replace(".", "") == whole
        else:
            assert code in read.missing()


@given(
    st.lists(codes9(), min_size=1, max_size=30),
    st.lists(st.sampled_from(["tea", "000", "1234.5"]), max_size=2),
)
def test_chapters_never_mix_and_leaves_stay_as_written(drawn: list[tuple[str, str]], junk: list[str]) -> None:
    meant = {written.strip(): code for code, written in drawn}
    items = [*dict.fromkeys([*meant, *junk])]
    tree, read = tree_of(items, "icd9", zeros="kept")
    assert list(tree.labels[: tree.n_leaves]) == item_order(items)
    assert set(read.missing()) == set(junk)
    for node in range(tree.n_leaves, tree.n_nodes):
        under = [tree.labels[leaf] for leaf in tree.leaves(node)]
        label = tree.labels[node].rstrip("*")
        if node == tree.root:
            assert label == "ALL"
        elif label == "(unlisted)":
            assert set(under) == set(junk)
        else:
            assert len(tree.children(node)) > 1
            assert all(label in read.paths[item] for item in under)
            assert len({naive.chapter9(meant[item].split(".")[0]) for item in under}) == 1


@given(st.lists(codes9(), min_size=1, max_size=10), st.lists(codes10, min_size=1, max_size=10))
def test_two_systems_are_apart(nines: list[tuple[str, str]], tens: list[str]) -> None:
    items = [*dict.fromkeys([*(f"9:{code}" for code, _ in nines), *(f"10:{code}" for code in tens)])]
    tree, read = tree_of(items, "icd9+icd10")
    assert not read.missing()
    for item in items:
        title = "ICD-9-CM" if item.startswith("9:") else "ICD-10"
        assert read.paths[item][0] == title
        assert all(group.startswith(item.partition(":")[0]) for group in read.paths[item][1:])
    for node in range(tree.n_leaves, tree.n_nodes - 1):
        if node != tree.root:
            assert len({tree.labels[leaf].partition(":")[0] for leaf in tree.leaves(node)}) == 1


def test_codes_of_both_versions_raise_a_question() -> None:
    """Check, by form alone, that V01 to V91 and E800 to E909 are in both systems, and all others in one."""
    for text in ("V10", "v45.1", "V4501", "E849", "E8490", "E001"):
        with pytest.raises(DataError, match="may be codes of ICD-9-CM or of ICD-10") as error:
            read_codes([text, "250.01"], "icd9+icd10")
        assert repr(text) in error.value.message
        assert read_codes([text, "250.01"], "icd9+icd10", said={text: "icd9"}).paths[text][0] == "ICD-9-CM"
    homes = {
        "250.01": "ICD-9-CM", "25001": "ICD-9-CM", "E849.0": "ICD-9-CM", "E950": "ICD-9-CM",
        "9:V10": "ICD-9-CM", "E11.9": "ICD-10", "E119": "ICD-10", "V92": "ICD-10", "V00.1": "ICD-10",
        "V10.0XXA": "ICD-10", "E84.9": "ICD-10", "10:V10": "ICD-10", "ICD10CM:E849": "ICD-10",
    }  # fmt: skip
    assert {text: path[0] for text, path in read_codes([*homes], "icd9+icd10").paths.items()} == homes
    assert [named_system(text) for text in ("9", " icd10 ", "ICD-9-CM", "11", "")] == [
        "icd9", "icd10", "icd9", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("system", "forms", "groups"),
    [
        ("atc", "A10BA02 a10ba02 ATC:A10BA02", "A A10 A10B A10BA A10BA02"),
        ("atc", "A10 A10.", "A A10"),
        ("unspsc", "43211503", "43 4321 432115 43211503"),
        ("unspsc", "4321150310", "43 4321 432115 43211503 4321150310"),
        ("unspsc", "43210000 4321", "43 4321"),
        ("nace", "01.11 A01.11 A0111 0111 1.11 NACE:01.11", "A 01 01.1 01.11"),
        ("nace", "62", "J 62"),
        ("nace", "A", "A"),
        ("nace", "01.11.0", "A 01 01.1 01.11 01.11.0"),
        ("naics", "325412", "31-33 325 3254 32541 325412"),
        ("naics", "31 33 31-33", "31-33"),
        ("isco", "2512 OC2512 ISCO-08:2512", "2 25 251 2512"),
        ("isco", "0110", "0 01 011 0110"),
        ("coicop", "01.1.4 0114 CP0114 1.1.4", "01 01.1 01.1.4"),
        ("coicop", "13.1.2.1 13121", "13 13.1 13.1.2 13.1.2.1"),
    ],
)
def test_any_form_of_other_codes(system: str, forms: str, groups: str) -> None:
    read = read_codes(forms.split(), system, "kept")
    assert read.paths == {form: tuple(groups.split()) for form in forms.split()}


@given(st.data())
def test_prefixes_are_the_groups_of_other_codes(data: st.DataObject) -> None:
    """Check that codes are in one group exactly if they begin alike up to a cut."""
    cuts = {"unspsc": (2, 4, 6, 8), "isco": (1, 2, 3, 4), "coicop": (2, 3, 4, 5), "nace": (2, 3, 4)}
    system = data.draw(st.sampled_from([*cuts]))
    length = cuts[system][-1]
    begins = {"unspsc": "123456789", "isco": "0123456789", "coicop": "0", "nace": "0"}[system]
    texts = data.draw(
        st.lists(
            st.builds(
                str.__add__, st.sampled_from(begins), st.text("123", min_size=length - 1, max_size=length - 1)
            ),
            min_size=2, max_size=6, unique=True,
        )
    )  # fmt: skip
    read = read_codes(texts, system, "kept")
    assert not read.missing()
    for one in texts:
        for other in texts:
            shared = sum(a == b for a, b in zip(read.paths[one], read.paths[other], strict=True))
            same = sum(one[:cut] == other[:cut] for cut in cuts[system])
            if system == "nace":  # whose sections are ranges
                divisions = [int(text[:2]) for text in (one, other)]
                same += (
                    all(n <= 3 for n in divisions)
                    or all(5 <= n <= 9 for n in divisions)
                    or (all(10 <= n <= 33 for n in divisions))
                )
            assert shared == same


def test_tables_of_ranges_are_whole() -> None:
    """Blocks follow one another without overlap, and the chapters are those of the blocks."""
    for table in (ranges.ICD9, ranges.ICD10):
        for line in table.strip().replace("\n ", " ").splitlines():
            chapter, _, blocks = line.partition(": ")
            first, _, last = chapter.partition("-")
            words = [block.split(",")[0] for block in blocks.split()]
            assert words[0].split("-")[0] == first
            assert words[-1].split("-")[-1] == last


def real(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no {name} in {DATA}: set SETVEIL_DATA to the folder that contains it")
    return path


def lines(name: str, separator: str = ",") -> list[list[str]]:
    with real(name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def undotted(code: str) -> str:
    return code.replace(".", "")


def without_zeros(code: str) -> str:
    return code.lstrip("0")


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", [str, undotted, without_zeros, str.lower, "ICD9:{}".format])
def test_the_whole_of_icd9_is_placed_as_its_own_tree_has_it(form: Any) -> None:
    known = {form(code): groups for code, *groups in lines("icd9cm2014_hierarchy.csv", ";")}
    assert len(known) == 14_567
    tree, read = tree_of([*known], "icd9")
    assert read.missing() == []
    assert tree.n_leaves == 14_567
    names: dict[str, set[str]] = {}
    for code, (category, block, chapter, _) in known.items():
        path = read.paths[code]
        assert category.split()[0] in path
        assert is_placed9(path, category.split()[0])
        names.setdefault(path[0], set()).add(chapter)
        names.setdefault(f"block {naive.block9(category.split()[0])}", set()).add(block)
    assert max(len(named) for named in names.values()) == 1
    assert len(names) == len(
        {*(groups[1] for groups in known.values()), *(groups[2] for groups in known.values())}
    )


def test_icd9_without_zeros_and_dots_raises_a_question_and_certain_codes_are_placed() -> None:
    known: dict[str, set[str]] = {}
    for code, *_ in lines("icd9cm2014_hierarchy.csv", ";"):
        known.setdefault(without_zeros(undotted(code)), set()).add(code)
    with pytest.raises(DataError, match="zeros may have been lost"):
        read_codes([*known], "icd9")
    read = read_codes([*known], "icd9", "lost")
    assert all(known[text] == {path[-1]} for text, path in read.paths.items())
    assert len(read.paths) > 0.65 * len(known)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", [str, undotted, without_zeros])
@pytest.mark.parametrize("name", ["diabetes_icd9_items.csv", "diabetes_rt.csv", "diabetes_encounters.csv"])
def test_public_records_are_placed(name: str, form: Any) -> None:
    table = lines(name)[1:]
    if name == "diabetes_icd9_items.csv":
        codes = {code for _, code in table}
    else:
        codes = {code for fields in table for field in fields[-2:] for code in field.split(";") if code}
        codes -= {"NO", ">30", "<30"} if name == "diabetes_rt.csv" else set()
    known = {form(code): code for code in codes if code not in {"", "nan", "?"}}
    tree, read = tree_of([*known], "icd9")
    assert len(read.paths) >= 0.995 * len(known) > 800
    for text in read.paths:
        assert known[text].partition(".")[0] in read.paths[text]
    assert tree.n_leaves == len(known)
