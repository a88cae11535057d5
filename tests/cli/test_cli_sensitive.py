"""Sensitive items on the command line: drawn by a seed, or alone in their rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from cli_helpers import dump, together, write
from model_runs import GROUPS, SAMPLE, degree_of, groups_of, words_of


def test_a_sample_of_sensitive_items(tmp_path: Path) -> None:
    write(tmp_path / "in.dat", dump(SAMPLE, "fimi"))
    command = ["anonymize", "in.dat", "-a", "cahd", "--p", 4, "--sensitive-random", 2, "--json"]
    done = together(
        [
            *([*command, "--out", f"out{i}", "--seed", seed] for i, seed in enumerate((1, 1, 2, 3, 4))),
            ["verify", "out0", "--model", "privacy-degree", "--p", 4, "--original", "in.dat"],
            *(["measure", "in.dat", "out0", "--group-by", 2, "--seed", seed, "--json"] for seed in (0, 0, 1)),
        ],
        tmp_path,
    )
    drawn = [answer.ok().json()["guarantee"]["sensitive"] for answer in done[:5]]
    counts = Counter(item for row in SAMPLE for item in row)
    assert all(len(items) == 2 and all(4 * counts[x] <= len(SAMPLE) for x in items) for items in drawn)
    assert drawn[0] == drawn[1]
    assert len(set(map(tuple, drawn))) > 1
    done[5].ok()
    kl = [answer.ok().json()["utility"]["kl"]["mean"] for answer in done[6:]]
    assert kl[0] == kl[1] != kl[2]
    rows, sizes, hidden = groups_of(tmp_path / "out0" / "published")
    assert Counter(rows) == Counter(row - set(drawn[0]) for row in SAMPLE)
    assert degree_of(sizes, hidden) >= 4
    total = sum(map(Counter, hidden), Counter[str]())
    assert total == {item: counts[item] for item in drawn[0]}


def test_rows_that_hold_only_sensitive_items(tmp_path: Path) -> None:
    """Check that they are rows like others, and no line of data.csv reveals them."""
    rows = [*GROUPS, frozenset({"viagra"}), frozenset[str](), frozenset({"wine"})]
    write(tmp_path / "in.csv", dump(rows, "basket"))
    run, check = together(
        [
            ["anonymize", "in.csv", *words_of("-a cahd --p 2 --sensitive viagra"), "--out", "out", "--json"],
            ["verify", "out", "--model", "privacy-degree", "--p", 2, "--original", "in.csv"],
        ],
        tmp_path,
    )
    assert run.ok().json()["published"]["empty_rows"] == 2
    check.ok()
    published, _, hidden = groups_of(tmp_path / "out" / "published")
    assert Counter(published) == Counter(row - {"viagra"} for row in rows)
    assert sum(found.get("viagra", 0) for found in hidden) == 2
