"""Codes that few rows contain are not listed, if the hierarchy of codes was computed from the data."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv

SECRETS = [f"note about person {i}" for i in range(6)]
COMMON = ["I10", "I50", "E11", "J18", "N18", "K21", "M54"]


def log(seed: int = 0) -> pl.DataFrame:
    random = Random(seed)
    lines = [
        (who, random.choice(COMMON), random.choice("pq"), f"2024-{random.randint(1, 3):02}-01", 30 + who % 9)
        for who in range(60)
        for _ in range(2)
    ]
    lines += [(at * 7, text, "p", "2024-02-01", 30 + at * 7 % 9) for at, text in enumerate(SECRETS)]
    return pl.DataFrame(lines, schema=["who", "code", "drug", "on", "age"], orient="row")


def made(shape: str, **more: Any) -> tuple[sv.VerifiedRelease, Any]:
    frame = log()
    if shape == "columns":
        when = {"code=on": "month", "drug=on": "month"}
        facts = sv.read_facts(frame, id="who", sets=["code", "drug"], when=when, drop="age")
        return sv.anonymize(facts, k=5, m=2, algorithm="aa", **more), facts
    if shape == "table":
        facts = sv.read_facts(frame, id="who", sets="code", when={"on": "month"}, qi="age", drop="drug")
        return sv.anonymize(facts, sv.KKmAnonymity(5, 1), algorithm="rt", **more), facts
    facts = sv.read_facts(frame, id="who", sets="code", when={"on": "month"}, drop=["drug", "age"])
    return sv.anonymize(facts, k=5, m=2, algorithm=shape, **more), facts


@pytest.mark.parametrize("shape", ["aa", "da", "mhghs", "columns", "table"])
def test_rare_codes_are_listed_only_on_request(shape: str, tmp_path: Path) -> None:
    release, facts = made(shape)
    release.write(tmp_path / "x", external=True)
    published = tmp_path / "x" / "published"
    assert not [path for path in published.iterdir() if b"note about" in path.read_bytes()]
    assert sv.verify(tmp_path / "x").holds
    assert sv.verify(published).holds
    about = json.loads((published / "about.json").read_text())
    assert "domain" not in about
    if shape in ("aa", "da", "mhghs"):
        assert sv.measure(facts, tmp_path / "x")["lm"] == release.utility["lm"]
    full, _ = made(shape, list_members=True)
    full.write(tmp_path / "y", list_members=True)
    assert "others" not in (tmp_path / "y" / "published" / "about.json").read_text()
    release.write(tmp_path / "z", list_members=True)
    assert "others" not in (tmp_path / "z" / "published" / "about.json").read_text()


def test_queries_about_unlisted_codes_are_bounded(tmp_path: Path) -> None:
    release, facts = made("aa")
    release.write(tmp_path / "x")
    rows = facts.rows()
    for text in (*SECRETS, *COMMON):
        for name in (f"{text}@*", f"{text}@2024", f"{text}@2024-02", text):
            month = name.split("@")[1] if "@" in name else "*"
            true = sum(
                any(f.startswith(f"{text}@") and (month in ("*", "2024") or f.endswith(month)) for f in row)
                for row in rows
            )
            for at in (tmp_path / "x", release):
                found = sv.query(at, [[name]])[0]
                assert found.least <= true <= found.greatest, (name, true, found)


def test_draws_contain_no_code_that_is_not_listed(tmp_path: Path) -> None:
    release, _ = made("aa")
    release.write(tmp_path / "x")
    for source in (release, tmp_path / "x"):
        draws = sv.reconstruct(source, draws=2)
        names = {name for draw in draws for name in draw.vocabulary.labels}
        assert not [name for name in names if "note about" in name or "\0" in name]
        assert any(name.startswith("other 1 of ") for name in names)
    draws.write(tmp_path / "draws")
