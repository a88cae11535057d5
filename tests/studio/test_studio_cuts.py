"""Where two releases differ, against a slow twin."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from setveil.studio.cuts import difference, read_recoding

Recoding = dict[str, str | None]


def members(recoding: Recoding, item: str) -> float:
    label = recoding[item]
    return float("inf") if label is None else len([one for one in recoding if recoding[one] == label])


def drawn(rng: Random) -> Recoding:
    return {item: rng.choice(["A", "B", "C", item, item, None]) for item in "abcdefgh"}


@given(st.randoms(use_true_random=False))
def test_every_item_is_told_once_and_on_the_right_side(rng: Random) -> None:
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


def test_the_recoding_of_a_run_is_read(tmp_path: Path) -> None:
    assert read_recoding(tmp_path) is None
    (tmp_path / "internal").mkdir()
    file = tmp_path / "internal" / "recoding.csv"
    file.write_text('item,published\n"a,b",food\nc,\n')
    assert read_recoding(tmp_path) == {"a,b": "food", "c": None}
    file.write_text("row,what\n1,2\n")
    assert read_recoding(tmp_path) is None
    file.write_bytes(b"item,published\n\xff,x\n")
    assert read_recoding(tmp_path) is None
