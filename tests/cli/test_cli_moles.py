"""The command `moles`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from cli_helpers import refused, together, write
from model_runs import COHERENCE, MOLES, MOLES_FILE, minimal_of, moles_of


def test_moles(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", MOLES_FILE)
    write(tmp_path / "S.txt", "1\n2\n3\n")
    command = ["moles", "in.csv", "--h", "0.5", "--k", 3, "--p", 3, "--private", "S.txt"]
    text, as_json, few, infinite, none, likely, missing, two, silent, public = together(
        [
            command,
            [*command, "--json"],
            [*command, "--show", 2],
            ["moles", "in.csv", "--h", "1/2", "--k", 3, "--p", "inf", "--private", "1,2,3", "--json"],
            ["moles", "in.csv", "--h", "0.5", "--k", 1, "--p", 2],
            ["moles", "in.csv", "--h", "0.4", "--k", 3, "--p", 3, "--private", "S.txt"],
            ["moles", "in.csv", "--k", 3, "--p", 3, "--private", "S.txt"],
            ["moles", "in.csv", "--h", "2", "--k", 3, "--p", 3],
            [*command, "--show", 0, "--json"],
            ["moles", "in.csv", "--k", 3, "--p", 3],
        ],
        tmp_path,
    )
    expected = ["c", "d", "ae", "af", "ag", "be", "bfg"]
    assert minimal_of(moles_of(MOLES, Fraction(1, 2), 3, 3, set("123"))) == set(map(frozenset, expected))
    answer = as_json.ok().json()
    assert answer.items() >= {**COHERENCE, "moles": 7}.items()
    assert ["".join(entry["itemset"]) for entry in answer["first"]] == expected
    for entry in answer["first"]:
        assert entry["support"] == sum(set(entry["itemset"]) <= row for row in MOLES)
        assert ("betrays" in entry) == (entry["itemset"] == ["a", "g"])
    assert answer["first"][4].items() >= {"support": 3, "betrays": "2", "private_rows": 2}.items()
    lines = text.ok().out.splitlines()
    assert lines[0] == "7 minimal moles for coherence (h=0.5, k=3, p=3)"
    assert [line.strip() for line in lines[1:4]] == ["of 1 item: 2", "of 2 items: 4", "of 3 items: 1"]
    assert "a, g: 2 in 2 of 3 rows" in text.out
    assert "support 2: b, f, g" in text.out
    assert "and 5 more (--show)" in few.ok().out
    assert ["".join(entry["itemset"]) for entry in infinite.ok().json()["first"]] == expected
    assert none.ok().out.startswith("0 minimal moles")
    refused(likely, 3, "'2'", "3 of 7 rows", "3/7")
    refused(missing, 2, "h is needed")
    assert "for coherence (h=1, k=3, p=3)" in public.ok().out  # no item is private: h says nothing
    refused(two, 2, "h must be", "'2'")
    assert (silent.ok().json()["moles"], silent.json()["first"]) == (7, [])
