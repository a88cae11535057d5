"""New codes are placed below the groups that begin them, or that a known system has."""

from __future__ import annotations

import logging
import random

import pytest

from setveil import Hierarchy, KmAnonymity, MissingItemsError, Transactions, anonymize
from setveil.rows.hierarchy.build import by_prefix, by_system, extend
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.placing import groups_of_new

ICD = [
    "E11.9",
    "E11.0",
    "E10.1",
    "E10.9",
    "I10",
    "I11.0",
    "I11.9",
    "J45.0",
    "J45.9",
    "J44.1",
    "K21.0",
    "K21.9",
]


def tree_of(*paths: str) -> Hierarchy:
    return Hierarchy.from_paths([path.split() for path in paths])


def naive(tree: Hierarchy, item: str) -> str | None:
    """Of the groups that begin an item and all leaves below them, the longest."""
    found = []
    for node in range(tree.n_leaves, tree.n_nodes):
        group = tree.labels[node].replace(".", "")
        leaves = [tree.labels[leaf].replace(".", "") for leaf in tree.leaves(node)]
        if node != tree.root and all(code.startswith(group) for code in [*leaves, item.replace(".", "")]):
            found.append(tree.labels[node])
    return max(found, key=len, default=None)


@pytest.mark.parametrize("seed", range(20))
def test_longest_group_that_begins_a_code(seed: int) -> None:
    draw = random.Random(seed)
    codes = sorted({f"{draw.choice('ABC')}{draw.randrange(30):02}.{draw.randrange(4)}" for _ in range(60)})
    known = draw.sample(codes, len(codes) // 2)
    tree = by_prefix(Transactions.from_rows([[code] for code in known]), lengths=[1, 2, 3])
    new = [code for code in codes if code not in known]
    expected = {code: naive(tree, code) for code in new}
    assert groups_of_new(tree, new) == {code: group for code, group in expected.items() if group is not None}


def test_groups_of_a_system_have_its_codes() -> None:
    tree, _ = by_system(Transactions.from_rows([[code] for code in ICD]), "icd10")
    assert groups_of_new(tree, ["E11.5", "I12.9", "J46", "F32.1", "tea"]) == {
        "E11.5": "E11",
        "I12.9": "I10-I19",
        "J46": "J40-J59",
    }


@pytest.mark.parametrize(
    "paths",
    [
        ["tea hot *", "coffee hot *", "beer cold *"],  # words
        ["1 a *", "2 a *", "3 b *", "4 b *"],  # numbers whose groups do not begin them
        ["E11.9 E11 *", "I10 x *", "I11 x *", "I12 x *"],  # few leaves are in groups that begin them
        ["ZZ9.1 ZZ9 *", "tea ZZ9 *", "QQ1.1 QQ1 *"],  # a group with something else in it
    ],
)
def test_other_hierarchies_say_nothing(paths: list[str]) -> None:
    assert groups_of_new(tree_of(*paths), ["E11.5", "ZZ9.2", "teapot", "11", "5"]) == {}


def test_other_spellings_are_no_new_codes() -> None:
    tree = tree_of("E11.9 E11 *", "E11.0 E11 *")
    assert groups_of_new(tree, ["E119", "e11.5", "E115", "e11"]) == {"e11.5": "E11"}
    assert fitted(tree, ["E11.9", "E11.5", "E115"]).paths()[1][:2] in (["E11.5", "E11"], ["E115", "E11"])


def test_releases_and_files_have_the_new_codes(caplog: pytest.LogCaptureFixture) -> None:
    tree = tree_of("E11.9 E11 *", "E11.0 E11 *", "I10 *")
    rows = [["E11.5", "I10"]] * 3 + [["E11.9", "I10"]] * 3
    with caplog.at_level(logging.INFO, "setveil"):
        release = anonymize(rows, KmAnonymity(k=4, m=1), hierarchy=tree)
    assert "1 code that the hierarchy lacks was placed below its group: E11.5 below E11." in caplog.messages
    assert release.published.rows() == [("I10", "E11")] * 6
    assert ["E11.5", "E11", "*"] in extend(tree, Transactions.from_rows(rows)).paths()
    with pytest.raises(MissingItemsError, match="1 of 2 items of the data are not in the hierarchy: 'tea'"):
        anonymize([["E11.5", "tea"]] * 4, KmAnonymity(k=4, m=1), hierarchy=tree)


def test_a_group_that_is_an_item_stays_in_an_extended_file() -> None:
    tree = tree_of("K20.1 K20 *", "K20.9 K20 *")
    assert extend(tree, Transactions.from_rows([["K20", "tea"]])).paths() == [
        ["K20.1", "K20", "*"],
        ["K20.9", "K20", "*"],
        ["tea", "(unlisted)", "*"],
    ]
