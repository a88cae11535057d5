"""Messages about files that cannot be read: they name the file once, say why, and end with one full stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.base.errors import DataError, reason_of, unreadable
from setveil.cli.config import _read as read_options
from setveil.methods.constraints.io import read_privacy
from setveil.report.record import read_record
from setveil.rows.tables.roles import read_roles
from setveil.work.past.run import read_recoding
from setveil.work.studies.compare.study import read_study
from strategies import transactions

ROWS = [frozenset(row) for row in ("ab", "ac", "abc", "b", "cd", "abd", "bd", "cs", "as", "bcs")] * 3
TREE = sv.Hierarchy({"a": "x", "b": "x", "c": "y", "d": "y", "s": "*", "x": "*", "y": "*", "*": None})
GUARANTEES: dict[str, tuple[Any, dict[str, Any]]] = {
    "rows": (sv.KmAnonymity(2, 2), {"algorithm": "aa"}),
    "local": (sv.KmAnonymity(2, 2), {"algorithm": "lra"}),
    "classes": (sv.KmAnonymity(2, 1), {"classes": 2, "class_size": 10}),
    "groups": (sv.PrivacyDegree(2, ["s"]), {"algorithm": "cahd"}),
    "chunks": (sv.Disassociated(2, 2), {"algorithm": "disassociation"}),
    "blocks": (sv.DifferentialPrivacy(1), {}),
}
SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "no text": lambda content: content + b"\xff\xfe\n",
    "nothing": lambda _: b"",
    "a quote": lambda content: content + b'"\n',
    "other line ends": lambda content: content.replace(b"\n", b"\r\n"),
    "no JSON": lambda content: content[: len(content) // 2],
    "too deep": lambda _: b"[" * 100_000,
    "other columns": lambda content: content.replace(b",", b";"),
    "a list": lambda _: b"[]",
    "an object": lambda _: b"{}",
}


def questions(run: Path) -> Iterator[Callable[[], object]]:
    data = transactions(ROWS)
    yield partial(sv.verify, run)
    yield partial(sv.query, run, [["a"]])
    yield partial(sv.measure, data, run)
    yield partial(sv.why, run, "a", data=data, hierarchy=TREE)
    yield partial(sv.apply, run, transactions(ROWS[:20]), hierarchy=TREE)
    yield partial(sv.reconstruct, run)
    yield partial(sv.evidence, run)


def require_plain(message: str, name: str) -> None:
    assert message.count(name) <= 1, message
    assert "Errno" not in message, message
    assert re.search(r"[.…]\s*\.\s|\.\s*\.$|::|: \.|Error\b", message) is None, message
    assert "\n" in message or message.endswith("."), message  # with a list of problems, or one sentence


def is_refused(question: Callable[[], object], file: Path) -> bool:
    """Return whether a question ends with an error; its message must be plain."""
    try:
        question()
    except sv.SetveilError as error:
        require_plain(error.message, str(file))
        return True
    return False


@pytest.mark.parametrize("kind", GUARANTEES)
def test_files_of_a_release_are_named_once(kind: str, tmp_path: Path) -> None:
    guarantee, options = GUARANTEES[kind]
    hierarchy: dict[str, Any] = {} if kind in {"groups", "chunks"} else {"hierarchy": TREE}
    run = tmp_path / "run"
    sv.anonymize(transactions(ROWS), guarantee, **options, **hierarchy).write(run, rare_names=True)
    seen = set()
    every = [*questions(run)]
    for file in sorted(path for path in run.rglob("*") if path.is_file() and path.suffix != ".html"):
        content = file.read_bytes()
        file.unlink()
        file.mkdir()
        readers = {question for question in every if is_refused(question, file)}
        file.rmdir()
        for name, spoil in SPOILT.items():
            file.write_bytes(spoil(content))
            # Who answers in spite of a folder, of no text, and of nothing at all does not read the file.
            for question in every if name in {"no text", "nothing"} else [*readers]:
                if is_refused(question, file):
                    readers.add(question)
                    seen.add(file.name)
        file.write_bytes(content)
    assert {"about.json", "report.json"} <= seen


READERS: dict[str, Callable[[Path], object]] = {
    "roles.toml": read_roles,
    "study.toml": read_study,
    "options.toml": read_options,
    "options.json": read_options,
    "tree.json": sv.read_hierarchy,
    "tree.csv": sv.read_hierarchy,
    "report.json": read_record,
    "privacy.json": lambda path: read_privacy(str(path), ["a", "b"]),
    "recoding.csv": read_recoding,
}


@pytest.mark.parametrize("name", READERS)
def test_other_files_are_named_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    contents = [b"", b"\xff\xfe\n", b'"', b"[" * 100_000, b"[]", b"{}", b"k = 9" + b"9" * 6000, b"a;b\r\n"]
    refused = 0
    for content in [*contents, None]:
        if content is None:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(content)
        try:
            READERS[name](path)
        except sv.SetveilError as error:
            refused += 1
            require_plain(error.message, str(path))
    assert refused >= 4


def test_an_error_that_names_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    own = DataError(f"{path} is not UTF-8: a byte.", hint="Look at it.")
    assert unreadable(path, "cannot be read", own) is own
    about = unreadable(path, "cannot be read", sv.RequestError("k must be at least 2, got 1."), "Mend it.")
    assert (about.message, about.hint) == (f"{path} cannot be read: k must be at least 2, got 1.", "Mend it.")
    missing = FileNotFoundError(2, "No such file or directory", str(path))
    assert (
        str(unreadable(path, "cannot be read", missing))
        == f"{path} cannot be read: No such file or directory."
    )
    assert [reason_of(one) for one in (ValueError("Bad. "), ValueError(), KeyError("k"))] == [
        "Bad", "ValueError", "it has no 'k'"
    ]  # fmt: skip
