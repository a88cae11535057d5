"""Explain why a box of facts is not split, or a fact is suppressed, compared with trying everything."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import prod
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from fact_cases import some_facts
from naive import measures
from naive import why as naive
from naive.km import is_km, violations
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import COMPILED, examples, seeded

Image = dict[str, str | None]


class Plain:
    """Facts and boxes as texts, and which fact is in which box, by definition."""

    def __init__(self, facts: sv.Facts, codes: Any) -> None:
        several = len(facts.columns) > 1
        self.trees: dict[str, list[Hierarchy]] = {}
        for column in facts.columns:
            own = codes[column.name] if several else codes
            name = f"{column.name}=" if several else ""
            self.trees[name] = [own, *(one.tree for one in column.attributes)]
        self.several = several
        self.rows = [frozenset(row) for row in facts]
        self.occurring = sorted({fact for row in self.rows for fact in row})
        leaves = {
            column: [tree.labels[: tree.n_leaves] for tree in trees] for column, trees in self.trees.items()
        }
        self.all = [column + "@".join(one) for column, parts in leaves.items() for one in product(*parts)]

    def apart(self, text: str) -> tuple[str, list[str]]:
        column, sign, rest = text.partition("=") if self.several else ("", "", text)
        parts = rest.split("@")
        return column + sign, parts + ["*"] * (len(self.trees[column + sign]) - len(parts))

    def holds(self, box: str, fact: str) -> bool:
        (one, nodes), (other, leaves) = self.apart(box), self.apart(fact)
        if one != other:
            return False
        for tree, node, leaf in zip(self.trees[one], nodes, leaves, strict=True):
            at = tree.id(leaf)
            above = {tree.labels[v] for v in (at, *tree.ancestors(at))} | {"*"}
            if node not in above:
                return False
        return True

    def inside(self, box: str) -> list[str]:
        return [fact for fact in self.occurring if self.holds(box, fact)]

    def loss(self, image: Image, objective: str) -> float:
        """Return the loss, LM or NCP, over all facts that boxes represent, also those that do not occur."""
        number = {column: prod(tree.n_leaves for tree in trees) for column, trees in self.trees.items()}
        lost, times = Fraction(0), Counter(fact for row in self.rows for fact in row)
        for fact, count in times.items():
            box, domain = image[fact], number[self.apart(fact)[0]]
            size = domain if box is None else sum(self.holds(box, one) for one in self.all)
            if box is None:
                lost += count
            elif size > 1:
                lost += count * (
                    Fraction(size - 1, domain - 1) if objective == "lm" else Fraction(size, domain)
                )
        return float(lost / sum(times.values()))

    def are_disjoint(self, image: Image) -> bool:
        boxes = {box for box in image.values() if box is not None}
        each = [{one for one in self.all if self.holds(box, one)} for box in boxes]
        return all(a.isdisjoint(b) for a, b in combinations(each, 2))


def boxes_of(plain: Plain) -> list[str]:
    """List every box of every column."""
    return [
        column + "@".join(parts)
        for column, trees in plain.trees.items()
        for parts in product(*(tree.labels for tree in trees))
    ]


def check(plain: Plain, image: Image, answer: dict[str, Any], k: int, m: int) -> None:
    """Compare an answer with counting and trying everything."""
    assert json.loads(json.dumps(answer)) == answer
    assert answer["loss"] == pytest.approx(plain.loss(image, answer["objective"]), abs=1e-12)
    for one in answer["tries"]:
        box = answer["name"] if one["kind"] != "free" else answer["label"]
        if one["kind"] in {"children", "items", "free"}:  # the parts make up the box
            assert sorted(x for part in one["parts"] for x in plain.inside(part)) == sorted(plain.inside(box))
        parts = {part: plain.inside(part) for part in one["parts"]}
        then = naive.changed(image, parts)
        assert plain.are_disjoint(then)
        rows = measures.recode(plain.rows, then)
        broken = violations(rows, k, m, sorted({x for row in rows for x in row}))
        assert one["holds"] == (not broken)
        assert {frozenset(entry["itemset"]): entry["support"] for entry in one["first"]} == {
            frozenset(itemset): support for itemset, support in broken
        }
        if one["holds"]:
            assert one["loss"] == pytest.approx(plain.loss(then, answer["objective"]), abs=1e-12)
            continue
        if one["kind"] == "ancestor":
            continue
        wanted = set(parts) if one["kind"] != "free" else set(parts) - {answer["name"]}
        if one["kind"] == "back":
            wanted = {to for to in then.values() if to is not None} - set(parts)
        least = naive.least_blame(plain.rows, then, wanted, k, m)
        blamed = one["leave_out"]
        assert (blamed is None) == (least is None)
        if blamed is not None:
            left = naive.without(then, blamed["labels"])
            assert is_km(measures.recode(plain.rows, left), k, m)
            assert blamed["holds"]
            assert blamed["smallest"]
            assert (blamed["items"], blamed["entries"]) == least
            assert blamed["loss"] == pytest.approx(plain.loss(left, answer["objective"]), abs=1e-12)


def expected(plain: Plain, image: Image, box: str) -> str:
    inside = plain.inside(box)
    images = {image[fact] for fact in inside}
    if not inside:
        return "absent"
    if box in images:
        return "kept" if inside == [box] else "split"
    if images == {None}:
        return "back"
    (only,) = images if len(images) == 1 else ("",)
    whole = [one for one in plain.all if plain.holds(box, one)]
    return "free" if only and all(plain.holds(only, one) for one in whole) else "split already"


@settings(max_examples=examples(60, 4))
@given(st.randoms(use_true_random=False))
def test_answers_are_what_trying_everything_finds(random: Random) -> None:
    compare(random)


def compare(random: Random) -> Counter[Any]:
    """Compare answers about random facts; count the questions and attempts that they hold."""
    facts, codes = some_facts(random)
    k, m = random.randint(2, 3), random.randint(1, 2)
    algorithm = random.choice(("exact", "aa", "mhghs"))
    promise = sv.KmAnonymity(k=k, m=m)
    seen: Counter[Any] = Counter()
    try:
        release = sv.anonymize(facts, promise, hierarchy=codes, algorithm=algorithm)
    except sv.InfeasibleError:
        return seen
    plain = Plain(settled(facts, k), codes)
    labels = [*release.recoding.published.labels, None]
    image = dict(
        zip(release.recoding.items.labels, (labels[to] for to in release.recoding.image), strict=True)
    )
    for box in random.sample(boxes_of(plain), min(8, len(boxes_of(plain)))) + plain.occurring[:4]:
        answer = sv.why(release, box, data=facts, hierarchy=codes, show=10_000)
        assert answer["question"] == expected(plain, image, box)
        check(plain, image, answer, k, m)
        seen[answer["question"]] += 1
        for one in answer["tries"]:
            seen[one["kind"], one["holds"]] += 1
    return seen


@pytest.mark.exhaustive
def test_the_cases_hold_all_kinds_of_answers() -> None:
    """Check that the comparison above meets all cases."""
    seen = sum((compare(seeded(seed)) for seed in range(40 if COMPILED else 4)), Counter[Any]())
    if COMPILED:
        assert {"absent", "kept", "split", "split already", "free", "back"} <= seen.keys()
        assert {(kind, False) for kind in ("children", "items", "free", "back", "ancestor")} <= seen.keys()
