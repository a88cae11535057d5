"""Options from files, and runs that are repeated from their record."""

from __future__ import annotations

import contextlib
import json
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import HIERARCHY, dump, files_under, refused, sample_rows, setveil, together, write

ROWS = sample_rows()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write data, and a release with unusual options and all that the report may say."""
    folder = tmp_path_factory.mktemp("config")
    write(folder / "in put.csv", dump(ROWS, "basket"))
    write(folder / "tree.csv", HIERARCHY)
    write(folder / "names.csv", 'code,name\n101,"tea, black"\n999,nothing\n')
    write(
        folder / "run.toml",
        "k = 3\nm = 2\nhierarchy = 'tree.csv'\nsuppress = false\ntime_limit = 20\nseed = 7\n"
        "date = 2026-01-31\n",
    )
    setveil(
        "anonymize", "in put.csv", "--config", "run.toml", "--out", "first", "--k", 4,
        "--purpose", "it's a test", "--names", "names.csv", "--no-details", "--external", cwd=folder,
    ).ok()  # fmt: skip
    return folder


def report(folder: Path) -> Any:
    return json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))


def published(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "published" / name).read_bytes() for name in files_under(folder / "published")}


def test_the_command_line_wins(place: Path) -> None:
    found = report(place / "first")
    assert found["guarantee"]["k"] == 4
    assert found["guarantee"]["m"] == 2
    assert found["seed"] == 7
    assert found["algorithm"]["parameters"]["suppress"] is False
    assert found["algorithm"]["parameters"]["time_limit"] == 20


def test_what_the_report_is_to_say(place: Path) -> None:
    found = report(place / "first")
    assert found["about"] == {"purpose": "it's a test", "date": "2026-01-31"}
    assert found["names"] == {"101": "tea, black"}
    assert "risk" not in found
    assert "answers" not in found
    assert "sample" not in found
    for content in published(place / "first").values():
        for inside in (b"in put.csv", b"names.csv", b"--no-suppress"):
            assert inside not in content


def test_the_record_repeats_the_run(place: Path) -> None:
    found = report(place / "first")
    assert "out" not in found["options"]
    assert found["options"]["input"] == ["in put.csv"]
    setveil("anonymize", "--config", "first/internal/report.json", "--out", "again", cwd=place).ok()
    assert published(place / "again") == published(place / "first")
    assert report(place / "again")["options"] == found["options"]


def test_the_recorded_line_stands_alone(place: Path) -> None:
    line = report(place / "first")["command"]
    assert "--config" not in line
    words = shlex.split(line)
    assert words[0] == "setveil"
    assert words[words.index("--out") + 1] == "first"
    words[words.index("--out") + 1] = "typed"
    setveil(*words[1:], cwd=place).ok()
    assert published(place / "typed") == published(place / "first")


def test_from_python_nothing_is_recorded(place: Path) -> None:
    import setveil as sv

    data = sv.Transactions.from_rows(ROWS)
    sv.anonymize(data, sv.KmAnonymity(k=2, m=1), details=False).write(place / "python")
    assert "command" not in report(place / "python")
    done = setveil("anonymize", "--config", "python/internal/report.json", "--out", "no", cwd=place)
    refused(done, 4, "records no options", out=place / "no")


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("a.toml", "kay = 5", 2, "no option 'kay'"),
        ("a.toml", "time-limits = 5", 2, "Did you mean time-limit?"),
        ("a.toml", "config = 'b.toml'", 2, "no option 'config'"),
        ("a.toml", "k = [2, 5]", 2, "k must be a text or a number, got [2, 5]"),
        ("a.toml", "k = true", 2, "k must be a text or a number"),
        ("a.toml", "bound = 1", 2, "bound must be true or false"),
        ("a.toml", "input = [1, true]", 2, "or a list of texts"),
        ("a.toml", "k = 'five'\nm = 2", 2, "expected an integer, got 'five'"),
        ("a.toml", "k: 5", 4, "is not TOML"),
        ("a.json", "k = 5", 4, "is not JSON"),
        ("a.json", '{"options": {"series": "s", "input": "a"}}', 2, "`setveil series add` makes the next"),
        ("a.json", "[]", 4, "records no options"),
    ],
)
def test_files_that_make_no_sense(
    place: Path, tmp_path: Path, name: str, content: str, code: int, words: str
) -> None:
    write(tmp_path / name, content)
    line = ["anonymize", place / "in put.csv", "--config", name, "--out", "no"]
    (done,) = together([line], tmp_path)
    done = type(done)(done.code, done.out, " ".join(done.err.replace("│", " ").split()))
    refused(done, code, words, out=tmp_path / "no")


@pytest.mark.parametrize("value", ["true", "'any'", "2"])
def test_an_option_that_may_stand_alone_is_true_in_a_file(place: Path, tmp_path: Path, value: str) -> None:
    lines = ["tea,scone", "tea,honey", "beer,crisps", "beer,nuts"] * 30
    write(tmp_path / "rows.csv", "\n".join(lines) + "\n")
    write(
        tmp_path / "c.toml",
        f"input = 'rows.csv'\nformat = 'basket'\nk = 5\nm = 2\nclasses = {value}\nclass-size = 20\n",
    )
    setveil("anonymize", "--config", "c.toml", "--out", "one", cwd=tmp_path).ok()
    made = report(tmp_path / "one")
    assert (made["recoding"], made["options"]["classes"]) == ("classes", "2" if value == "2" else "any")


def test_every_command_takes_a_file(place: Path) -> None:
    write(place / "c.toml", "input = 'in put.csv'\noutput = 'out.jsonl'\nforce = true\n")
    setveil("convert", "--config", "c.toml", cwd=place).ok()
    assert len((place / "out.jsonl").read_text().splitlines()) == len(ROWS)


def test_no_file_says_that_something_is_replaced(place: Path) -> None:
    write(place / "c.toml", "input = 'in put.csv'\noutput = 'mine.jsonl'\nforce = true\n")
    write(place / "mine.jsonl", "mine\n")
    refused(setveil("convert", "--config", "c.toml", cwd=place), 2, "mine.jsonl exists already", "--force")
    trace = "k = 2\nm = 1\nformat = 'basket'\nalgorithm = 'aa'\ntrace = 'mine.jsonl'\nforce = true\n"
    write(place / "d.toml", trace)
    done = setveil("anonymize", "in put.csv", "--config", "d.toml", "--out", "run", cwd=place)
    assert done.code == 2
    assert "mine.jsonl exists already" in done.err
    assert (place / "mine.jsonl").read_text() == "mine\n"
    setveil("convert", "--config", "c.toml", "--force", cwd=place).ok()
    assert len((place / "mine.jsonl").read_text().splitlines()) == len(ROWS)


@pytest.mark.parametrize(
    "command", [("anonymize", "--out", "no"), ("risk",), ("read", "--show"), ("why", "first", "tea")]
)
def test_no_file_alone_names_a_database_server(place: Path, command: tuple[str, ...]) -> None:
    """Check that a server hears of a query only if its address was typed; a file of a database is read."""
    where = "postgresql://nobody@127.0.0.1:9/shop"
    write(place / "q.toml", f"query = 'SELECT 1'\nconnection = '{where}'\n")
    done = setveil(*command, "--config", "q.toml", cwd=place)
    refused(done, 2, "names the database", f"--connection {where}")
    write(place / "q.toml", "query = 'SELECT 1'\nconnection = 'sqlite:///none.db'\n")
    done = setveil("read", "--show", "--config", "q.toml", cwd=place)
    assert "names the database" not in done.err
    typed = setveil("read", "--show", "--config", "q.toml", "--connection", where, cwd=place)
    assert "names the database" not in typed.err


def test_no_record_and_no_proposal_holds_a_secret(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    address = "shop.db?passphrase=s3cret&api_key_x=s3cret"
    with contextlib.closing(sqlite3.connect(tmp_path / address)) as base:
        base.execute("CREATE TABLE bought (who INTEGER, what TEXT)")
        lines = [(number, item) for number, row in enumerate(ROWS) for item in row]
        base.executemany("INSERT INTO bought VALUES (?, ?)", lines)
        base.commit()
    write(tmp_path / "tree.csv", HIERARCHY)
    command = ["--query", "SELECT who, what FROM bought", "--connection", f"sqlite:///{address}"]
    columns = ["--id-column", "who", "--item-column", "what", "--hierarchy", "tree.csv"]
    command += [*columns, "--k", "3", "--m", "2"]
    out = ["anonymize", *command, "--out", "out", "--external"]
    done = together([out, ["explore", *command, "--out", "explored.html", "--json"]], tmp_path)
    written = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != address]
    assert any(b"api_key_x=***" in file.read_bytes() for file in written)
    for file in written:
        assert b"s3cret" not in file.read_bytes(), file
    for one in done:
        assert "s3cret" not in one.ok().out + one.err
    again = setveil("anonymize", "--config", "out/internal/report.json", "--out", "again", cwd=tmp_path)
    refused(again, 2, "give --connection again", out=tmp_path / "again")
