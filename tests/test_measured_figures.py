"""The figures of the pages are the measured ones: docs/figures writes them from docs/measured."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKS = re.compile(r"<!-- figures: |<!--=")


def check(figures: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(figures), "--check"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_the_pages_show_what_was_measured() -> None:
    done = check(DOCS / "figures")
    assert done.returncode == 0, done.stderr


def test_a_figure_that_was_changed_by_hand_is_found(tmp_path: Path) -> None:
    (tmp_path / "figures").write_bytes((DOCS / "figures").read_bytes())
    (tmp_path / "measured").symlink_to(DOCS / "measured")
    pages = [page for page in DOCS.glob("*.md") if MARKS.search(page.read_text("utf-8"))]
    assert pages
    for page in pages:
        text = page.read_text("utf-8")
        at = MARKS.search(text)
        assert at is not None
        number = re.compile(r"\d").search(text, text.index("-->", at.start()))
        assert number is not None
        other = str((int(number[0]) + 1) % 10)
        (tmp_path / page.name).write_text(text[: number.start()] + other + text[number.end() :], "utf-8")
    done = check(tmp_path / "figures")
    assert done.returncode == 1
    for page in pages:
        assert page.name in done.stderr


def test_every_mark_is_closed_and_everything_measured_is_used() -> None:
    text = "".join(page.read_text("utf-8") for page in DOCS.glob("*.md"))
    assert text.count("<!-- figures: ") == text.count("<!-- /figures -->")
    assert text.count("<!--=") == text.count("<!--/-->")
    script = (DOCS / "figures").read_text("utf-8")
    for kept in (DOCS / "measured").iterdir():
        assert f'"{kept.stem}"' in script, f"{kept.name} is in no page"


def test_every_result_has_a_command_that_exists() -> None:
    measure = runpy.run_path(str(DOCS / "measure"))
    commands = measure["commands"]()
    assert sorted(commands) == sorted(path.name for path in (DOCS / "measured").iterdir())
    for name, command in commands.items():
        first, *words = command.split()
        if name.endswith(".csv"):
            study = f"studies/{name.removesuffix('.csv')}.toml"
            assert [first, *words] == ["setveil", "compare", study, "--data", "STUDY-DATA"]
            assert (DOCS.parent / study).exists()
            continue
        script = (DOCS.parent / first).read_text("utf-8")
        parsed = script + (DOCS.parent / "benchmarks/runs.py").read_text("utf-8")
        for word in words:
            assert not word.startswith("--") or f'"{word}"' in parsed, f"{first} has no option {word}"


def test_results_know_what_they_were_measured_with(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = runpy.run_path(str(DOCS / "measure"))
    commands, kept = measure["commands"](), measure["kept"]()
    assert sorted(kept) == sorted(commands)
    now = measure["fingerprints"](commands["exact.txt"])
    assert sorted(now) == ["benchmarks/exact.py", "benchmarks/runs.py"]
    known = {"exact.txt": {**now, "benchmarks/runs.py": "other"}}
    monkeypatch.setitem(measure["out_of_date"].__globals__, "kept", lambda: known)
    assert measure["out_of_date"]("exact.txt", commands["exact.txt"]) == ["benchmarks/runs.py"]
    assert measure["out_of_date"]("new.txt", commands["exact.txt"]) == sorted(now)


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("a.py", '"""One."""\n\nx = 1  \n# why\n', '"""Two\nlines."""\nx = 1  \n'),
        ("a.toml", 'name = "a"\nk = 5\n', 'k = 5\ndescription = "b"\n'),
    ],
)
def test_words_do_not_put_a_result_out_of_date(name: str, text: str, other: str) -> None:
    meaning = runpy.run_path(str(DOCS / "measure"))["meaning"]
    assert meaning(Path(name), text) == meaning(Path(name), other)
    changed = text.replace("x = 1", "x = 2").replace("k = 5", "k = 6")
    assert meaning(Path(name), text) != meaning(Path(name), changed)


def test_the_picture_of_orders_is_drawn_from_what_was_measured() -> None:
    script = runpy.run_path(str(DOCS / "pictures/orders.py"))
    assert (DOCS / "pictures/orders.svg").read_text("utf-8") == script["picture"](script["losses"]())


def test_the_variants_of_papers_are_counted() -> None:
    words = [sys.executable, str(DOCS.parent / "benchmarks/variants.py"), "--instances", "20"]
    head, *lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    kept = (DOCS / "measured/variants.txt").read_text("utf-8").splitlines()
    assert [line.split()[0] for line in kept] == [head.split()[0], *(line.split()[0] for line in lines)]
    assert all(int(differs) <= int(of) <= 20 for _, differs, of in map(str.split, lines))
