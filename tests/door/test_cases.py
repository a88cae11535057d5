"""Small files in shapes from public reports: the commands that people try, and what is right."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import Done, setveil
from real_data import CASES

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"no cases at {CASES} (set SETVEIL_CASES)")

TO_O = ("--k", "5", "--m", "2", "--out", "o")


def copied(case: str, to: Path) -> Path:
    """Copy the files of a case, so that commands name them as people do."""
    (folder,) = CASES.glob(f"{case}-*")
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def printed(done: Done) -> list[str]:
    """List the commands that a message prints."""
    found = re.findall(r"^ +(setveil .*)$|`(setveil [^`]*)`", done.err, re.MULTILINE)
    return [alone or quoted for alone, quoted in found]


def pasted(command: str, place: Path) -> Done:
    """Run a command as it was printed."""
    return setveil(*shlex.split(command)[1:], cwd=place)


def sizes(run: Path) -> tuple[int, int, int]:
    """Return the rows, occurrences and items that a run has read."""
    read = json.loads((run / "internal" / "report.json").read_text("utf-8"))["input"]
    return read["rows"], read["occurrences"], read["items"]


def test_05_lists_as_text_and_ids_with_a_decimal_point(tmp_path: Path) -> None:
    place = copied("05", tmp_path)
    refused = setveil("anonymize", "tx.csv", *TO_O, cwd=place)
    pasted(printed(refused)[0], place).ok()
    assert sizes(place / "o") == (150, 446, 25)
    items = sv.read(place / "o" / "published" / "data.csv").vocabulary.labels
    assert not any(sign in item for item in items for sign in "[]")


@pytest.mark.parametrize(
    ("name", "id_column", "item_column", "lines", "left"),
    [("cards.csv", "card_no", "product", 514, 4), ("float_ids.csv", "user_id", "liked", 360, 1)],
)
def test_12_ids_that_a_spreadsheet_rounded(
    tmp_path: Path, name: str, id_column: str, item_column: str, lines: int, left: int
) -> None:
    place = copied("12", tmp_path)
    columns = ("--id-column", id_column, "--item-column", item_column)
    refused = setveil("anonymize", name, *TO_O, *columns, cwd=place)
    assert refused.code == 4
    assert f"{id_column} of {name} has {lines} values that a spreadsheet or a program rounded" in refused.err
    assert f"different ids may have become one ({left} different value" in refused.err
    assert not (place / "o").exists()


def test_32_five_dishes_in_26_spellings(tmp_path: Path) -> None:
    place = copied("32", tmp_path)
    columns = ("--id-column", "guest_id", "--item-column", "dish")
    apart = setveil("anonymize", "menu.csv", *TO_O, *columns, cwd=place).ok()
    assert "26 of 26 items differ from another one only in case, blanks or how" in apart.err
    assert "they are spellings of 5 items. `--normalize text` makes them one." in apart.err
    done = setveil("anonymize", "menu.csv", *TO_O, *columns, "--normalize", "text", "--force", cwd=place).ok()
    assert "26 spellings became 5 items" in done.err
    assert sizes(place / "o") == (60, 127, 5)
    assert "48 rows hold" in setveil("query", "o", "Café crème", cwd=place).ok().out
    setveil("verify", "o", cwd=place).ok()
    assert "48 rows" in setveil("why", "o", "café crème", cwd=place).ok().out


def test_41_nearly_every_article_is_sold_once(tmp_path: Path) -> None:
    place = copied("41", tmp_path)
    refused = setveil("anonymize", "sku.csv", *TO_O, cwd=place)
    assert "say how it is to be read" in refused.err
    columns = ("--id-column", "order_id", "--item-column", "product")
    refused = setveil("anonymize", "sku.csv", *TO_O, *columns, cwd=place)
    assert "'product' looks like ids of persons" in refused.err
    (command,) = printed(refused)
    assert command.endswith("--not-ids product")
    done = pasted(command, place).ok()
    assert sizes(place / "o") == (700, 2_100, 2_058)
    assert "119 labels published" in done.out


def test_52_a_hierarchy_in_another_encoding(tmp_path: Path) -> None:
    place = copied("52", tmp_path)
    common = ("anonymize", "b.csv", "--format", "basket", *TO_O, "-H", "h_cp1252.csv")
    refused = setveil(*common, cwd=place)
    assert refused.code == 4
    wrong = setveil(*common, "--encoding", "cp1252", cwd=place)
    assert "'KÃ¤se' is 'Käse', whose file is in UTF-8 and was read as cp1252." in wrong.err
    for message, before in ((refused.err, ()), (wrong.err, ("--encoding", "cp1252"))):
        (option,) = re.findall(r"`(--encoding [^`]*)`", message)
        done = setveil(*common, *before, *shlex.split(option), "--force", cwd=place).ok()
        assert "Items      9 of 9 unchanged" in done.out
        setveil("verify", "o", cwd=place).ok()
    again = ("apply", "o", "b.csv", "--format", "basket", "--people", "same", "--out", "a")
    setveil(*again, cwd=place).ok()
