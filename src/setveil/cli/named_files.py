"""Files that options name: each must be one that the command reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from setveil.base.errors import RequestError, SetveilError, closest, listed, shorten
from setveil.rows.data.also import also_of
from setveil.rows.data.io.encodings import encoding_of, files_of, with_encoding
from setveil.rows.data.io.source import gather
from setveil.rows.data.skipped import lines_of
from setveil.runs.options.reading import NAMING_FILES

_ELSEWHERE = ("roles", "config")  # options whose files may name others


def require_read(values: Mapping[str, Any]) -> None:
    """Refuse an encoding, or lines to skip, of a file that the command does not read."""
    if any(values.get(name) for name in _ELSEWHERE):
        return
    also = [one.path for one in also_of(values.get("also") or ())]
    for path in lines_of(values.get("skip_lines")).files:
        if path not in also:
            numbers = lines_of(values["skip_lines"]).of_file(path).skip_lines
            first = path in (values.get("input") or ())
            other = next(iter([*closest(path, also), *also]), "")
            option = f"--skip-lines {numbers if first else f'{other}={numbers}'}" if first or other else ""
            raise _not_read("--skip-lines", path, also, option, "which no --also reads")
    encoding = values.get("encoding")
    named = files_of(encoding)
    read = [*_files(values)] if named else []
    for path in named:
        if not any(path in (file, PurePath(file).name) for file in read):
            other = next(iter([*closest(path, read), *read]), "")
            option = f"--encoding {with_encoding(None, other, str(encoding_of(encoding, path)))}"
            raise _not_read("--encoding", path, read, option, "which is not read")


def _not_read(option: str, path: str, read: Sequence[str], instead: str, why: str) -> RequestError:
    from setveil.cli.files import command_with

    there = f"; the files read are {listed(read)}" if len(read) > 1 else f", but {read[0]} is" if read else ""
    command = command_with(instead, without=(option,))
    what = "Name a file that is read, or none for the first" if instead else "Omit it"
    return RequestError(
        f"{option} names {shorten(path)}, {why}{there}.", hint=f"{what}; for example\n    {command}"
    )


def _files(values: Mapping[str, Any]) -> Iterator[str]:
    """List the files that options and arguments name, those of folders and patterns among them."""
    for name, value in values.items():
        if name == "out" or name in NAMING_FILES:
            continue
        for word in value if isinstance(value, list | tuple) else [value]:
            if isinstance(word, str | Path):
                yield from _named_in(str(word), is_input=name == "input")


def _named_in(word: str, *, is_input: bool) -> Iterable[str]:
    """List the files that a word names: by itself, as ``COLUMN=FILE`` or as ``FILE:COLUMN``."""
    found = [word, word.partition("=")[2], *(one.path for one in also_of(word or "-"))]
    if is_input:
        with suppress(SetveilError):  # the reader says it better
            found += gather([word])
    return dict.fromkeys(file for file in found if file and Path(file).is_file())
