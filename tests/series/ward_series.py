"""A ward in spring and summer, as a series, for the tests of series."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv

TREE = sv.Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]])
FIRST = {"ann": ["a", "c"], "bob": ["a", "c"], "cid": ["b"], "dee": ["b"], "eva": ["b"]}
SECOND = {"ann": ["a"], "bob": ["c"], "cid": ["b"], "dee": ["b", "d"], "fay": ["a"], "gus": ["d"]}
SO_FAR = {"ann": ["a", "c"], "bob": ["a", "c"], "cid": ["b"], "dee": ["b", "d"], "eva": ["b"],
          "fay": ["a"], "gus": ["d"]}  # fmt: skip


def begun(tmp_path: Path, **how: Any) -> sv.Series:
    return sv.Series.create(tmp_path / "ward", **{"k": 2, "m": 1, **how})


def with_first(tmp_path: Path, **how: Any) -> sv.Series:
    series = begun(tmp_path, **how)
    series.add(FIRST, name="q1", out=tmp_path / "q1", hierarchy=TREE)
    return series


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refused(
    tmp_path: Path, kind: type[sv.SetveilError], call: Callable[[], object], *words: str
) -> sv.SetveilError:
    """Expect an error with a hint, and a disk as it was."""
    before = everything(tmp_path)
    with pytest.raises(kind) as caught:
        call()
    assert everything(tmp_path) == before
    assert [path.name for path in tmp_path.rglob(".*")] == []
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert caught.value.hint
    return caught.value
