"""Reading facts, compared with plain Python, and the errors for unreadable ones."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from naive import facts as naive
from strategies import many

LEVELS = ("day", "week", "month", "quarter", "year", "10d-since-first")
BOUNDS = (["0", "5", "20"], ["-1.5", "0", "2.25"], ["1", "2", "3", "4", "10"])
WAYS = ("sum", "mean", "max", "lines")


def random_lines(random: Random) -> list[tuple[str, str, str, str]]:
    days = [
        f"20{random.choice((20, 24))}-{random.randint(1, 12):02}-{random.randint(1, 28):02}" for _ in range(4)
    ]
    times = ("", "", " 12:30", "T23:59:59Z")
    return [
        (
            random.choice("pqrs"),
            random.choice(("", "a", "b", "c", "a;b", "b;b")),
            random.choice(["", *(day + random.choice(times) for day in days)]),
            random.choice(("", "1", "2.5", "0.1", "0.2", "-3", "19.9", "40")),
        )
        for _ in range(random.randint(1, 12))
    ]


def written(folder: Path, lines: list[tuple[str, str, str, str]], random: Random) -> Path:
    """Write lines as a file with its columns in any order, including a useless column."""
    columns = {"who": 0, "code": 1, "on": 2, "price": 3}
    names = [*columns, "more"]
    random.shuffle(names)
    path = folder / "log.csv"
    rows = [",".join("x" if name == "more" else line[columns[name]] for name in names) for line in lines]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


def test_what_is_read_is_what_plain_python_reads(tmp_path: Path) -> None:
    random = Random(7)
    for _ in range(many(400)):
        lines = random_lines(random)
        if not any(code for _, code, _, _ in lines):
            continue
        level, way, bounds = random.choice(LEVELS), random.choice(WAYS), random.choice(BOUNDS)
        path = written(tmp_path, lines, random)
        found = sv.read_facts(
            path, id="who", sets="code", when=[f"on:{level}"], amount=[f"price:{way}:{','.join(bounds)}"]
        )
        assert [set(row) for row in found] == naive.read(lines, level, way, bounds), (lines, level, way)
        shuffled = random.sample(lines, len(lines))
        again = sv.read_facts(
            written(tmp_path, shuffled, random), id="who", sets="code", when={"on": level},
            amount={"price": f"{way}:{','.join(bounds)}"},
        )  # fmt: skip
        both = [
            dict(zip(one.vocabulary.labels, one.supports().tolist(), strict=True)) for one in (found, again)
        ]
        assert both[0] == both[1]  # whatever the order of lines and columns


def test_trees_of_periods_hold_what_they_name(tmp_path: Path) -> None:
    random = Random(8)
    coarser = {"day": ("month", "quarter", "year"), "month": ("quarter", "year"), "quarter": ("year",)}
    for _ in range(many(100)):
        days = {
            f"20{random.randint(20, 24)}-{random.randint(1, 12):02}-15" for _ in range(random.randint(1, 8))
        }
        level = random.choice(["day", "month", "quarter"])
        frame = pl.DataFrame({"who": ["p"] * len(days), "code": ["a"] * len(days), "on": sorted(days)})
        tree = sv.read_facts(frame, id="who", sets="code", when={"on": level}).attributes[0].tree
        assert set(tree.labels[: tree.n_leaves]) == {naive.period(day, level) for day in days}
        for node in range(tree.n_leaves, tree.n_nodes):
            inside = {tree.labels[leaf] for leaf in tree.leaves(node)}
            if tree.labels[node] != "*":
                names = {
                    naive.period(day, level)
                    for day in days
                    if tree.labels[node] in {naive.period(day, one) for one in coarser[level]}
                }
                assert inside == names
                assert len(inside) > 1


def test_bands_are_paired_by_their_bounds_whatever_occurs() -> None:
    frame = pl.DataFrame({"who": [1, 2, 3, 4], "code": ["a"] * 4, "n": [-1.0, 1.0, 7.0, 30.0]})
    tree = sv.read_facts(frame, id="who", sets="code", amount={"n": [0, 5, 20]}).attributes[0].tree
    assert tree.paths() == [
        ["<0", "<5", "*"],
        ["[0,5)", "<5", "*"],
        [">=20", ">=5", "*"],
        ["[5,20)", ">=5", "*"],
    ]
    some = sv.read_facts(frame.head(3), id="who", sets="code", amount={"n": [0, 5, 20]}).attributes[0].tree
    assert some.paths() == [["<0", "<5", "*"], ["[0,5)", "<5", "*"], ["[5,20)", "*"]]


def test_a_number_of_bands_looks_at_the_order_of_magnitude_alone() -> None:
    found = []
    for greatest in (110, 990):
        frame = pl.DataFrame({"who": [1, 2, 3], "code": ["a"] * 3, "n": [3, greatest, 100 * greatest]})
        read = sv.read_facts(frame, id="who", sets="code", amount={"n": 6}, fewest=2)
        found.append(read.attributes[0].level)  # one person alone has the greatest amount
    assert found == ["0,50,100,200,500"] * 2


def test_the_last_band_since_the_first_line_is_open_where_too_few_reach_it() -> None:
    days = ["2024-01-01", "2024-01-12", "2024-02-20", "2024-01-01", "2024-01-15", "2024-01-03"]
    frame = pl.DataFrame({"who": [1, 1, 1, 2, 2, 3], "code": list("abcdef"), "on": days})
    options: dict[str, Any] = {"id": "who", "sets": "code", "when": {"on": "10d-since-first"}}
    assert sv.read_facts(frame, **options).rows()[0] == ("a@[0,10)", "b@[10,20)", "c@[50,60)")
    few = sv.read_facts(frame, **options, fewest=2)
    assert few.rows() == [("a@[0,10)", "b@>=10", "c@>=10"), ("d@[0,10)", "e@>=10"), ("f@[0,10)",)]
    assert sv.read_facts(frame, **options, fewest=3).attributes[0].tree.labels == (">=0", "*")


def test_wide_tables_lists_and_parquet(tmp_path: Path) -> None:
    when = [datetime.date(2024, 1, 3), datetime.date(2024, 5, 6)]
    frame = pl.DataFrame({"who": [1, 2], "dx1": ["a", "b"], "dx2": ["c", ""], "on": when})
    rows = [("a@2024-Q1", "c@2024-Q1"), ("b@2024-Q2",)]
    assert (
        sv.read_facts(frame, id="who", sets="dx", item_columns="dx*", when={"on": "quarter"}).rows() == rows
    )
    listed = pl.DataFrame({"who": [1, 2], "dx": [["a", "c"], ["b"]], "on": when})
    assert sv.read_facts(listed, id="who", sets="dx", when={"on": "quarter"}).rows() == rows
    listed.write_parquet(tmp_path / "log.parquet")
    assert sv.read_facts(tmp_path / "log.parquet", id="who", sets="dx", when={"on": "quarter"}).rows() == rows
    pandas = listed.drop("dx").with_columns(dx=pl.Series(["a;c", "b"])).to_pandas()
    assert sv.read_facts(pandas, id="who", sets="dx", when={"on": "quarter"}).rows() == rows


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"

    def refused(lines: str, error: type[sv.SetveilError], *said: str, **more: Any) -> None:
        path.write_text(lines)
        options = {"id": "who", "sets": "code", "when": {"on": "month"}, **more}
        with pytest.raises(error) as found:
            sv.read_facts(path, **options)
        for text in said:
            assert text in str(found.value), found.value

    head = "who,on,code,n\n"
    dated = "1,2024-01-03,a,1\n"
    refused(f"{head}{dated}1,soon,a,1\n", sv.DataError, "line 3, column 'on'", "'soon'", "date_format")

    refused(
        f"{head}1,04/03/2024,a,1\n",
        sv.DataError,
        "line 2",
        "date_format='%d/%m/%Y'",
        "%m/%d/%Y",
        "04 March 2024",
        "03 April 2024",
    )
    refused(f"{head}1,14/03/2024,a,1\n", sv.DataError, "14 March 2024", "date_format='%d/%m/%Y'")
    refused(f"{head}{dated},2024-01-03,a,1\n", sv.DataError, "line 3", "'who' is empty")
    refused(f"{head}{dated}", sv.RequestError, "no period 'fortnight'", "quarter", when={"on": "fortnight"})
    refused(
        f"{head}{dated}2,2024-01-03,a,many\n",
        sv.DataError,
        "line 3, column 'n'",
        "'many'",
        amount={"n": [0, 5]},
    )
    refused(f"{head}{dated}", sv.RequestError, "bounds of bands fall: '5', '0'", amount={"n": [5, 0]})
    refused(f"{head}{dated}", sv.RequestError, "bounds of bands repeat", amount={"n": "0,5,5"})
    refused(f"{head}{dated}", sv.RequestError, "from 3 to 100", amount={"n": 1})
    refused(f"{head}{dated}", sv.RequestError, "'o' is no number", amount={"n": "o,5"})
    refused(
        f"{head}{dated}",
        sv.RequestError,
        "m must be an integer of at least 1, got 0",
        sets={"code": {"m": 0}},
    )
    refused(f"{head}{dated}", sv.RequestError, "no column of codes", when={"drug=on": "month"})
    refused(f"{head}{dated}", sv.RequestError, "named twice", amount={"on": [0, 5]})
    refused(f"{head}{dated}", sv.DataError, "no column 'drug'", sets=["code", "drug"])
    refused(f"{head}{dated}", sv.RequestError, "'code' is given twice", sets=["code:m=2", "code"])
    refused(f"{head}{dated}", sv.RequestError, "m is said of 'code', but not of 'n'", sets=["code:m=2", "n"])
    refused(
        f"{head}1,2024-01-03,a@b,1\n", sv.DataError, "'a@b'", "--fact-sign".replace("--fact-sign", "sign")
    )
    refused(f"{head}1,2024-01-03,,1\n", sv.DataError, "no line contains a code")
    refused(f"{head}{dated}", sv.DataError, "no column 'code2'", sets="code2")
    assert sv.read_facts(path, id="who", sets="code", sign="|", when={"on": "year"}).rows() == [("a|2024",)]


def test_dates_of_other_forms_and_values_that_mean_none(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("who,on,code\n1,03.04.2024,a\n1,none,b\n2,31.12.1850,a\n")
    found = sv.read_facts(
        path, id="who", sets="code", when={"on": "month"}, date_format="%d.%m.%Y", missing={"on": ["none"]}
    )
    assert found.rows() == [("a@2024-04", "b@?"), ("a@1850-12",)]
    assert re.search("1 date before 1900 or after [0-9]{4}, such as 1850-12-31", found.notes[0])


def test_months_and_years_will_do_where_they_are_published() -> None:
    read: Callable[..., sv.Facts] = lambda day, level: sv.read_facts(  # noqa: E731
        pl.DataFrame({"who": [1], "code": ["a"], "on": [day]}), id="who", sets="code", when={"on": level}
    )
    assert read("2024-03", "quarter").rows() == [("a@2024-Q1",)]
    assert read("2024", "year").rows() == [("a@2024",)]
    for day, level in (("2024-03", "day"), ("2024", "month"), ("2024-02-30", "year")):
        with pytest.raises(sv.DataError, match=f"found '{day}'"):
            read(day, level)


@pytest.mark.parametrize(
    ("line", "column"),
    [(",2024-01-02,I50,1", "who"), ("p,tea,I50,1", "on"), ("p,2024-01-02,I50,tea", "price")],
)
def test_the_line_is_named_where_the_same_text_stands_in_another_column_before(
    tmp_path: Path, line: str, column: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f'who,on,code,price\np,,tea,\n\nq,,"a\nb",2\n{line}\n')
    with pytest.raises(sv.DataError, match=rf"line 6: column '{column}'|line 6, column '{column}'"):
        sv.read_facts(path, id="who", sets="code", when={"on": "day"}, amount={"price": [0, 5]})
