"""A run that was made before: its record, and what each item became."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.errors import DataError, shorten, unreadable
from setveil.base.values.per_column import PerColumn, labelled
from setveil.judges.guarantees import Guarantee, absent_items
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.km import FACTS, KmAnonymity
from setveil.methods import algorithms
from setveil.report.record import Record, read_record

if TYPE_CHECKING:
    from setveil.runs.run import VerifiedRelease

MODELS = (KmAnonymity.model, PrivacyConstraints.model)  # whose runs can be asked why, and be applied
_HEADER = ["item", "published"]  # of recoding.csv; of several columns of codes, their name before it
_UNIFORM = ("global", "facts")  # recodings in which each item, or fact, has one label
_MEASURES = {"ul": "lm", "items": "lm", "entropy-max": "entropy"}


@dataclass(frozen=True, eq=False)
class PastRun:
    """A run that was made before."""

    name: str  # its folder, or what it is called in messages
    report: Record
    # the label of each item, None: it was left out; empty where recoding.csv would not tell
    image: Mapping[str, str | None]
    guarantee: Guarantee | None = None  # what it guaranteed, where that is in memory
    partial: bool = False  # whether it is one class of a run, of which the record has no measures

    @property
    def uniform(self) -> bool:
        """Whether each item has one label."""
        return self.report["recoding"] == "global"

    @property
    def model(self) -> str:
        """Name of the privacy model."""
        return self.report["guarantee"]["model"]

    @property
    def objective(self) -> str:
        """The measure of the loss that it kept low, or the nearest that says something to readers."""
        optimality, algorithm = self.report.get("optimality"), self.report["algorithm"]
        found = optimality.get("objective") if optimality else None
        found = found or str(algorithm["parameters"].get("objective") or "")
        found = found or self.minimizes
        return _MEASURES.get(found, found)

    @property
    def minimizes(self) -> str:
        """The measure that its algorithm keeps low by default, also where it is someone else's."""
        algorithm = self.report["algorithm"]
        whose = algorithm.get("origin")
        return whose["minimizes"] if whose else str(algorithms.load(algorithm["name"]).info.minimizes)

    def promise(self) -> KmAnonymity | PrivacyConstraints | None:
        """Make its guarantee, one of `MODELS`, as recorded; None where that suppresses itemsets of a file."""
        record = self.report["guarantee"]
        if "m" not in record:
            return None
        if self.model == PrivacyConstraints.model:
            return PrivacyConstraints(record["k"], m=number(record["m"]))
        return KmAnonymity(record["k"], items_known(record), absent_items(record), record.get("known", FACTS))


def number(recorded: Any) -> Any:
    """Take a number as records have it."""
    return math.inf if recorded == "inf" else recorded


def items_known(record: Mapping[str, Any]) -> Any:
    """Take from a recorded guarantee how many items someone may know, of several columns of each."""
    return PerColumn(record["m"]) if isinstance(record["m"], Mapping) else number(record["m"])


def past_run(run: str | PathLike[str] | VerifiedRelease, name: str = "") -> PastRun:
    """Read the folder of a run, or take one that was made here and goes by a name."""
    if not isinstance(run, str | PathLike):
        image = run.release.image() if run.report["recoding"] in _UNIFORM else {}
        return PastRun(name, run.report, image, run.verdict.guarantee)
    inside = Path(run) / "internal"
    record = inside / "report.json"
    if not record.is_file():
        raise DataError(
            f"{run} is not the folder of a run: there is no {record}.",
            hint="Name the folder that `setveil anonymize --out` wrote, with published/ and internal/ in it.",
        )
    report, recoding = read_record(record), inside / "recoding.csv"
    made = report["recoding"]
    return PastRun(
        str(run), report, read_recoding(recoding) if made in _UNIFORM or recoding.is_file() else {}
    )


def read_recoding(path: Path) -> dict[str, str | None]:
    """Read the recoding.csv of a run: the label of each item, None where it is suppressed."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise unreadable(path, "cannot be read as a recoding", error) from None
    if lines and lines[0] == ["set", *_HEADER] and all(len(line) == 3 for line in lines):
        lines = [_HEADER, *([labelled(of, item), to and labelled(of, to)] for of, item, to in lines[1:])]
    if not lines or lines[0] != _HEADER:
        raise DataError(f"{path} is no recoding: expected item,published in its first line.")
    return image_of(lines, path)


def image_of(lines: Iterable[list[str]], path: Path) -> dict[str, str | None]:
    """Read the lines of a recoding, below a header or none: the label of each item, None: suppressed."""
    image: dict[str, str | None] = {}
    for number, fields in enumerate(lines, 1):
        if number == 1 and fields == _HEADER:
            continue
        if len(fields) != 2 or not fields[0] or fields[0] in image:
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(fields))}, expected an item not seen "
                "before, a comma and its label (empty: suppressed)."
            )
        image[fields[0]] = fields[1] or None
    return image
