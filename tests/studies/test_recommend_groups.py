"""Other groups are offered if they halve the loss, and the command that makes them works."""

from __future__ import annotations

import json
import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.report.recommend.page import advice_html
from setveil.report.recommend.text import advice_text

pytestmark = pytest.mark.usefixtures("forked_workers")

# Each group below a chapter has one frequent item and rare ones: all become one label, or are suppressed.
FREQUENT = [f"f{at}" for at in range(6)]
RARE = [f"r{at}" for at in range(18)]
PATHS = [[item, f"g{at % 6}", f"c{at % 6 % 2}", "*"] for at, item in enumerate([*FREQUENT, *RARE])]
ROWS = 2 * [list(some) for n in (2, 3, 4) for some in combinations(FREQUENT, n)]
ROWS += [[one] for one in RARE for _ in range(2)]


def files(folder: Path, paths: list[list[str]]) -> None:
    (folder / "rows.csv").write_text("".join(",".join(row) + "\n" for row in ROWS), encoding="utf-8")
    (folder / "tree.csv").write_text("".join(";".join(path) + "\n" for path in paths), encoding="utf-8")


def test_groups_that_halve_the_loss_are_offered(tmp_path: Path) -> None:
    files(tmp_path, PATHS)
    words = ["rows.csv", "--format", "basket", "-H", "tree.csv", "--k", "3", "--m", "1", "--json"]
    found = json.loads(setveil("recommend", *words, cwd=tmp_path).ok().out)
    offered: dict[str, Any] = found["regrouping"]
    assert offered["complete"]
    assert 2 * offered["loss"] <= found["best"]["loss"]
    text = advice_text(found)
    assert "The groups matter more than the method" in text
    assert offered["command"] in text
    assert "regrouped.csv" in advice_html(found)
    setveil(*shlex.split(offered["command"])[1:], cwd=tmp_path).ok()
    tree = sv.read_hierarchy(tmp_path / "regrouped.csv")
    release = sv.anonymize(ROWS, k=3, m=1, hierarchy=tree, details=False)
    assert release.report["utility"]["lm"] == pytest.approx(offered["loss"])
    chapters = {path[0]: path[-2] for path in tree.paths()}
    assert chapters == {path[0]: path[2] for path in PATHS}  # nodes above the new groups stay


def test_groups_that_are_as_good_are_not_offered() -> None:
    alike = [[item, f"rare{at % 2}", "*"] for at, item in enumerate(RARE)]
    alike += [[item, "frequent", "*"] for item in FREQUENT]
    found = sv.recommend(ROWS, k=3, m=1, hierarchy=sv.Hierarchy.from_paths(alike))
    assert "regrouping" not in found


@pytest.mark.parametrize("more", [{"m": float("inf")}, {"private": ["r1"], "h": "0.9"}, {"hierarchy": None}])
def test_groups_are_tried_for_plain_promises_only(more: dict[str, Any]) -> None:
    options: dict[str, Any] = {"k": 3, "m": 1, "hierarchy": sv.Hierarchy.from_paths(PATHS), **more}
    assert "regrouping" not in sv.recommend(ROWS, **options)
