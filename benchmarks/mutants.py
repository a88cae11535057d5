"""Thirty small mistakes in kernels, verifiers and algorithms that the tests must notice.

Each mutant is one line of a copy of the checkout, changed by hand; its tests, without those marked
exhaustive, must fail. ``python benchmarks/mutants.py [FROM [TO]]`` prints a line for each; a mutant that
survives means that a test is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERIFY, KERNELS = "judges/guarantees/verify", "kernels"
KM, KM_TESTS = f"{VERIFY}/km.py", "tests/guarantees/test_verify_km.py"
COHERENCE, COHERENCE_TESTS = f"{VERIFY}/_coherence.py", "tests/guarantees/test_verify_coherence.py"
COUNT_TESTS = "tests/kernels tests/algorithms/test_algorithms_km.py tests/algorithms/test_violated_clauses.py"
INFERENCE, INFERENCE_TESTS = f"{VERIFY}/_inference.py", "tests/guarantees/test_verify_inference.py"
TABLES_TESTS = "tests/guarantees/test_verify_tables.py tests/guarantees/test_verify_tables_attacked.py"

MUTANTS = [  # file, text that occurs in it once, its replacement, tests
    (KM, "(supports > 0) & (supports < self.k)", "(supports > 0) & (supports <= self.k)", KM_TESTS),
    (
        KM,
        "        if support < k:\n            state[FOUND]",
        "        if support < k - 1:\n            state[FOUND]",
        KM_TESTS,
    ),
    (
        KM,
        "            if support < k:\n                tails",
        "            if support <= k:\n                tails",
        KM_TESTS,
    ),
    (KM, "rows.weights[kept.row[0]] >= k or", "rows.weights[kept.row[0]] >= k - 1 or", KM_TESTS),
    (KM, "if whole and rarest_support >= k:", "if whole and rarest_support >= k - 1:", KM_TESTS),
    (
        f"{VERIFY}/km_pieces.py",
        "(supports > 0) & (supports < k)",
        "(supports > 1) & (supports < k)",
        "tests/guarantees/test_verify_km_pieces.py",
    ),
    (
        f"{VERIFY}/kanonymity.py",
        "if count < guarantee.k]",
        "if count < guarantee.k - 1]",
        "tests/guarantees/test_verify_kanonymity.py",
    ),
    (COHERENCE, "if supports[item_of[i]] < k:", "if supports[item_of[i]] <= k:", COHERENCE_TESTS),
    (
        COHERENCE,
        "if times < k or most[x] > limit[times]:",
        "if times < k or most[x] >= limit[times]:",
        COHERENCE_TESTS,
    ),
    (COHERENCE, "(whole >= k and peak <= limit[whole])", "(whole >= k)", COHERENCE_TESTS),
    (
        f"{VERIFY}/counts.py",
        "if 0 < empty < k else",
        "if 0 < empty < k - 1 else",
        "tests/guarantees/test_counts_verifier.py",
    ),
    (
        f"{VERIFY}/counts.py",
        "if counts.least < k:",
        "if counts.least < k - 1:",
        "tests/guarantees/test_counts_verifier.py tests/guarantees/test_counts_tampered.py",
    ),
    (
        f"{VERIFY}/table_counts.py",
        "if not 0 < fewest < k:",
        "if not 0 < fewest < k - 1:",
        "tests/guarantees/test_table_counts.py",
    ),
    (
        f"{VERIFY}/classes.py",
        "several and rows.n_rows < guarantee.k]",
        "several and rows.n_rows < guarantee.k - 1]",
        "tests/guarantees/test_class_verifier.py",
    ),
    (
        f"{VERIFY}/class_counts.py",
        "if counts.least < k:",
        "if counts.least < 1:",
        "tests/guarantees/test_class_verifier.py",
    ),
    (f"{VERIFY}/_tables.py", "            if support < k:", "            if support < k - 1:", TABLES_TESTS),
    (f"{VERIFY}/_classes.py", "if whole and support >= k:", "if whole and support >= k - 1:", TABLES_TESTS),
    (f"{VERIFY}/_shares.py", "held > most[inverse]", "held >= most[inverse]", TABLES_TESTS),
    (
        f"{VERIFY}/privacydegree.py",
        "groups.count > most[of_group]",
        "groups.count >= most[of_group]",
        "tests/guarantees/test_verify_privacydegree.py",
    ),
    (
        INFERENCE,
        "and companions.counts[q] > limit[support]:",
        "and companions.counts[q] > limit[support] + 1:",
        INFERENCE_TESTS,
    ),
    (INFERENCE, "if count > limit[n]]", "if count > limit[n] + 1]", INFERENCE_TESTS),
    (
        f"{KERNELS}/count.py",
        "if table[cell + numbers[p]] < k:",
        "if table[cell + numbers[p]] < k - 1:",
        COUNT_TESTS,
    ),
    (
        f"{KERNELS}/count.py",
        "if 0 < table[cell + least] < k:",
        "if 0 < table[cell + least] < k - 1:",
        COUNT_TESTS,
    ),
    (f"{KERNELS}/count.py", "if upper[at] >= k:", "if upper[at] >= k - 1:", COUNT_TESTS),
    (f"{KERNELS}/walk.py", "rare = 0 < total < k", "rare = 0 < total < k - 1", COUNT_TESTS),
    (f"{KERNELS}/walk.py", "if count[y] < k:", "if count[y] < k - 1:", COUNT_TESTS),
    (
        f"{KERNELS}/projection.py",
        "if mark[item_at[p]] > 0:",
        "if mark[item_at[p]] > 1:",
        "tests/algorithms tests/kernels",
    ),
    (
        f"{KERNELS}/item_groups.py",
        "if 0 < s.support[g] < k:",
        "if 0 < s.support[g] < k - 1:",
        "tests/algorithms/test_pcta.py tests/algorithms/test_coat.py",
    ),
    (
        "methods/algorithms/vpa.py",
        "small = (filled > 0) & (filled < k)",
        "small = (filled > 0) & (filled <= k)",
        "tests/algorithms/test_vpa.py",
    ),
    (
        "methods/algorithms/_all_itemsets.py",
        "if s.tally[s.touched[i]] < k:",
        "if s.tally[s.touched[i]] < k - 1:",
        "tests/algorithms",
    ),
]


def notices(copy: Path, mutant: tuple[str, str, str, str]) -> bool:
    """Return whether a test fails with the mutant."""
    name, before, after, tests = mutant
    file = copy / "src" / "setveil" / name
    text = file.read_text("utf-8")
    if text.count(before) != 1:
        raise SystemExit(f"{name}: {before!r} stands there {text.count(before)} times")
    file.write_text(text.replace(before, after), "utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-x", *tests.split()]
        environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    finally:
        file.write_text(text, "utf-8")
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    return done.returncode == 1


def main() -> None:
    """Run the requested mutants."""
    first, last = [int(number) for number in sys.argv[1:3]] + [1, len(MUTANTS)][len(sys.argv[1:3]) :]
    lives = 0
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "site"))
        for number, mutant in list(enumerate(MUTANTS, 1))[first - 1 : last]:
            begun = time.monotonic()
            dead = notices(copy, mutant)
            lives += not dead
            took = time.monotonic() - begun
            said = "noticed" if dead else "LIVES"
            print(f"{number:2} {said:7} {took:4.0f} s  {mutant[0]}: {mutant[2].strip()}", flush=True)
    print(f"{last - first + 1 - lives} of {last - first + 1} are noticed")


if __name__ == "__main__":
    main()
