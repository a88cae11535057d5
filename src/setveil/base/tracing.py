"""The steps of a search, written as JSON lines for those who want to watch it.

A trace speaks about original data: it is written for its owner alone, and never into a published folder. An
algorithm that can be traced has a sixth argument, `trace`, which is None when nobody watches.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from setveil.base.errors import DataError, OutputError, RequestError, as_option, unreadable
from setveil.base.plain_json import read_json
from setveil.base.staging import private_file, staged_file

VERSION = 1
MOST = 25  # candidates, or violations, of a step that are listed
PUBLISHED = "published"


class Trace:
    """Hears of the steps of a search, counts them, and writes each as a line of JSON."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.steps = 0

    def begin(self, **facts: Any) -> None:
        """Write the first line: the algorithm, the guarantee and the hierarchy."""
        self._write({"trace": VERSION, **facts})

    def step(self, **facts: Any) -> None:
        """Write what was violated, what could be done, at which cost, and what was chosen."""
        self.steps += 1
        self._write({"step": self.steps, **facts})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False, default=_plain).encode() + b"\n")


def _plain(value: Any) -> Any:
    """Turn numbers of NumPy and fractions into numbers of JSON."""
    return float(value) if isinstance(value, Fraction) else value.item()


def as_float(number: Fraction) -> float:
    """Return the nearest number of JSON, the greatest where there is none so great."""
    return float(min(number, Fraction(sys.float_info.max)))


def most(found: Iterable[Any]) -> dict[str, Any]:
    """List the first candidates, and count the others."""
    listed = list(found)
    more = len(listed) - MOST
    return {"candidates": listed[:MOST], **({"more_candidates": more} if more > 0 else {})}


@contextmanager
def traced(place: Path | None) -> Iterator[Trace | None]:
    """Open a trace, which is put in place if all goes well; None if nothing is to be traced."""
    if place is None:
        yield None
        return
    with ExitStack() as opened:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside = opened.enter_context(staged_file(place, private=True))
            file = opened.enter_context(private_file(beside))
        except OSError as error:
            raise OutputError(f"{place} cannot be written: {error.strerror or error}.") from None
        yield Trace(file)


def require_internal(place: Path, out: Path | None = None) -> None:
    """Refuse to write a trace into a published folder, or into the folder of the run."""
    whole = place.absolute()
    folders = {*whole.parents, *place.resolve().parents}
    if any(folder.name.lower() == PUBLISHED for folder in folders):
        raise RequestError(
            f"{place} is in a published folder, and a trace describes original rows: it is internal.",
            hint=f"Choose another file: {as_option('trace', 'trace.jsonl')}.",
        )
    if out is not None and out.resolve() in {*folders, place.resolve()}:
        raise RequestError(
            f"{place} is in {out}, the folder of the run, which contains only files of the release.",
            hint=f"Choose a file outside of it: {as_option('trace', 'trace.jsonl')}.",
        )


def can_trace(module: Any) -> bool:
    """Whether an algorithm reports its steps."""
    return "trace" in inspect.signature(module.anonymize).parameters


def require_traceable(name: str, module: Any, able: Iterable[str]) -> None:
    """Refuse to trace an algorithm that does not report its steps; `able`: those that do."""
    if not can_trace(module):
        raise RequestError(
            f"{name} does not report its steps; these algorithms do: {', '.join(able)}.",
            hint=f"Choose one of them with {as_option('algorithm', 'aa')}, or omit {as_option('trace')}.",
        )


def read_trace(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the first line of a trace, and its steps; refuse a file that is no trace."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            value = read_json(line)
        except ValueError as error:
            raise unreadable(f"{path}, line {number}", "this is not JSON", error, _HINT) from None
        if not isinstance(value, dict) or ("trace" if number == 1 else "step") not in value:
            raise DataError(f"{path}, line {number}: this is not a line of a trace.", hint=_HINT)
        found.append(value)
    if not found or found[0]["trace"] != VERSION:
        raise DataError(f"{path} is not a trace of this version of setveil.", hint=_HINT)
    return found[0], found[1:]


_HINT = "Make a trace with: setveil anonymize ... --trace trace.jsonl"
