"""The command `verify` for counts that were tampered with."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import Done, refused, together
from naive import worlds as naive
from naive.km import item_order
from setveil.base.errors import SetveilError
from strategies import examples

Edit = Callable[[bytes], bytes]

# In the release, A represents a1 to a3, z and w are suppressed, and no row is empty.
ROWS = ["a1 b1", "a1 b1", "a1 a2 b2", "a2 b1", "a1 b2 z", "a1 a2", "a3 b1", "b2 z"]
TREE = [*([f"a{i}", "A", "*"] for i in (1, 2, 3)), *([x, "*"] for x in ("b1", "b2", "z", "w"))]
COUNTS = "item,label,rows\na1,A,5\na2,A,3\nb1,b1,4\nb2,b2,3\nz,,2\n"
PROMISE = ["--k", "2", "--m", "2"]


def line(old: str, new: str) -> Edit:
    """Replace a line, or remove it, with its end."""

    def edit(content: bytes) -> bytes:
        text = content.decode()
        assert f"{old}\n" in text, (old, text)
        return text.replace(f"{old}\n", f"{new}\n" if new else "", 1).encode()

    return edit


def becomes(text: str) -> Edit:
    return lambda _: text.encode()


def entry(**changes: Any) -> Edit:
    """Change entries of about.json; None: remove one."""

    def edit(content: bytes) -> bytes:
        about = json.loads(content) | changes
        return json.dumps({key: value for key, value in about.items() if value is not None}).encode()

    return edit


def edited(**changes: Any) -> Edit:
    """Change what about.json says of the counts."""
    return lambda content: entry(counts=json.loads(content)["counts"] | changes)(content)


AS_WRITTEN = "counts.csv is not as setveil writes it"
COUNTED: dict[str, tuple[Edit, int, str]] = {
    "one row more than the label": (line("a1,A,5", "a1,A,8"), 1, "line 2: 8 rows contain 'a1', but only 7"),
    "too few for the label": (line("a1,A,5\na2,A,3", "a1,A,4"), 1, "line 2: 7 published rows show"),
    "an item that is its own label, once less": (line("b1,b1,4", "b1,b1,3"), 1, "line 4: 4 published rows"),
    "an item that is its own label, again": (line("b1,b1,4", "b1,b1,5"), 1, "line 4: 5 rows contain 'b1'"),
    "an item that is its own label, not at all": (line("b1,b1,4", ""), 1, "4 published rows show 'b1'"),
    "below the least": (line("z,,2", "z,,1"), 1, "line 6: 1 row contains 'z', fewer than the least count, 2"),
    "no row": (line("z,,2", "z,,0"), 1, "line 6: 0 rows contain 'z'"),
    "more than there are rows": (line("z,,2", "z,,9"), 1, "line 6: 9 rows contain 'z', but there are only 8"),
    "another label": (line("a2,A,3", "a2,b1,3"), 1, "line 3: 'a2' is under 'b1', but the release publishes"),
    "a label that there is not": (line("a2,A,3", "a2,B,3"), 1, "line 3: 'a2' is under 'B'"),
    "no label": (line("a2,A,3", "a2,,3"), 1, "line 3: 'a2' is suppressed, but the release publishes it"),
    "a label of its own": (line("a2,A,3", "a2,a2,3"), 1, "line 3: 'a2' is under 'a2'"),
    "a label for what is left out": (line("z,,2", "z,z,2"), 1, "line 6: 'z' is under 'z'"),
    "a label as an item": (line("z,,2", "A,A,7"), 1, "line 6: 'A' is a label of about.json, no item"),
    "an item twice": (line("a2,A,3", "a1,A,3"), 1, "line 3: 'a1' is there for the second time"),
    "a line twice": (line("z,,2", "z,,2\nz,,2"), 1, "line 7: 'z' is there for the second time"),
    "another order": (line("a1,A,5\na2,A,3", "a2,A,3\na1,A,5"), 1, "line 3: 'a1' is not in item order"),
    "items that do not exist": (line("z,,2", "x,,2\ny,,2\nz,,2"), 1, "3 others are listed as"),
    "another header": (line("item,label,rows", "item,label,row"), 4, "counts.csv, line 1: found"),
    "header in capitals": (line("item,label,rows", "Item,Label,Rows"), 4, "counts.csv, line 1: found"),
    "no header": (line("item,label,rows", ""), 4, "counts.csv, line 1: found"),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, 4, AS_WRITTEN),
    "another separator": (lambda content: content.replace(b",", b";"), 4, "counts.csv, line 1: found"),
    "nothing": (becomes(""), 4, "counts.csv, line 1: found nothing"),
    "no text": (lambda _: b"item,label,rows\na\xff,A,5\n", 4, "counts.csv is not UTF-8"),
    "UTF-16": (lambda content: content.decode().encode("utf-16"), 4, "counts.csv is not UTF-8"),
    "an open quote": (line("a1,A,5", '"a1,A,5'), 4, "counts.csv cannot be read:"),
    "text behind a quote": (line("a1,A,5", '"a"1,A,5'), 4, "counts.csv cannot be read:"),
    "a blank line": (line("a2,A,3", "a2,A,3\n"), 4, "counts.csv, line 4: found"),
    "a blank line at the end": (lambda content: content + b"\n", 4, "counts.csv, line 7: found"),
    "a field less": (line("z,,2", "z,2"), 4, "counts.csv, line 6: found"),
    "a field more": (line("z,,2", "z,,2,"), 4, "counts.csv, line 6: found"),
    "no item": (line("z,,2", ",,2"), 4, "counts.csv, line 6: found"),
    "a negative number": (line("z,,2", "z,,-2"), 4, "counts.csv, line 6: found"),
    "a sign": (line("z,,2", "z,,+2"), 4, "counts.csv, line 6: found"),
    "a blank before a number": (line("z,,2", "z,, 2"), 4, AS_WRITTEN),
    "a fraction": (line("z,,2", "z,,2.0"), 4, "counts.csv, line 6: found"),
    "a power": (line("z,,2", "z,,2e0"), 4, "counts.csv, line 6: found"),
    "a group of digits": (line("z,,2", "z,,1_0"), 4, "counts.csv, line 6: found"),
    "no number": (line("z,,2", "z,,"), 4, "counts.csv, line 6: found"),
    "digits of another script": (line("z,,2", "z,,٢"), 4, "counts.csv, line 6: found"),
    "a superscript": (line("z,,2", "z,,²"), 4, "counts.csv, line 6: found"),
    "a huge number": (line("z,,2", f"z,,{'9' * 40}"), 4, "counts.csv, line 6:"),
    "a number of more digits than Python reads": (line("z,,2", f"z,,{'9' * 9999}"), 4, "counts.csv, line 6:"),
    "a great number": (line("z,,2", f"z,,{'9' * 15}"), 1, "line 6: 999,999,999,999,999 rows contain 'z'"),
    "a huge item": (line("z,,2", f"{'z' * 200_000},,2"), 4, "counts.csv cannot be read:"),
    "a blank behind an item": (line("a1,A,5", "a1 ,A,5"), 4, AS_WRITTEN),
    "lines as of Windows": (lambda content: content.replace(b"\n", b"\r\n"), 4, AS_WRITTEN),
    "no end of the last line": (lambda content: content.removesuffix(b"\n"), 4, AS_WRITTEN),
    "fields in quotes": (line("a1,A,5", '"a1","A","5"'), 4, AS_WRITTEN),
    "another spelling": (line("a1,A,5", "A1,A,5"), 1, "line 2: 'A1' is under 'A'"),
}  # fmt: skip
POSSIBLE: dict[str, Edit] = {
    "once more, as can be": line("a1,A,5", "a1,A,6"),
    "once less, as can be": line("a1,A,5", "a1,A,4"),
    "rare enough not to be listed": line("a2,A,3", ""),
    "left out, not listed": line("z,,2", ""),
    "another item left out": line("z,,2", "w,,2"),
}
ABOUT: dict[str, tuple[Edit, int, str]] = {
    "nothing of counts": (entry(counts=None), 4, "does not mention counts"),
    "counts are true": (entry(counts=True), 4, "counts is 'True', expected file, least and suppressed"),
    "counts are a list": (entry(counts=[]), 4, "counts is '[]', expected file, least and suppressed"),
    "counts are empty": (entry(counts={}), 4, "counts is '{}', expected file, least and suppressed"),
    "another file": (edited(file="../counts.csv"), 4, "expected file, least and suppressed"),
    "no least": (edited(least=None), 4, "expected file, least and suppressed"),
    "a text as the least": (edited(least="2"), 4, "expected file, least and suppressed"),
    "a fraction as the least": (edited(least=2.0), 4, "expected file, least and suppressed"),
    "a truth as the least": (edited(least=True), 4, "expected file, least and suppressed"),
    "a negative least": (edited(least=-2), 4, "expected file, least and suppressed"),
    "a huge least": (edited(least=10**30), 4, "expected file, least and suppressed"),
    "no truth of suppressed": (edited(suppressed=1), 4, "expected file, least and suppressed"),
    "a least of 0": (edited(least=0), 1, "the least count is 0, which is less than k = 2"),
    "a least of 1": (edited(least=1), 1, "the least count is 1, which is less than k = 2"),
    "a greater least": (edited(least=3), 1, "line 6: 2 rows contain 'z', fewer than the least count, 3"),
    "none left out is listed": (edited(suppressed=False), 1, "line 6: a suppressed item, though about.json"),
    "fewer items exist": (entry(domain=5), 1, "but only 5 exist"),
    "an item less": (
        entry(labels={"A": ["a1", "a3"]}), 1, "line 3: 'a2' is under 'A', but the release publishes",
    ),
    "an item in two labels": (
        entry(labels={"A": ["a1", "a2", "a3"], "B": ["a3"]}), 1, "'a3' is published under 'A' and under 'B'",
    ),
    "a published item in a label": (
        entry(labels={"A": ["a1", "a2", "a3", "b1"]}), 1, "'b1' is published under 'A' and under 'b1'",
    ),
    "a label without a name": (
        entry(labels={"A": ["a1", "a2", "a3"], "": ["z"]}), 4, "labels has a label without a name",
    ),
    "labels that are no object": (entry(labels=[]), 4, "labels is no object"),
}  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("original") / "run"
    tree = sv.Hierarchy.from_paths(TREE)
    release = sv.anonymize([row.split() for row in ROWS], sv.KmAnonymity(k=2, m=2), hierarchy=tree)
    release.write(out)
    assert (out / "published" / "counts.csv").read_text(encoding="utf-8") == COUNTS
    return out


@pytest.fixture(scope="module")
def verified(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Done]]:
    place = tmp_path_factory.mktemp("tampered")
    edits = {
        **{name: ("counts.csv", edit) for name, (edit, _, _) in COUNTED.items()},
        **{name: ("counts.csv", edit) for name, edit in POSSIBLE.items()},
        **{name: ("about.json", edit) for name, (edit, _, _) in ABOUT.items()},
    }
    commands = []
    for number, (file, edit) in enumerate(edits.values()):
        out = place / str(number)
        shutil.copytree(original, out)
        path = out / "published" / file
        path.write_bytes(edit(path.read_bytes()))
        commands.append(["verify", out, *PROMISE])
    yield dict(zip(edits, together(commands, place), strict=True))
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("name", [*COUNTED, *ABOUT])
def test_tampering_is_found(name: str, verified: dict[str, Done]) -> None:
    _, code, words = (COUNTED | ABOUT)[name]
    done = verified[name]
    if code == 4:
        refused(done, 4, words)
        return
    assert done.code == 1, done
    assert "Traceback" not in done.err, done
    assert done.out.startswith(
        "No: the rows satisfy the guarantee, but the counts published with them are wrong."
    ), done
    assert words in done.out, done


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_may_be_true_is_accepted(name: str, verified: dict[str, Done]) -> None:
    assert verified[name].ok().out.startswith("Yes: ")


def test_missing_files(original: Path, tmp_path: Path) -> None:
    for name, file in (("a", "counts.csv"), ("b", "about.json")):
        shutil.copytree(original, tmp_path / name)
        (tmp_path / name / "published" / file).unlink()
    shutil.copytree(original, tmp_path / "c")
    (tmp_path / "c" / "published" / "counts.csv").unlink()
    (tmp_path / "c" / "published" / "counts.csv").mkdir()
    commands = [["verify", tmp_path / name, *PROMISE] for name in "abc"]
    missing, alone, folder = together(commands, tmp_path)
    refused(missing, 4, "counts.csv is missing")
    assert "counts.csv" not in alone.ok().out  # no file defines the labels
    refused(folder, 4, "counts.csv")


def test_a_suppressed_item_where_few_rows_are_empty(original: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(original, out)
    data, about = out / "published" / "data.csv", out / "published" / "about.json"
    data.write_bytes(data.read_bytes() + b"\n")
    size = json.loads(about.read_bytes())
    about.write_bytes(entry(rows=size["rows"] + 1, empty_rows=1)(about.read_bytes()))
    listed, answer = together([["verify", out, *PROMISE], ["verify", out, *PROMISE, "--json"]], tmp_path)
    assert listed.code == answer.code == 1
    assert "line 6: about.json says that suppressed items are listed, though 1 published row" in listed.out
    found = answer.json()
    assert (found["holds"], found["violations"], found["counts"]["holds"]) == (False, 0, False)


# --- damage at random


def read_alone(content: bytes | bytearray) -> list[list[str]] | None:
    """Read counts by hand; None if that cannot be done."""
    try:
        lines = list(csv.reader(io.StringIO(content.decode(), newline=""), strict=True))
    except (ValueError, csv.Error):
        return None
    sound = bool(lines) and lines[0] == ["item", "label", "rows"]
    sound = sound and all(len(x) == 3 and x[0] and x[2].isascii() and x[2].isdecimal() for x in lines[1:])
    return lines[1:] if sound else None


def written_alone(lines: list[list[str]]) -> bytes:
    """Write counts by hand, in the one way that setveil does."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["item", "label", "rows"], *lines])
    return text.getvalue().encode()


@settings(max_examples=examples(400, 40))
@given(rng=st.randoms(use_true_random=False))
def test_random_damage_is_refused_or_could_be_true(rng: Random, original: Path) -> None:
    """Check any tampered file: an answer or a clear error, and "yes" only if some rows give its counts."""
    content = bytearray(COUNTS.encode())
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(content) + 1)
        content[at : at + rng.choice((0, 1, 1, 3, 8))] = rng.choice(
            (
                b"",
                b"",
                b"1",
                b"2",
                b"3",
                b"9",
                b",",
                b"\n",
                b'"',
                b"a1",
                b"z",
                b"A",
                b"b2",
                b"\r",
                b"\0",
                b"\xff",
                b"w",
            )
        )
    path = original / "published" / "counts.csv"
    path.write_bytes(content)
    try:
        holds = sv.verify(original, sv.KmAnonymity(k=2, m=2)).holds
    except SetveilError:
        found = read_alone(content)
        assert found is None or any(len(n) > 15 for *_, n in found) or written_alone(found) != content
        return
    finally:
        path.write_text(COUNTS, encoding="utf-8")
    lines = read_alone(content)
    assert lines is not None
    assert written_alone(lines) == content, bytes(content)
    items = [item for item, _, _ in lines]
    published = sv.read(str(original / "published" / "data.csv")).rows()
    world = naive.Release(
        [frozenset(row) for row in published],
        {"A": frozenset(("a1", "a2", "a3")), "b1": frozenset({"b1"}), "b2": frozenset({"b2"})},
        frozenset("zw") | {item for item, label, _ in lines if not label},
        {(item, label): int(n) for item, label, n in lines},
        2,
    )
    taken = {item for items in world.members.values() for item in items}
    possible = (
        items == item_order(set(items))
        and all(int(n) >= 2 for _, _, n in lines)
        and not world.suppressed & (taken | {"A"})
        and len(taken | {item for item, label, _ in lines if not label}) <= 7
        and naive.number(world) > 0
    )
    assert holds == possible, bytes(content)
