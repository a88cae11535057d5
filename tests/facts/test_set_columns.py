"""Facts of several columns: read, verified and cut with one m for all, or one for each column."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from naive import facts as naive
from setveil.base.progress import silent
from setveil.base.values.per_column import PerColumn, column_of
from setveil.methods.algorithms.exact import _search
from setveil.rows.facts.generalizing import Generalizing
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.boxes import BoxTree, forest, product_tree
from strategies import many

Line = tuple[str, str, str, str, str]  # who, code, drug, on, price
BOUNDS = ["0", "5", "20"]


def random_lines(random: Random, most: int = 12) -> list[Line]:
    """Draw lines, some without a code, a drug, or both; codes and drugs share names."""
    days = [f"20{random.choice((20, 24))}-{random.randint(1, 12):02}-15" for _ in range(3)]
    lines = [
        (
            random.choice("pqrst"), random.choice(["a", "b", "c", "a;c", ""]),
            random.choice(["a", "x", "y", ""]), random.choice([*days, ""]),
            random.choice(["1", "2.5", "7", "40", ""]),
        )
        for _ in range(random.randint(1, most))
    ]  # fmt: skip
    return [*lines, ("p", "a", "x", days[0], "3")]


def frame_of(lines: list[Line], columns: list[str] | None = None) -> pl.DataFrame:
    frame = pl.DataFrame(lines, schema=["who", "code", "drug", "on", "price"], orient="row")
    return frame.select(columns or frame.columns)


def read(lines: list[Line], columns: list[str] | None = None) -> sv.Facts:
    return sv.read_facts(
        frame_of(lines, columns), id="who", sets=["code", "drug"], when=["on:quarter"],
        amount=[f"drug=price:{','.join(BOUNDS)}"],
    )  # fmt: skip


def test_reading_matches_one_line_after_the_other() -> None:
    random = Random(31)
    for _ in range(many(200)):
        lines = random_lines(random)
        found = read(lines)
        codes = naive.read(
            [(who, code, on, "1") for who, code, _, on, _ in lines], "quarter", "lines", BOUNDS
        )
        drugs = naive.read(
            [(who, drug, on, price) for who, _, drug, on, price in lines], "quarter", "sum", BOUNDS
        )
        expected = [
            {f"code={fact.rpartition('@')[0]}" for fact in of_code} | {f"drug={fact}" for fact in of_drug}
            for of_code, of_drug in zip(codes, drugs, strict=True)
        ]
        assert [set(row) for row in found] == expected
        shuffled = read(
            random.sample(lines, len(lines)), random.sample(["who", "code", "drug", "on", "price"], 5)
        )
        both = [
            dict(zip(one.vocabulary.labels, one.supports().tolist(), strict=True))
            for one in (found, shuffled)
        ]
        assert both[0] == both[1]  # whatever the order of lines and columns


def test_each_fact_knows_its_column() -> None:
    facts = read(random_lines(Random(1)))
    assert [one.name for one in facts.columns] == ["code", "drug"]
    for item, label in enumerate(facts.vocabulary.labels):
        column = facts.columns[facts.column[item]]
        assert label == f"{column.name}={facts.text(item)}"
        assert facts.text(item).partition("@")[0] == column.codes[facts.parts[item, 0]]
    alone = facts.of_column(1)
    assert alone.rows() == [tuple(x[5:] for x in row if x.startswith("drug=")) for row in facts.rows()]
    assert alone.part_names == ("drug", "on", "price")
    assert [set(row) for row in facts.codes_alone()] == [{x.partition("@")[0] for x in row} for row in facts]
    with pytest.raises(sv.RequestError, match="one column of codes"):
        _ = facts.part_names


COLUMNS = {"code": "abcd", "drug": "axy", "place": "mn"}


def random_rows(random: Random, columns: Mapping[str, str], most: int = 5) -> list[list[str]]:
    labels = [f"{name}={x}" for name, some in columns.items() for x in some]
    rows = [
        random.sample(labels, random.randint(0, min(most, len(labels)))) for _ in range(random.randint(1, 9))
    ]
    return [row for row in rows for _ in range(random.choice((1, 1, 2, 3)))]


def test_the_verdict_by_own_ms_matches_counting_all_sets() -> None:
    random, met = Random(32), 0
    for _ in range(many(400)):
        rows = random_rows(random, COLUMNS)
        most = {name: random.randint(1, 3) for name in COLUMNS}
        k = random.randint(2, 4)
        found: Any = sv.verify(rows, sv.KmAnonymity(k=k, m=most), show=1000)
        supports = naive.supports_of_each([frozenset(row) for row in rows], most)
        rare = {tuple(sorted(some)): number for some, number in supports.items() if number < k}
        assert found.holds == (not rare)
        assert found.violations == len(rare)
        assert {tuple(sorted(some)): number for some, number in found.first} == rare
        assert found.greatest_k == min(supports.values(), default=None)
        met += bool(rare) and len(rare) < len(supports)
    assert met


def test_which_promise_implies_which() -> None:
    random, met = Random(33), [0, 0, 0]
    for _ in range(many(400)):
        rows = random_rows(random, {"code": "ab", "drug": "xy"}, 3)
        most = {name: random.randint(1, 2) for name in ("code", "drug")}
        holds = sv.verify(rows, sv.KmAnonymity(k=2, m=most)).holds
        for_all = sv.verify(rows, k=2, m=sum(most.values())).holds
        least = sv.verify(rows, k=2, m=min(most.values())).holds
        assert holds or not for_all
        assert least or not holds
        alone = all(
            sv.verify([[x for x in row if column_of(x) == name] for row in rows], k=2, m=number).holds
            for name, number in most.items()
        )
        assert alone or not holds
        met[0] += holds and not for_all
        met[1] += least and not holds
        met[2] += alone and not holds  # columns that are each safe, but not together
    assert all(met)


def random_case(random: Random) -> tuple[sv.Facts, dict[str, sv.Hierarchy]]:
    while True:
        lines = [
            (
                random.randint(1, 7),
                random.choice("abc"),
                random.choice(["a", "x", ""]),
                random.choice(("2001", "2002")),
            )
            for _ in range(random.randint(4, 14))
        ]
        frame = pl.DataFrame(lines, schema=["who", "code", "drug", "on"], orient="row")
        frame = frame.with_columns(pl.col("drug").str.strip_chars())
        if frame["drug"].str.len_chars().sum() and frame["who"].n_unique() >= 2:
            break
    facts = sv.read_facts(frame, id="who", sets=["code", "drug"], when=["code=on:year"])
    codes = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "*"]]
    drugs = [["a", "*"], ["x", "*"]]
    return facts, {"code": sv.Hierarchy.from_paths(codes), "drug": sv.Hierarchy.from_paths(drugs)}


def parents_of(tree: BoxTree) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for v, label in enumerate(tree.labels):
        if v != tree.root:
            up = int(tree.parent[v])
            found.setdefault(column_of(label), {})[label] = None if up == tree.root else tree.labels[up]
    return found


def test_the_optimum_of_columns_is_the_best_of_all_cuts() -> None:
    random, cheaper = Random(34), 0
    for _ in range(many(60)):
        facts, trees = random_case(random)
        facts = settled(facts, 2)
        most = {"code": random.randint(1, 2), "drug": 1}
        losses = []
        for m in (most, sum(most.values())):
            release = sv.anonymize(
                facts, k=2, m=m, hierarchy=trees, fact_order=random.choice(("first", "last"))
            )
            tree = release.release.recoding.tree
            expected = naive.least_loss_of_columns(
                [frozenset(row) for row in facts], parents_of(tree),
                dict(zip(tree.labels, tree.leaf_counts.tolist(), strict=True)),
                {space.column: space.number for space in tree.spaces}, 2, m,
            )  # fmt: skip
            assert release.utility["lm"] == pytest.approx(float(expected), abs=1e-9)
            assert release.report["optimality"]["proven"]
            losses.append(expected)
            shown = [frozenset(row) for row in release.published]
            assert all({*map(column_of, row)} <= {"code", "drug"} for row in shown)
        cheaper += losses[0] < losses[1]
    assert cheaper


@pytest.mark.parametrize("algorithm", ["aa", "da", "hghs", "mhghs", "exact"])
def test_releases_by_own_ms_hold_and_are_read_back(algorithm: str, tmp_path: Path) -> None:
    random, refused = Random(35), 0
    most = {"code": 2, "drug": 1}
    for number in range(many(12)):
        facts, trees = random_case(random)
        try:
            release = sv.anonymize(
                facts, sv.KmAnonymity(k=2, m=most), hierarchy=trees, algorithm=algorithm, fact_order="last"
            )
        except sv.InfeasibleError as error:
            assert algorithm in ("aa", "da")
            assert "no label represents items of two" in str(error)  # noqa: PT017
            refused += 1
            continue
        rows = [frozenset(row) for row in release.published]
        assert min(naive.supports_of_each(rows, most).values(), default=2) >= 2
        folder = tmp_path / str(number)
        release.write(folder)
        verdict: Any = sv.verify(folder, k=2, m=most)
        assert verdict.holds
        assert verdict.as_dict() == release.verdict.as_dict()
        record = json.loads((folder / "published/about.json").read_text())
        assert record["guarantee"]["m"] == most
        assert {name: one["m"] for name, one in record["facts"]["sets"].items()} == most


def test_the_files_of_two_columns_with_one_item_name(tmp_path: Path) -> None:
    lines = [(who, code, drug, "2024-01-03", "7") for who, code, drug in ("1aa", "2aa", "3ab", "4ab")]
    release = sv.anonymize(read(lines), k=2, m={"code": 1, "drug": 1})
    release.write(tmp_path / "out")
    shown = (tmp_path / "out/published/data.csv").read_text().splitlines()
    assert shown[0] == "row,set,item,on,price"
    assert sorted(line.partition(",")[2] for line in shown[1:]) == [
        *["code,a,2024-Q1,"] * 4, *['drug,a,2024-Q1,"[5,20)"'] * 2, *['drug,b,2024-Q1,"[5,20)"'] * 2
    ]  # fmt: skip
    inside = (tmp_path / "out/internal/recoding.csv").read_text().splitlines()
    assert inside == [
        "set,item,published", "code,a@2024-Q1,a@2024-Q1", 'drug,"a@2024-Q1@[5,20)","a@2024-Q1@[5,20)"',
        'drug,"b@2024-Q1@[5,20)","b@2024-Q1@[5,20)"',
    ]  # fmt: skip
    assert release.report["facts"]["kept"] == {
        "code": 1.0, "on of code": 1.0, "drug": 1.0, "on of drug": 1.0, "price of drug": 1.0
    }  # fmt: skip
    changed = tmp_path / "out/published/data.csv"
    changed.write_text("\n".join([shown[0], "0,place,a,2024-Q1,", *shown[1:]]) + "\n")
    with pytest.raises(sv.DataError, match=r"found '0,place,a,2024-Q1,', expected 5 values of one of"):
        sv.verify(tmp_path / "out", k=2, m=1)
    changed.write_text("\n".join([shown[0], "0,code,a,2024-Q1,7", *shown[1:]]) + "\n")
    with pytest.raises(sv.DataError, match="line 2: found"):
        sv.verify(tmp_path / "out", k=2, m=1)


def test_overlaps_are_looked_for_in_each_column(tmp_path: Path) -> None:
    lines = [(str(who), "a", "x", "2024-01-03", "7") for who in range(4)]
    sv.anonymize(read(lines), k=2, m=2).write(tmp_path / "out")
    data, about = tmp_path / "out/published/data.csv", tmp_path / "out/published/about.json"
    record = json.loads(about.read_text())
    record["facts"]["sets"]["drug"]["labels"]["drug"]["*"] = ["x", "y"]
    about.write_text(json.dumps(record))
    shown = data.read_text().splitlines()
    wide = [f'{who},drug,*,2024-Q1,"[5,20)"' for who in range(4)]
    data.write_text("\n".join([shown[0], *sorted([*shown[1:], *wide])]) + "\n")
    verdict = sv.verify(tmp_path / "out", k=2, m=2)
    assert not verdict.holds
    assert verdict.listed()[0]["overlap"] == ["drug=*@2024-Q1@[5,20)", "drug=x@2024-Q1@[5,20)"]


def test_what_is_refused() -> None:
    facts = read(random_lines(Random(1)))

    def refused(match: str, m: Mapping[str, int] | int, **more: Any) -> None:
        with pytest.raises(sv.RequestError, match=match):
            sv.anonymize(facts, k=2, m=m, **more)

    refused("m is not said of column 'drug'", {"code": 2})
    refused(
        "m is said of 'place', which is no column of codes; there are 'code', 'drug'", {"place": 1, "code": 1}
    )
    refused("m of column 'drug' must be an integer of at least 1, got 0", {"code": 2, "drug": 0})
    refused("of which column of codes the hierarchy is", 2, hierarchy=sv.Hierarchy({"a": None}))
    refused("given for 'place', which is no column", 2, hierarchy={"place": sv.Hierarchy({"a": None})})
    with pytest.raises(sv.RequestError, match="'tea'"):
        sv.verify([["tea"], ["tea"]], sv.KmAnonymity(k=2, m={"code": 1}))
    with pytest.raises(sv.RequestError, match="is given twice"):
        sv.read_facts(frame_of([]), id="who", sets=["code:m=2", "code:m=1"])
    with pytest.raises(sv.RequestError, match="m is said of 'code', but not of 'drug'"):
        sv.read_facts(frame_of([]), id="who", sets={"code": {"m": 2}, "drug": {}})
    with pytest.raises(sv.RequestError, match="'place' is no column of codes; there is 'code', 'drug'"):
        sv.read_facts(frame_of([]), id="who", sets=["code", "drug"], when=["place=on:month"])
    with pytest.raises(sv.RequestError, match="columns of codes of one sort"):
        sv.read_facts(frame_of([]), id="who", sets=["code", "drug"], item_columns="code")
    with pytest.raises(sv.RequestError, match="'code' is named twice"):
        sv.read_facts(frame_of([]), id="who", sets=["code", "drug"], when={"code": "month"})


def test_one_column_takes_its_m_by_name() -> None:
    frame = frame_of([("1", "a", "", "", ""), ("2", "a", "", "", "")])
    facts = sv.read_facts(frame, id="who", sets={"code": {"m": 3}})
    assert facts.m == 3
    assert sv.anonymize(facts, k=2).report["guarantee"]["m"] == 3
    assert sv.anonymize(facts, k=2, m={"code": 1}).report["guarantee"]["m"] == 1


def test_so_many_of_each_column() -> None:
    m = PerColumn({"code": 2, "drug": 1})
    assert (int(m), m.each, f"{m}") == (3, {"code": 2, "drug": 1}, "2 of code, 1 of drug")
    assert pickle.loads(pickle.dumps(m)) == m  # noqa: S301
    assert m != PerColumn({"code": 1, "drug": 2})
    assert m != 3
    assert sv.KmAnonymity(k=2, m=m) == sv.KmAnonymity(k=2, m={"code": 2, "drug": 1})
    assert sv.KmAnonymity(k=2, m=m).up_to(1).m == PerColumn({"code": 1, "drug": 1})


def test_so_many_facts_of_a_row_are_drawn() -> None:
    random = Random(36)
    shares = dict.fromkeys("abc", 0)
    for seed in range(many(60)):
        lines = random_lines(random, 30)
        facts = read(lines)
        number = random.randint(1, 4)
        some = facts.at_most(number, seed)
        for row, kept in zip(facts, some, strict=True):
            assert set(kept) <= set(row)
            assert len(kept) == min(number, len(row))
        assert some.left_out == facts.n_occurrences - some.n_occurrences
        assert facts.at_most(number, seed).rows() == some.rows()
        half = facts.rows_at(np.arange(facts.n_rows // 2))
        assert half.at_most(number, seed).rows() == some.rows()[: half.n_rows]  # a row decides for itself
        three = sv.read_facts(
            pl.DataFrame({"who": ["p"] * 3, "code": list("abc")}), id="who", sets="code", most=1, seed=seed
        )
        shares[three.rows()[0][0]] += 1
    assert all(shares.values())  # each may be drawn
    record = sv.anonymize(some, k=1 + (some.n_rows > 1), m=1, counts=False).report["facts"]
    assert (record["most_facts"], record["facts_left_out"]) == (number, some.left_out)


def test_a_column_without_facts_in_the_rows_that_are_taken() -> None:
    lines = [(str(who), "a", "x" if who == 3 else "", "2024-01-03", "1") for who in range(4)]
    some = read(lines).rows_at(np.arange(3))
    for m in (1, {"code": 1, "drug": 1}):
        release = sv.anonymize(some, k=2, m=m)
        assert release.published.rows() == [("code=a@2024-Q1",)] * 3


def test_what_is_too_rare_is_decided_together_and_loses_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    random, merged, smaller = Random(38), 0, 0
    while merged < many(40):
        facts, trees = random_case(random)
        k, most = random.choice((2, 3)), {"code": random.randint(1, 2), "drug": 1}
        if facts.filled_rows < k:
            continue
        spaces = Generalizing().spaces(facts, list(trees.values()))
        tree = forest([product_tree(space, [space.trees[0].root]) for space in spaces])
        guarantee = sv.KmAnonymity(k=k, m=most)
        search = _search.Search(facts, tree, guarantee, sv.Exact(), silent)
        assert search.merged is not None
        merged += bool(search.merged.members)
        smaller += search.tree.n_leaves < facts.n_items
        found, (_, suppressed) = search.run(), search.published()
        with monkeypatch.context() as patch:
            patch.setattr(_search, "_merges", lambda *args: False)
            plain = _search.Search(facts, tree, guarantee, sv.Exact(), silent)
            assert plain.merged is None
            assert plain.run()["loss"] == found["loss"]
        assert found["proven"]
        # merged items are suppressed all together
        for one in search.merged.members.values():
            assert len({tree.id(label) in suppressed for label in one}) == 1
    assert smaller
