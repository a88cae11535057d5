"""Files of roles."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from setveil.rows.tables.how import How
from setveil.rows.tables.read import settled
from setveil.rows.tables.roles import Known, Roles, make_roles, read_roles

FULL = """
[columns.patient]
role = "id"
[columns.age]
role = "qi"
kind = "numeric"
ranges = 10
weight = 0.5
[columns.sex]
role = "qi"
hierarchy = "trees/sex.csv"
[columns.outcome]
role = "keep"
[columns.name]
role = "drop"
[columns.codes]
role = "set"
delimiter = "|"
hierarchy = "codes.csv"
"""


def test_a_file_says_all(tmp_path: Path) -> None:
    (tmp_path / "roles.toml").write_text(FULL)
    assert read_roles(tmp_path / "roles.toml") == Roles(
        {
            "age": Known("numeric", None, Fraction(10), Fraction(1, 2)),
            "sex": Known(None, tmp_path / "trees" / "sex.csv"),
        },
        "codes",
        ("outcome",),
        ("name",),
        "patient",
        tmp_path / "codes.csv",
        "|",
    )


def test_a_file_and_arguments_give_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("F;any\nM;any\n")
    (tmp_path / "codes.csv").write_text("a;A;*\nb;A;*\n")
    (tmp_path / "roles.toml").write_text(FULL)
    lines = ["patient,name,age,sex,outcome,ward,codes", "1,Ann,34,F,well,x,a|b", "2,Bob,36,M,ill,x,", ""]
    (tmp_path / "ward.csv").write_text("\n".join(lines))
    one = sv.read_table(tmp_path / "ward.csv", roles=tmp_path / "roles.toml")
    two = sv.read_table(
        tmp_path / "ward.csv",
        qi={"age": {"ranges": 10, "weight": "1/2"}, "sex": {"hierarchy": tmp_path / "trees" / "sex.csv"}},
        set="codes", keep="outcome", drop=["name"], delimiter="|", id_column="patient",
        hierarchies={"codes": tmp_path / "codes.csv"},
    )  # fmt: skip
    for table in (one, two):
        assert table.header == ("age", "sex", "outcome", "codes")
        assert table.dropped == ("patient", "name", "ward")
        assert table.rows() == [("a", "b"), ()]
        assert [column.labels for column in table.columns] == [column.labels for column in one.columns]
        assert [column.has_own_tree for column in table.columns] == [False, True]
        assert table.units == one.units
        assert table.tree == one.tree
    assert one.delimiter == "|"


def test_ranges_may_be_of_a_usual_width() -> None:
    roles = make_roles(qi={"age": {"ranges": True}, "days": {"ranges": False}}, set_name="codes")
    assert roles.qi["age"].ranges is True
    assert roles.qi["days"].ranges is None


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("role = qi", 4, "is not TOML"),
        ("", 2, "describes no column"),
        ("[column.age]\nrole = 'qi'", 2, "Did you mean columns?"),
        ("[columns]\nage = 'qi'", 2, "column 'age' needs a role"),
        ("[columns.age]\nkind = 'numeric'", 2, "needs a role, one of qi, set, keep, drop, id; got none"),
        ("[columns.age]\nrole = 'quasi'", 2, "got the text 'quasi'"),
        ("[columns.age]\nrole = 'qi'\nweigth = 2", 2, "Did you mean weight?"),
        ("[columns.age]\nrole = 'keep'\nweight = 2", 2, "has no 'weight'"),
        ("[columns.age]\nrole = 'qi'\nhierarchy = 5", 2, "hierarchy must be a text"),
        ("[columns.age]\nrole = 'qi'\nweight = 'much'", 2, "must be a number such as 10"),
        ("[columns.age]\nrole = 'qi'\nweight = true", 2, "must be a number such as 10"),
        ("[columns.age]\nrole = 'qi'\nranges = 5\nhierarchy = 'a.csv'", 2, "another one of ranges"),
        ("[columns.a]\nrole = 'set'\n[columns.b]\nrole = 'set'", 2, "2 columns have the role set"),
        ("[columns.a]\nrole = 'id'\n[columns.b]\nrole = 'id'", 2, "2 columns have the role id"),
        ("[columns.a]\nrole = 'set'\ndelimiter = 'ab'", 2, "The delimiter between items is 'ab'"),
    ],
)
def test_files_that_make_no_sense(tmp_path: Path, text: str, code: int, words: str) -> None:
    (tmp_path / "roles.toml").write_text(text)
    with pytest.raises(sv.SetveilError) as caught:
        read_roles(tmp_path / "roles.toml")
    assert caught.value.exit_code == code
    assert words in str(caught.value), str(caught.value)


def test_nothing_is_added_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "roles.toml").write_text(FULL)
    with pytest.raises(sv.RequestError, match="qi, keep cannot be added"):
        sv.read_table("ward.csv", roles=tmp_path / "roles.toml", qi=["age"], keep=["sex"])


def test_what_is_said_twice() -> None:
    flat = sv.Hierarchy({"a": "*", "*": None})
    with pytest.raises(sv.RequestError, match="hierarchy of the items"):
        make_roles(qi=["age"], set_name="codes", hierarchies={"codes": flat}, hierarchy=flat)
    with pytest.raises(sv.RequestError, match="A weight of column 'age' is given twice"):
        make_roles(qi={"age": {"weight": 2}}, weights={"age": 3})
    with pytest.raises(sv.RequestError, match="delimiter is given twice"):
        settled("no.csv", Roles({"age": Known()}, "codes", delimiter="|"), How(delimiter=";"))
