"""Bad input ends with the right exit code, one clear message, and nothing written.

Most cases run one after the other in one process, since starting it takes longer than any of them; each is
checked by a test of its own.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from cli_helpers import (
    COMPILED,
    Done,
    dump,
    files_under,
    leftovers,
    posix_only,
    read_run,
    refused,
    rows_of,
    sample_rows,
    setveil,
    together,
    write,
)

TREE = "a;x;*\nb;x;*\nc;y;*\nd;y;*\n"
BASKETS = "a,b\nb,c\na,c,d\nd\n" * 3
ROWS = [frozenset(line.split(",")) for line in BASKETS.split()]
OPTIONS = ["--k", "2", "--m", "2"]


@dataclass(frozen=True)
class Case:
    """A bad input: the request, its exit code, and words of the message."""

    code: int
    words: list[str] = field(default_factory=list)
    file: str = "in.csv"
    content: str | bytes | None = BASKETS
    options: list[str] = field(default_factory=list)
    km: list[str] = field(default_factory=lambda: OPTIONS)
    tree: str | None = None
    tree_file: str = "tree.csv"


def _binary() -> bytes:
    return bytes(range(256)) * 20


def _parquet(frame: pl.DataFrame) -> bytes:
    import io

    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


LARGE = "".join(f"{i};g{i // 6};h{i // 24};*\n" for i in range(600))

CASES = {
    # Things in place of a file of rows.
    "missing file": Case(4, ["no.csv", "There is no file"], file="no.csv", content=None),
    "missing file, nearly named": Case(4, ["Did you mean", "in.csv"], file="inn.csv"),
    "missing folder": Case(4, ["no/in.csv"], file="no/in.csv", content=None),
    "a folder": Case(4, ["folder"], file="folder", content=None),
    "empty file": Case(4, ["empty"], content=""),
    "only a byte order mark": Case(4, ["in.csv"], content="\ufeff"),
    "blank lines": Case(4, ["blank lines"], content="\n \n\t\n\r\n"),
    "only separators": Case(4, ["no item"], content=",,\n,\n"),
    "empty stdin": Case(4, ["standard input"], file="-", content=None),
    "binary": Case(4, ["in.csv"], content=_binary()),
    "zero bytes": Case(4, ["UTF-16", "--encoding"], content=b"a,b\na,\0\n"),
    "binary as fimi": Case(4, ["in.dat"], file="in.dat", content=_binary()),
    "half of gzip": Case(4, ["gzip"], content=gzip.compress(b"a,b\n")[:-9]),
    "half a parquet file": Case(4, ["Parquet"], file="in.parquet", content=b"PAR1 and then nothing"),
    "a broken parquet file": Case(4, ["Parquet"], file="in.parquet", content=b"PAR1" + b"x" * 40 + b"PAR1"),
    "not UTF-8": Case(4, ["UTF-8", "0xe9", "offset 7", "--encoding"], content=b"tea\ncaf\xe9\n"),
    "UTF-16": Case(4, ["UTF-16", "--encoding"], content="a,b\nb\n".encode("utf-16-le")),
    "not ascii, as told": Case(
        4, ["ascii", "offset 3"], content=b"caf\xc3\xa9\n", options=["--encoding", "ascii"]
    ),
    "unknown encoding": Case(2, ["klingon"], options=["--encoding", "klingon"]),
    # Contents of the file.
    "word in FIMI": Case(4, ["line 3", "'tea'", "integers"], file="in.dat", content="1 2\n2\n1 tea\n"),
    "decimal in FIMI": Case(4, ["line 1", "1.5"], file="in.dat", content="1 1.5\n"),
    "word in SPMF": Case(4, ["line 2", "'tea'"], file="in.txt", content="1 -1 -2\ntea -1 -2\n"),
    "a number that represents two items": Case(
        4, ["line 2", "second time"], file="in.txt", content="@ITEM=1=tea\n@ITEM=1=milk\n1\n"
    ),
    "quote never closed": Case(4, ["line 2", "never closed"], content='a,b\n"a,b\nc\n'),
    "text after a quote": Case(4, ["line 1", "closing quote"], content='"a"x,b\n'),
    "not JSON": Case(4, ["line 2"], file="in.jsonl", content='["a"]\n["a",\n'),
    "JSON that is no list": Case(4, ["line 1"], file="in.jsonl", content="17\n"),
    "JSON decimal": Case(4, ["line 1"], file="in.jsonl", content="[1.5]\n"),
    "unknown id column": Case(
        4, ["'who'", "'order_id'", "'item'"], content="order_id,item\n1,a\n", options=["--id-column", "who"]
    ),
    "unknown item column": Case(
        4, ["'what'", "'item'"], content="order_id,item\n1,a\n", options=["--item-column", "what"]
    ),
    "both columns the same": Case(
        2, ["'item'"], content="id,item\n1,a\n", options=["--id-column", "item", "--item-column", "item"]
    ),
    "which columns": Case(4, ["--id-column"], content="a,b,c\n1,2,3\n", options=["--format", "long"]),
    "missing item": Case(
        4,
        ["line 3", "'item'", "empty", "--missing-item skip"],
        content="order_id,item\n1,a\n2,\n1,b\n",
        options=["--missing-item", "stop"],
    ),
    "missing id": Case(4, ["line 2", "'order_id'", "empty"], content='order_id,item\n"",a\n2,b\n'),
    "too many fields": Case(
        4, ["line 3", "3", "expected 2"], content="order_id,item\n1,a\n1,b,c\n", options=["--format", "long"]
    ),
    "header only": Case(4, ["its only line names columns"], content="order_id,item\n"),
    "null in parquet": Case(
        4,
        ["'item'", "empty", "row 1 counted from 0"],
        file="in.parquet",
        content=_parquet(pl.DataFrame({"order_id": [1, 2], "item": ["a", None]})),
        options=["--missing-item", "stop"],
    ),
    "null id in parquet": Case(
        4,
        ["'order_id'", "missing"],
        file="in.parquet",
        content=_parquet(pl.DataFrame({"order_id": [1, None], "item": ["a", "b"]})),
    ),
    "decimals in parquet": Case(
        4, ["'items'"], file="in.parquet", content=_parquet(pl.DataFrame({"items": [[1.5]]}))
    ),
    "column that does not apply": Case(
        2, ["item_column", "basket"], options=["--format", "basket", "--item-column", "x"]
    ),
    "separator of two characters in no line": Case(4, ["'::'", "in no line"], options=["--separator", "::"]),
    "separator with a double quote": Case(2, [":"], options=["--separator", ':"']),
    # Parameters.
    "k of 1": Case(2, ["k must be", "2", "got 1"], km=["--k", "1", "--m", "2"]),
    "negative k": Case(2, ["k must be"], km=["--k", "-3", "--m", "2"]),
    "k of two and a half": Case(2, ["--k", "integer"], km=["--k", "2.5", "--m", "2"]),
    "m of 0": Case(2, ["m must be", "got 0"], km=["--k", "2", "--m", "0"]),
    "m of x": Case(2, ["m must be", "inf", "'x'"], km=["--k", "2", "--m", "x"]),
    "m of nan": Case(2, ["m must be"], km=["--k", "2", "--m", "nan"]),
    "m of 1.5": Case(2, ["m must be"], km=["--k", "2", "--m", "1.5"]),
    "no k": Case(2, ["--k"], km=["--m", "2"]),
    "no m": Case(2, ["--m"], km=["--k", "2"]),
    "negative seed": Case(2, ["--seed"], options=["--seed", "-1"]),
    "unknown option": Case(2, ["--nonsense"], options=["--nonsense"]),
    "k beyond the rows": Case(3, ["12 rows", "greatest possible k", "12"], km=["--k", "13", "--m", "2"]),
    "k far beyond the rows": Case(3, ["12"], km=["--k", "99999999999999999999", "--m", "2"]),
    "k beyond the rows that are not empty": Case(
        3, ["4 rows", "greatest possible k", "2"], content="a\n\nb\n\n", km=["--k", "3", "--m", "1"]
    ),
    "one row": Case(3, ["1 row"], content="a,b\n"),
    "unknown algorithm": Case(2, ["'zz'", "aa", "da", "oa"], options=["--algorithm", "zz"]),
    "unknown format": Case(2, ["'excel'", "fimi", "jsonl"], options=["--format", "excel"]),
    "unknown output format": Case(2, ["'excel'", "jsonl"], options=["--output-format", "excel"]),
    "oa on a large hierarchy": Case(
        2,
        ["600 items", "--algorithm aa"],
        file="in.dat",
        content="1 2\n3 4\n1 4\n2 3\n" * 2,
        tree=LARGE,
        options=["--algorithm", "oa", "--format", "fimi"],
    ),
    # Hierarchies.
    "missing hierarchy": Case(4, ["no-tree.csv"], options=["--hierarchy", "no-tree.csv"]),
    "hierarchy is a folder": Case(4, ["folder"], options=["--hierarchy", "folder"]),
    "empty hierarchy": Case(4, ["tree.csv", "empty"], tree=""),
    "cycle": Case(
        4, ["cycle"], tree='{"level1":{"*":["a"]},"level2":{"x":["y"],"y":["x","b"]}}', tree_file="t.json"
    ),
    "cycle in csv": Case(4, ["cycle"], tree="a;x;y;x\nb;y;x;y\n"),
    "two roots": Case(4, ["second root", "line 3"], tree="a;x;*\nb;x;*\nc;y;all\nd;y;*\n"),
    "two parents": Case(4, ["two parents", "line 2", "'b'"], tree="a;x;*\nb;x;*\nb;y;*\nc;y;*\nd;y;*\n"),
    "inner nodes that are items, each below the other": Case(
        4, ["'x'", "inner node"], tree=TREE + "x;y;*\ny;x;*\n"
    ),
    "an item listed twice": Case(4, ["'a'", "line 5", "already"], tree=TREE + "a;x;*\n"),
    "an empty label": Case(4, ["line 2", "empty label"], tree="a;x;*\n;x;*\nc;y;*\nd;y;*\n"),
    "hierarchy with a bad quote": Case(4, ["line 2", "quote"], tree='a;x;*\n"b;x;*\nc;y;*\n'),
    "hierarchy without parents": Case(4, ["no line has a parent"], tree="a\nb\nc\nd\n"),
    "hierarchy of ranges": Case(4, ["range"], tree="range\nname x\n\n", tree_file="tree.txt"),
    "hierarchy that is no JSON": Case(4, ["JSON", "line 1"], tree="{", tree_file="tree.json"),
    "binary hierarchy": Case(4, ["binary"], tree="a;x\0;*\n"),
    "items not in the hierarchy": Case(
        4,
        ["3 of 5 items", "'tea'", "hierarchy build", "--extend"],
        content="a,tea\nmilk,b,rum\n" * 2,
        tree=TREE,
    ),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Done, Path]]]:
    """Run all cases, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("bad")
    commands = []
    places = []
    for number, case in enumerate(CASES.values()):
        place = folder / str(number)
        (place / "folder").mkdir(parents=True)
        if case.content is not None:
            write(place / ("in.csv" if case.file == "inn.csv" else case.file), case.content)
        options = list(case.options)
        if "--hierarchy" in options:
            options[-1] = str(place / options[-1])
        if case.tree is not None:
            options += ["--hierarchy", str(write(place / case.tree_file, case.tree))]
        file = "-" if case.file == "-" else str(place / case.file)
        commands.append(["anonymize", file, *case.km, *options, "--out", str(place / "out")])
        places.append(place)
    done = together(commands, cwd=folder)
    yield dict(zip(CASES, zip(done, places, strict=True), strict=True))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name: str, answers: dict[str, tuple[Done, Path]]) -> None:
    case = CASES[name]
    done, place = answers[name]
    shown = Done(done.code, done.out, _without_box(done.err).replace(str(place) + os.sep, ""))
    refused(shown, case.code, *case.words, out=place / "out")
    assert len(list(place.iterdir())) <= 3, list(place.iterdir())


def _without_box(text: str) -> str:
    """Return a message without the frame that the option parser draws."""
    return re.sub(r"\s+", " ", re.sub("[│╭╮╰╯─]", " ", text)) if "╭" in text else text


def test_as_a_process_too(tmp_path: Path) -> None:
    """One of each kind by itself; also that --json leaves standard output empty."""
    write(tmp_path / "in.dat", "1 2\n2 x\n")
    write(tmp_path / "ok.dat", "1 2\n2\n")
    for arguments, code in (
        (["in.dat", "--k", "2", "--m", "1"], 4),
        (["ok.dat", "--k", "1", "--m", "1"], 2),
        (["ok.dat", "--k", "3", "--m", "1"], 3),
    ):
        done = setveil("anonymize", *arguments, "--out", "out", "--json", cwd=tmp_path)
        refused(done, code, out=tmp_path / "out")
    assert files_under(tmp_path) == {"in.dat", "ok.dat"}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("anonymize in.csv --qi a --qi=b --set c --model kkm -k 2 -m 2 -o out", "--qi"),
        ("anonymize in.csv -k 2 -m 2 --rho 0.5 --sensitive a --sensitive b -o out", "--sensitive"),
        ("risk in.csv --private a --sensitive b", "--private"),
        ("attack in.csv --secret a --secret a", "--secret"),
        ("moles in.csv --private a --private b --h 0.5 --k 2 --p 1", "--private"),
        ("anonymize in.csv -k 2 -m 2 -k 3 -o out --format wrong", ""),  # of a number the last counts
    ],
)
def test_no_part_of_a_list_is_forgotten(command: str, option: str, tmp_path: Path) -> None:
    done = setveil(*command.split(), cwd=tmp_path)
    assert done.code == 2
    assert (f"{option} is given more than once" in done.err) == bool(option)
    assert [*tmp_path.iterdir()] == []


def test_verify_and_measure_refuse_bad_input_too(tmp_path: Path) -> None:
    write(tmp_path / "in.dat", "1 2\n2 x\n")
    write(tmp_path / "ok.dat", "1 2\n2\n")
    (tmp_path / "folder").mkdir()
    cases: list[tuple[list[str], int]] = [
        (["verify", "in.dat", "--k", "2", "--m", "1"], 4),
        (["verify", "no.dat", "--k", "2", "--m", "1"], 4),
        (["verify", "folder", "--k", "2", "--m", "1"], 4),
        (["verify", "ok.dat", "--k", "1", "--m", "1"], 2),
        (["verify", "ok.dat", "--k", "2", "--m", "x"], 2),
        (["measure", "ok.dat", "in.dat"], 4),
        (["measure", "ok.dat", "folder"], 4),
        (["measure", "no.dat", "ok.dat"], 4),
        (["hierarchy", "check", "no.csv"], 4),
        (["hierarchy", "build", "in.dat", "--out", "h.csv"], 4),
        (["hierarchy", "build", "ok.dat", "--fanout", "1", "--out", "h.csv"], 2),
        (["hierarchy", "build", "ok.dat", "--by", "prefix", "--lengths", "x", "--out", "h.csv"], 2),
        (["hierarchy", "build", "ok.dat", "--by", "magic", "--out", "h.csv"], 2),
        (["hierarchy", "build", "ok.dat", "--out", "no/h.csv"], 2),
        (["hierarchy", "convert", "no.csv", "h.csv"], 4),
        (["demo", "--out", "ok.dat"], 2),
        (["demo", "--rows", "0"], 2),
    ]
    for done, (command, code) in zip(together([c for c, _ in cases], tmp_path), cases, strict=True):
        assert done.code == code, (command, done)
        refused(done, code)
    assert files_under(tmp_path) == {"in.dat", "ok.dat"}


# What looks odd and is fine


def _same(folder: Path, variants: dict[str, bytes], options: list[str] | None = None) -> None:
    """Check that variants of a file (by name) give the same release."""
    commands = []
    for i, (name, content) in enumerate(variants.items()):
        write(folder / f"{i}-{name}", content)
        commands.append(["anonymize", f"{i}-{name}", *OPTIONS, "--out", f"out{i}", *(options or [])])
    contents = []
    for i, done in enumerate(together(commands, folder)):
        assert done.code == 0, (list(variants)[i], done)
        published = next((folder / f"out{i}" / "published").glob("data.*"))
        contents.append(
            (published.read_bytes(), (folder / f"out{i}" / "internal" / "recoding.csv").read_bytes())
        )
    assert len(set(contents)) == 1, [content[0][:80] for content in contents]


def test_marks_line_ends_and_trailing_separators(tmp_path: Path) -> None:
    plain = BASKETS.encode()
    _same(
        tmp_path,
        {
            "plain.csv": plain,
            "bom.csv": b"\xef\xbb\xbf" + plain,
            "crlf.csv": plain.replace(b"\n", b"\r\n"),
            "both.csv": b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
            "cr.csv": plain.replace(b"\n", b"\r"),
            "no-end.csv": plain[:-1],
            "trailing.csv": plain.replace(b"\n", b",\n"),
            "blanks.csv": plain.replace(b",", b" ,  ").replace(b"\n", b"  \n"),
            "repeated.csv": plain.replace(b"d\n", b"d,d,d\n"),
            "quoted.csv": plain.replace(b"a", b'"a"'),
        },
    )


def test_marks_and_line_ends_in_long_tables_and_fimi(tmp_path: Path) -> None:
    long = dump(ROWS, "long")
    fimi = dump(sample_rows(30, 6), "fimi")
    marked = b"\xef\xbb\xbf"
    (tmp_path / "long").mkdir()
    (tmp_path / "fimi").mkdir()
    _same(
        tmp_path / "long",
        {
            "a.csv": long,
            "b.csv": marked + long.replace(b"\n", b"\r\n"),
            "c.csv": long.replace(b"\n", b"\n\n"),
        },
    )
    _same(
        tmp_path / "fimi",
        {
            "a.dat": fimi,
            "b.dat": marked + fimi.replace(b"\n", b"\r\n"),
            "c.dat": fimi.replace(b"\n", b" \n"),
            "d.dat": fimi.replace(b" ", b"\t  "),
        },
    )


def test_hierarchy_with_mark_crlf_and_padding(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", BASKETS)
    trees = [
        TREE.encode(),
        b"\xef\xbb\xbf" + TREE.replace("\n", "\r\n").encode(),
        TREE.replace("\n", ";;\n").encode(),
        TREE.replace(";", " ; ").encode() + b"\n\n",
        TREE.replace(";", ",").encode(),
        TREE.replace(";*", ";*;*").encode(),
    ]
    commands = []
    for i, tree in enumerate(trees):
        write(tmp_path / f"tree{i}.csv", tree)
        commands.append(["anonymize", "in.csv", *OPTIONS, "-H", f"tree{i}.csv", "--out", f"out{i}"])
    done = together(commands, tmp_path)
    assert [d.code for d in done] == [0] * len(trees), done
    recodings = {(tmp_path / f"out{i}" / "internal" / "recoding.csv").read_bytes() for i in range(len(trees))}
    assert len(recodings) == 1


def test_other_encodings_when_named(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", "café,tea\ncafé\ntea\ncafé,tea\n".encode("latin-1"))
    write(tmp_path / "wide.csv", "café,tea\ncafé\ntea\ncafé,tea\n".encode("utf-16"))
    commands = [
        ["anonymize", "in.csv", *OPTIONS, "--encoding", "latin-1", "--out", "a"],
        ["anonymize", "wide.csv", *OPTIONS, "--encoding", "utf-16", "--out", "b"],
    ]
    assert [done.code for done in together(commands, tmp_path)] == [0, 0]
    rows = [frozenset(["café", "tea"]), frozenset(["café"]), frozenset(["tea"]), frozenset(["café", "tea"])]
    assert read_run(tmp_path / "a", rows).rows == read_run(tmp_path / "b", rows).rows


def test_difficult_labels(tmp_path: Path) -> None:
    """Labels are kept to the letter: quotes, separators, line breaks, leading zeros, and very long ones."""
    long = "x" * 100_000
    rows = [
        frozenset(['say "hi"', "a,b", "two\nlines", "a;b"]),
        frozenset(["007", "7", "'"]),
        frozenset(["7"]),
        frozenset([long, "007"]),
        frozenset([long, 'say "hi"', "(a,b)"]),
    ] * 3
    write(tmp_path / "in.jsonl", dump(rows, "jsonl"))
    done = setveil(
        "anonymize", "in.jsonl", *OPTIONS, "--out", "out", "--output-format", "basket", cwd=tmp_path
    ).ok()
    assert long not in done.out + done.err
    run = read_run(tmp_path / "out", rows)
    assert run.report["utility"]["ncp"] == 0  # every row is there three times: nothing to hide
    assert {"007", "7", "two\nlines", long} <= {label for row in run.rows for label in row}
    commands: list[list[object]] = [
        ["anonymize", "in.jsonl", "--k", "5", "--m", "2", "--out", "five"],
        ["convert", "in.jsonl", "in.csv"],
        ["verify", "in.csv", *OPTIONS],
        ["verify", "in.jsonl", "--k", "4", "--m", "3"],
        ["measure", "in.csv", "out"],
        ["hierarchy", "build", "in.csv", "--by", "balanced", "--out", "h.json"],
        ["anonymize", "in.csv", "--k", "5", "--m", "2", "-H", "h.json", "--out", "tree"],
    ]
    results = together(commands, tmp_path)
    assert [result.code for result in results] == [0, 0, 0, 1, 0, 0, 0], results
    assert all(len(result.out) < 20_000 for result in results)
    assert rows_of(tmp_path / "in.csv") == rows
    assert read_run(tmp_path / "five", rows).changed
    assert read_run(tmp_path / "tree", rows).changed


def test_a_very_long_bad_label_does_not_flood_the_message(tmp_path: Path) -> None:
    write(tmp_path / "in.dat", "1 2\n" + "x" * 100_000 + "\n")
    write(tmp_path / "in.csv", "x" * 100_000 + ",a\na\n")
    write(tmp_path / "tree.csv", TREE)
    commands = [
        ["anonymize", "in.dat", *OPTIONS, "--out", "out"],
        ["anonymize", "in.csv", *OPTIONS, "--out", "out", "--hierarchy", "tree.csv"],
        ["hierarchy", "check", "tree.csv", "--data", "in.csv"],
        ["convert", "in.csv", "out.dat"],
    ]
    for done in together(commands, tmp_path):
        assert done.code == 4
        assert len(done.err + done.out) < 1000


def test_007_is_not_7(tmp_path: Path) -> None:
    rows = [frozenset(["007"]), frozenset(["7"]), frozenset(["7", "007"]), frozenset(["+7", "-7"])] * 2
    write(tmp_path / "in.dat", dump(rows, "fimi"))
    setveil("anonymize", "in.dat", *OPTIONS, "--out", "out", cwd=tmp_path).ok()
    run = read_run(tmp_path / "out", rows)
    assert run.data.name == "data.dat"
    assert sorted(map(sorted, run.rows)) == sorted(map(sorted, rows))


def test_the_hint_about_missing_items_works(tmp_path: Path) -> None:
    """Run the very command of the message, from the same folder, then the first one again with its result."""
    items = [f"new {i}" for i in range(9)]
    write(tmp_path / "in.csv", "".join(f"a,{item}\n" for item in items) + "\n".join(items))
    write(tmp_path / "tree.csv", TREE)
    command = ["anonymize", "in.csv", *OPTIONS, "--out", "out", "--hierarchy"]
    done = setveil(*command, "tree.csv", cwd=tmp_path)
    refused(done, 4, "9 of 10 items", "'new 0'", "4 more", out=tmp_path / "out")
    hint = re.search(r"`(setveil hierarchy build .*?)`", done.err.replace("\n", " "))
    assert hint, done.err
    assert "in.csv" in hint[1], done.err  # nothing to fill in but, at most, the name of the new file
    assert "tree.csv" in hint[1], done.err
    arguments = shlex.split(hint[1])[1:]
    new = arguments[arguments.index("--out") + 1]
    setveil(*arguments, cwd=tmp_path).ok()
    setveil(*command, new, cwd=tmp_path).ok()


# The output of the release


def test_output_folder_that_may_not_be_replaced(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", BASKETS)
    (tmp_path / "full").mkdir()
    write(tmp_path / "full" / "letter.txt", "dear")
    write(tmp_path / "a-file", "text")
    (tmp_path / "mixed" / "published").mkdir(parents=True)
    (tmp_path / "mixed" / "internal").mkdir()
    write(tmp_path / "mixed" / "internal" / "report.json", "{}")
    write(tmp_path / "mixed" / "thesis.tex", "years of work")
    (tmp_path / "alike" / "published").mkdir(parents=True)
    write(tmp_path / "alike" / "published" / "my.txt", "mine")
    before = files_under(tmp_path)
    cases: list[tuple[str, list[str], list[str]]] = [
        ("full", [], ["full", "not empty", "--force"]),
        ("full", ["--force"], ["full", "only folders that setveil wrote"]),
        ("a-file", [], ["a-file", "not a folder"]),
        ("a-file", ["--force"], ["a-file", "not a folder"]),
        ("a-file/out", [], ["a-file"]),
        ("a-file/out/deep", ["--force"], ["a-file"]),
        ("mixed", ["--force"], ["mixed", "only folders that setveil wrote"]),
        ("alike", ["--force"], ["alike", "only folders that setveil wrote"]),
    ]
    done = together(
        [["anonymize", "in.csv", *OPTIONS, "--out", out, *options] for out, options, _ in cases], tmp_path
    )
    for answer, (_, _, words) in zip(done, cases, strict=True):
        refused(answer, 2, *words)
    assert files_under(tmp_path) == before
    assert leftovers(tmp_path / "full") == []


def test_force_keeps_what_a_user_put_into_a_run_folder(tmp_path: Path) -> None:
    """A file of the user's below published/ or internal/ is not setveil's to delete."""
    write(tmp_path / "in.csv", BASKETS)
    command = ["anonymize", "in.csv", *OPTIONS, "--out", "out", "--force"]
    setveil(*command, cwd=tmp_path).ok()
    write(tmp_path / "out" / "internal" / "my notes.txt", "years of work")
    done = setveil(*command, cwd=tmp_path)
    refused(done, 2, "only folders that setveil wrote")
    assert (tmp_path / "out" / "internal" / "my notes.txt").read_text() == "years of work"


@posix_only
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_output_folder_without_permission(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", BASKETS)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    refused(setveil("anonymize", "in.csv", *OPTIONS, "--out", "locked/out", cwd=tmp_path), 2, "locked")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_output_folder_where_nothing_can_be_made(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", BASKETS)
    commands = [["anonymize", "in.csv", *OPTIONS, "--out", "/proc/nope"], ["demo", "--out", "/proc/nope"]]
    for done in together(commands, tmp_path):
        refused(done, 2, "/proc")
    assert files_under(tmp_path) == {"in.csv"}


@pytest.mark.exhaustive
@posix_only
@pytest.mark.parametrize("limit", [100, 3000, 12_000])
def test_disk_full(limit: int, tmp_path: Path) -> None:
    """Check that files that may not grow further fail like a full disk."""
    import resource

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    write(tmp_path / "in.csv", dump(sample_rows(9000 if COMPILED else 3000), "basket"))
    (tmp_path / "there").mkdir()
    setveil("anonymize", "in.csv", *OPTIONS, "--out", "before", cwd=tmp_path).ok()  # compiles
    shutil.rmtree(tmp_path / "before")
    for out in ("out", "new/out", "there") if limit == 3000 else ("out",):
        done = setveil("anonymize", "in.csv", *OPTIONS, "--out", out, cwd=tmp_path, before=before)
        refused(done, 2, out, "cannot be written", "Nothing was left behind")
        assert leftovers(tmp_path / out) == []
    assert files_under(tmp_path) == {"in.csv"}
    assert not (tmp_path / "out").exists()
    assert list((tmp_path / "there").iterdir()) == []


@posix_only
def test_disk_full_leaves_no_half_written_file(tmp_path: Path) -> None:
    """A file that is replaced stays as it was, and no file is left cut off."""
    import resource

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    rows = sample_rows(3000)
    write(tmp_path / "in.csv", dump(rows, "basket"))
    write(tmp_path / "ids.csv", "".join(f"item {i},item {i + 1}\n" for i in range(600)))
    content = write(tmp_path / "there.dat", "1 2\n").read_bytes()
    for command, word in (
        (["convert", "in.csv", "out.dat"], "out.dat"),
        (["convert", "in.csv", "there.dat", "--force"], "there.dat"),
        (["hierarchy", "build", "ids.csv", "--format", "basket", "--out", "h.csv"], "h.csv"),
    ):
        refused(setveil(*command, cwd=tmp_path, before=before), 2, word)
    refused(setveil("demo", "--rows", 10, "--out", "shop", cwd=tmp_path, before=before), 2, "shop-input")
    refused(setveil("demo", "--ward", "--out", "w", cwd=tmp_path, before=before), 2, "w-input")
    assert list((tmp_path / "w-input").iterdir()) == []
    (tmp_path / "w-input").rmdir()
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "ids.csv", "there.dat"}
    assert (tmp_path / "there.dat").read_bytes() == content


@posix_only
def test_disk_full_while_replacing_keeps_the_old_run(tmp_path: Path) -> None:
    import resource

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    rows = sample_rows(3000)
    write(tmp_path / "in.csv", dump(rows, "basket"))
    command = ["anonymize", "in.csv", *OPTIONS, "--out", "out", "--force"]
    setveil(*command, cwd=tmp_path).ok()
    refused(setveil(*command, cwd=tmp_path, before=before), 2, "cannot be written")
    read_run(tmp_path / "out", rows)
    assert leftovers(tmp_path / "out") == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root and Linux to mount")
def test_disk_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        write(tmp_path / "in.csv", dump(sample_rows(9000), "basket"))
        done = setveil("anonymize", "in.csv", *OPTIONS, "--out", disk / "out", cwd=tmp_path)
        refused(done, 2, "disk is full")
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_convert_or_hierarchy_that_fails_leaves_no_file(tmp_path: Path) -> None:
    """A label that a format cannot hold is found before there is a file."""
    write(tmp_path / "in.jsonl", json.dumps(["two\nlines", "a b"]) + "\n" + json.dumps(["a b"]) + "\n")
    commands = [
        ["convert", "in.jsonl", "out.txt"],
        ["hierarchy", "build", "in.jsonl", "--out", "h.txt"],
        ["hierarchy", "build", "in.jsonl", "--out", "h.csv"],
        ["anonymize", "in.jsonl", "--k", "2", "--m", "1", "--out", "out", "--output-format", "spmf"],
    ]
    for done in together(commands, tmp_path)[:3]:
        refused(done, 4)
    assert files_under(tmp_path) - {f"out/{name}" for name in files_under(tmp_path / "out")} == {"in.jsonl"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.jsonl", '["a"]\n["a", null]\n'),
        ("in.parquet", _parquet(pl.DataFrame({"items": [["a"], ["a", None]]}))),
    ],
)
def test_null_in_a_list_is_omitted_and_counted(tmp_path: Path, name: str, content: str | bytes) -> None:
    write(tmp_path / name, content)
    done = setveil("anonymize", name, "--k", 2, "--m", 2, "--out", "out", "-v", cwd=tmp_path).ok()
    assert "1 null in 1 list skipped, as null is no item." in done.err
    assert "All 2 are kept" in done.out
    assert "Items      1 of 1 unchanged" in done.out


@pytest.mark.parametrize("command", ["anonymize", "verify"])
@pytest.mark.parametrize(
    "words",
    [["--skip-lines", "3"], ["--missing-id", "skip"], ["--fill-id"], ["--also", "b.csv:x"], ["--sheet", "2"]],
)
def test_spark_names_what_does_not_apply_before_it_reads(
    tmp_path: Path, command: str, words: list[str]
) -> None:
    out = ["--out", "out", "-H", "no.csv"] if command == "anonymize" else []
    done = setveil(
        command, "no.parquet", "--k", "2", "--m", "2", "--engine", "spark", *words, *out, cwd=tmp_path
    )
    assert done.code == 2
    assert f"where {words[0]} does not apply" in done.err
    assert f"setveil convert FILE rows.parquet {' '.join(words)}" in done.err
