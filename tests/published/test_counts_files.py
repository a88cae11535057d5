"""Writing and reading counts.csv, for rows in every format."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from naive.km import item_order
from setveil.releases.published.counts import Counts, read_counts
from strategies import Case, examples, random_case

WEIRD = [
    '"', ",", 'a"b', '""', "\n", "\r", "\r\n", "a\rb", " x", "x ", "\t", "\ufeff", "\ufeffitem", "\u2028",
    "\x85", "\x0b", "\x1c", "item", "item,label,rows", "#", "'", "-", "*", "(a,b)", "=1+1", "007", "1e5",
    "\u0660", "é",
]  # fmt: skip


def written(counts: Counts, folder: Path) -> list[list[str]]:
    """Write counts, and read them with Python's own reader alone."""
    counts.write(folder)
    with (folder / "counts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


@pytest.mark.parametrize("item", WEIRD)
def test_every_item_can_be_written_and_read(item: str, tmp_path: Path) -> None:
    counts = Counts.from_lines([(item, item, 3), ("b", f"({item})", 2), ("c", "", 4)], 2, suppressed=True)
    lines = counts.lines()
    assert written(counts, tmp_path) == [
        ["item", "label", "rows"], *([name, label, str(rows)] for name, label, rows in lines),
    ]  # fmt: skip
    again = read_counts(tmp_path, {"counts": counts.about()})
    assert again is not None
    assert (again.lines(), again.least, again.suppressed) == (lines, 2, True)


@pytest.mark.parametrize("item", ["\r", "a\rb", '"', ","])
def test_a_run_with_such_items_is_written(item: str, tmp_path: Path) -> None:
    rows = [[item, "q"], [item, "q"], [item], ["q"]]
    release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=2))
    release.write(tmp_path / "run", format="jsonl")
    assert sv.verify(tmp_path / "run", sv.KmAnonymity(k=2, m=2)).holds
    with (tmp_path / "run" / "internal" / "recoding.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(list(csv.reader(file, strict=True))[1:]) == sorted([[item, item], ["q", "q"]])


@pytest.mark.parametrize("form", ["basket", "long", "fimi", "spmf", "jsonl", "parquet"])
@settings(max_examples=examples(12, 5))
@given(rng=st.randoms(use_true_random=False))
def test_what_is_read_back_is_what_was_counted(
    form: str, rng: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From the published files: every item of k rows or more, with the label that it has there."""
    case = random_case(rng, most_rows=20)
    if not case.rows:
        case = Case([frozenset()], case.parents, case.k, case.m)
    release = sv.anonymize(case.data, case.guarantee, hierarchy=case.tree)
    out = tmp_path_factory.mktemp("run") / "out"
    release.write(out, format=form)
    about = json.loads((out / "published" / "about.json").read_text(encoding="utf-8"))
    with (out / "published" / "counts.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file, strict=True)
    assert header == ["item", "label", "rows"]

    image = release.release.image()
    support = Counter(item for row in case.rows for item in row)
    few_empty = 0 < release.published.rows().count(()) < case.k
    expected = [
        [item, image[item] or "", str(support[item])]
        for item in item_order(support)
        if support[item] >= case.k and (image[item] is not None or not few_empty)
    ]
    assert sorted(lines) == sorted(expected)
    assert [item for item, _, _ in lines] == item_order(item for item, _, _ in lines)
    assert about["counts"] == {"file": "counts.csv", "least": case.k, "suppressed": not few_empty}
    for item, label, _ in lines:
        assert item in about["labels"].get(label, [label or item])
    verdict: Any = sv.verify(out, case.guarantee)
    assert verdict.holds
    assert verdict.counts.lines == len(lines)


# --- releases with little left in them


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([[]] * 5, []),
        ([[], [], ["a"], ["a"]], [("a", "a", 2)]),
        ([["a"]], None),
        ([[str(i)] for i in range(4)], []),
        ([["a"], ["a"], ["b"], ["b"]], [("a", "a", 2), ("b", "b", 2)]),
    ],
)
def test_small_data(rows: list[list[str]], lines: Any, tmp_path: Path) -> None:
    if lines is None:
        with pytest.raises(sv.InfeasibleError):
            sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), algorithm="exact")
        return
    release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), algorithm="exact")
    assert release.counts is not None
    assert release.counts.lines() == lines
    release.write(tmp_path / "run")
    verdict: Any = sv.verify(tmp_path / "run", sv.KmAnonymity(k=2, m=1))
    assert verdict.counts.lines == len(lines)


def test_everything_suppressed(tmp_path: Path) -> None:
    """Check that all rows are empty then, so nobody can tell whose rows had items."""
    rows = [["a", "b"], ["a"], ["b"], ["a", "c"]]
    nothing = sv.COAT(utility=[["a"], ["b"], ["c"]], max_suppressed_items=1)
    release = sv.anonymize(rows, sv.PrivacyConstraints(4, m=2), algorithm=nothing, counts=4)
    assert release.published.rows() == [()] * 4
    assert release.counts is not None
    assert (release.counts.suppressed, release.counts.lines()) == (True, [])
    release.write(tmp_path / "run")
    assert sv.verify(tmp_path / "run", sv.PrivacyConstraints(4, m=2)).holds


# --- releases without counts


GROUPS = [
    ["wine", "meat", "x"],
    ["wine", "meat"],
    ["cream", "y"],
    ["cream", "meat"],
    ["wine", "meat", "cream"],
]
WITHOUT: dict[str, tuple[Any, dict[str, Any]]] = {
    "coherence": (sv.Coherence(h=0.9, k=2, p=2, private=["x", "y"]), {}),
    "coherence by mm": (sv.Coherence(h=0.9, k=2, p=2, private=["x", "y"]), {"algorithm": "mm"}),
    "groups": (sv.PrivacyDegree(p=2, sensitive=["x", "y"]), {}),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_none_beside_sensitive_items(name: str, tmp_path: Path) -> None:
    guarantee, more = WITHOUT[name]
    release = sv.anonymize(GROUPS, guarantee, **more)
    assert release.counts is None
    release.write(tmp_path / "run")
    assert not (tmp_path / "run" / "published" / "counts.csv").exists()
    assert "counts" not in json.loads((tmp_path / "run" / "published" / "about.json").read_text("utf-8"))
    with pytest.raises(sv.RequestError):
        sv.anonymize(GROUPS, guarantee, counts=5, **more)


def test_none_if_not_wanted(tmp_path: Path) -> None:
    release = sv.anonymize(GROUPS, sv.KmAnonymity(k=2, m=1), counts=False)
    assert release.counts is None
    release.write(tmp_path / "run")
    assert not (tmp_path / "run" / "published" / "counts.csv").exists()
    assert sv.verify(tmp_path / "run", sv.KmAnonymity(k=2, m=1)).counts is None


@pytest.mark.parametrize("counts", [1, 0, -3, 2.5, "5", None])
def test_least_counts_that_are_none(counts: Any) -> None:
    with pytest.raises(sv.RequestError, match="counts must be"):
        sv.anonymize(GROUPS, sv.KmAnonymity(k=2, m=1), counts=counts)


def test_least_counts_below_k() -> None:
    with pytest.raises(sv.RequestError, match="Counts below k = 3"):
        sv.anonymize(GROUPS, sv.KmAnonymity(k=3, m=1), counts=2)
