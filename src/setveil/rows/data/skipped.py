"""Options that say which lines or rows of a source are no data, and what becomes of those with gaps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from setveil.base.errors import RequestError, described

SAID = ("skip_lines", "skip_last", "comment", "header_lines")  # options of `setveil.read`
OF_LACKING = (
    "missing",
    "not_missing",
    "missing_id",
    "missing_item",
    "fill_id",
)  # of `setveil.rows.data.lacking`
WAYS = ("skip", "stop")
_WITHOUT_LINES = (".parquet", ".xlsx", ".xlsm", ".xls", ".ods", ".sas7bdat", ".sav", ".dta")
_SPEC = re.compile(r"[0-9]{1,12}(-[0-9]{1,12})?(,[0-9]{1,12}(-[0-9]{1,12})?)*", re.ASCII)


@dataclass(frozen=True)
class Lines:
    """The skipped lines; None if not requested."""

    # a number of first lines; or numbers of lines, such as 1-3,359; of further files, too: 3;drugs.csv=1-3
    skip_lines: str | None = None
    skip_last: int | None = None
    comment: str | None = None  # lines that begin with it are skipped
    header_lines: int | None = None

    @property
    def settled(self) -> bool:
        """Return whether it was said which lines above and between the data are none."""
        return bool(self._specs.get(""))

    @property
    def files(self) -> list[str]:
        """The further files whose lines are skipped by number."""
        return [path for path in self._specs if path]

    @property
    def _specs(self) -> dict[str, str]:
        """The numbers of lines of each file; "" is the first."""
        parts = [part.rpartition("=") for part in (self.skip_lines or "").split(";") if part]
        return {path: spec for path, _, spec in parts}

    def of_file(self, path: str) -> Lines:
        """Return what applies to a further file: numbers that name it, and the sign of comments."""
        has_lines = not path.lower().endswith(_WITHOUT_LINES)
        return Lines(self._specs.get(path), comment=self.comment if has_lines else None)

    def with_file(self, path: str, spec: str) -> str:
        """Add numbers of lines of a further file, as `skip_lines` takes them."""
        found = {**self._specs, path: spec}
        return ";".join(f"{path}={spec}" if path else spec for path, spec in found.items())

    @property
    def is_set(self) -> bool:
        """Return whether anything was said."""
        return any(getattr(self, name) is not None for name in SAID)

    def as_dict(self) -> dict[str, Any]:
        """Return what was said, as arguments of `setveil.read`."""
        return {name: value for name in SAID if (value := getattr(self, name)) is not None}

    def numbers(self, lines: int) -> list[int]:
        """List the lines that are skipped by number, of all lines."""
        found: set[int] = set()
        text = self._specs.get("", "")
        for part in text.split(",") if text else ():
            first, _, last = part.partition("-")
            start, end = int(first), int(last or first)
            alone = "," not in text and not last
            found.update(range(1 if alone else max(start, 1), min(end, lines) + 1))
        found.update(range(max(lines - (self.skip_last or 0), 0) + 1, lines + 1))
        return sorted(found)


NO_LINES = Lines()


def lines_of(
    skip_lines: str | int | None = None,
    skip_last: str | int | None = None,
    comment: str | None = None,
    header_lines: str | int | None = None,
) -> Lines:
    """Take the options of `setveil.read` on lines."""
    spec = None if skip_lines is None else ";".join(map(_spec, str(skip_lines).split(";")))
    numbers = [] if spec is None else [part.rpartition("=")[2] for part in spec.split(";")]
    if isinstance(skip_lines, bool) or not all(map(_SPEC.fullmatch, numbers)):
        raise RequestError(
            f"skip_lines must be a number of first lines, or numbers of lines, got {described(skip_lines)}.",
            hint="Such as 3 for the first three lines, or 1-3,359; drugs.csv=3 for a further file.",
        )
    if comment is not None and (not isinstance(comment, str) or not comment.strip()):
        raise RequestError(f"comment must be a sign, such as '#', got {described(comment)}.")
    return Lines(spec, _whole("skip_last", skip_last, 0), comment, _whole("header_lines", header_lines, 1))


def _spec(text: str) -> str:
    path, sign, numbers = text.rpartition("=")
    return path.strip() + sign + numbers.replace(" ", "")


def _whole(name: str, value: Any, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not str(value).isascii() or not str(value).isdigit() or int(value) < least:
        raise RequestError(f"{name} must be an integer of at least {least}, got {described(value)}.")
    return int(value)
