"""Series on the command line, at random against the slow twin, and with counts against all worlds."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil
from naive import series as naive
from series_cases import KNOWN, PRESENCE, Series, random_series
from strategies import examples, seeds

READ = ("--id-column", "patient", "--item-column", "code", "--hierarchy", "tree.csv")
SPRING = [("ann", "ac"), ("bob", "ac"), ("cid", "b"), ("dee", "b"), ("eva", "b")]
SUMMER = [("ann", "a"), ("bob", "c"), ("cid", "b"), ("dee", "bd"), ("fay", "a"), ("gus", "d")]
TREE = [["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]]


def put(folder: Path) -> None:
    for name, rows in (("spring", SPRING), ("summer", SUMMER)):
        lines = ["patient,code", *(f"{who},{code}" for who, codes in rows for code in codes)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (folder / "tree.csv").write_text("".join(";".join(path) + "\n" for path in TREE))


def test_a_series_on_the_command_line(tmp_path: Path) -> None:
    put(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        done = setveil("series", *words, cwd=tmp_path)
        return done.code, done.out, done.err

    assert run("init", "ward", "-k", "2", "-m", "1")[0] == 0
    code, out, _ = run("add", "ward", "spring.csv", "--name", "q1", "-o", "q1", *READ, "--external")
    assert code == 0
    assert "q1: the first release of a series" in " ".join(out.split())
    ways = json.loads(run("plan", "ward", "summer.csv", *READ, "--json")[1])["ways"]
    keys = {"way", "lm", "left_out", "held_back", "names_kept", "exposed_before", "unique_before", "proven",
            "gap", "seconds"}  # fmt: skip
    assert [one["way"] for one in ways] == ["register", "append", "hold back: found", "hold back: returners"]
    assert all(keys <= set(one) for one in ways)
    assert not (tmp_path / "q2").exists()
    assert "A register loses" in run("plan", "ward", "summer.csv", *READ)[1]
    code, out, _ = run("add", "ward", "summer.csv", "--name", "q2", "-o", "q2", *READ, "--external", "-v")
    assert code == 0
    assert "Series" in out
    assert "Withheld" in out
    page = (tmp_path / "q2" / "published" / "report.html").read_text()
    assert "q1 and q2" in page
    assert "in several" not in page
    assert "needed" not in page
    inside = (tmp_path / "q2" / "internal" / "report.html").read_text()
    assert "A release of a series" in inside
    assert "7 in all releases, 4 of them in several" in inside
    code, out, _ = run("verify", "ward", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found)[:9] == [
        "holds",
        "k",
        "m",
        "known",
        "presence",
        "people",
        "returning",
        "exposed",
        "unique",
    ]
    code, out, _ = run("verify", "ward", "-k", "3", "--show", "1")
    assert code == 1
    assert "below k = 3" in out
    assert "fit" in out
    code, out, _ = run("verify", "ward", "-k", "3", "--json")
    assert (code, json.loads(out)["holds"], json.loads(out)["exposed"] > 0) == (1, False, True)
    done = setveil("verify", "q1", "--with", "q2", cwd=tmp_path)
    assert (done.code, "2 releases: q1, q2" in done.out) == (0, True)
    done = setveil("verify", "q1", "--with", "spring.csv", cwd=tmp_path)
    assert (done.code, "without ids" in done.err) == (2, True)
    done = setveil("verify", "q1", "--with", "q2", "--rho", "0.5", cwd=tmp_path)
    assert (done.code, "--rho" in done.err) == (2, True)
    assert "all, linked" in run("risk", "ward")[1]
    assert "q2" in run("list", "ward")[1]
    assert run("forget", "ward", "ann")[0] == 0
    assert run("add", "ward", "summer.csv", "--name", "q2", "-o", "x", *READ)[0] == 2
    assert run("drop", "ward", "q2")[0] == 2
    assert run("drop", "ward", "q2", "--not-shared")[0] == 0
    again = setveil("apply", "q1", "summer.csv", "-o", "y", *READ, cwd=tmp_path)
    assert (again.code, "--labels-of" in again.err) == (4, True)
    done = setveil("why", "q1", "a", cwd=tmp_path)  # alone it would be answered as if there were no other
    assert (done.code, "a release of a series" in done.err) == (2, True)
    assert run("init", "more", "-k", "2", "-m", "1")[0] == 0
    code, _, err = run(
        "add", "more", "--together", "spring.csv", "summer.csv", "--names", "s,t", "--out", "s,t", *READ
    )
    assert code == 0, err
    assert run("verify", "more")[0] == 0


@pytest.mark.parametrize("hold_back", ["needed", "found", "returners"])
def test_whatever_is_added_is_safe(tmp_path: Path, hold_back: str) -> None:
    tree = sv.Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]])
    rng = Random(hold_back)
    added = 0
    for number in range(examples(24, 8)):
        known, presence = rng.choice(KNOWN), rng.choice(PRESENCE)
        k, m = rng.randint(2, 3), rng.randint(1, 2)
        place = tmp_path / str(number)
        place.mkdir()
        series = sv.Series.create(place / "s", k=k, m=m, known=known, presence=presence, ids="plain")
        people = [f"p{i}" for i in range(rng.randint(4, 9))]
        for t in range(rng.randint(2, 3)):
            there = [p for p in people if rng.random() < 0.8]
            rows = {p: [x for x in "abcd" if rng.random() < 0.4] for p in there}
            way: dict[str, Any] = {"algorithm": rng.choice(["exact", "greedy"]), "hold_back": hold_back}
            try:
                series.add(rows, name=f"r{t}", out=place / f"r{t}", hierarchy=tree, **way)
            except sv.InfeasibleError:
                continue
            added += 1
        parts = [series.ledger.part(one.name) for one in series.releases]
        releases = [{p: frozenset(part.data[at]) for at, p in enumerate(part.people)} for part in parts]
        if not releases:
            continue
        items = {x for part in parts for x in part.image}
        labels = [{x: part.image.get(x) for x in items} for part in parts]
        slow = naive.candidates(releases, labels, m, known, presence)
        assert all(n >= k for n in slow.values()), (number, slow)
        assert series.verify()["holds"]
    assert added


def counted(case: Series, t: int, least: int) -> dict[str, int]:
    """Count the lines of counts.csv: suppressed items only if no published row is empty."""
    rows, labels = case.releases[t], case.labels[t]
    empty = any(all(labels[i] is None for i in row) for row in rows.values())
    supports = {i: sum(i in row for row in rows.values()) for i in labels}
    return {i: n for i, n in supports.items() if n >= least and not (empty and labels[i] is None)}


def test_with_counts_all_candidates_are_equally_likely() -> None:
    rng = Random(6)
    looked_at = 0
    for _ in range(examples(1000, 100)):
        case = random_series(rng, 2)
        size = sum(len(release) for release in case.releases) * len(case.items)
        if size > 18:
            continue
        least = 2
        totals = [counted(case, t, least) for t in range(len(case.releases))]
        worlds = [
            world
            for world in naive.worlds(case.releases, case.labels)
            if all(
                sum(i in row for row in world[t].values()) == n
                for t, totals_here in enumerate(totals)
                for i, n in totals_here.items()
            )
        ]
        rows = naive.joined(case.releases, case.labels, "implied")
        for p in rows:
            facts = [(t, i) for t, release in enumerate(case.releases) for i in sorted(release.get(p, ()))]
            for some in [*combinations(facts, 1), *combinations(facts, 2)]:
                tokens = set().union(
                    *(naive.tokens_of(frozenset({i}), case.labels[t], t, "implied") for t, i in some)
                )
                fit = [q for q in rows if tokens <= rows[q]]
                often = {sum(all(i in world[t][q] for t, i in some) for world in worlds) for q in fit}
                assert len(often) == 1, (case, some)
                looked_at += 1
    assert looked_at


def test_whom_to_forget_is_read_from_standard_input(tmp_path: Path) -> None:
    put(tmp_path)
    ward = tmp_path
    setveil("series", "init", "ward", "-k", 2, "-m", 1, cwd=ward).ok()
    words = ["spring.csv", "--name", "q1", "-o", "q1", *READ]
    setveil("series", "add", "ward", *words, cwd=ward).ok()
    output = setveil("series", "forget", "ward", "-", cwd=ward, stdin=b"\xef\xbb\xbf ann\r\n").ok().err
    assert "Forgotten: this person's items in 1 release" in output
    assert "internal/" in output
    for stdin, lines in ((b"", "0 lines"), (b"bob\ncat\n", "2 lines")):
        refused = setveil("series", "forget", "ward", "-", cwd=ward, stdin=stdin)
        assert refused.code == 2
        assert f"Standard input has {lines}" in refused.err


@pytest.mark.parametrize("presence", ["known", "implied", "ignored"])
@seeds(2)
def test_plan_and_add_answer_alike_if_few_newcomers_have_no_item(
    tmp_path: Path, presence: str, seed: int
) -> None:
    rng = Random(f"{presence} {seed}")
    refusals = 0
    for number in range(5):
        place = tmp_path / str(number)
        place.mkdir()
        tree = sv.Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "*"]])
        series = sv.Series.create(
            place / "s", k=rng.choice((2, 3)), m=1, known=rng.choice(KNOWN), presence=presence, ids="plain"
        )
        first = {f"p{n}": ["a"] for n in range(4)}
        series.add(first, name="q1", out=place / "q1", hierarchy=tree)
        second = {f"p{n}": ["a"] for n in range(rng.choice((0, 4)))}
        second |= {f"n{n}": rng.choice(([], [], ["a"], ["c"])) for n in range(rng.randint(1, 4))}
        priced = {way["way"]: way for way in series.plan(second, hierarchy=tree)["ways"]}
        ways = {"needed": "append", "found": "hold back: found", "returners": "hold back: returners"}
        for hold_back, name in ways.items():
            out = place / hold_back
            refused = None
            try:
                series.add(second, name="q2", out=out, hierarchy=tree, hold_back=hold_back)
            except sv.InfeasibleError as error:
                refused = error
            if refused is not None:
                assert refused.message == priced[name].get("why"), (second, hold_back)
                works = "needed' works" in (refused.hint or "")
                assert works == ("lm" in priced["append"] and hold_back != "needed")
                refusals += 1
                continue
            assert "why" not in priced[name], (second, hold_back)
            assert series.verify()["holds"]
            series.drop("q2", not_shared=True)
    assert refusals
