"""JSON and TOML that are nested too deeply, or have numbers of 6,000 digits, wherever they are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_helpers import setveil, write

SOURCE = Path(__file__).parents[2] / "src" / "setveil"
DEEP, LONG = "[" * 100_000, "9" * 6_000
ROWS = "tea,milk\ntea,milk\ntea\ntea\n"
STUDY = 'name = "s"\ndata = [{path = "rows.csv"}]\nalgorithms = ["aa"]\nm = 1\nk = '
PLACES: dict[str, tuple[str, str, list[object]]] = {  # file, text before the value, command
    "settings": ("x.toml", "k = ", ["anonymize", "rows.csv", "--config", "x.toml", "-o", "x"]),
    "a record as settings": (
        "x.json", '{"options": {"k": ', ["anonymize", "rows.csv", "--config", "x.json", "-o", "x"],
    ),
    "a study": ("x.toml", STUDY, ["compare", "x.toml", "-o", "x"]),
    "roles": ("x.toml", "[columns]\na = ", ["risk", "rows.csv", "--roles", "x.toml"]),
    "a hierarchy": (
        "x.json", '{"level0": ', ["anonymize", "rows.csv", "-k", 2, "-m", 1, "-H", "x.json", "-o", "x"],
    ),
    "rows of JSON": ("x.jsonl", "", ["anonymize", "x.jsonl", "-k", 2, "-m", 1, "-o", "x"]),
    "constraints": (
        "x.json", "",
        ["anonymize", "rows.csv", "-a", "coat", "-k", 2, "--privacy", "x.json", "--utility", "x.json",
         "-o", "x"],
    ),
    "about.json": ("release/published/about.json", '{"k": ', ["verify", "release"]),
    "report.json": ("release/internal/report.json", '{"k": ', ["why", "release", "tea"]),
    "a series": ("ward/series.json", '{"k": ', ["series", "list", "ward"]),
    "answers": (
        "x.toml", "owner = ", ["evidence", "release", "--frame", "gdpr", "--answers", "x.toml"],
    ),
    "edits": ("x.jsonl", "", ["hierarchy", "edit", "tree.csv", "x.jsonl", "-o", "x.csv"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nested")
    write(folder / "rows.csv", ROWS)
    write(folder / "tree.csv", "tea;*\nmilk;*\n")
    setveil("anonymize", "rows.csv", "-k", 2, "-m", 1, "-H", "tree.csv", "-o", "release", cwd=folder).ok()
    setveil("series", "init", "ward", "-k", 2, "-m", 1, cwd=folder).ok()
    return folder


@pytest.mark.parametrize("value", [DEEP, LONG], ids=["deep", "long"])
@pytest.mark.parametrize("where", PLACES)
def test_what_is_too_deep_or_too_long_is_an_error(place: Path, where: str, value: str) -> None:
    name, before, words = PLACES[where]
    kept = (place / name).read_bytes() if (place / name).exists() else None
    write(place / name, before + value)
    done = setveil(*words, cwd=place)
    if kept is not None:
        (place / name).write_bytes(kept)
    assert done.code in {2, 4}, done.err[-600:]
    assert "Traceback" not in done.err
    assert len(done.err) < 2_000


def test_one_place_reads_json_and_toml() -> None:
    ours = {
        "base/plain_json.py", "base/compiling.py", "base/jit/loading.py", "base/jit/worker.py",
        "work/studies/compare/worker.py", "runs/folder.py",
        "releases/recipients/check.py", "releases/recipients/audit.py",  # which have nothing of setveil's
    }  # fmt: skip
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"\b(json|tomllib)\.loads?\(", path.read_text("utf-8"))
    }
    of_our_own_processes = {one for one in found if one.startswith("studio/")}
    assert found - of_our_own_processes <= ours
    others = found - {"base/plain_json.py"}
    assert "tomllib" not in "".join((SOURCE / one).read_text("utf-8") for one in others)
