"""A hundred damaged files of codes, with the expected results: placed, skipped with a reason, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.base.errors import DataError, RequestError, SetveilError, on_command_line
from setveil.rows.data.io.rows import read
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.build import by_system
from setveil.rows.hierarchy.systems.known import NAMES
from setveil.rows.hierarchy.systems.reading import in_words

FORM9, FORM10 = "not of the form 250.01", "not of the form E11.9"
MANY = " ".join(str(n) for n in range(4000, 4060))  # 60 numbers without a leading zero
WITH_POINTS = " ".join(f"{n}.1" for n in range(30, 90))  # with two digits before the dot

# System, the items of the file, and what becomes of one: "item = code" or "item ! reason", or "Error: words".
CASES = [
    # Blanks, letters, dots and names of systems around a good code.
    ("icd9", "250.01|250.02.", "250.02. = 250.02"),
    ("icd9", "250.01|250.", "250. = 250"),
    ("icd9", "250.01|v45.1", "v45.1 = V45.1"),
    ("icd9", "250.01|e849.0", "e849.0 = E849.0"),
    ("icd9", "250.01|ICD9:401.9", "ICD9:401.9 = 401.9"),
    ("icd9", "250.01|ICD-9-CM 401.9", "ICD-9-CM 401.9 = 401.9"),
    ("icd9", "250.01|9:401.9", "9:401.9 = 401.9"),
    ("icd9", "250.01|9: 401.9", "9: 401.9 = 401.9"),
    ("icd10", "E11.9|e11.9", "e11.9 = E11.9"),
    ("icd10", "E11.9|E119", "E119 = E11.9"),
    ("icd10", "E11.9|ICD10:E11.9", "ICD10:E11.9 = E11.9"),
    ("icd10", "E11.9|ICD-10-CM E119", "ICD-10-CM E119 = E11.9"),
    ("icd10", "E11.9|ICD10|E11", "ICD10 ! " + FORM10),
    ("icd10", "E11.9|s72001a", "s72001a = S72.001A"),
    # Lost zeros that the dot reveals.
    ("icd9", "250.01|8.45", "8.45 = 008.45"),
    ("icd9", "250.01|38.9", "38.9 = 038.9"),
    ("icd9", "250.01|38", "38 = 038"),
    ("icd9", "250.01|8", "8 = 008"),
    ("icd9", "250.01|038.9|38.9", "38.9 = 038.9"),
    ("nace", "62.01|1.11", "1.11 = 01.11"),
    ("nace", "62.01|1", "1 = 01"),
    ("coicop", "12.1.1|1.1.4", "1.1.4 = 01.1.4"),
    # Two forms in one file.
    ("icd9", "250.01|25001", "25001 = 250.01"),
    ("icd9", "250.01|V451", "V451 = V45.1"),
    ("icd9", "250.01|E8490", "E8490 = E849.0"),
    ("icd9", "250.01|0389", "0389 = 038.9"),
    # No codes of the system.
    ("icd9", "250.01|tea", "tea ! " + FORM9),
    ("icd9", "250.01|2500.1", "2500.1 ! more than three digits before the dot"),
    ("icd9", "250.01|25001.0", "25001.0 ! more than three digits before the dot"),
    ("icd9", "250.01|250.012", "250.012 ! " + FORM9),
    ("icd9", "250.01|250..1", "250..1 ! " + FORM9),
    ("icd9", "250.01|250.1.2", "250.1.2 ! " + FORM9),
    ("icd9", "250.01|.01", ".01 ! " + FORM9),
    ("icd9", "250.01|.", ". ! " + FORM9),
    ("icd9", "250.01|-250", "-250 ! " + FORM9),
    ("icd9", "250.01|250.x1", "250.x1 ! " + FORM9),
    ("icd9", "250.01|250-259", "250-259 ! " + FORM9),
    ("icd9", "250.01|250 401", "250 401 ! " + FORM9),
    ("icd9", "250.01|250/401", "250/401 ! " + FORM9),
    ("icd9", "250.01|000", "000 ! outside the chapters"),
    ("icd9", "250.01|000.1", "000.1 ! outside the chapters"),
    ("icd9", "250.01|V00", "V00 ! outside the chapters"),
    ("icd9", "250.01|V92.1", "V92.1 ! outside the chapters"),
    ("icd9", "250.01|E100", "E100 ! outside the chapters"),
    ("icd9", "250.01|E84", "E84 ! " + FORM9),
    ("icd9", "250.01|V1", "V1 ! " + FORM9),
    ("icd9", "250.01|E849.00", "E849.00 ! " + FORM9),
    ("icd9", "250.01|E11.9", "E11.9 ! " + FORM9),
    ("icd9", "250.01|I10", "I10 ! " + FORM9),
    ("icd9", "250.01|10:E11.9", "10:E11.9 ! named as a code of ICD-10"),
    ("icd9", "250.01|ICD10:250.01", "ICD10:250.01 ! named as a code of ICD-10"),
    ("icd9", "250.01|NULL", "NULL ! " + FORM9),
    ("icd9", "250.01|§", "§ ! " + FORM9),
    ("icd9", "250.01|1e5", "1e5 ! " + FORM9),
    ("icd9", "250.01|2.5E+02", "2.5E+02 ! " + FORM9),
    ("icd9", "250.01|٢٥٣", "٢٥٣ ! " + FORM9),
    ("icd9", "250.01|25²", "25² ! " + FORM9),
    ("icd9", "250.01|250·01", "250·01 ! " + FORM9),
    ("icd9", "250.01|250001", "250001 ! " + FORM9),
    ("icd10", "E11.9|250.01", "250.01 ! " + FORM10),
    ("icd10", "E11.9|9:E11.9", "9:E11.9 ! named as a code of ICD-9-CM"),
    ("icd10", "E11.9|E1", "E1 ! " + FORM10),
    ("icd10", "E11.9|E.11", "E.11 ! " + FORM10),
    ("icd10", "E11.9|E1.19", "E1.19 ! " + FORM10),
    ("icd10", "E11.9|E11.", "E11. = E11"),
    ("icd10", "E11.9|E11.12345", "E11.12345 ! " + FORM10),
    ("icd10", "E11.9|E11.-", "E11.- ! " + FORM10),
    ("icd10", "E11.9|E11-E14", "E11-E14 ! " + FORM10),
    ("icd10", "E11.9|E91", "E91 ! outside the chapters"),
    ("icd10", "E11.9|D90", "D90 ! outside the chapters"),
    ("icd10", "E11.9|H96.1", "H96.1 ! outside the chapters"),
    ("icd10", "E11.9|T99", "T99 ! outside the chapters"),
    ("icd10", "E11.9|EE1", "EE1 ! " + FORM10),
    ("icd10", "E11.9|O11", "O11 = O11"),
    ("icd10", "E11.9|0E11", "0E11 ! " + FORM10),
    ("atc", "A10BA02|A10BA2", "A10BA2 ! not of the form A10BA02"),
    ("atc", "A10BA02|E10BA02", "E10BA02 ! not of the form A10BA02"),
    ("atc", "A10BA02|A10B A02", "A10B A02 = A10BA02"),
    ("atc", "A10BA02|A1", "A1 ! not of the form A10BA02"),
    ("atc", "A10BA02|QA10BA02", "QA10BA02 ! not of the form A10BA02"),
    ("unspsc", "43211503|4321150", "4321150 ! an odd number of digits"),
    ("unspsc", "43211503|432115031112", "432115031112 ! more than 10 digits"),
    ("unspsc", "43211503|09211503", "09211503 ! outside the segments"),
    ("unspsc", "43211503|43-21-15-03", "43-21-15-03 ! not of digits alone"),
    ("unspsc", "43211503|43000003", "43000003 ! outside the segments"),
    ("nace", "01.11|B01.11", "B01.11 ! a section of another division"),
    ("nace", "01.11|04.1", "04.1 ! outside the divisions"),
    ("nace", "01.11|V", "V ! not of the form 01.11"),
    ("nace", "01.11|01.111", "01.111 ! not of the form 01.11"),
    ("naics", "325412|1", "1 ! not of two to six digits"),
    ("naics", "325412|3254120", "3254120 ! not of two to six digits"),
    ("naics", "325412|99", "99 ! outside the sectors"),
    ("naics", "325412|31-34", "31-34 ! not of two to six digits"),
    ("isco", "2512|25123", "25123 ! not of one to four digits"),
    ("isco", "2512|25.12", "25.12 ! not of one to four digits"),
    ("coicop", "01.1.4|16.1", "16.1 ! outside the divisions"),
    ("coicop", "01.1.4|00.1", "00.1 ! outside the divisions"),
    ("coicop", "01.1.4|01.1.4.1.1", "01.1.4.1.1 ! not of the form 01.1.4"),
    # Questions that the whole file does not answer.
    ("icd9", MANY.replace(" ", "|"), "Error: begins with a zero"),
    ("icd9", "38|4280|25000", "Error: begins with a zero"),
    ("icd9", WITH_POINTS.replace(" ", "|"), "Error: as procedures have"),
    ("isco", "|".join(str(n) for n in range(110, 170)), "Error: begins with a zero"),
    ("nace", "|".join(f"{n}" for n in range(110, 171)), "Error: begins with a zero"),
    ("icd9+icd10", "250.01|E11.9|V10.1", "Error: may be codes of ICD-9-CM or of ICD-10: 'V10.1'"),
    ("icd9+icd10", "250.01|E8490", "Error: may be codes of ICD-9-CM or of ICD-10: 'E8490'"),
    ("icd9", "tea|milk", "Error: No item is a code of ICD-9-CM"),
    ("icd10", "250.01|401.9", "Error: No item is a code of ICD-10"),
    ("icd9+icd10", "tea|milk", "Error: No item is a code of ICD-9-CM and ICD-10"),
    ("ndc", "0002-8215-01", "Error: begin with their makers"),
    ("gtin", "4006381333931", "Error: begin with their makers"),
    ("ean", "4006381333931", "Error: begin with their makers"),
    ("icd", "250.01", "Error: There is no system 'icd'; there are icd9, icd10"),
    ("ICD9", "250.01", "Error: Did you mean icd9?"),
]


def written(items: str, folder: Path) -> Transactions:
    """Write a file with an item in each row, and read it."""
    lines = items.split("|")
    (folder / "codes.csv").write_text("\n".join(f'"{line}"' for line in lines) + "\n", encoding="utf-8")
    return read(folder / "codes.csv", format="basket", separator=",", not_missing=[".", "NULL"])


def test_there_are_a_hundred() -> None:
    assert len(CASES) >= 100
    assert len({case[:2] for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("system", "items", "expected"), CASES)
def test_damaged_files(system: str, items: str, expected: str, tmp_path: Path) -> None:
    data = written(items, tmp_path)
    if expected.startswith("Error: "):
        with on_command_line(), pytest.raises(SetveilError) as error:
            by_system(data, system)
        assert expected.removeprefix("Error: ") in error.value.message
        assert error.value.exit_code == (2 if system not in NAMES else 4)
        assert isinstance(error.value, RequestError if system not in NAMES else DataError)
        return
    tree, found = by_system(data, system)
    assert set(tree.labels[: tree.n_leaves]) == set(data.vocabulary.labels)
    words = "\n".join(
        in_words(found, dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True)))
    )
    item, sign, what = expected.rpartition(" ! ") if " ! " in expected else expected.rpartition(" = ")
    path = tree.paths()[[path[0] for path in tree.paths()].index(item)]
    if sign == " = ":
        assert found.paths[item][-1] == what
        assert "(unlisted)" not in path
        if item != what and item.replace(".", "") != what.replace(".", ""):
            assert f"{item!r} as" in words
        return
    (reason,) = [reason for reason, items in found.unlisted.items() if item in items]
    assert reason.startswith(what)
    assert path == [item, "(unlisted)", "ALL"]
    assert "Warning: under '(unlisted)'" in words
    assert f"{reason}: " in words
    with pytest.raises(DataError, match="Without strict=True"):
        by_system(data, system, strict=True)


@pytest.mark.parametrize(
    ("items", "zeros", "placed", "left"),
    [
        (f"{MANY} 25001", "kept", 61, 0),
        (f"{MANY} 25001", "lost", 1, 60),
        ("38 4280 25000 1", "kept", 4, 0),
        ("38 4280 25000 1", "lost", 2, 2),
        (f"038 {MANY}", None, 61, 0),  # one zero says that they were kept
        (WITH_POINTS, "lost", 60, 0),
        (WITH_POINTS, "kept", 60, 0),
        ("4280 25000 486", None, 3, 0),  # few: taken as written, and said
    ],
)
def test_zeros_are_answered(items: str, zeros: str | None, placed: int, left: int) -> None:
    data = Transactions.from_rows([items.split()])
    _, found = by_system(data, "icd9", zeros=zeros)  # type: ignore[arg-type]
    assert (len(found.paths), len(found.missing())) == (placed, left)
    assert bool(found.note) == (items == "4280 25000 486")
    with pytest.raises(RequestError, match="zeros must be kept or lost, got 'maybe'"):
        by_system(data, "icd9", zeros="maybe")  # type: ignore[arg-type]
