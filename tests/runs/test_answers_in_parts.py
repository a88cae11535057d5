"""Measures of rows in parts are the same as in memory."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from setveil.judges.attacker.attack import attack_risk
from setveil.judges.attacker.in_parts import risk_in_parts
from setveil.judges.utility.are import query_errors
from setveil.judges.utility.estimators import estimator_of
from setveil.judges.utility.greatest import found_again, most_frequent_pairs
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.kernels.count import cell_offsets, members_of_cells
from setveil.kernels.rows import frozen
from setveil.releases.published.counts import Counts
from setveil.releases.published.recoding import Recoding, recode
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.tabled import TabledRows
from setveil.runs._answers_in_parts import answers_in_parts, drawn_queries, surviving_in_parts
from strategies import Case, cut_up, examples, random_case, seeded


def in_parts(data: Transactions, folder: Path) -> RowsOnDisk:
    folder.mkdir()
    pieces = cut_up(data, range(0, data.n_rows, 3))
    return RowsOnDisk.write(folder, pieces, data.vocabulary)


def random_recoding(case: Case, rng: Random) -> Recoding:
    """Draw a cut, and suppress some of its nodes."""
    tree, cut, open_ = case.tree, [], [case.tree.root]
    while open_:
        node = open_.pop()
        if node < tree.n_leaves or rng.random() < 0.4:
            cut.append(node)
        else:
            open_ += tree.children(node)
    return Recoding.from_cut(tree, cut, [node for node in cut if rng.random() < 0.2])


def shown(parts: RowsOnDisk, made: Recoding) -> TabledRows:
    """Look at the rows in parts as they are published, by the labels that some row shows."""
    image = made.image_of(parts.vocabulary)
    used = np.unique(image[(image >= 0) & (parts.supports() > 0)])
    place = np.full(len(made.published) + 1, -1, np.int32)
    place[used] = np.arange(used.size)
    labels = Vocabulary(made.published.labels[at] for at in used.tolist())
    return TabledRows(parts, labels, frozen(place[image], np.int32))


def about(found: Any) -> Any:
    """Compare numbers except for the last digits of sums."""
    return pytest.approx(found, rel=1e-9)


def require_same_risk(rows: TabledRows, expected: dict[str, Any], sizes: list[int]) -> None:
    found = risk_in_parts(rows, sizes, expected["thresholds"])
    assert found.keys() == expected.keys()
    for key in ("rows", "empty_rows", "revealing"):
        assert found[key] == expected[key]
    for ours, theirs in zip(found["risk"], expected["risk"], strict=True):
        assert ours.pop("probability") == about(theirs.pop("probability"))
        assert ours.pop("rows_below") == about(theirs.pop("rows_below"))
        assert ours == theirs


def test_as_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(31)
    paired = kept = 0
    for number in range(examples(120, 25)):
        case = random_case(rng, most_rows=30)
        data, made = case.data, random_recoding(case, rng)
        monkeypatch.setattr("setveil.rows.engine.parts.OF_A_PART", rng.randint(1, 20))
        monkeypatch.setattr("setveil.rows.engine.rows.AT_ONCE", rng.randint(1, 9))
        monkeypatch.setattr("setveil.judges.utility.greatest._CELLS", rng.randint(1, 9))
        monkeypatch.setattr("setveil.runs._answers_in_parts._CELLS", rng.randint(1, 9))
        parts = in_parts(data, tmp_path / str(number))
        published = recode(data, made)
        before, after = TabledRows.of(parts), shown(parts, made)
        sizes, thresholds = rng.choice([[1], [2], [1, 2]]), rng.choice([[2, 5, 10], [3, 4]])
        for rows, whole in ((before, data), (after, published)):
            assert (rows.n_rows, rows.filled_rows) == (whole.n_rows, whole.filled_rows)
            assert rows.n_occurrences == whole.n_occurrences
            require_same_risk(rows, attack_risk(whole, sizes=sizes, thresholds=thresholds), sizes)

        threshold, longest = rng.randint(1, 6), rng.randint(1, 3)
        itemsets = surviving_itemsets(data, published, threshold, max_length=longest)
        assert surviving_in_parts(before, after, threshold, longest) == itemsets
        kept += bool(itemsets["kept"])

        counts = None
        if rng.random() < 0.5:
            counts = Counts.of(data, made, 2, filled=published.filled_rows)
        found = answers_in_parts(
            before, after, made, counts, queries=20, top=5, threshold=threshold, longest=longest
        )
        if not data.n_occurrences:
            assert found == {}
            continue
        size = min(int(data.row_lengths().max()), 2)
        estimator = estimator_of(published, made, counts)
        queries = [
            tuple(data.vocabulary.labels[item] for item in query)
            for query in drawn_queries(before, 20, size).tolist()
        ]
        alone = query_errors(data, published, made.members(), queries)
        expected = {**alone.as_dict(), "size": size}
        if counts is not None:
            off = np.abs(estimator.answers(queries).estimate / alone.actual - 1)
            expected |= {"mean": off.mean(), "sd": off.std(), "median": np.median(off)}
            from_rows = found["are"].pop("from_rows")
            assert from_rows == about({"mean": alone.mean, "sd": alone.sd, "median": alone.median})
        assert found["are"].pop("estimator") == ("uniform" if counts is None else "maximum entropy")
        assert found["are"] == about(expected)
        assert found["itemsets"] == itemsets
        assert ("pairs" in found) == (size == 2)
        paired += size == 2
        if size == 2:
            assert most_frequent_pairs(before, 7) == most_frequent_pairs(data, 7)
            assert found["pairs"] == about(found_again(data, estimator, 5))
    assert min(paired, kept) > 5


def test_rows_of_one_item(tmp_path: Path) -> None:
    data = Transactions.from_rows([["a"], ["a"], ["b"], []])
    rows = TabledRows.of(in_parts(data, tmp_path / "rows"))
    same = Recoding(data.vocabulary, data.vocabulary, frozen(np.arange(2), np.int32), 2)
    found = answers_in_parts(rows, rows, same, None, queries=4, top=5, threshold=2, longest=3)
    assert found.keys() == {"are", "itemsets"}
    assert (found["are"]["size"], found["are"]["mean"]) == (1, 0)
    nothing = TabledRows.of(in_parts(data[3:], tmp_path / "empty"))
    assert answers_in_parts(nothing, nothing, same, None, queries=4, top=5, threshold=2, longest=3) == {}
    for some, whole in ((rows, data), (nothing, data[3:])):
        for sizes in ([1], [2], [1, 2]):
            require_same_risk(some, attack_risk(whole, sizes=sizes), sizes)


def test_queries_are_drawn_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setveil.runs._answers_in_parts._CELLS", 2)
    data = Transactions.from_rows([["a", "b", "c"], ["b", "c"], ["b", "c"], ["d"], ["a", "e"]])
    rows = TabledRows.of(in_parts(data, tmp_path / "rows"))
    drawn = Counter(map(tuple, drawn_queries(rows, 4000, 2).tolist()))
    assert set(drawn) == {(0, 1), (0, 2), (0, 4), (1, 2)}
    assert min(drawn.values()) > 850
    single = Counter(map(tuple, drawn_queries(rows, 5000, 1).tolist()))
    assert set(single) == {(item,) for item in range(5)}
    assert min(single.values()) > 850
    assert (drawn_queries(rows, 9, 2, seed=1) == drawn_queries(rows, 9, 2, seed=1)).all()
    assert not (drawn_queries(rows, 9, 2, seed=1) == drawn_queries(rows, 9, 2, seed=2)).all()


def test_supports_of_sets(tmp_path: Path) -> None:
    data = Transactions.from_rows([["a", "b"], ["b"], [], ["a", "b", "c"]])
    rows = TabledRows.of(in_parts(data, tmp_path / "rows"))
    sets: list[list[int]] = [[], [0], [1], [0, 1], [1, 2], [0, 7], [9]]
    ends = frozen(np.cumsum([0, *map(len, sets)]), np.int64)
    found = rows.supports_of_sets(ends, frozen(np.array(list(chain(*sets))), np.int32))
    assert found.tolist() == [4, 2, 3, 2, 1, 0, 0]


def test_itemsets_that_fit_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Transactions.from_rows([["a", "b", "c"], ["a", "b", "c", "d"], ["d", "a"]])
    rows = TabledRows.of(in_parts(data, tmp_path / "rows"))
    monkeypatch.setattr("setveil.kernels.count.MOST_CELLS", 4)
    found = surviving_in_parts(rows, rows, 2, 3)
    assert (found["max_length"], found["frequent"], found["kept"]) == (1, 4, 4)
    assert surviving_in_parts(rows, rows, 3, 3)["max_length"] == 3


def test_members_of_cells() -> None:
    for n in range(1, 8):
        for size in range(1, min(n, 3) + 1):
            offsets = cell_offsets(n, size)
            sets = members_of_cells(np.arange(comb(n, size)), n, size)
            assert sorted(map(tuple, sets.tolist())) == list(combinations(range(n), size))
            assert offsets[np.arange(size), sets].sum(axis=1).tolist() == list(range(comb(n, size)))
