"""Files data.json that are no rows in chunks: the errors and their places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv

Change = Callable[[dict[str, Any]], object]


def good() -> dict[str, Any]:
    chunk = {"items": ["a"], "rows": [["a"], ["a"]]}
    clusters = [{"rows": 2, "record_chunks": [chunk], "term_chunk": [x]} for x in "xy"]
    shared = [{"clusters": [0, 1], "items": ["b"], "rows": [["b"], ["b"]]}]
    return {
        "model": "disassociation", "k": 2, "m": 2, "empty_rows": 0, "clusters": clusters,
        "shared_chunks": shared,
    }  # fmt: skip


def test_one_that_holds(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps(good()))
    assert sv.verify(tmp_path / "data.json", k=2, m=2).holds


@pytest.mark.parametrize(
    ("change", "text"),
    [
        *((lambda d, key=key: d.pop(key), f"at the top: there is no '{key}'") for key in good()),
        (lambda d: d["clusters"][1].pop("rows"), "cluster 1: there is no 'rows'"),
        (lambda d: d["clusters"][0].pop("record_chunks"), "there is no 'record_chunks'"),
        (lambda d: d["clusters"][0].pop("term_chunk"), "there is no 'term_chunk'"),
        (lambda d: d["clusters"][0]["record_chunks"][0].pop("items"), "record chunk 0: there is no 'items'"),
        (lambda d: d["shared_chunks"][0].pop("clusters"), "shared chunk 0: there is no 'clusters'"),
        (lambda d: d["shared_chunks"][0].update(items=["b", "b"]), "it names 'b' twice"),
        (lambda d: d["clusters"][0].update(term_chunk=["x", "x"]), "it names 'x' twice"),
        (lambda d: d["shared_chunks"][0].update(clusters=[0, 2]), "there is no cluster 2; the last one is 1"),
        (lambda d: d["shared_chunks"][0].update(clusters=[0, 0]), "it names a cluster twice"),
        (lambda d: d["shared_chunks"][0].update(clusters=[-1, 0]), "expected a number from 0"),
        (lambda d: d["clusters"][0].update(rows="2"), "expected a number from 0"),
        (lambda d: d["clusters"][0].update(rows=True), "expected a number from 0"),
        (lambda d: d["clusters"][0].update(rows=2.5), "expected a number from 0"),
        (lambda d: d["clusters"][0].update(rows=-1), "expected a number from 0"),
        (lambda d: d["clusters"][0].update(rows=10**30), "expected a number from 0"),
        (lambda d: d.update(k=None), "k: found"),
        (lambda d: d.update(clusters={}), "expected a list"),
        (lambda d: d["clusters"].append(3), "cluster 2: found"),
        (lambda d: d["clusters"][0].update(term_chunk=[1]), "expected items, each a text"),
        (lambda d: d.update(model="other"), "expected"),
    ],
)  # fmt: skip
def test_what_is_none(tmp_path: Path, change: Change, text: str) -> None:
    content = good()
    change(content)
    (tmp_path / "data.json").write_text(json.dumps(content))
    with pytest.raises(sv.DataError) as raised:
        sv.verify(tmp_path / "data.json", sv.Disassociated(2, 2))
    assert text in str(raised.value)


def test_no_json(tmp_path: Path) -> None:
    for text in ('{"model": "disassociation", ', "[" * 100_000):
        (tmp_path / "data.json").write_text(text)
        with pytest.raises(sv.DataError):
            sv.verify(tmp_path / "data.json", sv.Disassociated(2, 2))


def test_share_of_top_itemsets_that_are_lost() -> None:
    """Check tKd: None if all items are in one chunk; it is a share, also with a hierarchy (tKd-ML2)."""
    rows = 6 * [["a", "b"]] + 4 * [["a"]] + [["c"]]
    tree = sv.Hierarchy.from_paths([["a", "X", "*"], ["b", "X", "*"], ["c", "*"]])
    release = sv.anonymize(rows, sv.Disassociated(2, 2), algorithm="disassociation")
    found = sv.measure(rows, release, top=3, hierarchy=tree)
    assert found["tkd"] == 0
    assert 0 <= found["tkd_ml2"] <= 1
