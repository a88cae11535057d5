"""The command `verify` for releases that were tampered with."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli_helpers import Done, refused, together
from model_runs import RUNS, verifying

Edit = Callable[[str], str]


def _replace(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text, (old, text)
        return text.replace(old, new, 1)

    return edit


def _first_line(more: str) -> Edit:
    return lambda text: text.replace("\n", f"{more}\n", 1)


def _without_line(line: str) -> Edit:
    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines.remove(f"{line}\n")
        return "".join(lines)

    return edit


def _without_rarest(text: str) -> str:
    lines = text.splitlines()
    counts = Counter(lines)
    return _without_line(min(lines, key=lambda line: counts[line]))(text)


def _one_row_each(text: str) -> str:
    return re.sub(r"(?m)^(\d+),,\d+$", r"\1,,1", text)


def _without(pattern: str) -> Edit:
    def edit(text: str) -> str:
        new = re.sub(f"(?m)^{pattern}\n", "", text)
        assert new != text, text
        return new

    return edit


def _size(rows: int = 0, empty: int = 0) -> Edit:
    """Make about.json claim `rows` more rows, and `empty` more rows without items."""

    def edit(text: str) -> str:
        about = json.loads(text)
        return json.dumps(about | {"rows": about["rows"] + rows, "empty_rows": about["empty_rows"] + empty})

    return edit


TAMPERED: dict[str, tuple[str, dict[str, Edit], int, list[str]]] = {
    "lg: items twice in a row": (
        "lg", {"data.csv": _first_line(",112,101,mid")}, 4, ["not as setveil writes it", "twice"],
    ),
    "lg: a row less": (
        "lg", {"data.csv": _without_rarest, "about.json": _size(-1)}, 1, ["3 times: "],
    ),
    "lg: a row less than about.json says": (
        "lg", {"data.csv": _without_rarest}, 4, ["about.json", "says"],
    ),
    "lg: a lone row without items": (
        "lg", {"data.csv": lambda text: text + "\n", "about.json": _size(1, 1)}, 1, ["1 time: a row without"],
    ),
    "lg: a row without items that about.json does not know": (
        "lg", {"data.csv": lambda text: text + "\n"}, 4, ["1 of them without items", "says"],
    ),
    "hghs: a label more": ("hghs", {"data.csv": _replace("\ne\n", "\ne,M\n")}, 1, ["support 1: M, e"]),
    "hghs: a row less": (
        "hghs", {"data.csv": _without_line("e"), "about.json": _size(-1)}, 1, ["support 1: e"],
    ),
    "hghs: a suppressed item": ("hghs", {"data.csv": _first_line(",i")}, 1, ["support 1: i"]),
    "coat: a suppressed item": ("coat", {"data.csv": _first_line(",d")}, 1, ["support 1: d"]),
    "coat: a label less": (
        "coat", {"data.csv": _replace('"(a,b)",c', '"(a,b)"')}, 1, ["support 4: (a,b), c", "(of a, b, c)"],
    ),
    "coat: no meaning": ("coat", {"about.json": lambda text: text[:-9]}, 4, ["about.json"]),
    "coat: no labels": (
        "coat", {"about.json": _replace('"labels"', '"names"')}, 4, ["about.json", "labels"],
    ),
    "coat-tree: a row of its own": (
        "coat-tree", {"data.csv": lambda text: text + "x,y\n", "about.json": _size(1)}, 1, ["x"],
    ),
    "coat-tree: a row more than about.json says": (
        "coat-tree", {"data.csv": lambda text: text + "x,y\n"}, 4, ["about.json", "says"],
    ),
    "coat: an item under two labels": (
        "coat", {"about.json": _replace('"labels": {', '"labels": {"(g,a)": ["g", "a"], ')}, 4,
        ["'a' is under '(g,a)' and under '(a,b)'"],
    ),
    "coat: an item that is a label, too": (
        "coat", {"about.json": _replace('"labels": {', '"labels": {"c": ["x", "(a,b)"], ')}, 4,
        ["'(a,b)' is a label that represents items, and an item under 'c'"],
    ),
    "coat: an item that became a label": (
        "coat", {"data.csv": _replace('"(a,b)"', "a")}, 4, ["1 item stands", "'a' becomes '(a,b)'"],
    ),
    "border: a suppressed item": ("border", {"data.csv": _first_line(",a")}, 1, ["support 1: a"]),
    "border: a secret in more rows": (
        "border", {"data.csv": _replace("3,e,f,g", "1,e,f,g")}, 1, ["e: 1 in 3 of 4 rows"],
    ),
    "mm: a row less": (
        "mm", {"data.csv": _without_line("1,e,f,g"), "about.json": _size(-1)}, 1, ["g: 2 in 3 of 5 rows"],
    ),
    "cahd: a greater count": (
        "cahd", {"groups.csv": _replace("viagra,1", "viagra,9")}, 1, ["viagra in 9 of "],
    ),
    "cahd: a sensitive item in a row": (
        "cahd", {"data.csv": lambda text: text + "0,0,viagra\n"}, 1, ["viagra is in 1 row"],
    ),
    "cahd: a row less": (
        "cahd", {"data.csv": _without(".,0,.*"), "about.json": _size(0, 1)}, 1, ["in the original"],
    ),
    "cahd: a row that is empty now": ("cahd", {"data.csv": _without(".,0,.*")}, 4, ["about.json", "says"]),
    "cahd: another item": ("cahd", {"data.csv": _replace("wine", "cream")}, 1, ["in the original"]),
    "cahd: a group less": (
        "cahd",
        {"data.csv": _without("0,.*"), "groups.csv": _without("0,.*"), "about.json": _size(-2)},
        1,
        ["in the original"],
    ),
    "cahd: a secret less": ("cahd", {"groups.csv": _without(".,viagra,1")}, 1, ["viagra"]),
    "cahd: more rows than the group has": (
        "cahd", {"groups.csv": _one_row_each}, 4, ["groups.csv gives it 1"],
    ),
    "cahd: an unknown group": (
        "cahd", {"data.csv": lambda text: text + "9,77,meat\n"}, 4, ["data.csv, line 13", "group 9"],
    ),
    "cahd: a row in two groups": (
        "cahd", {"data.csv": lambda text: text + "1,0,meat\n"}, 4, ["data.csv, line 13", "row 0"],
    ),
    "cahd: a group without its size": (
        "cahd", {"groups.csv": _without(r"0,,\d+")}, 4, ["group 0"],
    ),
    "cahd: a size twice": (
        "cahd", {"groups.csv": lambda text: text + "0,,2\n"}, 4, ["groups.csv, line", "second time"],
    ),
    "cahd: no number": (
        "cahd", {"groups.csv": _replace("viagra,1", "viagra,x")}, 4, ["groups.csv, line", "'x'"],
    ),
    "cahd: another header": (
        "cahd", {"data.csv": _replace("group,row,item", "group,item,row")}, 4, ["data.csv, line 1", "header"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def tampered(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Done]]:
    folder, _ = finished
    place = tmp_path_factory.mktemp("tampered")
    commands = []
    for number, (name, edits, _, _) in enumerate(TAMPERED.values()):
        out = place / str(number)
        shutil.copytree(folder / name, out)
        for file, edit in edits.items():
            path = out / "published" / file
            path.write_bytes(edit(path.read_text(encoding="utf-8")).encode())
        more = ["--original", f"{RUNS[name].data}.csv"] if RUNS[name].kind == "grouped" else []
        commands.append([*verifying(name, out), *more])
    yield dict(zip(TAMPERED, together(commands, folder), strict=True))
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_found(name: str, tampered: dict[str, Done]) -> None:
    _, _, code, words = TAMPERED[name]
    done = tampered[name]
    if code == 4:
        refused(done, 4, *words)
        return
    assert done.code == 1, done
    assert "Traceback" not in done.err, done
    assert done.out.startswith("No: "), done
    for word in words:
        assert word in done.out, (word, done)
