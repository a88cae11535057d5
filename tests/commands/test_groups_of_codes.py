"""Groups of codes and misspelled items are no unlisted items: no bound is given that is not theirs."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil


def rows() -> list[list[str]]:
    rng = Random(2)
    codes = [f"{letter}{10 + at}.{digit}" for letter in "EI" for at in range(4) for digit in range(4)]
    weights = [1 / (at % 16 + 1) ** 1.5 for at in range(len(codes))]
    drawn = [sorted({*rng.choices(codes, weights, k=rng.randint(1, 4))}) for _ in range(400)]
    return [[*row, f"E10.{5 + at}x"] if at < 4 else row for at, row in enumerate(drawn)]


ROWS = rows()
LISTED = sorted({code for row in ROWS for code in row})


@cache
def release(kind: str) -> Any:
    tree = sv.Hierarchy.from_paths([[code, code[:3], code[0], "*"] for code in LISTED])
    algorithm: Any = sv.Classes(3) if kind == "classes" else "exact"
    return sv.anonymize(ROWS, k=5, m=2, hierarchy=tree, algorithm=algorithm)


def true_number(names: list[str]) -> int:
    return sum(all(any(code.startswith(name) for code in row) for name in names) for row in ROWS)


@pytest.mark.parametrize("kind", ["rows", "classes"])
@pytest.mark.parametrize(
    "names",
    [["E"], ["E", "I"], ["E11"], ["E11", "I12"], ["E10.0", "I12"], ["E13", "E10.1"], ["e11"], ["E10.0", "E"]],
)
def test_groups_are_answered_as_such_or_not_at_all(kind: str, names: list[str]) -> None:
    refused, answer = None, None
    try:
        answer = sv.query(release(kind), [names])[0]
    except sv.DataError as error:
        refused = error.message
    if answer is None:
        assert "begins codes" in str(refused) or "is a label" in str(refused)
        return
    assert answer.least <= true_number([name.upper() for name in names]) <= answer.greatest
    assert not answer.unlisted


@pytest.mark.parametrize("kind", ["rows", "classes"])
def test_two_names_in_one_text_are_two(kind: str, tmp_path: Any) -> None:
    release(kind).write(tmp_path / "out")
    both = setveil("query", tmp_path / "out", "E10.0 and I10.0").ok().out
    assert both == setveil("query", tmp_path / "out", "E10.0,I10.0").ok().out
    misspelled = setveil("query", tmp_path / "out", "E10.0 and insulin").ok().out
    assert "Not listed, so rare or no items: insulin." in misspelled
    for text in ("E and I", "E11 and I"):
        refused = setveil("query", tmp_path / "out", text)
        assert refused.code == 4, refused
        assert "begins codes" in refused.err or "is a label" in refused.err


def test_an_item_that_is_not_listed_has_few_rows() -> None:
    answer = sv.query(release("rows"), [["E10.5x"]])[0]
    assert answer.unlisted == ("E10.5x",)
    assert answer.least <= 1 <= answer.greatest < 5
