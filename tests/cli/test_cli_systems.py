"""Hierarchies of systems of codes from the command line: options, answers, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import setveil, together

CODES = "250.01,250.02,401.9\n250.01,401.1\n8.45,V45.1\nICD9:250.01,tea\n25001,E849.0\n250.01\n401.9\n"
NAMES = 'code,name\n250,"Diabetes, mellitus"\n4019,Hypertension\n390-459,Circulatory system\nV10,none\n'
LONG = "id,code,version\n1,V10,9\n1,E11.9,ICD-10-CM\n2,E849,icd9\n2,401.9,9\n3,E11.2,10\n"
LISTS = "id,code,version\n1,V10 | E849,9\n1,E11.9,ICD-10-CM\n2,401.9,icd9\n3,E11.2|E11.9,10\n4,,9\n"
READ_LONG = ["long.csv", "--id-column", "id", "--item-column", "code"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, content in {"codes.csv": CODES, "names.csv": NAMES, "long.csv": LONG}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def paths(file: Path) -> dict[str, list[str]]:
    return {line.split(";")[0]: line.split(";")[1:] for line in file.read_text().splitlines()}


def test_codes_are_grouped_and_what_was_changed_is_said(place: Path) -> None:
    done, used = together(
        [
            [
                "hierarchy", "build", "codes.csv", "--format", "basket", "--system", "icd9",
                "--out", "tree.csv",
            ],
            [
                "anonymize", "codes.csv", "--format", "basket", "-H", "tree.csv", "--k", 2, "--m", 1,
                "--out", "out",
            ],
        ],
        place,
    )  # fmt: skip
    said = done.ok().err.splitlines()
    assert said[0] == "tree.csv: 9 items, 5 inner nodes, height 3."
    assert "1 code read without the name of the system, such as 'ICD9:250.01' as 250.01." in said
    assert "1 code read with the zeros that were missing, such as '8.45' as 008.45." in said
    assert "Warning: under '(unlisted)': 1 item, 7.69% of all occurrences." in said
    assert "  1 not of the form 250.01, V45.1 or E849.0: 'tea'" in said
    tree = paths(place / "tree.csv")
    assert any(line.startswith("2 spellings became 1 item") and "'250.01' = '25001'" in line for line in said)
    assert "25001" not in tree
    assert tree["ICD9:250.01"] == tree["250.01"] == ["250.01*", "250.0", "ALL"]
    assert tree["tea"][-2:] == ["(unlisted)", "ALL"]
    used.ok()


def test_names_are_added_to_codes_and_ranges(place: Path) -> None:
    build = ["hierarchy", "build", "codes.csv", "--format", "basket", "--system", "icd9", "--out", "tree.csv"]
    (place / "codes.csv").write_text("250.01,250.12,401.9,401.1,410.0,414.1\n4019,250.01\n")
    setveil(*build, "--names", "names.csv", cwd=place).ok()  # two spellings are one item, which is no group
    assert paths(place / "tree.csv")["401.9"] == ["401", "390-459 Circulatory system", "ALL"]
    done = setveil(*build, "--names", "names.csv", "--normalize", "none", "--force", cwd=place).ok()
    tree = paths(place / "tree.csv")
    assert tree["250.12"][-2:] == ["250 Diabetes, mellitus", "ALL"]
    assert tree["401.9"] == ["401.9 Hypertension", "401", "390-459 Circulatory system", "ALL"]
    assert tree["410.0"] == ["410.0", "410-414", "390-459 Circulatory system", "ALL"]
    assert "3 groups have a name." in done.err
    (place / "names.csv").write_text("250\n")
    wrong = setveil(*build, "--names", "names.csv", "--force", cwd=place)
    assert (wrong.code, "line 1" in wrong.err) == (4, True)
    assert tree == paths(place / "tree.csv")


def test_a_column_says_the_system(place: Path) -> None:
    build = ["hierarchy", "build", *READ_LONG, "--system", "icd9+icd10"]
    result, done, other = together(
        [
            [*build, "--out", "a.csv"],
            [*build, "--system-column", "version", "--out", "b.csv"],
            ["hierarchy", "build", "long.csv", "--column", "code", "--system", "icd9", "--out", "c.csv"],
        ],
        place,
    )
    assert result.code == 4
    assert "2 of 5 items may be codes of ICD-9-CM or of ICD-10: 'E849', 'V10'." in result.err
    assert "--system-column" in result.err
    assert not (place / "a.csv").exists()
    done.ok()
    tree = paths(place / "b.csv")
    assert {code: groups[-2] for code, groups in tree.items()} == {
        "V10": "ICD-9-CM", "401.9": "ICD-9-CM", "E849": "ICD-9-CM", "E11.9": "10:E11", "E11.2": "10:E11",
    }  # fmt: skip
    assert "2 not of the form" in other.ok().err
    assert "Warning: under '(unlisted)': 2 items, 40.00% of all codes." in other.err
    (place / "ward.csv").write_text("age,codes\n34,I21.4;J18.9\n36,I21\n41,J18.9; I50\n58,\n")
    ward = [
        "hierarchy",
        "build",
        "ward.csv",
        "--column",
        "codes",
        "--system",
        "icd10",
        "--out",
        "ward-codes.csv",
    ]
    setveil(*ward, cwd=place).ok()
    assert paths(place / "ward-codes.csv") == {
        "I21": ["I21*", "I00-I99", "ALL"], "I21.4": ["I21*", "I00-I99", "ALL"],
        "I50": ["I50", "I00-I99", "ALL"], "J18.9": ["J18.9", "J18.9", "ALL"],
    }  # fmt: skip
    (place / "lists.csv").write_text(LISTS)
    lists = ["lists.csv", *READ_LONG[1:], "--delimiter", "|", "--system", "icd9+icd10"]
    setveil("hierarchy", "build", *lists, "--system-column", "version", "--out", "e.csv", cwd=place).ok()
    assert paths(place / "e.csv") == tree
    ward[2:5] = ["lists.csv", "--column", "code"]
    setveil(*ward[:-1], "f.csv", "--delimiter", "|", cwd=place).ok()
    assert paths(place / "f.csv").keys() == tree.keys()
    (place / "long.csv").write_text(LONG + "4,V10,10\n")
    twice = setveil(*build, "--system-column", "version", "--out", "d.csv", cwd=place)
    assert (twice.code, "1 texts are codes of both systems" in twice.err) == (4, True)
    (place / "long.csv").write_text(LONG + "4,V11,SNOMED\n")
    unknown = setveil(*build, "--system-column", "version", "--out", "d.csv", cwd=place)
    assert (unknown.code, "says 'SNOMED' of 'V11'" in unknown.err) == (4, True)
    assert not (place / "d.csv").exists()


REFUSED = [
    (["--system", "gtin"], 2, "begin with their makers"),
    (["--system", "icd11"], 2, "There is no system 'icd11'"),
    (["--system", "icd9", "--strict"], 4, "1 of 10 items is no code of ICD-9-CM: 'tea'"),
    (["--system", "icd9", "--zeros", "perhaps"], 2, "there is no way 'perhaps'"),
    (["--system", "icd9", "--by", "prefix"], 2, "--by does not go with --system"),
    (["--system", "icd9", "--lengths", "1"], 2, "--lengths does not go with --system"),
    (["--system", "icd9", "--extend", "names.csv"], 2, "--extend does not go with --system"),
    (["--system", "icd9", "--system-column", "version"], 2, "--system-column tells two systems apart"),
    (["--system", "icd9+icd10", "--system-column", "version"], 2, "with --item-column"),
    (["--system", "icd9", "--names", "nothing.csv"], 4, "nothing.csv"),
    (["--names", "names.csv"], 2, "--names is of --system"),
    (["--zeros", "lost"], 2, "--zeros is of --system"),
    (["--strict"], 2, "--strict is of --system"),
]


def test_what_is_refused_writes_nothing(place: Path) -> None:
    build = ["hierarchy", "build", "codes.csv", "--format", "basket", "--out", "tree.csv"]
    answers = together([[*build, *options] for options, _, _ in REFUSED], place)
    for done, (options, code, words) in zip(answers, REFUSED, strict=True):
        assert done.code == code, (options, done)
        assert words in done.err + done.out, (options, done)
        assert "Traceback" not in done.err
    assert not (place / "tree.csv").exists()


BASKETS = "".join(
    f"{line}\n" for line in [*["a,b", "a,c", "b,c", "a", "b", "c"] * 3, *"defghij", "d,e", "f,g"]
)
TREE = "".join(f"{item};letters early;*\n" for item in "abcde") + "".join(
    f"{item};letters late;*\n" for item in "fghij"
)


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(BASKETS)
    (tmp_path / "tree.csv").write_text(TREE)
    (tmp_path / "earlier.csv").write_text("a,b\na\nb\nf\nf\ng\ng\n")
    (tmp_path / "names.csv").write_text("a,Alpha\nb,Beta\n")
    return tmp_path


REGROUP = ["hierarchy", "build", "rows.csv", "--format", "basket", "--regroup", "tree.csv"]


def test_groups_are_made_anew_below_those_that_stay(letters: Path) -> None:
    plain, other, named, used = together(
        [
            [*REGROUP, "--within", 1, "--k", 2, "--m", 1, "--out", "new.csv"],
            [*REGROUP, "--within", 1, "--k", 2, "--m", 1, "--from", "earlier.csv", "--out", "from.csv"],
            [
                *REGROUP, "--within", 0, "--k", 2, "--m", 2, "--group", 2, "--names", "names.csv",
                "--objective", "entropy", "--out", "named.csv", "--json",
            ],
            [
                "anonymize", "rows.csv", "--format", "basket", "-H", "new.csv", "--k", 2, "--m", 1,
                "--out", "out",
            ],
        ],
        letters,
    )  # fmt: skip
    said = plain.ok().err
    assert "(least loss for k = 2, m = 1); items suppressed: " in said
    tree = paths(letters / "new.csv")
    assert set(tree) == set("abcdefghij")
    for item, groups in tree.items():
        chapter = "letters early" if item in "abcde" else "letters late"
        assert groups[-2:] in ([chapter, "*"], ["*", "*"]) or chapter in groups
        assert all(group in {chapter, "*", item} or group.startswith(f"{chapter}: ") for group in groups)
    assert "Note: the new groups are learned from the rows." in said
    assert "--from FILE" in said
    other.ok()
    assert set(paths(letters / "from.csv")) == set(tree)
    answer = json.loads(named.ok().out)
    losses = answer["regrouped"]
    assert (losses["objective"], losses["k"], losses["m"], losses["complete"]) == ("entropy", 2, 2, True)
    before, after = losses["before"]["loss"], losses["after"]["loss"]
    assert f"Entropy {before:.4f} before, {after:.4f} now (least loss for k = 2, m = 2)" in named.err
    assert (answer["file"], answer["leaves"]) == ("named.csv", 10)
    used.ok()


def test_regrouping_is_refused_where_it_makes_no_sense(letters: Path) -> None:
    (letters / "part.csv").write_text(TREE.replace("a;letters early;*\n", ""))
    refused: list[tuple[list[Any], int, str]] = [
        ([*REGROUP], 2, "--regroup needs --within"),
        ([*REGROUP, "--within", 2], 2, "--within 2 names no groups"),
        ([*REGROUP, "--within", -1], 2, "--within"),
        ([*REGROUP, "--within", 1, "--group", 1], 2, "--group"),
        ([*REGROUP, "--within", 1, "--by", "prefix"], 2, "--by does not go with --regroup"),
        ([*REGROUP, "--within", 1, "--system", "icd9"], 2, "--regroup does not go with --system"),
        ([*REGROUP, "--within", 1, "--objective", "ncp"], 2, "there is no loss 'ncp'"),
        ([*REGROUP[:4], REGROUP[4], "--within", 1], 2, "--within is of --regroup"),
        ([*REGROUP[:5], "--from", "earlier.csv"], 2, "--from is of --regroup"),
        ([*REGROUP[:6], "part.csv", "--within", 1], 4, "'a'"),
        ([*REGROUP, "--within", 1, "--k", 1000], 3, "greatest possible k"),
    ]
    answers = together([[*words, "--out", "no.csv"] for words, _, _ in refused], letters)
    for done, (words, code, text) in zip(answers, refused, strict=True):
        assert done.code == code, (words, done)
        assert text in done.err + done.out, (words, done)
        assert "Traceback" not in done.err
    assert not (letters / "no.csv").exists()
