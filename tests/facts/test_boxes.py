"""Releases of facts: product trees, the best of all box cuts, part knowledge, and the check of boxes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from fact_cases import random_facts
from naive import facts as naive
from setveil.judges.guarantees.verify.boxes import overlapping
from setveil.methods.algorithms.exact import exact
from setveil.rows.facts.generalizing import Generalizing
from setveil.rows.hierarchy.boxes import BoxTree, product_tree
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import many


def lines_of(tree: Hierarchy, node: int) -> list[list[int]]:
    """List all antichains of a tree that have a node above each leaf."""
    below = [[node]]
    children = tree.children(node)
    if children:
        below += [
            [v for part in some for v in part]
            for some in product(*(lines_of(tree, child) for child in children))
        ]
    return below


def boxed(rows: sv.Transactions) -> list[set[naive.Box]]:
    return [{tuple(label.split("@")) for label in row} for row in rows]


def test_the_best_line_is_as_good_as_all_box_cuts() -> None:
    random, met = Random(11), 0
    for _ in range(many(300)):
        facts, codes, trees = random_facts(random)
        k, m = 2, random.choice((1, 2))
        if facts.filled_rows < k:
            continue
        space = Generalizing().spaces(facts, [codes])[0]
        guarantee = sv.KmAnonymity(k=k, m=m)
        losses = []
        for line in lines_of(codes, codes.root):
            tree = product_tree(space, line)
            losses.append(exact.anonymize(facts, tree, guarantee)[1]["optimality"]["loss"])
        least = naive.least_loss(boxed(facts), trees, k, m)
        assert min(losses) == pytest.approx(float(least), abs=1e-12)
        plain = sv.anonymize(facts, guarantee, hierarchy=codes).report["facts"]
        assert min(one["loss"] for one in plain["orders"]) >= float(least) - 1e-12
        met += max(losses) > min(losses)
    assert met  # the order matters


def test_a_box_tree_splits_one_part_at_a_time_and_counts_all_facts() -> None:
    random = Random(12)
    for _ in range(many(100)):
        facts, codes, trees = random_facts(random, 3)
        tree = product_tree(
            Generalizing().spaces(facts, [codes])[0], random.choice(lines_of(codes, codes.root))
        )
        occurring = set().union(*boxed(facts))
        for node, label in enumerate(tree.labels):
            inside = naive.facts_in(tuple(label.split("@")), trees)
            assert tree.leaf_counts[node] == len(inside)
            below = {tuple(tree.labels[leaf].split("@")) for leaf in tree.leaves(node)}
            assert below == inside & occurring
        assert tree.domain == len(naive.facts_in(("*", "*"), trees)) or len(trees[1]) == 2


def test_whoever_knows_parts_finds_k_rows() -> None:
    random = Random(13)
    for _ in range(many(60)):
        facts, codes, trees = random_facts(random, 3)
        k, m = 2, 2
        if facts.filled_rows < k:
            continue
        release = sv.anonymize(facts, k=k, m=m, hierarchy=codes, counts=False)
        rows, shown = boxed(facts), [frozenset(row) for row in boxed(release.published)]
        image = {
            tuple(fact.split("@")): tuple(box.split("@"))
            for fact, box in release.release.image().items()
            if box is not None
        }
        everything = naive.facts_in(("*", "*"), trees)
        for row in rows:
            if not row:
                continue
            for _attack in range(4):
                parts = [_part(random, fact, everything) for fact in random.choices(sorted(row), k=m)]
                assert sum(naive.fits(row, labels, image, parts) for labels in shown) >= k


def _part(random: Random, fact: naive.Box, everything: set[naive.Box]) -> set[naive.Box]:
    """Draw the knowledge about a fact: the code without the date, the date without the code, or both."""
    way = random.randrange(3)
    if way < 2:
        return {other for other in everything if other[way] == fact[way]}
    return {fact, *random.sample(sorted(everything), 2)}


def test_whoever_knows_a_relation_of_two_facts_finds_k_rows() -> None:
    """Check knowledge of the order of two facts, the periods between, equal codes, and these together."""
    random = Random(17)
    attacks = 0
    for _ in range(many(60)):
        facts, codes, trees = random_facts(random, 3)
        k = random.choice((2, 3))
        if facts.filled_rows < k:
            continue
        release = sv.anonymize(facts, k=k, m=2, hierarchy=codes, counts=False)
        shown = [frozenset(row) for row in boxed(release.published)]
        published: set[naive.Box] = set().union(*shown)
        everything = naive.facts_in(tuple(map(naive.root_of, trees)), trees)
        order = {name: at for at, name in enumerate(sorted({fact[1] for fact in everything}))}
        for row in boxed(facts):
            if not row:
                continue
            first, second = random.choices(sorted(row), k=2)
            for known in _RELATIONS:
                says = known(first, second, order)
                relation = [
                    (one, other)
                    for one, other in product(everything, everything)
                    if known(one, other, order) == says
                ]
                assert (first, second) in relation
                fitting = sum(naive.may_hold(labels, published, trees, relation) for labels in shown)
                assert fitting >= k
                attacks += 1
    assert attacks


_RELATIONS: tuple[Callable[[naive.Box, naive.Box, dict[str, int]], object], ...] = (
    lambda one, other, order: order[one[1]] < order[other[1]],
    lambda one, other, order: order[other[1]] - order[one[1]],
    lambda one, other, order: one[0] == other[0],
    lambda one, other, order: (one == other, order[one[1]] < order[other[1]]),
    lambda one, other, order: (one[0], order[other[1]] - order[one[1]]),
    lambda one, other, order: (one[0], other[0], order[one[1]] < order[other[1]]),
)


def test_the_example_of_the_page() -> None:
    lines = [(1, "t", 2001), (1, "c", 2002), (2, "t", 2001), (3, "t", 2002), (3, "c", 2002)]
    lines += [(4, "t", 2002), (5, "c", 2001)]
    frame = pl.DataFrame(lines, schema=["who", "code", "on"], orient="row")
    facts = sv.read_facts(frame, id="who", sets={"code": {"m": 1}}, when={"on": "year"})
    drinks = sv.Hierarchy.from_paths([["t", "drinks"], ["c", "drinks"]])
    found = {}
    for order in ("first", "last"):
        release = sv.anonymize(facts, k=2, m=1, hierarchy=drinks, fact_order=order)
        found[order] = release.utility["lm"], list(release.published.vocabulary.labels)
    assert found["first"] == (pytest.approx(1 / 7), ["t@2001", "t@2002", "c@*"])
    assert found["last"] == (pytest.approx(1 / 7), ["c@2002", "t@2002", "drinks@2001"])


def test_loss_by_parts_adds_up_and_never_falls_upwards() -> None:
    random = Random(14)
    for _ in range(many(60)):
        facts, codes, trees = random_facts(random, 3)
        weights = {"code": Fraction(random.choice((1, 3))), "on": Fraction(1, random.choice((1, 2)))}
        space = Generalizing(loss="parts", weights=weights).spaces(facts, [codes])[0]
        tree = product_tree(space, random.choice(lines_of(codes, codes.root)))
        wide = [name for name, part in zip(("code", "on"), trees, strict=True) if len(part) > 2]
        for node, label in enumerate(tree.labels):
            lost = sum(
                weights[name] * Fraction(len(naive.leaves(part, one)) - 1, len(naive.leaves(part, "*")) - 1)
                for name, part, one in zip(("code", "on"), trees, label.split("@"), strict=True)
                if name in wide
            )
            if "on" in wide:
                assert Fraction(int(tree.lost[node]), tree.most_lost) == lost / sum(weights[x] for x in wide)
            if node != tree.root:
                assert tree.lost[node] <= tree.lost[tree.parent[node]]


@pytest.mark.parametrize("algorithm", ["aa", "da", "hghs", "mhghs", "exact"])
def test_every_algorithm_that_cuts_makes_releases_of_facts(algorithm: str, tmp_path: Path) -> None:
    facts, codes, _ = random_facts(Random(5), 3)
    release = sv.anonymize(facts, k=2, m=2, hierarchy=codes, algorithm=algorithm)
    assert release.verdict
    kept = [frozenset(row) for row in boxed(release.published)]
    assert naive.keeps(kept, 2, 2)
    release.write(tmp_path / "out")
    read: Any = sv.verify(tmp_path / "out", k=2, m=2)
    assert read.holds
    assert read.as_dict() == release.verdict.as_dict()


def test_others_are_refused() -> None:
    facts, codes, _ = random_facts(Random(5))
    with pytest.raises(sv.RequestError, match="lra makes no cut of a hierarchy"):
        sv.anonymize(facts, k=2, m=2, hierarchy=codes, algorithm="lra")
    with pytest.raises(sv.RequestError, match="not under rho-uncertainty"):
        sv.anonymize(facts, sv.RhoUncertainty(rho=0.5, sensitive=["a@2001"]), hierarchy=codes)
    with pytest.raises(sv.RequestError, match="No guarantee covers absent facts"):
        sv.anonymize(facts, sv.KmAnonymity(2, 1, absent=1), hierarchy=codes)
    with pytest.raises(sv.RequestError, match="fact_order must be first, last, or a depth"):
        sv.anonymize(facts, k=2, m=2, hierarchy=codes, fact_order=9)
    with pytest.raises(sv.RequestError, match="no part of this name"):
        sv.anonymize(facts, k=2, m=2, hierarchy=codes, fact_loss="parts", fact_weights={"date": 2})
    with pytest.raises(sv.RequestError, match="contain no facts"):
        sv.anonymize([["a"], ["a"]], k=2, m=2, fact_loss="parts")
    of_facts = sv.Hierarchy.from_paths([[label, "*@*"] for label in facts.vocabulary.labels])
    with pytest.raises(sv.HierarchyError, match=r"not in the hierarchy|not of facts"):
        sv.anonymize(facts, k=2, m=2, hierarchy=of_facts)


def test_overlapping_boxes_are_found() -> None:
    random = Random(15)
    met = 0
    for _ in range(many(400)):
        values = [["a", "b", "c", "d"], ["1", "2", "3"]]
        meaning: list[Mapping[str, tuple[str, ...]]] = [
            {name: tuple(random.sample(known, 2)) for name in ("X", "Y")} | {"*": tuple(known)}
            for known in values
        ]
        labels = [[*known, "X", "Y", "*"] for known in values]
        boxes = list({tuple(random.choice(some) for some in labels) for _ in range(random.randint(1, 6))})
        expected = naive.overlapping(boxes, meaning)
        number, first = overlapping(boxes, meaning, 100)
        assert (number, first) == (len(expected), expected)
        met += number > 0
    assert met


def test_a_changed_release_is_not_believed(tmp_path: Path) -> None:
    facts, codes, _ = random_facts(Random(3), 3)
    sv.anonymize(facts, k=2, m=1, hierarchy=codes, fact_order="first").write(tmp_path / "out")
    data, about = tmp_path / "out/published/data.csv", tmp_path / "out/published/about.json"
    lines = data.read_text().splitlines()
    record: dict[str, Any] = json.loads(about.read_text())
    assert lines[0] == "row,code,on"
    assert record["recoding"] == record["format"] == "facts"
    part = record["facts"]["sets"]["code"]
    assert part["attributes"] == [{"name": "on", "kind": "when", "level": "year"}]

    row = lines[1].split(",")[0]
    wide = [row, "*", "*"]
    part["labels"]["code"].setdefault("*", ["a", "b", "c"])
    part["labels"]["on"].setdefault("*", ["2001", "2002", "2003"])
    about.write_text(json.dumps(record))
    data.write_text("\n".join([lines[0], ",".join(wide), *lines[1:]]) + "\n")
    verdict = sv.verify(tmp_path / "out", k=2, m=1)
    assert not verdict.holds
    assert "a fact lies in two of them" in repr(verdict) or verdict.violations
    assert verdict.listed()[0]["overlap"]

    data.write_text("\n".join([lines[0], *lines[2:], lines[1]]) + "\n")
    if lines[1].split(",")[0] != lines[-1].split(",")[0]:
        with pytest.raises(sv.DataError, match=r"line .*: found row"):
            sv.verify(tmp_path / "out", k=2, m=1)
    data.write_text("\n".join(["row,on,code", *lines[1:]]) + "\n")
    with pytest.raises(sv.DataError, match=r"line 1: found 'row,on,code', expected row,code,on"):
        sv.verify(tmp_path / "out", k=2, m=1)
    del record["facts"]["sets"]["code"]["labels"]
    about.write_text(json.dumps(record))
    with pytest.raises(sv.DataError, match="does not say what the parts of facts are"):
        sv.verify(tmp_path / "out", k=2, m=1)


def test_too_many_facts_are_refused() -> None:
    days = [f"2024-{1 + at // 25:02}-{1 + at % 25:02}" for at in range(80)]
    columns = {f"on{at}": days for at in range(5)}
    frame = pl.DataFrame({"who": 1, "code": [f"c{at}" for at in range(80)], **columns})
    with pytest.raises(
        sv.DataError, match=r"80 x 80 x 80 x 80 x 80 x 80 combinations .* more than 2.31 facts"
    ):
        sv.read_facts(frame, id="who", sets="code", when=dict.fromkeys(columns, "day"))


def test_rows_without_facts_and_a_sample() -> None:
    frame = pl.DataFrame({"who": [1, 2, 3, 4], "code": ["a", "a", "", "a"], "on": ["2024-01-01"] * 4})
    facts = sv.read_facts(frame, id="who", sets="code", when={"on": "day"})
    some = facts.rows_at(np.array([0, 2]))
    assert (some.rows(), some.parts.tolist()) == ([("a@2024-01-01",), ()], [[0, 0]])
    tree = product_tree(Generalizing().spaces(facts, [Hierarchy({"a": None})])[0], [0])
    assert isinstance(tree, BoxTree)
    assert tree.labels == ("a@2024-01-01",)


def test_a_line_may_lie_deeper_in_one_branch_than_in_another() -> None:
    """In one branch codes of a period make up k rows, in the other the periods of a code."""
    facts_of = [(code, year) for code in "ab" for year in (2001, 2002, 2003)]
    facts_of += [(code, year) for code in "cdefg" for year in (2001, 2002)]
    lines = [(who, code, year) for who, (code, year) in enumerate(facts_of)]
    frame = pl.DataFrame(lines, schema=["who", "code", "on"], orient="row")
    facts = sv.read_facts(frame, id="who", sets="code", when={"on": "year"})
    tree = sv.Hierarchy.from_paths([[code, "x" if code in "ab" else "y", "*"] for code in "abcdefg"])
    plain = sv.anonymize(facts, k=2, m=1, hierarchy=tree)
    found = sv.anonymize(facts, k=2, m=1, hierarchy=tree, fact_lines=True)
    assert found.utility["lm"] < plain.utility["lm"]
    assert set(found.published.vocabulary.labels) == {
        "x@2001", "x@2002", "x@2003", "c@*", "d@*", "e@*", "f@*", "g@*"
    }  # fmt: skip
    record = found.report["facts"]
    assert record["order"] == "lines"
    assert record["branches"] == [{"label": "x", "depths": [1]}, {"label": "y", "depths": [2]}]
    assert [one["order"] for one in record["orders"]] == ["last", "1", "first"]


def test_lines_are_never_worse() -> None:
    random = Random(21)
    for _ in range(many(40)):
        facts, codes, _ = random_facts(random, 3)
        if facts.filled_rows < 2:
            continue
        plain = sv.anonymize(facts, k=2, m=2, hierarchy=codes)
        found = sv.anonymize(facts, k=2, m=2, hierarchy=codes, fact_lines=True)
        assert found.verdict
        assert found.utility["lm"] <= plain.utility["lm"]
