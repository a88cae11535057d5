"""Every release as a data frame, and read back from its folder without further arguments."""

from pathlib import Path

import polars as pl
import pytest

import setveil as sv

WARD = pl.DataFrame(
    {
        "age": [34, 36, 41, 45, None, 60],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "codes": [["I21", "J18"], ["I21"], ["J18"], [], ["J18"], []],
        "outcome": ["home", "home", None, "died", "home", "home"],
    }
)
ROWS = [["tea", "rum"], ["tea"], ["milk"], ["milk"], ["tea", "milk"], []]


def ward() -> sv.Table:
    return sv.read_table(WARD, qi=["age", "sex"], set="codes", keep=["outcome"], ranges=["age"])


def releases() -> dict[str, sv.VerifiedRelease]:
    return {
        "rows": sv.anonymize(ROWS, k=2, m=2),
        "table": sv.anonymize(ward(), k=2, m=1),
        "cut": sv.anonymize(ward(), sv.MixedKmAnonymity(k=2, m=1), algorithm="forest"),
        "groups": sv.anonymize(ROWS, sv.PrivacyDegree(p=2, sensitive=["rum"])),
    }


def lines(frame: pl.DataFrame) -> list[str]:
    return sorted(map(repr, frame.rows()))


def test_a_table_keeps_all_its_columns() -> None:
    table = ward()
    assert table.to_polars().rows() == [
        (None if age is None else str(age), *others) for age, *others in WARD.rows()
    ]
    long = table.to_polars(long=True)
    assert long.columns == ["row", "age", "sex", "codes", "outcome"]
    assert long.select("row", "codes").rows() == [
        (0, "I21"), (0, "J18"), (1, "I21"), (2, "J18"), (3, None), (4, "J18"), (5, None)
    ]  # fmt: skip
    assert long["outcome"].to_list() == ["home", "home", "home", None, "died", "home", "home"]


@pytest.mark.parametrize("kind", ["rows", "table", "cut", "groups"])
@pytest.mark.parametrize("written", [None, "long"])
def test_what_is_read_back_is_what_was_published(kind: str, written: str | None, tmp_path: Path) -> None:
    release = releases()[kind]
    if kind == "groups" and written:
        pytest.skip("rows in groups have one format")
    release.write(tmp_path / "run", format=written)
    frame = release.to_polars()
    assert frame.height == release.published.n_rows
    for folder in (tmp_path / "run", tmp_path / "run" / "published"):
        read = sv.read_published(folder)
        found = read.to_polars()
        if written is None:
            assert found.schema == frame.schema
        assert lines(found.select(frame.columns)) == lines(frame)
        assert sv.verify(read, release.verdict.guarantee).holds
    for long in (False, True):
        expected = release.to_polars(long=long)
        assert release.to_arrow(long=long).to_pylist() == expected.to_dicts()
        for name, column in release.to_pandas(long=long).items():
            assert column.astype(object).where(column.notna(), None).tolist() == expected[name].to_list()


def test_a_table_published_says_what_it_was_published_as() -> None:
    release = releases()["table"]
    frame = release.to_polars()
    assert frame.columns == ["age", "sex", "codes", "outcome"]
    assert sorted(frame["outcome"].to_list(), key=str) == sorted(WARD["outcome"].to_list(), key=str)
    assert frame.group_by("age", "sex").len()["len"].min() >= 2  # type: ignore[operator]
    row_map = release.row_map.tolist()
    assert [frame["outcome"][row] for row in row_map] == WARD["outcome"].to_list()


def test_groups_say_what_is_counted_in_them() -> None:
    release = releases()["groups"]
    frame = release.to_polars()
    grouping = release.recoding
    assert frame["group"].to_list() == grouping.group.tolist()
    for group, sensitive in frame.select("group", "sensitive").iter_rows():
        inside = slice(grouping.indptr[group], grouping.indptr[group + 1])
        assert sensitive == [
            {"item": grouping.sensitive.labels[item], "rows": rows}
            for item, rows in zip(grouping.item[inside], grouping.count[inside], strict=True)
        ]
    long = release.to_polars(long=True)
    assert long.columns == ["group", "row", "item"]
    assert long["row"].n_unique() == frame.height


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    sv.reconstruct(releases()["rows"], draws=1).write(tmp_path / "draws")
    with pytest.raises(sv.DataError, match="synthetic"):
        sv.read_published(tmp_path / "draws")
    with pytest.raises(sv.DataError, match="folder without published data"):
        sv.read_published(tmp_path)
    with pytest.raises(sv.RequestError, match="A release must be a path, got 5"):
        sv.read_published(5)  # type: ignore[arg-type]
