"""Hierarchies built of the values of columns: prefixes, ranges of several widths, dates."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from naive.column_groups import (
    above,
    groups_together,
    levels_kept,
    share_a_period,
    share_a_prefix,
    share_a_range,
)
from setveil.base.errors import DataError, RequestError
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.dates import PERIODS, dates, likely_periods
from setveil.rows.tables.levels import Levels, in_words, kept_at, levels_in, likely_levels
from setveil.rows.tables.prefixes import prefixes
from setveil.rows.tables.ranges import ranges
from setveil.rows.tables.read import flat_notes

CODES = st.lists(st.text("01A*", min_size=1, max_size=5), min_size=1, max_size=12, unique=True)
DAYS = st.lists(
    st.dates(date(1, 1, 1), date(9999, 12, 31)).map(date.isoformat), min_size=1, max_size=8, unique=True
)


@given(CODES, st.sets(st.integers(1, 5), max_size=3))
def test_prefixes_group_what_begins_alike(values: list[str], lengths: set[int]) -> None:
    tree = prefixes(values, list(lengths))
    Hierarchy(tree)
    cuts = lengths or range(1, max(map(len, values)))
    for one in values:
        for other in values:
            if one != other:
                alike = [cut for cut in cuts if share_a_prefix(one, other, cut)]
                assert groups_together(tree, one, other) == len(alike) + 1
    assert [len(level) for level in kept_at(tree, values)] == levels_kept(tree, values)


@given(
    st.lists(st.integers(-60, 60).map(str), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(2, 4), max_size=2),
    st.integers(1, 6),
)
def test_ranges_are_as_wide_as_was_said(values: list[str], factors: list[int], width: int) -> None:
    widths = [Fraction(width, 2)]
    for factor in (2, *factors):
        widths.append(widths[-1] * factor)
    tree = ranges(values, widths)
    Hierarchy(tree)
    for one in values:
        for other in values:
            if one != other:
                shared = sum(share_a_range(one, other, each) for each in widths)
                assert (groups_together(tree, one, other) > 1) <= (shared > 0)
                if shared and groups_together(tree, one, other) == 1:  # the root is in place of such a range
                    lowest = min(each for each in widths if share_a_range(one, other, each))
                    assert all(share_a_range(values[0], each, lowest) for each in values)


@given(DAYS, st.sets(st.sampled_from(PERIODS)))
def test_dates_are_grouped_by_periods(values: list[str], periods: set[str]) -> None:
    tree = dates(values, list(periods))
    Hierarchy(tree)
    for one in values:
        for other in values:
            if one != other:
                some = periods or {"month", "quarter", "year"}
                together = sum(share_a_period(one, other, period) for period in some)
                assert groups_together(tree, one, other) == together + 1


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["2024-03-15", "2024-11-01"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["2024/3/15"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["15.03.2024", "01.02.2024"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["03/15/2024", "01/02/2024"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["20240315"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["2024-03-15 10:20:00", ""], ["2024-03", "2024-Q1", "2024", "*"]),
        (["15MAR2024", "01feb2024"], ["2024-03", "2024-Q1", "2024", "*"]),
        (["15-Mar-2024:10:20:00", ""], ["2024-03", "2024-Q1", "2024", "*"]),
        (["2024-03", "2023-01"], ["2024-Q1", "2024", "*"]),
        (["2024-03-15", "2024-03"], ["2024-03*", "2024-Q1", "2024", "*"]),
    ],
)
def test_dates_are_read_as_they_are_written(values: list[str], first: list[str]) -> None:
    assert above(dates(values), values[0]) == first


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["03/04/2024"], "is the day or the month first"),
        (["13/04/2024", "04/13/2024"], "some begin with the day, some with the month"),
        (["2024-02-30"], "expected dates"),
        (["2024-03-15", "soon"], "'soon'"),
        (["30FEB2024"], "expected dates"),
        (["15EBM2024"], "expected dates"),
    ],
)
def test_what_is_no_date_is_refused(values: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        dates(values)
    assert not likely_periods(values)


def test_a_period_that_is_none_is_refused() -> None:
    with pytest.raises(RequestError, match="no period 'week'"):
        levels_in("dates:week")


@pytest.mark.parametrize("text", ["prefix:a", "prefix:0", "ranges:3,5", "ranges:0", "ranges:x"])
def test_steps_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(RequestError):
        levels_in(text)


def test_levels_are_written_as_they_are_read() -> None:
    for text in ("prefix", "prefix:3,2", "ranges:5,10", "dates:month,year"):
        assert str(levels_in(text)) == text
    assert levels_in("prefixes:3") == Levels("prefix", ("3",))
    assert levels_in("zip.csv") is None


def test_what_suits_a_column_is_proposed() -> None:
    assert str(likely_levels(["02139", "10115", "10117", "80331"])) == "prefix:4,3,2,1"
    assert str(likely_levels(["2024-01-02", "2024-01-03", "2023-01-03"])) == "dates:month,quarter,year"
    births = ["1931-01-02", "1944-01-03", "1958-01-03", "1963-05-06", "1970-02-11"]
    assert str(likely_levels(births)) == "dates:year,5-year,decade"
    assert likely_levels(["north", "south", "east", "west"]) is None
    assert likely_levels(["a1", "b2"]) is None


def test_each_level_says_what_it_keeps() -> None:
    tree = prefixes(["10115", "10117", "80331"], [3, 1])
    assert (
        in_words(tree, ["10115", "10117", "80331"])
        == "3 values, then 2 (such as 101**), then 2 (such as 1****), then *"
    )


ZIPS, ITEMS = ("02139", "02140", "10115", "10117", "80331"), ("A01", "A02", "B01")
WARD = "age,zip,seen,codes\n" + "".join(
    f"{30 + i % 40},{ZIPS[i % 5]},2024-0{1 + i % 9}-11,{ITEMS[i % 3]}\n" for i in range(40)
)


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    path = tmp_path / "ward.csv"
    path.write_text(WARD)
    return path


def test_a_table_is_read_with_them(ward: Path) -> None:
    trees = {"zip": "prefix:3", "seen": "dates:quarter", "age": "ranges:5,10", "codes": "prefix:1"}
    table = sv.read_table(ward, qi=["age", "zip", "seen"], set="codes", hierarchies=trees)
    age, place, seen = table.columns
    assert [column.levels for column in table.columns] == [3, 2, 2]
    assert {"021**", "101**", "803**"} <= {*place.labels}
    assert {"2024-Q1", "2024-Q3"} <= {*seen.labels}
    assert {"[30,35)", "[30,40)"} <= {*age.labels}
    assert not any(column.has_own_tree for column in table.columns)
    assert table.tree is not None
    assert table.tree.paths()[0] == ["A01", "A", "*"]
    assert flat_notes(table) == []


def test_a_column_without_groups_is_said(ward: Path) -> None:
    table = sv.read_table(ward, qi=["age", "zip", "seen"], set="codes")
    notes = flat_notes(table)
    assert len(notes) == 2
    assert notes[0] == (
        "Column 'zip' has 5 values and no groups of them: what is not published as it is becomes *. "
        "--hierarchy zip=prefix:4,3,2,1 groups them by their first characters."
    )
    assert "--hierarchy seen=dates:month,quarter,year groups them by time" in notes[1]


def test_zip_codes_that_look_like_numbers_are_said(tmp_path: Path) -> None:
    lines = "".join(f"{10115 + 700 * i},{'AB'[i % 2]}\n" for i in range(30))
    (tmp_path / "a.csv").write_text("zip,codes\n" + lines)
    table = sv.read_table(tmp_path / "a.csv", qi=["zip"], set="codes", not_ids="zip")
    assert "is taken for numbers" in flat_notes(table)[0]
    table = sv.read_table(
        tmp_path / "a.csv", qi=["zip"], set="codes", not_ids="zip", hierarchies={"zip": "prefix"}
    )
    assert flat_notes(table) == []


def test_they_are_kept_in_a_file_of_roles(ward: Path, tmp_path: Path) -> None:
    from setveil.rows.tables.roles import make_roles, read_roles, write_roles

    said = {"zip": "prefix:3", "seen": "dates", "age": "ranges:5,10", "codes": "prefix:1"}
    roles = make_roles(qi=["age", "zip", "seen"], set_name="codes", hierarchies=said)
    write_roles(roles, tmp_path / "roles.toml")
    assert read_roles(tmp_path / "roles.toml") == roles
    table = sv.read_table(ward, roles=tmp_path / "roles.toml")
    assert [column.levels for column in table.columns] == [3, 2, 4]


def test_what_contradicts_itself_is_refused(ward: Path) -> None:
    for said in (
        {"hierarchies": {"zip": "prefix:3"}, "numeric": ["zip"]},
        {"hierarchies": {"zip": "ranges:3"}, "ranges": {"zip": 10}},
        {"hierarchies": {"codes": "dates"}},
        {"ranges": {"zip": "5,3,2"}},
    ):
        with pytest.raises(RequestError):
            sv.read_table(ward, qi=["zip"], set="codes", **said)
    with pytest.raises(DataError, match="Column 'zip' contains '02139'"):
        sv.read_table(ward, qi=["zip"], set="codes", hierarchies={"zip": "dates"})
