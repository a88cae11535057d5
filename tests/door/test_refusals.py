"""Files that cannot be read as they are: each error says why, and prints commands that work when pasted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import Done, setveil
from printed_commands import printed
from workbooks import xlsx

PROMISE = ("--k", "2", "--m", "1", "--out", "out")
PAIRS = [[str(at), item] for at in range(8) for item in ("Käse", "Brot")]
LONG = "".join(f"{one};{item}\n" for one, item in [["id", "item"], *PAIRS])
BASKETS = "Käse,Brot\nBrot,Käse,Bier\nBier\n" * 5
WORDS = "tea milk\nmilk beer\nbeer\n" * 5
TREE = "Käse,Essen,*\nBrot,Essen,*\n"
WARD = "age,ort,dx\n" + "".join(f"{30 + at % 3},Köln,I10\n" for at in range(30))
ROLES = ("--model", "kkm", "--qi", "age,ort", "--set", "dx")

Files = dict[str, bytes]


def begun(place: Path, files: Files, *options: str) -> Done:
    """Try to anonymize the first of some files."""
    for name, content in files.items():
        (place / name).write_bytes(content)
    return setveil("anonymize", next(iter(files)), *options, *PROMISE, cwd=place)


def pasted(place: Path, command: str) -> Done:
    return setveil(*shlex.split(command)[1:], cwd=place)


def rows_read(place: Path) -> tuple[int, int]:
    """Return how many rows and items a run has read."""
    read = json.loads((place / "out" / "internal" / "report.json").read_text("utf-8"))["input"]
    return read["rows"], read["items"]


# --- encodings

ENCODED: dict[str, tuple[Files, tuple[str, ...], str, tuple[int, int]]] = {
    "a long table": ({"a.csv": LONG.encode("cp1252")}, (), "--encoding cp1252", (8, 2)),
    "baskets": ({"a.csv": BASKETS.encode("cp1252")}, (), "--encoding cp1252", (15, 3)),
    "UTF-16 without a mark": ({"a.csv": BASKETS.encode("utf-16-le")}, (), "--encoding utf-16-le", (15, 3)),
    "another one named": (
        {"a.csv": BASKETS.encode("cp1252")}, ("--encoding", "ascii"), "--encoding cp1252", (15, 3),
    ),
    "UTF-8 named otherwise": (
        {"a.csv": BASKETS.encode()}, ("--encoding", "ascii"), "--encoding utf-8", (15, 3),
    ),
    "a hierarchy": (
        {"a.csv": LONG.encode(), "h.csv": TREE.encode("cp1252")},
        ("--hierarchy", "h.csv"), "--encoding h.csv=cp1252", (8, 2),
    ),
    "a further file": (
        {"a.csv": LONG.encode(), "d.csv": "id,drug\n1,Käse\n2,Öl\n3,Öl\n".encode("cp1252")},
        ("--also", "d.csv:drug"), "--encoding d.csv=cp1252", (8, 3),
    ),
    "the first of two": (
        {"a.csv": LONG.encode("cp1252"), "d.csv": "id,drug\n1,Käse\n2,Öl\n3,Öl\n".encode()},
        ("--also", "d.csv:drug"), "--encoding a.csv=cp1252", (8, 3),
    ),
    "a table": ({"a.csv": WARD.encode("cp1252")}, ROLES, "--encoding cp1252", (30, 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", ENCODED)
def test_an_encoding_is_named_by_a_command(kind: str, tmp_path: Path) -> None:
    files, options, expected, sizes = ENCODED[kind]
    done = begun(tmp_path, files, *options)
    assert done.code == 4
    (command,) = printed(done.err)
    assert command.endswith(expected)
    pasted(tmp_path, command).ok()
    assert rows_read(tmp_path) == sizes


def test_each_of_several_files_keeps_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LONG, "utf-8")
    (tmp_path / "b.csv").write_bytes("id;item\n21;Käse\n22;Käse\n".encode("cp1252"))
    done = setveil("anonymize", "a.csv", "b.csv", *PROMISE, cwd=tmp_path)
    (command,) = printed(done.err)
    assert command.endswith("--encoding b.csv=cp1252")
    pasted(tmp_path, command).ok()
    assert rows_read(tmp_path) == (10, 2)


def test_in_python_the_call_names_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(LONG.encode("cp1252"))
    with pytest.raises(sv.TableError) as found:
        sv.read(path)
    assert f"setveil.read({str(path)!r}, encoding='cp1252')" in found.value.hint
    (tmp_path / "h.csv").write_bytes(TREE.encode("cp1252"))
    with pytest.raises(sv.TableError) as found:
        sv.read_hierarchy(tmp_path / "h.csv")
    assert "setveil.read_hierarchy(" in found.value.hint
    assert "encoding='h.csv=cp1252'" in found.value.hint


# --- separators of items, formats, sheets

DIFFER: dict[str, Sequence[Sequence[object]]] = {
    "A": [["id", "item"], *([at, "tea"] for at in range(9))],
    "B": [["id", "drug"], *([at, "C01"] for at in range(9))],
}
SHEETS: Files = {"a.xlsx": xlsx(DIFFER)}
EITHER = "milk,bread;beer\nbread;milk,tea\nbeer,tea,wine\ntea;beer\nmilk;bread,tea;beer\nmilk\n" * 4
WRITTEN: dict[str, tuple[Files, tuple[str, ...], list[str]]] = {
    "two separators": ({"a.csv": EITHER.encode()}, (), ["--separator ,"]),
    "a separator in no line": ({"a.csv": BASKETS.encode()}, ("--separator", "::"), ["--separator ,"]),
    "words in a FIMI file": ({"a.dat": WORDS.encode()}, (), ["--format basket --separator ' '"]),
    "words in an SPMF file": ({"a.txt": WORDS.encode()}, (), ["--format basket --separator ' '"]),
    "commas in an SPMF file": ({"a.txt": BASKETS.encode()}, (), ["--format basket"]),
    "sheets that differ": (SHEETS, ("--sheet", "all"), ["--sheet A", "--sheet B"]),
    "a sheet that is not there": (SHEETS, ("--sheet", "C"), ["--sheet A", "--sheet B"]),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_how_a_file_is_written_is_named_by_a_command(kind: str, tmp_path: Path) -> None:
    files, options, expected = WRITTEN[kind]
    done = begun(tmp_path, files, *options)
    assert done.code == 4
    commands = printed(done.err)
    assert [one.partition("--out out ")[2] for one in commands] == expected
    pasted(tmp_path, commands[0]).ok()


# --- few lines, and titles above rows

FEW = "bread;milk\nmilk;beer\nbread;beer\nmilk;bread\n"
ROWS = "bread,milk\nmilk,beer\nbread\nbread,milk,tea\nbeer,milk\n"
SMALL: dict[str, tuple[str, list[str], tuple[int, int]]] = {
    "pairs": (FEW, ["--format basket", "--id-column 1 --item-column 2"], (4, 3)),
    "items above": (f"items\n{ROWS}", ["--skip-lines 1", "--format basket"], (5, 4)),
    "Basket above": (f"Basket\n{ROWS * 5}", ["--skip-lines 1", "--format basket"], (25, 4)),
    "Transaction above": (
        "Transaction\n" + (ROWS * 5).replace(",", ";"), ["--skip-lines 1", "--format basket"], (25, 4),
    ),
    "items above few": (
        "\nItems\nbread,milk\nmilk,beer\nbread,milk\n",
        ["--skip-lines 2 --format basket", "--format basket"], (3, 3),
    ),
    "item above one each": (
        "item\n" + "tea\nmilk\ntea\n" * 10, ["--skip-lines 1", "--format basket"], (30, 2),
    ),
    "few codes below a name": ("ICD10\nE11.9\nI10\nE11.9\nI10\n", ["--item-columns ICD10"], (4, 2)),
    "three quoted lists": (
        '"bread,milk"\n"milk,beer"\n"bread,beer"\n', ["--item-columns 1 --delimiter ,"], (3, 3),
    ),
    "quoted lists below a name": (
        'items\n"bread,milk"\n"milk,beer"\nbread\n', ["--item-columns items --delimiter ,"], (3, 3),
    ),
    "quoted lists of three IDs": (
        'id,items\n1,"bread,milk"\n2,"milk,beer"\n3,"bread,beer"\n',
        ["--id-column id --item-column items --delimiter ,"], (3, 3),
    ),
    "lists of four people": (
        "name,age,dx\nAnn,34,I10;E11\nBob,34,I10\nCid,55,E11;J45\nDan,55,E11\n",
        [
            "--model kkm --qi age --id-column name --delimiter ';' --set dx",
            "--id-column name --item-column dx --delimiter ';'",
        ],
        (4, 3),
    ),
    "three people": (
        "age,sex,dx\n34,f,I10\n35,m,E11\n36,f,I10\n", ["--model kkm --qi age,sex --set dx"], (3, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SMALL)
def test_few_lines_raise_a_question(kind: str, tmp_path: Path) -> None:
    content, expected, sizes = SMALL[kind]
    done = begun(tmp_path, {"a.csv": content.encode()})
    assert done.code == 4
    commands = printed(done.err)
    assert [one.partition("--out out ")[2] for one in commands] == expected
    for at, command in enumerate(commands[1:]):
        pasted(tmp_path, command.replace("--out out", f"--out other{at}")).ok()
    pasted(tmp_path, commands[0]).ok()
    assert rows_read(tmp_path) == sizes


@pytest.mark.parametrize(
    "content", [ROWS, ROWS * 8, "tea\nmilk\ntea\n" * 10, "bread;milk\nmilk;beer\nbread\n"]
)
def test_rows_without_a_title_are_read_unasked(content: str, tmp_path: Path) -> None:
    begun(tmp_path, {"a.csv": content.encode()}).ok()


# --- columns, lists and answers

ONEHOT = "milk bread beer\n" + "1 0 1\n0 1 1\n1 1 1\n" * 5
LISTED = "pid,age,dx\n" + "".join(f"{at},{30 + at % 2},\"['tea','milk']\"\n" for at in range(8))
SIGNED = "age,ort,dx\n" + "".join(f"{30 + at % 3},K,I10|E11\n" for at in range(30))
SAME = "id,code,code,code\n" + "".join(f"{at},I10,E11,J45\n9{at},E11,I10,\n" for at in range(8))
AGES = ("--model", "kkm", "--qi", "age", "--set", "dx")
MEANT: dict[str, tuple[Files, tuple[str, ...], list[str], tuple[int, int]]] = {
    "columns of one name": (
        {"a.csv": SAME.encode()},
        (), ["--item-columns 2-4"], (16, 3),
    ),
    "a column of two names": (
        {"a.csv": b"id,age,age,dx\n" + b"".join(b"%d,30,31,I10\n" % n for n in range(8))},
        AGES, ["--model kkm --qi 2 --set dx"], (8, 1),
    ),
    "a column that is not there": (
        {"a.csv": LONG.encode()}, ("--id-column", "id", "--item-column", "itm"),
        ["--id-column id --item-column item"], (8, 2),
    ),
    "a key that is not there": (
        {"a.jsonl": b'{"items": ["a"]}\n' * 4}, ("--item-column", "itms"), ["--item-column items"], (4, 1),
    ),
    "lists of Python": (
        {"a.csv": LISTED.encode()}, ("--id-column", "pid", "--item-column", "dx", "--delimiter", ";"),
        ["--delimiter ,"], (8, 2),
    ),
    "lists of Python in a table": (
        {"a.csv": LISTED.encode()}, (*AGES, "--delimiter", ";"), ["--delimiter ,"], (8, 2),
    ),
    "another sign in a table": (
        {"a.csv": SIGNED.encode()}, AGES, ["--delimiter '|'", "--delimiter ';'"], (30, 2),
    ),
    "lists of one length": (
        {"a.jsonl": b'["a", "b"]\n["b", "c"]\n["c", "a"]\n' * 4}, (), ["--format jsonl"], (12, 3),
    ),
    "one-hot between blanks": (
        {"a.csv": ONEHOT.encode()}, (), ["--separator ' ' --item-columns milk-beer"], (15, 3),
    ),
    "one-hot in a text": (
        {"a.txt": ONEHOT.encode()}, (), ["--separator ' ' --item-columns milk-beer"], (15, 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MEANT)
def test_what_was_meant_is_printed(kind: str, tmp_path: Path) -> None:
    files, options, expected, sizes = MEANT[kind]
    done = begun(tmp_path, files, *options)
    assert done.code == 4
    commands = printed(done.err)
    assert all(part in command for command, part in zip(commands, expected, strict=True))
    pasted(tmp_path, commands[0]).ok()
    assert rows_read(tmp_path) == sizes


def test_json_of_an_id_and_an_item_is_a_long_table(tmp_path: Path) -> None:
    lines = "".join(f'{{"user": {at // 2}, "item": "{"ab"[at % 2]}"}}\n' for at in range(16))
    begun(tmp_path, {"a.jsonl": lines.encode()}).ok()
    assert rows_read(tmp_path) == (8, 2)


def test_keys_of_one_object_are_no_columns(tmp_path: Path) -> None:
    done = begun(tmp_path, {"a.json": b'{"p0": ["a", "b"], "p1": ["a", "b"], "p2": ["a"]}'})
    assert done.code == 4
    assert "one object whose 3 keys contain an array each" in done.err
    assert not printed(done.err)


# --- where nothing is proposed, the lines are shown

NOTHING: dict[str, tuple[str, str]] = {
    "a header alone": ("id,age,sex,zip,dx\n", "no line of data below the header"),
    "a header of two names": ("id,items\n", "no line of data below the header"),
    "one item a line": ("bread\nmilk\nbeer\nbread\n", "many of its lines occur only once"),
    "two records": ("age,sex,dx\n34,f,I10\n35,m,E11\n", "every line has 3 fields"),
    "answers without names": ("1,0,1\n0,1,1\n1,1,0\n" * 5, "every line has 3 fields"),
    "names": ("Ann;Meier\nBob;Schulz\nCid;Meier\n", "every line has 2 fields"),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_lines_are_shown_if_no_reading_is_safe(kind: str, tmp_path: Path) -> None:
    content, why = NOTHING[kind]
    done = begun(tmp_path, {"a.csv": content.encode()})
    assert done.code == 4
    assert why in done.err
    (command,) = printed(done.err)
    assert command == "setveil read a.csv --show"
    shown = pasted(tmp_path, command).ok()
    assert all(field in shown.out for field in content.split("\n")[0].replace(";", ",").split(","))
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


# --- options that name files

UNREAD: dict[str, tuple[tuple[str, ...], str]] = {
    "an encoding": (("--encoding", "b.csv=cp1252"), "--encoding a.csv=cp1252"),
    "an encoding in other case": (
        ("--hierarchy", "h.csv", "--encoding", "H.csv=utf-8"), "--encoding h.csv=utf-8",
    ),
    "lines": (("--skip-lines", "b.csv=3"), ""),
    "lines of the first file": (("--skip-lines", "a.csv=0"), "--skip-lines 0"),
    "lines of a further file": (
        ("--also", "d.csv:drug", "--skip-lines", "e.csv=0"), "--skip-lines d.csv=0",
    ),
    "an encoding of a table": ((*ROLES, "--encoding", "b.csv=utf-8"), "--encoding w.csv=utf-8"),
    "lines of a table": ((*ROLES, "--skip-lines", "b.csv=3"), ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNREAD)
def test_a_file_that_is_not_read_is_named_by_no_option(kind: str, tmp_path: Path) -> None:
    options, expected = UNREAD[kind]
    more = {"h.csv": TREE.encode(), "d.csv": b"id,drug\n1,tea\n2,tea\n", "a.csv": LONG.encode()}
    first = {"w.csv": WARD.encode()} if "--qi" in options else {"a.csv": LONG.encode()}
    done = begun(tmp_path, {**first, **more}, *options)
    assert done.code == 2
    assert "names '" in done.err
    (command,) = printed(done.err)
    assert command.endswith(expected)
    assert "b.csv" not in command
    pasted(tmp_path, command).ok()


def test_a_file_of_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "months").mkdir()
    (tmp_path / "months" / "a.csv").write_bytes(LONG.encode("cp1252"))
    options = ("--encoding", "a.csv=cp1252")
    setveil("anonymize", "months", *options, *PROMISE, cwd=tmp_path).ok()


# --- encodings in which bytes have a meaning, but no line ends

WRONG: dict[str, tuple[bytes, str, str]] = {
    "UTF-16 of cp1252": (LONG.encode("cp1252"), "utf-16", "cp1252"),
    "UTF-16 of an even number of bytes": (LONG.encode("cp1252") + b"\n", "utf-16", "cp1252"),
    "UTF-16 of UTF-8": (LONG.encode() + b"\n" * (len(LONG.encode()) % 2), "utf-16-le", "utf-8"),
    "the other UTF-16": (LONG.encode("utf-16-le"), "utf-16-be", "utf-16-le"),
    "EBCDIC of UTF-8": (LONG.encode(), "cp037", "utf-8"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_text_without_line_ends_is_of_another_encoding(kind: str, tmp_path: Path) -> None:
    content, named, expected = WRONG[kind]
    done = begun(tmp_path, {"a.csv": content}, "--encoding", named)
    assert done.code == 4
    (command,) = printed(done.err)
    assert command.endswith(f"--encoding {expected}")
    pasted(tmp_path, command).ok()
    assert rows_read(tmp_path) == (8, 2)


@pytest.mark.parametrize("content", [b"\xff\xfe\n", LONG.encode("utf-16")[:-1]])
@pytest.mark.parametrize("named", [(), *(("--encoding", name) for name in ("utf-16", "utf-16-le", "utf-8"))])
def test_no_command_repeats_the_mark_of_a_damaged_file(
    content: bytes, named: tuple[str, ...], tmp_path: Path
) -> None:
    done = begun(tmp_path, {"a.csv": content}, *named)
    assert (done.code, printed(done.err)) == (4, [])
    assert "damaged" in done.err


# --- options that do not apply, broken lines, people who are not in the table

BOTH = ("--id-column", "id", "--item-column", "item")
UNFIT: dict[str, tuple[Files, tuple[str, ...], str]] = {
    "a sheet": ({"a.csv": LONG.encode()}, ("--sheet", "2"), "--sheet"),
    "a column of baskets": ({"a.csv": BASKETS.encode()}, ("--format", "basket", "--yes", "1"), "--yes"),
    "a separator of JSON": ({"a.jsonl": b'["a", "b"]\n["b"]\n' * 5}, ("--separator", ";"), "--separator"),
    "words of no column that is used": (
        {"a.csv": b"id,item,age\n" + b"".join(b"%d,tea,3\n" % n for n in range(8))},
        (*BOTH, "--missing=age=NA"), "--missing",
    ),
    "a delimiter of one-hot": (
        {"a.csv": b"tea,milk\n" + b"1,0\n1,1\n0,1\n" * 5},
        ("--format", "onehot", "--item-columns", "tea,milk", "--delimiter", ","), "--delimiter",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNFIT)
def test_an_option_that_does_not_apply_is_omitted(kind: str, tmp_path: Path) -> None:
    files, options, unfit = UNFIT[kind]
    done = begun(tmp_path, files, *options)
    assert done.code == 2
    assert "Omit it" in done.err
    (command,) = printed(done.err)
    assert unfit not in command
    pasted(tmp_path, command).ok()


def test_broken_lines_of_json_are_skipped(tmp_path: Path) -> None:
    whole = ['{"items": ["a", "b"]}', '{"items": ["b", "c", "a"]}', '{"items": ["c"]}', '{"items": ["b"]}']
    lines = [*whole[:2], '{"items": ["a", "b"}', *whole[2:], *whole, *whole]
    done = begun(tmp_path, {"a.jsonl": "\n".join([*lines, '{"items": ["a']).encode()})
    assert done.code == 4
    assert "line 3: found" in done.err
    (command,) = printed(done.err)
    assert command.endswith("--skip-lines 3,14")
    pasted(tmp_path, command).ok()
    assert rows_read(tmp_path) == (12, 3)


def test_people_who_are_not_in_the_table_are_skipped(tmp_path: Path) -> None:
    files = {
        "w.csv": b"pid,age,dx\n" + b"".join(b"%d,%d,I10\n" % (n, 30 + n % 2) for n in range(8)),
        "d.csv": b"pid,drug\n0,C01\n1,C01\n77,C02\n",
    }
    also = ("--id-column", "pid", "--also", "d.csv:drug")
    done = begun(tmp_path, files, *ROLES[:2], "--qi", "age", "--set", "dx", *also)
    assert done.code == 4
    (command,) = printed(done.err)
    assert command.endswith("--missing-id skip")
    assert "1 item of people not in the table was skipped" in pasted(tmp_path, command).ok().err
    assert rows_read(tmp_path) == (8, 2)


def test_a_tab_is_printed_by_its_name(tmp_path: Path) -> None:
    lines = "".join(f"K{70_411 + at // 2}\t{'tea' if at % 3 else 'milk'}\t{at % 5},5\n" for at in range(60))
    done = begun(tmp_path, {"a.txt": f"customer\tproduct\tamount\n{lines}".encode()})
    (command, *_) = printed(done.err)
    assert "--separator tab " in command
    pasted(tmp_path, command).ok()
    assert rows_read(tmp_path) == (30, 2)
