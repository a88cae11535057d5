"""The public data sets of the studies: their sums, and the commands that bring them into their form."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from csv import DictReader, writer
from pathlib import Path
from random import Random

import pytest

from cli_helpers import setveil
from real_data import DATA

ROOT = Path(__file__).parents[1]


def prepare(data: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "benchmarks" / "study_data.py")
    words = [sys.executable, script, "--data", str(data), str(out), *more]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_missing_and_other_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1 2\n")
    done = prepare(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "bms_webview1.dat is missing" in done.stderr
    assert "retail.dat is another file: expected SHA-256 8eebf67a" in done.stderr
    assert "docs/research.md" in done.stderr
    assert not (tmp_path / "out").exists()
    done = prepare(tmp_path, tmp_path / "out", "--unchecked")
    assert done.returncode == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["retail.dat"]
    (tmp_path / "none").mkdir()
    assert prepare(tmp_path / "none", tmp_path / "more").returncode == 1
    assert not (tmp_path / "more").exists()


def test_a_missing_file_is_named_with_its_studies(tmp_path: Path) -> None:
    done = prepare(tmp_path, tmp_path / "out")
    lines = {line.split()[0]: line for line in done.stderr.splitlines()}
    assert lines["retail.dat"].endswith("Studies that need it: icdm2008.toml.")
    for study in ("vldb2008.toml", "inference.toml", "orders.toml"):  # samples are made of it
        assert study in lines["bms_webview2.dat"]
    assert "vldb2008.toml" not in lines["groceries.csv"]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
@pytest.mark.exhaustive
def test_two_sets_are_enough_for_a_study(tmp_path: Path) -> None:
    for name in ("bms_webview1", "bms_webview2"):
        for end in (".dat", "_hierarchy.csv"):
            (tmp_path / f"{name}{end}").symlink_to(DATA / f"{name}{end}")
    done = prepare(tmp_path, tmp_path / "out")
    assert done.returncode == 0
    study = (ROOT / "studies/vldb2008.toml").read_text("utf-8")
    needed = set(re.findall(r'(?:path|hierarchy) = "([^"]+)"', study))
    assert needed <= {path.name for path in (tmp_path / "out").iterdir()}


def rows_of(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as file:
        return list(DictReader(file))


def write_table(path: Path, head: str, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w") as file:
        writer(file, lineterminator="\n").writerows([head.split(","), *rows])


def source_of_codes(folder: Path) -> None:
    rows = [line.split() for line in (DATA / "diabetes_icd9.dat").read_text().splitlines()]
    padded = [["?", *row, "?", "?"][1:4] if len(row) < 3 else row for row in rows]
    write_table(folder / "diabetic_data.csv", "diag_1,diag_2,diag_3", [*padded, "???"])


def source_of_tables(folder: Path) -> None:
    """As the source has them: codes without leading zeros or `?`, encounters in any order."""
    ids = {"Emergency": 1, "Urgent": 2, "Elective": 3, "Newborn": 4, "Trauma Center": 7, "Not recorded": 6}
    people, persons, rows = iter(rows_of("diabetes_rt.csv")), dict[str, dict[str, str]](), []
    for each in rows_of("diabetes_encounters.csv"):
        codes = each["others"].split(";")
        if each["patient"] not in persons:  # in the order of the columns
            persons[each["patient"]] = next(people)
            codes = persons[each["patient"]]["diagnoses"].split(";")[each["primary"] != "" :]
        person = persons[each["patient"]]
        low = int(person["age"].partition("-")[0])
        three = [code.lstrip("0") or "?" for code in [each["primary"], *codes, "", ""][:3]]
        rows.append((int(each["encounter"]) * 7, each["patient"], person["race"] or "?", person["gender"],
                     f"[{low}-{low + 10})", ids[person["admission"]], each["days"], *three,
                     person["readmitted"]))  # fmt: skip
    Random(0).shuffle(rows)
    head = "encounter_id,patient_nbr,race,gender,age,admission_type_id,time_in_hospital,diag_1,diag_2,diag_3"
    write_table(folder / "diabetic_data.csv", f"{head},readmitted", rows)


def source_of_visits(folder: Path) -> None:
    """Visitors who return to pages they have seen."""
    rows = (DATA / "msnbc.dat").read_text().splitlines()
    lines = "".join(f"{row} {row.split()[0]} \n" for row in rows)
    (folder / "msnbc990928.seq").write_text(
        f"% Different categories:\n\nfrontpage news\n\n% Sequences:\n\n{lines}"
    )


def source_of_products(folder: Path) -> None:
    lines = [line.split(";") for line in (DATA / "instacart_hierarchy.csv").read_text("utf-8").splitlines()]
    found: list[dict[str, int]] = [{}, {}]
    rows = [(product, "Nuts, \"salted\"", *(numbers.setdefault(name.partition(" [")[0], len(numbers))
                                            for numbers, name in zip(found, groups, strict=True)))
            for product, *groups, _ in lines]  # fmt: skip
    write_table(folder / "products.csv", "product_id,product_name,aisle_id,department_id", rows)
    for name, numbers in zip(("aisle", "department"), found, strict=True):
        pairs = [(number, text) for text, number in numbers.items()]
        write_table(folder / f"{name}s.csv", f"{name}_id,{name}", pairs)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
@pytest.mark.parametrize(
    ("number", "source", "files"),
    [
        (0, source_of_codes, ["diabetes_icd9.dat"]),
        (1, source_of_tables, ["diabetes_rt.csv", "diabetes_encounters.csv"]),
        (2, source_of_visits, ["msnbc.dat"]),
        (3, source_of_products, ["instacart_hierarchy.csv"]),
    ],
)
def test_the_programs_of_the_page_make_the_files(
    number: int, source: Callable[[Path], None], files: list[str], tmp_path: Path
) -> None:
    page = (ROOT / "docs/research.md").read_text("utf-8")
    blocks = [block.partition("```")[0] for block in page.split("```text\n")[1:]]
    program = [block for block in blocks if block.startswith(("import csv", "with open"))][number]
    source(tmp_path)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    for name in files:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_the_commands_of_the_page_make_the_files(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "research.md").read_text("utf-8")
    rng = Random(0)
    rows = [line.split() for line in (DATA / "bms_webview1.dat").read_text().splitlines()]
    for row in rows:  # as visits were: pages in any order, some twice
        row.extend(rng.sample(row, 1))
        rng.shuffle(row)
    (tmp_path / "BMS1.txt").write_text("".join(" -1 ".join(row) + " -1 -2\n" for row in rows))
    for line in ("convert BMS1.txt bms_webview1.dat",
                 "hierarchy build bms_webview1.dat --by balanced --order number --common 1 "
                 "--out bms_webview1_hierarchy.csv"):  # fmt: skip
        assert f"setveil {line}\n" in page
        setveil(*line.split(), cwd=tmp_path).ok()
    for name in ("bms_webview1.dat", "bms_webview1_hierarchy.csv"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()
