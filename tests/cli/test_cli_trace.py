"""The option `--trace` and the command `trace`: files for their owner alone, never in the published ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import refused, together, write
from setveil.base.errors import DataError, OutputError, RequestError
from setveil.report.trace import trace_html, trace_text

TREE = "a1;A;ALL\na2;A;ALL\nb1;B;ALL\nb2;B;ALL\n"
RUN = ["anonymize", "rows.csv", "-H", "tree.csv", "--k", 2, "--m", 2, "-a"]


def inputs(folder: Path) -> None:
    write(folder / "rows.csv", "a1,b1,b2\na2,b1\na2,b1,b2\na1,a2,b2\n")
    write(folder / "tree.csv", TREE)


def test_a_trace_is_internal(tmp_path: Path) -> None:
    inputs(tmp_path)
    before = os.umask(0)
    try:
        made, page, shown, again, kept = together(
            [
                [*RUN, "oa", "-o", "out", "--trace", "deep/oa.jsonl"],
                ["trace", "deep/oa.jsonl"],
                ["trace", "deep/oa.jsonl", "-o", "other.html", "--json", "--show", 1],
                [*RUN, "oa", "-o", "more", "--trace", "deep/oa.jsonl"],
                ["trace", "deep/oa.jsonl"],
            ],
            tmp_path,
        )
    finally:
        os.umask(before)
    assert (made.code, page.code, shown.code) == (0, 0, 0)
    for name in ("deep/oa.jsonl", "deep/oa.html", "other.html"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    refused(again, 2, "deep/oa.jsonl", "exists", "--force", out=tmp_path / "more")
    refused(kept, 2, "deep/oa.html", "exists")
    assert len(json.loads(shown.out)["steps"]) == 3
    html = (tmp_path / "deep/oa.html").read_text()
    assert html.count("<svg") == 4  # the lattice, and the tree of each step
    assert "http" not in html.replace("http-equiv", "")
    assert "trace" not in " ".join(p.name for p in (tmp_path / "out").rglob("*"))


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("published/t.jsonl", "published folder"),
        ("Published/deep/t.jsonl", "published folder"),
        ("link/t.jsonl", "published folder"),
        ("out/t.jsonl", "folder of the run"),
        ("out/published/t.jsonl", "published folder"),
        ("out", "folder of the run"),
    ],
)
def test_a_trace_is_never_in_a_release(tmp_path: Path, place: str, words: str) -> None:
    inputs(tmp_path)
    (tmp_path / "other/published").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "other/published")
    (done,) = together([[*RUN, "aa", "-o", "out", "--trace", place]], tmp_path)
    refused(done, 2, words, "--trace trace.jsonl", out=tmp_path / "out")
    assert not [*tmp_path.rglob("*.jsonl")]


def test_what_cannot_be_traced(tmp_path: Path) -> None:
    inputs(tmp_path)
    write(tmp_path / "bad.jsonl", '{"trace": 1}\nno\n')
    write(tmp_path / "other.jsonl", '{"step": 1}\n')
    exact, parts, bad, other, missing, inside = together(
        [
            [*RUN, "exact", "-o", "out", "--trace", "t.jsonl"],
            [*RUN, "aa", "-o", "out", "--trace", "t.jsonl", "--engine", "parts"],
            ["trace", "bad.jsonl"],
            ["trace", "other.jsonl"],
            ["trace", "missing.jsonl"],
            ["trace", "bad.jsonl", "-o", "published/page.html"],
        ],
        tmp_path,
    )
    refused(exact, 2, "exact does not report its steps", "aa, border, cahd")
    refused(parts, 2, "--trace")
    refused(bad, 4, "bad.jsonl, line 2", "not JSON")
    refused(other, 4, "other.jsonl, line 1", "not a line of a trace")
    refused(missing, 4, "missing.jsonl cannot be read")
    assert inside.code == 4
    assert not (tmp_path / "t.jsonl").exists()


def test_traces_in_python(tmp_path: Path) -> None:
    inputs(tmp_path)
    rows = tmp_path / "rows.csv"
    made: dict[str, Any] = {"k": 2, "m": 2, "hierarchy": tmp_path / "tree.csv", "algorithm": "da"}
    plain = sv.anonymize(rows, **made)
    traced = sv.anonymize(rows, **made, trace=tmp_path / "da.jsonl")
    assert [*traced.published] == [*plain.published]
    found = sv.trace(tmp_path / "da.jsonl", out=tmp_path / "da.html")
    assert (found["algorithm"], found["parents"]["a1"]) == ("da", "A")
    assert [step["chosen"] for step in found["steps"]] == [["A"]]
    with pytest.raises(RequestError, match="published folder"):
        sv.anonymize(rows, **made, trace=tmp_path / "published/da.jsonl")
    with pytest.raises(RequestError, match="must be the path of a file"):
        sv.anonymize(rows, **made, trace=3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="cannot be read"):
        sv.trace(tmp_path / "none")
    write(tmp_path / "file", "")
    with pytest.raises(OutputError, match="cannot be written"):
        sv.anonymize(rows, **made, trace=tmp_path / "file/da.jsonl")
    assert not [*tmp_path.glob(".*")]


def test_every_kind_of_step_is_readable() -> None:
    """Rows, groups of rows, moves and tried partitions are written in words, without signs of Python."""
    exchanged = [{"row": 9, "from_group": 4, "to_group": 1}, {"row": 6, "from_group": 1, "to_group": 4}]
    sweep = {"search": "sweep", "classes": 4, "f": 0.25, "chosen": True}
    other = {"search": "rt", "classes": 2, "f": 0.5, "chosen": False}
    first = {"algorithm": "any", "guarantee": "none", "parents": {}}
    near = [{"row": 6, "common": 2}, {"row": 3, "common": 0}]
    split = {"split": "sex", "classes": [4, 4], "cost": 0.5, "enough": True}
    steps = [
        {"step": 1, "row": 7, "items": ["a", "d"], "candidates": near, "chosen": [6, 7]},
        {"step": 2, "phase": "exchanges", "candidates": [], "chosen": exchanged},
        {"step": 3, "phase": "splits", "rows": 8, "cost": 1, "candidates": [split], "chosen": "sex"},
        {"step": 4, "phase": "partitions", "candidates": [sweep, other], "chosen": sweep},
    ]
    assert trace_text(first, steps, 9).splitlines()[1:] == [
        "   1  row 7 {a, d}; chosen: rows 6, 7",
        "   2  exchanges; chosen: row 9, from group 4, to group 1; row 6, from group 1, to group 4",
        "   3  splits; 8 rows; cost 1; chosen: sex (cost 0.5)",
        "   4  partitions; chosen: search sweep, classes 4, f 0.25",
    ]
    page = trace_html(first, steps)
    assert "<b>6</b>" in page
    assert "<b>3</b>" not in page
    assert "<b>4, 4</b>" in page
    assert "<b>yes</b>" in page
    for sign in ("True", "False", "&#x27;", "Chosen</"):
        assert sign not in page, sign
