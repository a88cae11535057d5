"""The commands `policy`, and every way to say on the command line what may be merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cli_helpers import (
    HIERARCHY,
    Done,
    Row,
    dump,
    files_under,
    refused,
    rows_of,
    table,
    together,
    violations,
    write,
)
from model_runs import BAD_CONSTRAINTS, COAT, PRIVACY, SAMPLE, UTILITY, json_of, messages_of, recoding_of


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    folder = tmp_path_factory.mktemp("policies")
    files: dict[str, str | bytes] = {
        "in.csv": dump(COAT, "basket"), "some.csv": dump(COAT[1:], "basket"), "in.dat": dump(SAMPLE, "fimi"),
        "P.txt": PRIVACY, "U.txt": UTILITY, **BAD_CONSTRAINTS, "fine.txt": "c\na,c\n", "abc.txt": "a\nb\nc\n",
        "P.json": '{"privacy": [["a", "b", "c"], ["d", "e"]]}', "other.json": '{"utility": []}',
        "broken.json": '{"privacy": [["a"], "b", []]}', "no.json": "[",
    }  # fmt: skip
    for name, content in files.items():
        write(folder / name, content)
    pgen, check = ["policy", "pgen"], ["policy", "check", "in.csv", "--k", 5, "--privacy"]
    coat, verify = ["anonymize", "some.csv", "-a", "coat"], ["verify", "out", "--model", "constraints"]
    commands: dict[str, list[object]] = {
        "pgen": [*pgen, "some.csv", "--k", 2, "--out", "new.txt"],
        "pgen again": [*pgen, "some.csv", "--k", 2, "--out", "new.txt"],
        "pgen, json": [*pgen, "some.csv", "--k", 2, "--out", "new.json"],
        "pgen, fimi": [*pgen, "in.dat", "--k", 4, "--out", "new.dat"],
        "pgen of one": [*pgen, "in.csv", "--k", 2, "--out", "one.txt"],
        "pgen to nowhere": [*pgen, "some.csv", "--k", 2, "--out", "no/new.txt"],
        "pgen, k of 1": [*pgen, "some.csv", "--k", 1, "--out", "k.txt"],
        "run": [*coat, "--k", 2, "--privacy", "pgen", "--out", "out", "--json"],
        "run, by the file": [*verify, "--k", 2, "--privacy", "new.txt", "--json"],
        "run, everything": ["verify", "out", "--k", 2, "--m", "inf"],
        "fine": [*check, "fine.txt", "--utility", "abc.txt"],
        "unmet": [*check, "P.txt", "--utility", "U.txt"],
        "bad": [*check, "bad.txt", "--utility", "overlap.txt"],
        "listed": [*check, "P.json"],
        "broken": [*check, "broken.json"],
        "other": [*check, "other.json"],
        "no json": [*check, "no.json"],
        "missing": [*check, "gone.txt"],
    }  # fmt: skip
    commands |= {f"{name}, json": [*commands[name], "--json"] for name in ("fine", "unmet", "bad", "listed")}
    done = dict(zip(commands, together(list(commands.values()), folder), strict=True))
    assert {name for name in files_under(folder) if not name.startswith("out/")} == {
        *files, "new.txt", "new.json", "new.dat", "one.txt"
    }  # fmt: skip
    return folder, done


def test_policy_pgen(policies: tuple[Path, dict[str, Done]]) -> None:
    folder, done = policies
    expected = [sorted(row) for row in _pgen(COAT[1:], 2)]
    assert done["pgen"].ok().out == ""
    assert f"{len(expected)} itemsets, the longest of {len(expected[0])} items" in done["pgen"].err
    assert table(folder / "new.txt") == expected
    refused(done["pgen again"], 2, "new.txt", "--force")
    done["pgen, json"].ok()
    assert json_of(folder / "new.json") == {"privacy": expected}
    done["pgen, fimi"].ok()
    ordered = [" ".join(sorted(row)) for row in _pgen(SAMPLE, 4)]
    assert (folder / "new.dat").read_text() == "".join(f"{line}\n" for line in ordered)
    refused(done["pgen to nowhere"], 2, "no")
    assert done["pgen, k of 1"].code == 2
    assert done["run"].ok().json()["guarantee"]["itemsets"] == len(expected)
    assert done["run, by the file"].ok().json()["holds"] is True
    assert done["run, everything"].ok().out.startswith("Yes")


def _pgen(rows: Sequence[Row], k: int) -> list[Row]:
    """List the maximal rows with support below k: longest first, then in item order."""
    maximal = [row for row in set(rows) if row and not any(row < other for other in rows)]
    rare = [row for row in maximal if rows.count(row) < k]
    return sorted(rare, key=lambda row: (-len(row), sorted(row)))


def test_one_itemset_is_not_itemsets(policies: tuple[Path, dict[str, Done]]) -> None:
    assert "1 itemset, the longest of 8 items" in policies[1]["pgen of one"].ok().err


def test_policy_check_without_problems(policies: tuple[Path, dict[str, Done]]) -> None:
    _, done = policies
    for words in ("No problems.", "2, over 2 items; 2 satisfied", "'d', 'e', 'f', 'g', 'h'"):
        assert words in done["fine"].ok().out
    assert done["fine, json"].ok().json() == {
        "k": 5,
        "privacy": {"constraints": 2, "satisfied": 2, "protected_items": 2},
        "utility": {"constraints": 3, "items_in_none": list("defgh")},
        "unmentioned_items": list("defgh"),
        "unreachable": [],
        "problems": [],
    }
    listed = done["listed, json"].ok().json()
    assert listed["privacy"] == {"constraints": 2, "satisfied": 0, "protected_items": 5}
    assert listed["utility"] == {"constraints": 0, "items_in_none": []}
    assert "every merge is allowed" in done["listed"].ok().out


def test_policy_check_of_what_cannot_be_met(policies: tuple[Path, dict[str, Done]]) -> None:
    text, as_json = policies[1]["unmet"], policies[1]["unmet, json"]
    assert text.code == as_json.code == 3
    assert as_json.json()["unreachable"] == [{"line": 3, "items": ["d"], "support": 4}]
    assert as_json.json()["problems"] == []
    for words in ("line 3", "'d'", "4 rows", "k = 5"):
        assert words in text.out
    assert messages_of(text) == ""


def test_one_item_is_not_together(policies: tuple[Path, dict[str, Done]]) -> None:
    assert "'d' is in 4 rows" in policies[1]["unmet"].out


def test_policy_check_of_bad_files(policies: tuple[Path, dict[str, Done]]) -> None:
    _, done = policies
    text, as_json = done["bad"], done["bad, json"]
    assert text.code == as_json.code == 4
    problems = as_json.json()["problems"]
    assert [(entry["file"], entry["line"]) for entry in problems] == [
        ("bad.txt", 2), ("bad.txt", 3), ("overlap.txt", 2), ("overlap.txt", 3), ("overlap.txt", 4)
    ]  # fmt: skip
    for entry in problems:
        assert f"{entry['file']}, line {entry['line']}: {entry['message']}" in text.out
    for words in ("no item", "'zz'", "'b' is in the group of line 1"):
        assert words in text.out
    assert messages_of(text) == ""
    assert done["broken"].code == 4
    assert "entry 2" in done["broken"].out
    assert "entry 3" in done["broken"].out
    refused(done["other"], 4, "other.json", "'privacy'")
    refused(done["no json"], 4, "no.json", "line 1")
    refused(done["missing"], 4, "gone.txt")


def test_every_way_to_say_what_may_be_merged(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(SAMPLE, "basket"))
    write(tmp_path / "tree.csv", HIERARCHY)
    write(tmp_path / "U.txt", "101,112\n102,111,110\n")
    items = [str(101 + i) for i in range(12)]
    low_mid_high = [items[:3], items[3:7], items[7:]]
    ways: dict[str, list[list[str]]] = {
        "any": [items],
        "siblings": low_mid_high,
        "siblings:1": [items[:7], items[7:]],
        "siblings:0": [items],
        "groups:2": [items[i : i + 2] for i in range(0, 12, 2)],
        "U.txt": [["101", "112"], ["102", "110", "111"], items[2:9]],
    }
    command = ["anonymize", "in.csv", "-H", "tree.csv", "-a", "coat", "--k", 4, "--privacy", "all", "--m", 2]
    more = ["--max-suppressed-items", "100%", "--utility"]
    done = together([[*command, *more, way, "--out", f"out{i}"] for i, way in enumerate(ways)], tmp_path)
    for i, (way, groups) in enumerate(ways.items()):
        done[i].ok()
        out = tmp_path / f"out{i}"
        recoding = recoding_of(out)
        merged: dict[str, set[str]] = {}
        for item, label in recoding.items():
            if label:
                merged.setdefault(label, set()).add(item)
        for label, members in merged.items():
            assert any(members <= set(group) for group in groups), (way, label)
        assert violations(rows_of(out / "published" / "data.csv"), 4, 2) == {}, way
        report = json_of(out / "internal" / "report.json")
        policy = report["algorithm"]["parameters"]["utility"]
        for group in policy or []:
            assert sorted(group) in groups
        assert (policy is None) == (way == "any")
        suppressed = {item for item, label in recoding.items() if not label}
        for entry, group in zip(report["algorithm"]["utility_constraints"], groups, strict=True):
            before = sum(not row.isdisjoint(group) for row in SAMPLE)
            assert entry["rows_before"] == before
            assert entry["satisfied"] == suppressed.isdisjoint(group)
            assert not entry["satisfied"] or entry["rows_after"] == before
    assert "in no utility constraint" in done[-1].err
    assert "7 items" in done[-1].err
