"""Contents of report.json: its types, records of all kinds of runs, and the page that names the keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest

from cli_helpers import HIERARCHY, setveil, together, write
from model_runs import INPUTS, RUNS, anonymizing
from setveil.base.errors import DataError
from setveil.report.record import VERSION, Record, read_record
from setveil.studio import commands

TABLE = """\
patient,age,sex,outcome,codes
1,34,F,well,I21;J18
2,36,F,well,I21
3,41,M,ill,J18;J44
4,45,M,well,I50;J44
5,47,F,ill,I50
6,62,M,well,I21;J44
7,64,M,ill,I21;I50
8,71,F,,J18
"""
WARD = "ward.csv --qi age,sex --set codes --keep-columns outcome -H codes.csv --ranges age=10 -k 2 -m 2"
LOG_LINES = """\
patient,code,drug,on
1,I21,C07,2024-01-03
1,J18,,2024-02-03
2,I21,C07,2024-01-09
3,J18,C08,2024-02-11
3,J44,,2024-03-11
4,I50,C08,2024-01-20
5,I50,C07,2024-03-01
6,J44,C08,2024-02-28
"""
OF_LOG = "--id-column patient --set code --when on:quarter"
LOG = "log.csv --id-column patient --when on:quarter"
TREE, SECRET = "baskets.csv -H tree.csv", "--sensitive 104,111"
COMMANDS = {
    "exact": f"anonymize {TREE} -k 3 -m 2 --sample 12 --purpose test --date 2026-01-02",
    "refined": "anonymize baskets.csv -a aa -k 3 -m 2 --refine --bound",
    "oa": f"anonymize {TREE} -a oa -k 3 -m 2",
    "rho": f"anonymize {TREE} -k 2 -m 2 --rho 1/2 {SECRET}",
    "uncertain": f"anonymize {TREE} --rho 1/2 {SECRET}",
    "coherent": "anonymize baskets.csv -a exact --h 80% -k 2 --p 1 --private 104,111",
    "rules": f"anonymize baskets.csv -a suppress-control --rho 1/2 {SECRET} --bound",
    "td": f"anonymize {TREE} -a td-control --rho 1/2 {SECRET}",
    "watched": f"anonymize {TREE} -k 2 -m 2 {SECRET}",
    "lra": f"anonymize {TREE} -a lra -k 3 -m 2",
    "pcta": "anonymize coat.csv -a pcta -k 4 --privacy P.txt",
    "parts": f"anonymize {TREE} -a aa -k 3 -m 2 --engine parts",
    "table": f"anonymize {WARD} --model kkm",
    "forest": f"anonymize {WARD} --model kkm --global",
    "mixed": f"anonymize {WARD} --model mixed-km",
    "learned": f"anonymize {WARD} --model kkm --sensitive outcome --h 75% --p 1",
    "facts": f"anonymize {LOG} --set code -k 2 -m 2 -H codes.csv",
    "columns": f"anonymize {LOG} --set code:m=2 --set drug:m=1 -k 2 -H code=codes.csv",
    "persons": f"anonymize ward.csv --items-file log.csv --qi age,sex {OF_LOG} --model kkm -k 2 -m 1",
    "applied": "apply exact more.csv -H grown.csv --format basket --repair --union exact",
}
ALL = [*RUNS, *COMMANDS]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run of each sort."""
    folder = tmp_path_factory.mktemp("records")
    for name, content in INPUTS.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    write(folder / "grown.csv", f"{HIERARCHY}113;high;large;all\n")
    write(folder / "more.csv", "101,102\n101,103\n113,108\n115,101\n112\n")
    write(folder / "ward.csv", TABLE)
    write(folder / "log.csv", LOG_LINES)
    write(folder / "codes.csv", "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n")
    command_list = [anonymizing(name, name, "--external") for name in RUNS]
    command_list += [[*words.split(), "--out", name] for name, words in COMMANDS.items()]
    for done in together(command_list, folder):
        done.ok()
    return folder


def file_of(folder: Path) -> Path:
    return folder / "internal" / "report.json"


@pytest.mark.parametrize("name", ALL)
def test_every_record_is_what_its_types_say(place: Path, name: str) -> None:
    record = read_record(file_of(place / name))
    assert record["version"] == VERSION
    assert list(unknown(record, Record, "")) == []


def test_the_studio_verifies_every_run_from_its_record(place: Path) -> None:
    records = {name: read_record(file_of(place / name)) for name in ALL}
    checks = [commands.verify(name, record) for name, record in records.items()]
    for name, done in zip(records, together(checks, place), strict=True):
        assert done.code == 0, (name, done.err)


def test_a_page_has_no_line_for_what_the_record_leaves_open(place: Path) -> None:
    page = (place / "oa" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "Read as" in page
    assert "Column of row ids" not in page
    assert '<bdi title=""></bdi>' not in page


def unknown(value: object, kind: Any, where: str) -> Iterator[str]:
    """List the keys of a record without a type; an algorithm may record anything."""
    kind = next((part for part in get_args(kind) if is_typeddict(part) or get_args(part)), kind)
    if is_typeddict(kind) and isinstance(value, dict):
        for name, inside in value.items():
            if name in get_type_hints(kind):
                yield from unknown(inside, get_type_hints(kind)[name], f"{where}.{name}")
            elif where != ".algorithm":
                yield f"{where}.{name}"
    for inside in value if isinstance(value, list) else ():
        yield from unknown(inside, kind, where)


def keys_of(kind: Any, where: str) -> Iterator[tuple[str, frozenset[str]]]:
    """List the parts of a record, and the keys of each."""
    if is_typeddict(kind):
        parts = get_type_hints(kind)
        yield where, frozenset(parts)
        for name, part in parts.items():
            yield from keys_of(part, f"{where}.{name}".lstrip("."))
    for part in get_args(kind):
        yield from keys_of(part, where)


def test_the_page_names_every_key_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "record.md").read_text(encoding="utf-8")
    table = page[page.index("### All keys") : page.index("## Answers as JSON")]
    documented: dict[str, frozenset[str]] = {}
    for parts, keys in re.findall(r"^\| (`.+`|the record) \| (`.+`) \|$", table, re.MULTILINE):
        for part in re.findall(r"`([^`]+)`", parts) or [""]:
            assert part not in documented
            documented[part] = frozenset(re.findall(r"`([^`]+)`", keys))
    assert documented == dict(keys_of(Record, ""))


def test_the_page_names_every_key_of_about(place: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "record.md").read_text(encoding="utf-8")
    table = page[page.index("## about.json") : page.index("## counts.csv")]
    keys = {
        key
        for cell in re.findall(r"^\| (`.+?) \| ", table, re.MULTILINE)
        for key in re.findall(r"`([^`]+)`", cell)
    }
    for name in ALL:
        about = json.loads((place / name / "published" / "about.json").read_text(encoding="utf-8"))
        assert about.keys() <= keys, name


# Records that are damaged, older or newer.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"guarantee": None}, "guarantee is 'null', expected an object"),
        ({"guarantee": {"model": "km-anonymity"}}, "guarantee lacks holds, phrase, violations"),
        ({"seed": "x"}, "seed is '\"x\"', expected a whole number"),
        ({"seed": True}, "seed is 'true', expected a whole number"),
        ({"watched": ["a", 5]}, "watched.1 is '5', expected a text"),
        ({"timing": {"read": []}}, "timing.read is '[]', expected a number"),
        ({"hierarchy": 5}, "hierarchy is '5', expected an object"),
        ({"peak_memory_mb": "much"}, "peak_memory_mb is '\"much\"', expected a number"),
        ({"watched": {}}, "watched is '{}', expected a list"),
        ({"version": "1"}, "version is '\"1\"', expected a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record_is_said(
    place: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    file = write(tmp_path / "report.json", json.dumps(json.loads(file_of(place / "oa").read_text()) | change))
    with pytest.raises(DataError) as caught:
        read_record(file)
    assert f"{file} is not the record of a run: {said}" in str(caught.value)


def test_older_records_are_read_and_newer_ones_refused(place: Path, tmp_path: Path) -> None:
    record = json.loads(file_of(place / "oa").read_text())
    old = {key: value for key, value in record.items() if key != "version"}
    assert read_record(write(tmp_path / "old.json", json.dumps(old))) == old
    newer = tmp_path / "run" / "internal" / "report.json"
    newer.parent.mkdir(parents=True)
    write(newer, json.dumps(record | {"version": VERSION + 1, "guarantee": "told otherwise"}))
    for command in (["why", "run", "102"], ["apply", "run", place / "baskets.csv", "--out", "out"]):
        done = setveil(*command, cwd=tmp_path)
        assert done.code == 4
        assert f"is a record of version {VERSION + 1}; this setveil reads records up to version" in done.err
        assert "newer setveil" in done.err
