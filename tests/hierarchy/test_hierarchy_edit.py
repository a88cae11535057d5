"""Edits of a hierarchy: against a slow twin, each with its inverse, refused without a trace."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from cli_helpers import setveil
from naive import tree_edit
from setveil.base.errors import DataError, HierarchyError
from setveil.rows.hierarchy.doubts import TreeProblem, items_under, problems_of
from setveil.rows.hierarchy.edit import Draft
from setveil.rows.hierarchy.history import History, edited, read_edits
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

PRODUCTS = """
milk;dairy;food;*
cheese;dairy;food;*
bread;food;*
soap;*
"""


def draft(text: str = PRODUCTS) -> Draft:
    return Draft.of(Hierarchy.from_paths([line.split(";") for line in text.split()]))


def nested(tree: Draft, node: str | None = None) -> tree_edit.Tree:
    node = tree.root if node is None else node
    below = tree.children.get(node)
    return node, None if below is None else [nested(tree, child) for child in below]


def consistent(tree: Draft) -> bool:
    """Return whether parents and children agree, and every node leads to the root."""
    links = {node: group for group, below in tree.children.items() for node in below}
    return links == tree.parent and sorted(tree.nodes()) == sorted([tree.root, *tree.parent])


def random_edit(rng: Random, tree: Draft) -> dict[str, Any]:
    """Draw an edit that may be possible or not."""
    nodes = tree.nodes()
    groups = list(tree.children)
    some = rng.sample(nodes, rng.randint(1, min(4, len(nodes))))
    new = rng.choice(["new", "N1", "food", rng.choice(nodes)])
    do = rng.choice(["move", "move", "move", "rename", "merge", "dissolve", "group", "add", "remove", "sort"])
    node, group = rng.choice(nodes), rng.choice([*groups, rng.choice(nodes)])
    fields: dict[str, dict[str, Any]] = {
        "move": {"nodes": some, "under": group}
        | ({"before": rng.choice(tree.children.get(group) or [node])} if rng.random() < 0.4 else {}),
        "rename": {"node": node, "name": new},
        "merge": {"nodes": rng.sample(groups, min(len(groups), 3)), "into": group},
        "dissolve": {"group": group},
        "group": {"name": new, "nodes": some if rng.random() < 0.8 else []}
        | ({"under": group} if rng.random() < 0.4 else {}),
        "add": {"items": [f"{new}{i}" for i in range(rng.randint(1, 3))], "under": group},
        "remove": {"nodes": some if rng.random() < 0.5 else [node, *tree.empty_groups()]},
        "sort": {"group": group},
    }
    what = fields[do]
    for name in ("nodes", "items"):
        if name in what:
            what[name] = list(dict.fromkeys(what[name]))
    return {"do": do, **what}


@given(st.randoms(use_true_random=False))
@settings(max_examples=strategies.examples(300), deadline=None)
def test_edits_do_what_their_slow_twins_do_and_have_an_inverse(rng: Random) -> None:
    alphabet = rng.choice(strategies.ALPHABETS)
    tree = Draft.of(Hierarchy(strategies.random_tree(rng, rng.sample(alphabet, rng.randint(1, 12)))))
    for _ in range(8):
        edit = json.loads(json.dumps(random_edit(rng, tree)))
        before = deepcopy(tree)
        twin = tree_edit.edited(nested(before), edit)
        if twin is None:
            with pytest.raises(HierarchyError):
                tree.apply(edit)
            assert tree == before
            continue
        back = tree.apply(edit)
        assert nested(tree) == twin, edit
        assert consistent(tree)
        after = deepcopy(tree)
        forth = tree.apply(json.loads(json.dumps(back)))
        assert tree == before, edit
        assert consistent(tree)
        tree.apply(forth)
        assert tree == after


@given(st.randoms(use_true_random=False))
@settings(max_examples=strategies.examples(100), deadline=None)
def test_undo_and_redo_walk_through_all_trees_that_were(rng: Random) -> None:
    start = Draft.of(Hierarchy(strategies.random_tree(rng, list("abcdefgh"))))
    other = Draft.of(Hierarchy(strategies.random_tree(rng, list("abcd"))))
    history = History(deepcopy(start), lambda file: deepcopy(other))
    trees, log = [deepcopy(start)], []
    for _ in range(12):
        edit = {"do": "start", "file": "x"} if rng.random() < 0.1 else random_edit(rng, history.draft)
        try:
            history.do(edit)
        except HierarchyError:
            continue
        log.append(edit)
        trees.append(deepcopy(history.draft))
    at = len(trees) - 1
    for _ in range(20):
        way = rng.choice(["undo", "redo"])
        to = at + (1 if way == "redo" else -1)
        if not 0 <= to < len(trees):
            with pytest.raises(HierarchyError, match="There is nothing to"):
                history.do({"do": way})
            continue
        history.do({"do": way})
        log.append({"do": way})
        at = to
        assert history.draft == trees[at]
        assert len(history.done) == at
        assert len(history.undone) == len(trees) - 1 - at
    again = History(deepcopy(start), lambda file: deepcopy(other))
    for edit in log:
        again.do(edit)
    assert again.draft == history.draft


@given(st.randoms(use_true_random=False))
@settings(max_examples=strategies.examples(100), deadline=None)
def test_plain_steps_take_whatever_nodes_are_named(rng: Random) -> None:
    tree = Draft.of(Hierarchy(strategies.random_tree(rng, list("abcdefgh"))))
    before = deepcopy(tree)
    labels = [*tree.nodes(), "x", "y"]
    places: list[list[Any]] = [
        [rng.choice(labels), rng.choice(["item", "group"]), rng.choice([*labels, None]), rng.randint(-1, 4)]
        for _ in range(rng.randint(1, 4))
    ]
    for place in places:
        if rng.random() < 0.8 and place[0] in tree:
            place[1] = tree.kind(place[0])
    try:
        back = tree.apply({"do": "place", "places": places})
    except HierarchyError:
        assert tree == before
        return
    assert consistent(tree)
    tree.apply(back)
    assert tree == before


def test_a_tree_is_what_the_file_said() -> None:
    tree = Hierarchy.from_paths([line.split(";") for line in PRODUCTS.split()])
    assert Draft.of(tree).tree() == tree
    assert Draft.of(Hierarchy({"tea": None})).tree().paths() == [["tea", "*"]]
    assert Draft.of(Hierarchy({"*": None})).tree().paths() == [["*", "**"]]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"do": "move", "nodes": ["food"], "under": "dairy"}, "'food' cannot go into itself"),
        ({"do": "move", "nodes": ["food"], "under": "food"}, "'food' cannot go into itself"),
        ({"do": "move", "nodes": ["soap"], "under": "milk"}, "'milk' is an item, not a group"),
        ({"do": "move", "nodes": ["x", "y"], "under": "food"}, "'x', 'y' are not in the hierarchy"),
        ({"do": "move", "nodes": ["soap"], "under": "food", "before": "milk"}, "not next to it in 'food'"),
        ({"do": "move", "nodes": ["*"], "under": "food"}, "'\\*' is the topmost group"),
        ({"do": "move", "nodes": [], "under": "food"}, "move: nodes names nothing"),
        ({"do": "move", "nodes": ["soap", "soap"], "under": "food"}, "must be a list of different labels"),
        ({"do": "move", "nodes": "soap", "under": "food"}, "list of different labels, got the text 'soap'"),
        ({"do": "move", "nodes": ["soap"]}, "move: under must be a label, got None"),
        ({"do": "move", "nodes": ["soap"], "under": "food", "at": 1}, "move knows no field 'at'"),
        ({"do": "rename", "node": "food", "name": "dairy"}, "There is a group called 'dairy' already"),
        ({"do": "rename", "node": "food", "name": "milk"}, "There is an item called 'milk' already"),
        ({"do": "rename", "node": "food", "name": " x"}, "begins or ends with a blank"),
        ({"do": "rename", "node": "food", "name": "a\nb"}, "contains a line break"),
        ({"do": "merge", "nodes": ["food"], "into": "dairy"}, "'food' cannot go into 'dairy'"),
        ({"do": "merge", "nodes": ["milk"], "into": "dairy"}, "'milk' is an item"),
        ({"do": "merge", "nodes": ["dairy"], "into": "dairy"}, "expected at least two groups"),
        ({"do": "dissolve", "group": "*"}, "is the topmost group and cannot be dissolved"),
        ({"do": "dissolve", "group": "milk"}, "'milk' is an item"),
        ({"do": "group", "name": "food", "nodes": ["soap"]}, "There is a group called 'food' already"),
        ({"do": "group", "name": "n", "nodes": ["food"], "under": "dairy"}, "cannot go into itself"),
        ({"do": "group", "name": "n", "nodes": ["*"]}, "is the topmost group"),
        ({"do": "add", "items": ["milk"], "under": "food"}, "'milk' is in the hierarchy already"),
        ({"do": "remove", "nodes": ["dairy"]}, "'dairy' is not empty"),
        ({"do": "order", "group": "dairy", "children": ["milk"]}, "names other nodes than are in it"),
        ({"do": "place", "places": [["milk", "group", "food", 0]]}, "'milk' is no group"),
        ({"do": "place", "places": [["milk", "item", "food", 9]]}, "cannot be number 10 of 3 in 'food'"),
        ({"do": "place", "places": [["milk", "item", "food"]]}, "must be a list of \\[label"),
        ({"do": "place", "places": [["milk", "item", "soap", 0]]}, "'soap', which is no group"),
        ({"do": "place", "places": [["m", "item", None, 0]]}, "There is no 'm' in the hierarchy"),
        ({"do": "fly"}, "An edit says what to do: move, .*; got the text 'fly'"),
        ({}, "An edit says what to do: move, .*; got nothing"),
        ({"do": ["move"]}, "got a value of type list"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence_and_changes_nothing(
    edit: dict[str, Any], message: str
) -> None:
    tree = draft()
    with pytest.raises(HierarchyError, match=message):
        tree.apply(edit)
    assert tree == draft()


def test_empty_groups_are_in_the_draft_and_not_in_the_tree() -> None:
    tree = draft()
    tree.apply({"do": "group", "name": "toys", "nodes": []})
    tree.apply({"do": "group", "name": "balls", "nodes": [], "under": "toys"})
    assert tree.empty_groups() == ["toys", "balls"]
    assert tree.tree() == draft().tree()
    tree.apply({"do": "remove", "nodes": ["balls", "toys"]})
    assert tree == draft()
    tree.apply({"do": "remove", "nodes": tree.items()})
    with pytest.raises(HierarchyError, match="contains no item any more"):
        tree.tree()


def test_problems() -> None:
    tree = draft()
    assert problems_of(tree) == []
    tree.apply({"do": "move", "nodes": ["milk"], "under": "*"})
    tree.apply({"do": "group", "name": "toys", "nodes": []})
    found = problems_of(tree, ["milk", "kiwi", "food", "bread", "cheese"])
    assert found == [
        TreeProblem("missing", ("kiwi",)),
        TreeProblem("group", ("food",)),
        TreeProblem("unknown", ("soap",)),
        TreeProblem("empty", ("toys",)),
        TreeProblem("single", ("dairy",)),
    ]
    wide = Draft("*", {"*": ["g", "x", "y"], "g": [f"i{i}" for i in range(30)]})
    assert problems_of(wide) == [TreeProblem("uneven", ("*",))]
    assert items_under(wide)["*"] == 32


@pytest.mark.exhaustive
def test_many_nodes_move_and_back() -> None:
    groups = {f"g{i}": [f"i{i}_{j}" for j in range(100)] for i in range(1000)}
    tree = Draft("*", {"*": list(groups), **groups})
    back = tree.apply({"do": "move", "nodes": tree.children["g1"][:50] + list(groups)[10:500], "under": "g3"})
    tree.apply(back)
    tree.apply(tree.apply({"do": "merge", "nodes": list(groups)[1:], "into": "g0"}))
    assert tree == Draft("*", {"*": list(groups), **groups})


def test_edits_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text(PRODUCTS.strip() + "\n")
    (tmp_path / "other.json").write_text('{"level1": {"*": ["tea", "jam"]}}')
    lines: list[dict[str, Any]] = [
        {"do": "move", "nodes": ["bread"], "under": "dairy", "before": "cheese"},
        {"do": "rename", "node": "dairy", "name": "fresh"},
        {"do": "group", "name": "toys", "nodes": []},
        {"do": "start", "file": "other.json"},
        {"do": "undo"},
        {"do": "dissolve", "group": "food"},
        {"do": "undo"},
        {"do": "redo"},
    ]
    edits = tmp_path / "edits.jsonl"
    edits.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    done = setveil("hierarchy", "edit", "products.csv", edits, "--out", "new.csv", cwd=tmp_path).ok()
    assert done.err == "1 empty group is omitted: 'toys'.\nnew.csv: 4 items, 2 inner nodes.\n"
    expected = [["bread", "fresh", "*"], ["cheese", "fresh", "*"], ["milk", "fresh", "*"], ["soap", "*"]]
    assert read_hierarchy(tmp_path / "new.csv") == Hierarchy.from_paths(expected)
    assert edited(read_hierarchy(tmp_path / "products.csv"), read_edits(edits)[:1]).children["dairy"] == [
        "bread",
        "cheese",
        "milk",
    ]

    refused = setveil("hierarchy", "edit", "products.csv", edits, "--out", "new.csv", cwd=tmp_path)
    assert refused.code == 2
    edits.write_text('{"do": "undo"}\n')
    refused = setveil("hierarchy", "edit", "products.csv", edits, "--out", "none.csv", cwd=tmp_path)
    assert (refused.code, refused.err) == (4, "Error: Line 1 of the edits: There is nothing to undo.\n")
    assert not (tmp_path / "none.csv").exists()


@pytest.mark.parametrize("line", ["[]", "move tea", "{", '"x"', "[" * 100_000])
def test_lines_that_are_no_edits(tmp_path: Path, line: str) -> None:
    (tmp_path / "edits.jsonl").write_text('{"do": "undo"}\n' + line)
    with pytest.raises(DataError, match=r"line 2: expected an edit as a JSON object, got"):
        read_edits(tmp_path / "edits.jsonl")
    with pytest.raises(DataError, match="Cannot read"):
        read_edits(tmp_path / "no.jsonl")
    (tmp_path / "edits.jsonl").write_bytes(b"\xff")
    with pytest.raises(DataError, match="is not a text in UTF-8"):
        read_edits(tmp_path / "edits.jsonl")
