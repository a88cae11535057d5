"""The differences between two releases, compared with a slow twin."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from setveil.studio.cuts import difference

Recoding = dict[str, str | None]


def members(recoding: Recoding, item: str) -> float:
    label = recoding[item]
    return float("inf") if label is None else len([one for one in recoding if recoding[one] == label])


def drawn(rng: Random) -> Recoding:
    return {item: rng.choice(["A", "B", "C", item, item, None]) for item in "abcdefgh"}


@given(st.randoms(use_true_random=False))
def test_every_item_is_listed_once_and_on_the_right_side(rng: Random) -> None:
    first, second = drawn(rng), drawn(rng)
    found = difference(first, second)
    wide = {item: (members(first, item), members(second, item)) for item in first}
    assert found.same == sum(first[i] == second[i] and wide[i][0] == wide[i][1] for i in first)
    assert found.other == sum(first[i] != second[i] and wide[i][0] == wide[i][1] for i in first)
    for parts, more, less, better in (
        (found.first, first, second, [i for i in first if wide[i][0] < wide[i][1]]),
        (found.second, second, first, [i for i in first if wide[i][1] < wide[i][0]]),
    ):
        assert {part.name for part in parts} == {less[i] for i in better}
        assert [part.items for part in parts] == sorted((part.items for part in parts), reverse=True)
        for part in parts:
            inside = [more[i] for i in better if less[i] == part.name]
            assert part.items == len(inside)
            assert dict(part.inside) == {name: inside.count(name) for name in inside}
