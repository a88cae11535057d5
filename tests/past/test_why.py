"""Why a label is not split: against trying everything, and as words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from naive import measures
from naive import why as naive
from naive.anonymize import up_from
from naive.km import is_km, violations
from setveil.report.why import change
from setveil.work.past import _attempts, _blame, _naming
from setveil.work.past._blame import smallest_blame
from strategies import COMPILED, Case, cases, examples, random_case, seeded

Image = dict[str, str | None]


def image_of(release: sv.VerifiedRelease) -> Image:
    labels = [*release.recoding.published.labels, None]
    places = zip(release.recoding.items.labels, release.recoding.image.tolist(), strict=True)
    return {item: labels[to] for item, to in places}


def parts_of(one: Mapping[str, Any], image: Image, case: Case, answer: Mapping[str, Any]) -> naive.Parts:
    """Rebuild the labels that an attempt made."""
    name, label, tree = answer["name"], answer["label"], case.parents
    inside = [name] if name in image else naive.under(image, tree, name)
    whole = [item for item, to in image.items() if to == label]
    found: dict[str, naive.Parts] = {
        "children": naive.split(image, tree, name),
        "items": {item: [item] for item in whole},
        "free": naive.free(image, tree, label, name) if one["kind"] == "free" else {},
        "apart": {name: inside, label: [item for item in whole if item not in inside]},
        "back": {name: inside},
        "ancestor": {node: naive.under(image, tree, node) for node in one["parts"]},
    }
    return found[one["kind"]]


def allowed_in(one: Mapping[str, Any], parts: naive.Parts, then: Image, name: str) -> set[str]:
    if one["kind"] in {"children", "items"}:
        return set(parts)
    if one["kind"] == "free" and len(parts) > 2:
        return set(parts) - {name}
    return {to for to in then.values() if to is not None} - {name}


def loss_of(case: Case, image: Image, objective: str) -> float:
    return float({"lm": measures.lm, "ncp": measures.ncp}[objective](case.rows, image))


def is_private(case: Case, image: Image) -> bool:
    return is_km(measures.recode(case.rows, image), case.k, case.m)


def own_names(case: Case, image: Image) -> set[str]:
    occurring = {item for row in case.rows for item in row}
    return {item for item in occurring if image[item] == item}


def check_answer(case: Case, release: sv.VerifiedRelease, name: str) -> dict[str, Any]:
    """Compare an answer with counting and trying everything."""
    image = image_of(release)
    answer = sv.why(release, name, data=case.data, hierarchy=case.tree, show=10_000)
    assert json.loads(json.dumps(answer)) == answer
    objective = answer["objective"]
    assert answer["loss"] == loss_of(case, image, objective) == release.report["utility"].get(objective)
    before = own_names(case, image)
    for one in answer["tries"]:
        parts = parts_of(one, image, case, answer)
        then = naive.changed(image, parts)
        occurring = {item for row in case.rows for item in row}
        assert sorted(one["parts"]) == sorted(p for p, items in parts.items() if occurring & set(items))
        rows = measures.recode(case.rows, then)
        broken = violations(rows, case.k, case.m, sorted({x for row in rows for x in row}))
        assert one["holds"] == (not broken)
        if one["complete"]:
            found = {frozenset(entry["itemset"]): entry["support"] for entry in one["first"]}
            assert one["violations"] == len(broken)
            assert found == {frozenset(itemset): support for itemset, support in broken}
        assert one["new_names"] == len(own_names(case, then) - before)
        assert one["lost_names"] == len(before - own_names(case, then))
        if one["holds"]:
            assert one["loss"] == loss_of(case, then, objective)
            assert change(objective, answer["loss"], one["loss"]) in answer["text"]
            continue
        check_blame(case, one, parts, then, answer)
        check_move(case, one, parts, then, answer)
    return answer


def check_blame(
    case: Case, one: Mapping[str, Any], parts: naive.Parts, then: Image, answer: Mapping[str, Any]
) -> None:
    if one["kind"] == "ancestor":
        assert one["leave_out"] is None
        return
    allowed = allowed_in(one, parts, then, answer["name"])
    least = naive.least_blame(case.rows, then, allowed, case.k, case.m)
    blamed = one["leave_out"]
    assert (blamed is None) == (least is None)
    if blamed is None:
        return
    assert set(blamed["labels"]) <= allowed
    left = naive.without(then, blamed["labels"])
    assert is_private(case, left)
    assert blamed["holds"]
    assert (blamed["items"], blamed["entries"]) == naive.cost(case.rows, then, blamed["labels"])
    assert blamed["smallest"]
    of_parts = one["kind"] in {"children", "items"} or (one["kind"] == "free" and len(parts) > 2)
    assert blamed["among"] == ("parts" if of_parts else "labels")
    assert (blamed["items"], blamed["entries"]) == least
    assert blamed["loss"] == loss_of(case, left, answer["objective"])
    occurrences = Counter(chain.from_iterable(case.rows))
    assert blamed["left_out"] == sum(occurrences[item] for item, to in left.items() if to is None)
    assert change(answer["objective"], answer["loss"], blamed["loss"]) in answer["text"]


def check_move(
    case: Case, one: Mapping[str, Any], parts: naive.Parts, then: Image, answer: Mapping[str, Any]
) -> None:
    move = one["move"]
    if move is None:
        return
    assert move["tried"] > 0
    if not move["holds"]:
        return
    occurring = {item for row in case.rows for item in row}
    blamed = [answer["name"]] if one["kind"] == "back" else one["leave_out"]["labels"]
    items = [item for label in blamed for item in parts[label] if item in occurring]
    assert sorted(move["items"]) == sorted(items)
    left = {**then, **dict.fromkeys(items)}
    joined = [item for item, to in left.items() if to is not None and to == move["to"]]
    assert len(joined) == move["with"]
    moved: Image = {**left, **dict.fromkeys([*joined, *items], "joined")}
    if one["kind"] != "back":
        assert len({moved[item] for part in parts.values() for item in part if item in occurring}) > 1
    assert is_private(case, moved)
    assert move["loss"] == loss_of(case, moved, answer["objective"])
    assert change(answer["objective"], answer["loss"], move["loss"]) in answer["text"]


def names_of(case: Case, release: sv.VerifiedRelease) -> list[str]:
    return list(dict.fromkeys([*release.recoding.published.labels, *case.parents]))


@settings(max_examples=examples(50, 3))
@given(cases(most_leaves=6, most_rows=24), st.sampled_from(["aa", "exact", "mhghs"]))
def test_answers_are_what_trying_everything_finds(case: Case, algorithm: str) -> None:
    if not any(case.rows):
        return
    release = sv.anonymize(case.data, case.guarantee, hierarchy=case.tree, algorithm=algorithm)
    image = image_of(release)
    occurring = {item for row in case.rows for item in row}
    for name in names_of(case, release):
        answer = check_answer(case, release, name)
        inside = [name] if name in image else naive.under(image, case.parents, name)
        images = {image[item] for item in inside}
        if not occurring & set(inside):
            expected = "absent"
        elif name in image and image[name] == name:
            expected = "kept"
        elif name in image.values():
            expected = "split"
        elif images == {None}:
            expected = "back"
        elif images & set(up_from(case.parents, name)[1:]):
            expected = "free"
        else:
            expected = "split already"
        assert answer["question"] == expected


@pytest.mark.exhaustive
def test_the_cases_hold_all_kinds_of_answers() -> None:
    """Check that the comparison above meets all cases."""
    seen = Counter[Any]()
    for seed in (*range(60 if COMPILED else 6), 106):
        case = random_case(seeded(seed), most_leaves=6, most_rows=24)
        for algorithm in ("aa", "exact", "mhghs") if any(case.rows) else ():
            release = sv.anonymize(case.data, case.guarantee, hierarchy=case.tree, algorithm=algorithm)
            for name in names_of(case, release):
                answer = sv.why(release, name, data=case.data, hierarchy=case.tree)
                seen[answer["question"]] += 1
                for one in answer["tries"]:
                    seen[one["kind"], one["holds"]] += 1
                    seen["blamed", min(len((one["leave_out"] or {"labels": ""})["labels"]), 2)] += 1
                    seen["moved", bool(one["move"] and one["move"]["holds"])] += 1
    if COMPILED:
        assert {"absent", "kept", "split", "split already", "free", "back"} <= seen.keys()
        kinds = ("children", "items", "free", "apart", "back", "ancestor")
        assert {(kind, False) for kind in kinds} <= seen.keys()
        assert {("children", True), ("apart", True), ("ancestor", True)} <= seen.keys()
        assert {("blamed", n) for n in range(3)} | {("moved", True)} <= seen.keys()


@pytest.mark.parametrize(("listed", "checks", "proven"), [(2, 30, True), (2, 1, False)])
def test_violations_that_no_list_holds_are_found_by_further_checks(
    monkeypatch: pytest.MonkeyPatch, listed: int, checks: int, proven: bool
) -> None:
    monkeypatch.setattr(_naming, "LISTED", listed)
    monkeypatch.setattr(_attempts, "CHECKS", checks)
    most, unproven = 0, 0
    for seed in range(40 if COMPILED else 4):
        case = random_case(seeded(seed), most_leaves=7, most_rows=30)
        if not any(case.rows):
            continue
        release = sv.anonymize(case.data, case.guarantee, hierarchy=case.tree, algorithm="aa")
        image = image_of(release)
        for name in names_of(case, release):
            answer = sv.why(release, name, data=case.data, hierarchy=case.tree)
            for one in answer["tries"]:
                if not (blamed := one["leave_out"]):
                    continue
                parts = parts_of(one, image, case, answer)
                then = naive.changed(image, parts)
                assert is_private(case, naive.without(then, blamed["labels"]))
                most, unproven = max(most, blamed["checks"]), unproven + (not blamed["smallest"])
                if blamed["smallest"]:
                    allowed = allowed_in(one, parts, then, name)
                    least = naive.least_blame(case.rows, then, allowed, case.k, case.m)
                    assert (blamed["items"], blamed["entries"]) == least
                else:
                    assert "greedily" in answer["text"]
    if COMPILED:
        assert most > 2
        assert (unproven == 0) == proven


label_sets = st.sets(
    st.frozensets(st.sampled_from("abcdefg"), min_size=1, max_size=4), min_size=1, max_size=12
)
costs = st.fixed_dictionaries({x: st.tuples(st.integers(1, 4), st.integers(0, 60)) for x in "abcdefg"})


@settings(max_examples=examples(150, 150))
@given(label_sets, costs)
def test_blame_is_the_least(sets: set[frozenset[str]], price: dict[str, tuple[int, int]]) -> None:
    chosen, proven = smallest_blame(sets, price)
    assert proven
    assert all(one & chosen for one in sets)
    found = tuple(sum(price[label][i] for label in chosen) for i in (0, 1))
    assert found == naive.least_hit(sets, price)
    assert smallest_blame(sorted(sets, key=str), price) == (chosen, True)


@settings(max_examples=examples(100, 100))
@given(label_sets, costs)
def test_greedy_blame_is_needed_to_the_last(
    sets: set[frozenset[str]], price: dict[str, tuple[int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blame, "MOST_SETS", 0)
        chosen, proven = smallest_blame(sets, price)
    assert all(one & chosen for one in sets)
    for label in chosen:
        assert not all(one & chosen - {label} for one in sets)
    found = tuple(sum(price[label][i] for label in chosen) for i in (0, 1))
    least = naive.least_hit(sets, price)
    assert found == least if proven else found >= least


def test_fewer_items_elsewhere_may_do() -> None:
    """Check a result proven among the parts of a label, where one rare item elsewhere would do as well."""
    rows = [["a", "x"], *[["a"], ["b"], ["c"], ["d", "x"], ["x"], ["y"]] * 3]
    paths = [[item, "rare", "goods", "all"] for item in "abc"]
    tree = sv.Hierarchy.from_paths([*paths, ["d", "goods", "all"], ["x", "all"], ["y", "all"]])
    release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=2), hierarchy=tree, algorithm="aa", details=False)
    answer = sv.why(release, "goods", data=rows, hierarchy=tree)
    blamed = answer["tries"][0]["leave_out"]
    assert (blamed["labels"], blamed["items"], blamed["smallest"]) == (["rare"], 3, True)
    assert "\nAmong the parts, fewer items are not enough (proven).\n" in answer["text"]
    image = naive.changed(image_of(release), {"rare": "abc", "d": "d"})
    rare = [frozenset(row) for row in rows]
    assert is_km(measures.recode(rare, naive.without(image, ["x"])), 2, 2)


def test_a_run_that_counted_every_item_once_is_recognized_by_lm() -> None:
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["a"], ["b", "c"]]
    tree = sv.Hierarchy.from_paths([["a", "x", "all"], ["b", "x", "all"], ["c", "y", "all"]])
    release = sv.anonymize(rows, sv.KmAnonymity(3, 2), hierarchy=tree, algorithm=sv.Exact(objective="items"))
    answer = sv.why(release, "b", data=rows, hierarchy=tree)
    assert answer["objective"] == "lm"
    assert answer["loss"] == release.utility["lm"]
