"""Recodings: groups of items, and labels chosen occurrence by occurrence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from setveil import Hierarchy, Transactions
from setveil.base.errors import DataError
from setveil.commands.measure import measure
from setveil.judges.utility.supports import label_supports
from setveil.releases.published.recoding import LocalRecoding, Recoding, recode
from setveil.releases.published.rows import publish, read_meaning
from setveil.rows.data.vocabulary import Vocabulary
from strategies import examples, random_cases, seeded

TREE = {"a": "A", "b": "A", "c": "B", "d": "B", "A": "*", "B": "*", "*": None}
ROWS = [["a", "c"], ["a"], ["b", "c"], ["c", "d"]]
# Published as: a B | A | A c | B
NODES = ["a", "B", "A", "A", "c", "B", "B"]


def local() -> tuple[Transactions, LocalRecoding]:
    data, tree = Transactions.from_rows(ROWS), Hierarchy(TREE)
    return data, LocalRecoding.from_nodes(tree, np.array([tree.id(x) for x in NODES]))


def test_groups_are_labelled_in_item_order() -> None:
    items = Vocabulary(["1", "2", "3", "4", "10"])
    recoding = Recoding.from_groups(items, np.array([7, 0, 7, -1, 0]))
    assert recoding.members() == {"(1,3)": ["1", "3"], "(2,10)": ["2", "10"]}
    assert recoding.published.labels == ("(1,3)", "(2,10)")
    assert recoding.image.tolist() == [0, 1, 0, -1, 1]


def test_labels_of_groups_are_distinguishable() -> None:
    items = Vocabulary(["(a,b)", "a", "a,b", "b", 'c"', "d(e)"])
    labels = Recoding.from_groups(items, np.array([5, 1, 2, 1, 2, 2])).published.labels
    assert labels == ("(a,b)", "((a,b))", '("a,b","c""","d(e)")')
    assert Recoding.from_groups(items, np.arange(6)).published.labels == items.labels


def test_an_item_may_become_several_labels() -> None:
    data, recoding = local()
    assert list(recode(data, recoding)) == [("a", "B"), ("A",), ("c", "A"), ("B",)]
    assert recoding.members() == {
        "a": ["a"], "c": ["c"], "A": ["a", "b"], "B": ["c", "d"]
    }  # fmt: skip
    assert recoding.member_counts.tolist() == [1, 1, 2, 2]


def test_loss_of_a_local_recoding() -> None:
    data, recoding = local()
    utility = measure(data, recode(data, recoding), recoding)
    assert utility["ncp"] == pytest.approx(5 / 7 * 2 / 4)
    assert utility["lm"] == pytest.approx(5 / 7 * 1 / 3)
    assert utility["unchanged_occurrences"] == 2
    assert utility["generalized_occurrences"] == 5
    assert (utility["unchanged_items"], utility["generalized_items"]) == (0, 4)
    supports = {entry["label"]: entry for entry in label_supports(data, recode(data, recoding), recoding)}
    assert {x: (e["support"], e["original_support"]) for x, e in supports.items()} == {
        "a": (1, 2), "c": (1, 3), "A": (2, 3), "B": (2, 3)
    }  # fmt: skip


def test_a_local_recoding_fits_only_its_data() -> None:
    _, recoding = local()
    with pytest.raises(DataError, match="does not fit"):
        recoding.images(Transactions.from_rows([["a"]]))


def test_a_cut_as_a_local_recoding_loses_the_same() -> None:
    rng = seeded(4)
    for case in random_cases(examples(60, 15), 5):
        tree, data = case.tree, case.data
        cut, below = [], [tree.root]
        while below:
            v = below.pop()
            children = tree.children(v)
            if children and rng.random() < 0.6:
                below.extend(children)
            else:
                cut.append(v)
        cut_recoding = Recoding.from_cut(tree, cut)
        node = np.empty(tree.n_leaves, np.int64)
        for v in cut:
            node[tree.under(v)] = v
        each = LocalRecoding.from_nodes(tree, node[tree.locate(data.vocabulary)][data.items])
        one, other = publish(data, cut_recoding, 0), publish(data, each, 0)
        assert [set(row) for row in one.published] == [set(row) for row in other.published]
        assert measure(data, other.published, each) == measure(data, one.published, cut_recoding)


def test_reading_back_what_each_occurrence_became(tmp_path: Path) -> None:
    data, recoding = local()
    release = publish(data, recoding, 3)
    (tmp_path / "published").mkdir()
    (tmp_path / "internal").mkdir()
    about = tmp_path / "published" / "about.json"
    about.write_text('{"recoding": "local", "domain": 4, "labels": {"A": ["a", "b"], "B": ["c", "d"]}}')
    with pytest.raises(DataError, match=r"rows\.csv is missing"):
        read_meaning(about, data, release.published)
    lines = [f"{i},{to}" for i, to in enumerate(release.row_map)]
    rows = tmp_path / "internal" / "rows.csv"
    rows.write_text("\n".join(["input_row,published_row", *lines]) + "\n")
    again = read_meaning(about, data, release.published)
    assert measure(data, release.published, again) == measure(data, release.published, recoding)
    rows.write_text("input_row,published_row\n0,0\n")
    with pytest.raises(DataError, match="maps 1 rows"):
        read_meaning(about, data, release.published)
    rows.write_text("input_row,published_row\n0,x\n")
    with pytest.raises(DataError, match="no map of rows"):
        read_meaning(about, data, release.published)


def test_of_two_labels_of_an_item_in_a_row_the_narrower_one_counts(tmp_path: Path) -> None:
    """No algorithm here publishes so, but others may."""
    original = Transactions.from_rows([["a"], ["b"]])
    published = Transactions.from_rows([["A", "W", "a"], ["W", "A"]])
    (tmp_path / "internal").mkdir()
    (tmp_path / "internal" / "rows.csv").write_text("input_row,published_row\n0,0\n1,1\n")
    (tmp_path / "published").mkdir()
    about = tmp_path / "published" / "about.json"
    labels = {"A": ["a", "b"], "W": ["a", "b", "c"]}
    about.write_text(json.dumps({"recoding": "local", "domain": 3, "labels": labels}))
    recoding = read_meaning(about, original, published)
    assert [recoding.published.labels[to] for to in recoding.images(original)] == ["a", "A"]


def test_tally() -> None:
    tree = Hierarchy.from_paths([["a", "ab", "*"], ["b", "ab", "*"], ["c", "*"]])
    data = Transactions.from_rows([["a", "c"], ["b", "c"], ["b"], []])
    cut = Recoding.from_cut(tree, [tree.id("ab"), tree.id("c")], [tree.id("c")])
    nodes = np.array([tree.id(label) for label in ("ab", "c", "b", "c", "ab")])
    local = LocalRecoding.from_nodes(tree, np.where(nodes == tree.id("c"), -1, nodes))
    for recoding, expected in (
        (cut, [("a", "ab", 1), ("b", "ab", 2), ("c", None, 2)]),
        (local, [("a", "ab", 1), ("b", "ab", 1), ("b", "b", 1), ("c", None, 2)]),
    ):
        labels = (*recoding.published.labels, None)
        item, to, rows = (part.tolist() for part in recoding.tally(data))
        found = [(data.vocabulary.labels[i], labels[at], n) for i, at, n in zip(item, to, rows, strict=True)]
        assert sorted(found, key=str) == sorted(expected, key=str)
