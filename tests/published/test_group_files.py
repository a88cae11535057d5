"""The files of rows in groups: written and read again, and errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from group_cases import GROUPS, ROWS, SENSITIVE, publish, random_groups
from setveil.base.errors import DataError
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.judges.guarantees.verify.privacydegree import verify_privacydegree
from setveil.releases.published.group_files import PublishedGroups, read_grouped, write_grouped
from strategies import ALPHABETS, examples, random_rows, seeded, transactions


def same(one: PublishedGroups, other: PublishedGroups) -> bool:
    rows = [
        Counter(zip(groups.group.tolist(), map(tuple, groups.qid), strict=True)) for groups in (one, other)
    ]
    pairs: list[tuple[NDArray[np.integer], NDArray[np.integer]]] = [
        (one.indptr, other.indptr),
        (one.item, other.item),
        (one.count, other.count),
    ]
    return (
        rows[0] == rows[1]
        and one.sensitive == other.sensitive
        and all(np.array_equal(a, b) for a, b in pairs)
    )


def test_written_files_are_read_again(tmp_path: Path) -> None:
    rng = seeded(621)
    for _ in range(examples(100, 50)):
        alphabet = [*rng.choice(ALPHABETS), 'a,"b"', " blank ", "line\nbreak", "\ufeffmark"]
        rows = random_rows(rng, alphabet, rng.randint(1, 20), 3)
        groups = publish(rows, frozenset(rng.sample(alphabet, 6)), random_groups(rng, len(rows)))
        write_grouped(tmp_path, groups)
        assert same(read_grouped(tmp_path), groups), rows


def test_no_rows_at_all(tmp_path: Path) -> None:
    groups = publish([], frozenset("s"), [])
    write_grouped(tmp_path, groups)
    assert same(read_grouped(tmp_path), groups)
    verdict = verify_privacydegree(groups, PrivacyDegree(2, ("s",)), original=transactions([]))
    assert verdict.holds
    assert verdict.found() == {"smallest_degree": None, "groups": 0}


def test_files_as_documented(tmp_path: Path) -> None:
    write_grouped(tmp_path, publish(ROWS, SENSITIVE, GROUPS))
    assert (tmp_path / "data.csv").read_text() == (
        "group,row,item\n0,0,a\n0,1,a\n0,2,a\n0,2,b\n1,3,b\n1,4,b\n1,5,b\n"
    )
    assert (tmp_path / "groups.csv").read_text() == "group,item,count\n0,,3\n0,s,1\n1,,3\n1,t,1\n"


def test_other_numbers_and_orders_of_lines(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("group,row,item\n\n7,5,b\n3,9,a\n7,5,a\n7,5,b\n")
    (tmp_path / "groups.csv").write_text("group,item,count\n7,t,1\n7,,2\n3,,1\n7,s,2\n")
    groups = read_grouped(tmp_path)
    assert list(groups.qid) == [("a",), ("a", "b"), ()]
    assert groups.group.tolist() == [0, 1, 1]
    assert (groups.indptr.tolist(), groups.item.tolist(), groups.count.tolist()) == (
        [0, 0, 2],
        [0, 1],
        [2, 1],
    )


GOOD_DATA = "group,row,item\n0,0,a\n0,1,b\n"
GOOD_GROUPS = "group,item,count\n0,,2\n0,s,1\n"


@pytest.mark.parametrize(
    ("data", "groups", "message"),
    [  # None: the good one
        ("group,row,item\n0,0,a\n1,1,b\n", None, r"data.csv, line 3: found group 1, expected one"),
        ("group,row,item\n0,0,a\n\n1,0,b\n", "group,item,count\n0,,2\n1,,1\n", r"4: row 0 is in group 1"),
        ("group,row,item\n0,0,a\n0,1,b\n0,2,c\n", None, r"3 rows of group 0, but .*groups.csv gives it 2"),
        ("group,row,item\n0,x,a\n", None, r"line 2: found 'x' as row, expected a non-negative"),
        ('group,row,item\n0,0,"a\nb"\n0,0,\n', None, r"line 4: the item is empty"),
        ("group,row\n0,0\n", None, r"fields is 2, expected 3"),
        ("a,b,c\n0,0,a\n", None, r"line 1: found 'a,b,c', expected the header group,row,item"),
        ("", None, r"line 1: found nothing"),
        ('group,row,item\n0,0,"a\n', None, r"never closed"),
        (None, "group,item,count\n0,,2\n0,s,-1\n", r"groups.csv, line 3: found '-1' as count, .*positive"),
        (None, "group,item,count\n0,,2\n0,s,0\n", r"line 3: found the count 0"),
        (None, "group,item,count\n0,,2\n0,s,1.5\n", r"line 3: found '1.5'"),
        (None, "group,item,count\n0,s,1\n", r"line 2: group 0 has no line with an empty item"),
        (None, "group,item,count\n0,,2\n0,s,1\n0,s,1\n", r"line 4: group 0 has 's' a second time"),
        (None, "group,item,count\n0,,2\n0,,2\n", r"line 3: group 0 has the number of rows a second time"),
    ],
)  # fmt: skip
def test_malformed_files(tmp_path: Path, data: str | None, groups: str | None, message: str) -> None:
    (tmp_path / "data.csv").write_text(GOOD_DATA if data is None else data)
    (tmp_path / "groups.csv").write_text(GOOD_GROUPS if groups is None else groups)
    with pytest.raises(DataError, match=message):
        read_grouped(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(GOOD_DATA)
    with pytest.raises(DataError, match=r"no file .*groups.csv"):
        read_grouped(tmp_path)


def test_labels_that_cannot_be_written(tmp_path: Path) -> None:
    for label in ("half\ud800", "zero\0byte"):
        with pytest.raises(DataError):
            write_grouped(tmp_path, publish([frozenset({label, "s"})], frozenset("s"), [[0]]))
    assert not list(tmp_path.iterdir())
