"""No file is read as something else in silence: the corpus through the command line.

All commands of a round run in one process, each case in a folder of its own; every case is checked by tests
of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli_helpers import Done, files_under, together
from corpus import CORPUS
from exports import Export, Rows
from real_data import DATA

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

OUT = "out.jsonl"
BY_NAME = {case.name: case for case in CORPUS}
AS_LINES = {"basket", "fimi", "spmf", "jsonl"}


@dataclass
class Outcome:
    """The results of a case: without options, read with the expected ones, and by every command shown."""

    folder: str
    first_run: Done
    written: set[str]
    shown: list[list[str]]
    by_hand: Done | None = None
    by_shown: list[Done] = field(default_factory=list)


def cases(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [case.name for case in CORPUS if case.must in kinds])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def outcomes(home: Path) -> dict[str, Outcome]:
    """Convert every file as it is, and then as the answer says that it could be read."""
    folders = {case.name: f"{i:03}" for i, case in enumerate(CORPUS)}
    first = []
    for case in CORPUS:
        put(case, home / folders[case.name])
        options = () if case.must in {"ask", "either"} and case.rows is not None else case.options
        first.append(convert(case, folders[case.name], OUT, *options))
    made = {}
    for case, done in zip(CORPUS, together(first, home), strict=True):
        folder = folders[case.name]
        written = files_under(home / folder) - set(case.files)
        made[case.name] = Outcome(folder, done, written, commands(done.err))
    second: list[tuple[str, list[str]]] = []
    for case in CORPUS:
        outcome = made[case.name]
        if case.must in {"ask", "either"} and case.rows is not None:
            second.append((case.name, convert(case, outcome.folder, "by_hand.jsonl", *case.options)))
        place = f"{outcome.folder}/{OUT}"
        for i, words in enumerate(outcome.shown):
            second.append((case.name, [f"{outcome.folder}/{i}.jsonl" if w == place else w for w in words]))
    for (name, words), done in zip(second, together([words for _, words in second], home), strict=True):
        if any(word.endswith("/by_hand.jsonl") for word in words):
            made[name].by_hand = done
        else:
            made[name].by_shown.append(done)
    return made


def put(case: Export, folder: Path) -> None:
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def inputs(case: Export, folder: str) -> list[str]:
    """Return the arguments that name the input, seen from the folder above."""
    if case.inputs[0].startswith("--"):
        return [word.format(here=folder) for word in case.inputs]
    return [f"{folder}/{name}" for name in case.inputs]


def convert(case: Export, folder: str, out: str, *options: str) -> list[str]:
    return ["convert", *inputs(case, folder), f"{folder}/{out}", *options]


def commands(text: str) -> list[list[str]]:
    """Return the command lines in a message, without the program."""
    found = (re.match(r"[\s$>]*setveil (.+)", line) for line in text.splitlines())
    return [shlex.split(match[1]) for match in found if match]


def rows_in(path: Path) -> Rows:
    return [frozenset(map(str, json.loads(line))) for line in path.read_text("utf-8").splitlines()]


def takes_lines(words: list[str]) -> bool:
    """Return whether a command declares the lines to be rows of items, so that all may be published."""
    return "--format" in words and words[words.index("--format") + 1] in AS_LINES


@cases("read")
def test_what_is_clear_is_read(name: str, home: Path, outcomes: dict[str, Outcome]) -> None:
    case, outcome = BY_NAME[name], outcomes[name]
    done = outcome.first_run.ok()
    assert rows_in(home / outcome.folder / OUT) == case.rows
    for word in case.words:
        assert word in done.err


@cases("ask", "refuse", "either")
def test_what_is_not_clear_is_refused(name: str, home: Path, outcomes: dict[str, Outcome]) -> None:
    case, outcome = BY_NAME[name], outcomes[name]
    if case.must == "either" and outcome.first_run.code == 0:
        assert rows_in(home / outcome.folder / OUT) == case.rows
        return
    done = outcome.first_run
    assert done.code == 4, done
    assert done.out == "", done
    assert "Traceback" not in done.err, done
    assert len(re.findall(r"\bError\b", done.err)) == 1, done
    assert outcome.written == set()
    for word in case.words:
        assert word in done.err, (word, done.err)
    for column, values in case.columns.items():
        assert column in done.err, (column, done.err)
        seen = [value for value in values if value[:16] in done.err]  # long ones are cut
        assert len(seen) >= min(3, len(values)), (column, done.err)


@cases("ask", "either")
def test_columns_that_are_named_are_read(name: str, home: Path, outcomes: dict[str, Outcome]) -> None:
    case, outcome = BY_NAME[name], outcomes[name]
    if outcome.by_hand is None:
        return  # no option can define the contents of the file
    outcome.by_hand.ok()
    assert rows_in(home / outcome.folder / "by_hand.jsonl") == case.rows


@cases("ask", "either", "refuse")
def test_commands_that_are_shown_run(name: str, home: Path, outcomes: dict[str, Outcome]) -> None:
    case, outcome = BY_NAME[name], outcomes[name]
    read = []
    for i, (words, done) in enumerate(zip(outcome.shown, outcome.by_shown, strict=True)):
        assert "Traceback" not in done.err, (words, done)
        assert done.code == 0, (words, done)
        if words[0] == "read":  # it shows lines, and reads no rows
            assert "fields" in done.out, (words, done)
            continue
        rows = rows_in(home / outcome.folder / f"{i}.jsonl")
        read.append(rows)
        if not takes_lines(words):
            assert not case.ids & {item for row in rows for item in row}, words
    if outcome.first_run.code and case.must != "refuse" and case.rows is not None and case.shown:
        assert case.rows in read, outcome.first_run.err


@cases("ask", "either")
def test_no_id_is_an_item(name: str, home: Path, outcomes: dict[str, Outcome]) -> None:
    case, outcome = BY_NAME[name], outcomes[name]
    for file in (OUT, "by_hand.jsonl"):
        path = home / outcome.folder / file
        if path.exists() and not takes_lines(list(case.options)):
            assert not case.ids & {item for row in rows_in(path) for item in row}


def test_standard_input_is_no_way_in(tmp_path: Path) -> None:
    case = BY_NAME["pat,icd,sex"]
    text = case.files["pat.csv"].decode()
    command = ["convert", "-", OUT]
    asks, reads = together([command, [*command, *case.options]], tmp_path, text)
    assert (asks.code, asks.out, "pat" in asks.err) == (4, "", True), asks
    reads.ok()
    assert rows_in(tmp_path / OUT) == case.rows


# --- other commands

TABLES = [
    "pat,icd,sex",
    "Fall;Hauptdiagnose",
    "DX1 to DX20",
    "a ragged line",
    "FIMI of sessions and items",
    "UUIDs and codes, no header",
]
ASKING = {
    "anonymize": ["--k", "2", "--m", "1", "--out", "{out}"],
    "risk": ["--m", "1"],
    "recommend": ["--k", "2", "--m", "1"],
    "moles": ["--h", "1/2", "--k", "2", "--p", "1", "--private", "I10"],
    "policy pgen": ["--k", "2", "--out", "{out}"],
    "hierarchy build": ["--out", "{out}"],
}


def options_of(command: str, name: str) -> list[str]:
    out = f"{command.split(maxsplit=1)[0]}-{TABLES.index(name)}.csv"
    return [word.format(out=out) for word in ASKING[command]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], Done]]:
    """Ask the other commands about some of the tables."""
    home = tmp_path_factory.mktemp("others")
    first_commands: dict[tuple[str, str], list[str]] = {}
    for i, name in enumerate(TABLES):
        case = BY_NAME[name]
        put(case, home / str(i))
        (path,) = inputs(case, str(i))
        for command in ASKING:
            first_commands[command, name] = [*command.split(), path, *options_of(command, name)]
        (home / f"{i}.toml").write_text(
            f'name = "study"\ndata = [{{path = "{path}"}}]\nalgorithms = ["aa"]\nk = [2]\nm = [1]\n'
        )
        first_commands["compare", name] = ["compare", f"{i}.toml", "--out", f"study-{i}"]
        first_commands["verify", name] = ["verify", path, "--k", "2", "--m", "1"]
    done = together(list(first_commands.values()), home)
    return home, dict(zip(first_commands, done, strict=True))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("command", [*ASKING, "compare"])
def test_every_command_asks(
    command: str, name: str, answers: tuple[Path, dict[tuple[str, str], Done]]
) -> None:
    home, all_done = answers
    done = all_done[command, name]
    assert done.code == 4, done
    assert done.out == "", done
    assert "Traceback" not in done.err
    written = "study" if command == "compare" else command.split(maxsplit=1)[0]
    assert not [path for path in home.iterdir() if path.name.startswith(f"{written}-{TABLES.index(name)}")]
    shown = commands(done.err)
    if command != "compare" and BY_NAME[name].rows is not None:
        assert shown, done.err
        for words in shown:
            assert words[: len(command.split())] == command.split()
            assert set(options_of(command, name)) <= set(words), words


@pytest.mark.parametrize("name", TABLES)
def test_verify_says_what_it_read(name: str, answers: tuple[Path, dict[tuple[str, str], Done]]) -> None:
    done = answers[1]["verify", name]
    assert done.code in {0, 1}, done
    assert "Traceback" not in done.err
    assert re.search(r"(?i)\bread(ing)?\b", done.err), done


# --- releases

RELEASED = [
    "pat,icd,sex",
    "DX1 to DX20",
    "one-hot with an id",
    "e-mail addresses and codes",
    "OMOP, every diagnosis and its visit",
    "a table in .zip",
]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Done]]:
    home = tmp_path_factory.mktemp("releases")
    command_list = []
    for i, name in enumerate(RELEASED):
        case = BY_NAME[name]
        put(case, home / str(i))
        command_list.append(
            [
                "anonymize",
                *inputs(case, str(i)),
                *case.options,
                "--k",
                "2",
                "--m",
                "1",
                "--external",
                "--out",
                f"{i}/out",
            ]
        )
    return home, together(command_list, home)


@pytest.mark.parametrize("number", range(len(RELEASED)), ids=RELEASED)
def test_no_id_is_published(number: int, releases: tuple[Path, list[Done]]) -> None:
    home, done = releases
    done[number].ok()
    case = BY_NAME[RELEASED[number]]
    out = home / str(number) / "out"
    for file in files_under(out / "published"):
        content = (out / "published" / file).read_bytes()
        assert not [value for value in case.ids if value.encode() in content], file
    record = json.loads((out / "internal" / "report.json").read_text("utf-8"))["input"]["read"]
    assert set(record) >= {
        "layout",
        "row",
        "id_column",
        "item_columns",
        "ignored_columns",
        "separator",
        "encoding",
        "files",
    }
    named = dict(zip(case.options[::2], case.options[1::2], strict=True))
    assert record["id_column"] == named.get("--id-column")
    if "--item-column" in named:
        assert record["item_columns"] == [named["--item-column"]]
        assert record["layout"] == "long"
    else:
        assert record["layout"] in {"wide", "onehot"}
        assert record["ignored_columns"]
    assert [len(file["sha256"]) for file in record["files"]] == [64]


# --- data that everyone knows

REAL = {
    "groceries.csv": (9835, 43367),
    "retail.dat": (88162, 908576),
    "bms_webview1.dat": (59601, 149638),
    "bms_webview2.dat": (77512, 358278),
    "diabetes_icd9.dat": (101765, 297905),
    "msnbc.dat": (989818, 1699303),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.exhaustive] * (n > 10**5)) for name, (n, _) in REAL.items()],
)
def test_real_baskets_are_read(name: str) -> None:
    if not (DATA / name).exists():
        pytest.skip("real data")
    import setveil as sv

    data = sv.read(DATA / name)
    assert (data.n_rows, data.n_occurrences) == REAL[name]


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 90
    assert len(BY_NAME) == len(CORPUS)
    assert sum(case.must == "read" and not case.options for case in CORPUS) >= 15
