"""Ids in tables with roles: none is published unasked, and the lines of one person are one row."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from role_tables import KINDS, NAMED, SILENT, SURE_KINDS, VAGUE, RoleTable, ids_of, role_table
from setveil.rows.data.columns import split_names
from setveil.rows.data.ids import of_cells, why_id
from setveil.rows.data.names import is_person_id
from strategies import many, seeded

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in


def diagnoses(name: str = "patient_id", n: int = 120) -> pl.DataFrame:
    """A line for each diagnosis: number, age, sex, zip code, code."""
    rng = Random(5)
    lines = []
    for number in rng.sample(range(10**5, 10**6), n):
        person = number, rng.randint(18, 92), rng.choice("FM"), f"10{rng.randint(100, 599)}"
        lines += [(*person, str(code)) for code in rng.sample(range(390, 430), rng.randint(1, 6))]
    return pl.DataFrame(lines, schema=[name, "age", "sex", "zip", "icd9"], orient="row")


def said(error: sv.TableError, at: int = 0) -> dict[str, Any]:
    """Take a reading as arguments of `setveil.read_table`."""
    return {
        key: split_names(value) if key in {"qi", "not_ids"} else value
        for key, value in error.readings[at][0].items()
    }


def refused(source: Any, **roles: Any) -> sv.TableError:
    with pytest.raises(sv.TableError) as caught:
        sv.read_table(source, **roles)
    return caught.value


TRUE: dict[str, Any] = {"qi": ["age", "sex", "zip"], "set": "icd9"}


# --- the attacks


def test_what_is_proposed_for_a_line_for_each_diagnosis() -> None:
    frame = diagnoses()
    assert said(refused(frame)) == {**TRUE, "id_column": "patient_id"}
    assert "qi=['age', 'sex', 'zip'], set='icd9', id_column='patient_id'" in refused(frame).hint
    assert sv.read_table(frame, **said(refused(frame))).n_rows == 120
    assert said(refused(frame, qi=["age", "sex"])) == {"set": "icd9", "id_column": "patient_id"}
    assert said(refused(frame, set="icd9")) == {"qi": TRUE["qi"], "id_column": "patient_id"}


@pytest.mark.parametrize(
    "roles",
    [
        {"qi": ["age", "sex", "zip", "icd9"], "set": "patient_id"},
        {"qi": ["age", "patient_id"], "set": "icd9"},
        {"qi": ["age"], "set": "icd9", "keep": "patient_id"},
        {"qi": ["age"], "item_columns": "patient_id,icd9"},
        {"qi": ["age"], "item_columns": ["1", "icd9"]},
    ],
)
def test_ids_are_published_only_by_a_word_of_its_own(roles: dict[str, Any]) -> None:
    error = refused(diagnoses(), **roles)
    assert "column 'patient_id' looks like person IDs" in error.message
    assert said(error) == {"not_ids": ["patient_id"]}
    assert sv.read_table(diagnoses(), **roles, not_ids="patient_id").n_rows > 120
    assert sv.read_table(diagnoses(), **roles, not_ids=["1"]).n_rows > 120


def test_lines_of_one_person_are_not_persons() -> None:
    frame = diagnoses()
    error = refused(frame, **TRUE)
    assert "'patient_id' is named like person IDs" in error.message
    assert [said(error, at) for at in (0, 1)] == [{"id_column": "patient_id"}, {"not_ids": ["patient_id"]}]
    table = sv.read_table(frame, **TRUE, id_column="patient_id")
    whole = frame.group_by("patient_id", maintain_order=True).agg(pl.first("age", "sex", "zip"), "icd9")
    assert table.rows() == [tuple(sorted(row)) for row in whole["icd9"]]
    ages = table.columns[0]
    assert [ages.labels[code] for code in ages.codes] == [str(age) for age in whole["age"]]
    assert table.origin is not None
    assert table.origin.row == "value of patient_id"
    assert sv.read_table(frame, **TRUE, not_ids="patient_id").n_rows == frame.height
    release = sv.anonymize(table, sv.KKmAnonymity(k=5, m=1))
    assert release.release.exposed().n_rows == 120


@pytest.mark.parametrize("name", ["c1", "nr", "Schlüssel", "ref"])
def test_ids_without_a_name_are_known_by_how_they_come_again(name: str) -> None:
    frame = diagnoses(name)
    assert said(refused(frame)) == {**TRUE, "id_column": name}
    assert said(refused(frame, **TRUE)) == {"id_column": name}
    for roles in ({**TRUE, "qi": ["age", "sex", name]}, {**TRUE, "set": name}, {**TRUE, "keep": name}):
        assert said(refused(frame, **roles)) == {"not_ids": [name]}


def test_lines_that_contradict_each_other_are_shown(tmp_path: Path) -> None:
    lines = diagnoses().rows()
    lines[7] = (lines[7][0], lines[7][1] + 1, *lines[7][2:])
    first = next(at for at, line in enumerate(lines) if line[0] == lines[7][0])
    text = "patient_id,age,sex,zip,icd9\n\n" + "".join(",".join(map(str, line)) + "\n" for line in lines)
    assert first < 7
    shown = [f"line {first + 3}: the same patient_id, age '{lines[first][1]}'",
             f"line 10: the same patient_id, age '{lines[7][1]}'"]  # fmt: skip
    path = tmp_path / "contradiction.csv"
    path.write_text(text, encoding="utf-8")
    error = refused(path, **TRUE)
    chosen = {"per_person": {"age": "most-frequent"}}
    named: dict[str, Any] = {"id_column": "patient_id", **chosen}
    assert [said(error, at) for at in range(len(error.readings))] == [named, {"not_ids": ["patient_id"]}]
    with pytest.raises(sv.TableError) as caught:
        sv.read_table(path, **TRUE, id_column="patient_id")
    assert said(caught.value) == chosen
    assert sv.read_table(path, **TRUE, **named).n_rows == 120
    for line in shown:
        assert line in error.message
        assert line in str(caught.value)
    proposed = refused(path)  # one person of many, so that the table is worth proposing
    assert said(proposed) == {"qi": ["age", "sex", "zip"], "set": "icd9", **named}
    assert "with its most frequent age" in proposed.hint


def test_every_source_is_refused_alike(tmp_path: Path) -> None:
    frame = diagnoses()
    frame.write_csv(tmp_path / "a.csv")
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    sources: list[Any] = [tmp_path / name for name in ("a.csv", "a.tsv", "a.parquet", "a.jsonl")]
    sources += [frame.to_arrow(), frame.to_pandas()]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in [frame.columns, *frame.rows()]:
        book.active.append(list(line))
    book.save(tmp_path / "a.xlsx")
    for source in [*sources, tmp_path / "a.xlsx"]:
        assert said(refused(source)) == {**TRUE, "id_column": "patient_id"}
        assert said(refused(source, **TRUE)) == {"id_column": "patient_id"}
        assert sv.read_table(source, **TRUE, id_column="patient_id").n_rows == 120
    items = frame.select("patient_id", "icd9")
    persons = frame.unique("patient_id", maintain_order=True).drop("icd9")
    joined = {"qi": TRUE["qi"], "items": items, "id_column": "patient_id"}
    assert sv.read_table(persons, **joined).n_rows == 120
    swapped = items.with_columns(pl.int_range(pl.len()).alias("row_id") + 1)
    error = refused(persons, **joined | {"items": swapped, "item_column": "row_id"})
    assert said(error) == {"not_ids": ["row_id"]}


def test_long_tables_ask_alike(tmp_path: Path) -> None:
    frame = diagnoses().select("icd9", "patient_id")
    frame.write_csv(tmp_path / "long.csv")
    for source in (tmp_path / "long.csv", frame):
        with pytest.raises(sv.TableError) as caught:
            sv.read(source, id_column="icd9", item_column="patient_id")
        assert said(caught.value) == {"not_ids": ["patient_id"]}
        rows = sv.read(source, id_column="icd9", item_column="patient_id", not_ids="patient_id")
        assert rows.n_items == 120
        assert sv.read(source, id_column="patient_id", item_column="icd9").n_rows == 120


def test_columns_named_like_persons_hold_no_items(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("pat,icd,sex\n1001,I10,f\n1001,E11,f\n1002,I10,m\n1003,E11,m\n")
    with pytest.raises(sv.TableError, match="named like persons"):
        sv.read(tmp_path / "visits.csv", id_column="icd", item_column="pat")
    assert sv.read(tmp_path / "visits.csv", id_column="pat", item_column="icd").n_rows == 3


def test_a_file_of_roles_says_it(tmp_path: Path) -> None:
    diagnoses().write_csv(tmp_path / "a.csv")
    roles = "[columns.age]\nrole = 'qi'\n[columns.icd9]\nrole = 'set'\n[columns.patient_id]\nrole = 'drop'\n"
    (tmp_path / "roles.toml").write_text(roles)
    assert said(refused(tmp_path / "a.csv", roles=tmp_path / "roles.toml")) == {"id_column": "patient_id"}
    (tmp_path / "roles.toml").write_text(roles + "not_id = true\n")
    assert sv.read_table(tmp_path / "a.csv", roles=tmp_path / "roles.toml").n_rows > 120
    (tmp_path / "roles.toml").write_text(roles + "not_id = 'yes'\n")
    with pytest.raises(sv.RequestError, match="not_id must be true or false"):
        sv.read_table(tmp_path / "a.csv", roles=tmp_path / "roles.toml")
    with pytest.raises(sv.DataError, match="no column 'nr'"):
        sv.read_table(tmp_path / "a.csv", **TRUE, not_ids="nr")


# --- names and values


def test_names_of_ids() -> None:
    for name in NAMED:
        assert is_person_id(name), name
    for name in (*VAGUE, *SILENT, "age", "admission_type_id", "product_id", "num_visits", "no_of_patients",
                 "covid", "paid", "insurance_code", "person", "identity", "userland", "zip"):  # fmt: skip
        assert not is_person_id(name), name


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_ids(kind: str) -> None:
    rng = Random(3)
    sure = kind in SURE_KINDS
    assert bool(why_id(of_cells("c1", ids_of(rng, kind, 200)))) is (sure or kind == "six")
    assert why_id(of_cells("c1", ids_of(rng, kind, 200)), items=True)
    assert why_id(of_cells("nr", ids_of(rng, kind, 8)))
    assert not why_id(of_cells("product_id", 3 * ids_of(rng, kind, 50))) or kind in {"mail", "phone"}


def test_what_may_differ_on_nearly_every_line() -> None:
    rng = Random(4)
    days = [(rng.randint(1930, 2010), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(300)]
    honest = {
        "birthdate": [f"{year}-{month:02}-{day:02}" for year, month, day in days],
        "born": [f"{year}{month:02}{day:02}" for year, month, day in days],
        "bmi": [f"{rng.uniform(15, 45):.4f}" for _ in range(300)],
        "income": [str(rng.randrange(9_000, 300_000)) for _ in range(300)],
        "rent": [str(rng.randrange(10**5, 10**7) * 100) for _ in range(300)],
        "zip": [f"{at:05}" for at in rng.sample(range(10**5), 300)],
        "age": [str(at) for at in range(18, 95)],
        "year": [str(at) for at in range(1920, 2010)],
        "x": [f"{rng.choice('ABCDEFGH')}{rng.randint(10, 99)}{rng.choice('XYZ')}" for _ in range(300)],
    }  # fmt: skip
    for name, values in honest.items():
        assert not why_id(of_cells(name, values)), name


# --- numbers among which a few values are none


def test_a_few_texts_among_numbers() -> None:
    ages = [str(18 + at % 70) for at in range(1000)]
    ages[17], ages[400] = "NA", "90+"
    frame = pl.DataFrame({"age": ages, "codes": ["a", "b"] * 500})
    roles: dict[str, Any] = {"qi": ["age"], "set": "codes"}
    with pytest.raises(sv.DataError) as caught:
        sv.read_table(frame, **roles)
    assert "2 rows of 1,000 contain 'NA', '90+'" in caught.value.message
    assert "--missing age=NA,90+" in caught.value.hint
    assert caught.value.exit_code == 4
    (age,) = sv.read_table(frame, **roles, missing={"age": ["NA", "90+"]}).columns
    assert age.numeric
    assert age.missing
    assert int((age.codes == 0).sum()) == 2
    assert sv.read_table(frame, qi={"age": {"missing": ["NA", "90+"]}}, set="codes").columns[0].numeric
    assert not sv.read_table(frame, **roles, categorical="age").columns[0].numeric
    with pytest.raises(sv.RequestError, match="must be texts"):
        sv.read_table(frame, **roles, missing={"age": 9})  # type: ignore[dict-item]
    with pytest.raises(sv.DataError, match="no column 'code'"):
        sv.read_table(frame, **roles, missing={"code": "NA"})


@pytest.mark.parametrize(
    "values",
    [
        ["0213", "1011", "2020", "3030", "4040", "5050", "6060"],  # codes
        [*map(str, range(40)), "V10", "V11", "V12", "V13", "V14", "V15", "V16", "E1", "E2"],
        ["1", "2", "3", "x"],
    ],
)
def test_codes_that_look_like_numbers_are_read_at_once(values: list[str]) -> None:
    frame = pl.DataFrame({"c": values * 5, "codes": ["a"] * 5 * len(values)})
    assert not sv.read_table(frame, qi=["c"], set="codes").columns[0].numeric


# --- random tables


def tables(number: int, seed: int) -> list[RoleTable]:
    rng = seeded(seed)
    return [role_table(rng) for _ in range(many(number))]


def contents(table: sv.Table) -> list[tuple[str, ...]]:
    return sorted(tuple(sorted(row)) for row in table.rows())


def test_random_tables(tmp_path: Path) -> None:
    """Check that proposals work and publish no IDs, IDs make rows of people, and other files are read."""
    path = tmp_path / "a.csv"
    for table in tables(30, 7):
        path.write_text(table.text(separator_of(table)), encoding="utf-8")
        error = refused(path)
        for at in range(len(error.readings)):
            roles = said(error, at)
            read = sv.read_table(path, **roles)
            named = {*roles["qi"], roles.get("set"), *split_names(roles.get("item_columns", ""))}
            assert table.id_name not in named or not table.id_name, roles
            if table.id_name in NAMED or table.form == "person":
                assert read.n_rows == len(table.persons), roles
        several = len(table.lines) > len(table.persons)
        if table.id_name:
            read = sv.read_table(path, **table.read_as(), id_column=table.id_name)
            assert contents(read) == sorted(tuple(sorted(person.items)) for person in table.persons)
        if table.id_name in NAMED:
            for roles in ({"set": table.id_name}, {**table.read_as(), "keep": table.id_name},
                          {**table.read_as(), "qi": [*table.known, table.id_name]}):  # fmt: skip
                assert said(refused(path, **{"qi": table.known} | roles)) == {"not_ids": [table.id_name]}
            if several:
                assert said(refused(path, **table.read_as())) == {"id_column": table.id_name}
        if not several:
            assert sv.read_table(path, **table.read_as()).n_rows == len(table.persons)


def separator_of(table: RoleTable) -> str:
    return ",\t|"[len(table.lines) % 3]
