"""Small programs for those who do not trust setveil, copied as bytes, with which they share no code.

``check.py`` and ``check.html`` are for recipients of a release, ``audit.py`` for auditors, who may see the
original.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.staging import write_together

if TYPE_CHECKING:
    from setveil.rows.hierarchy.tree import Hierarchy

CHECK, PAGE, AUDIT = (Path(__file__).with_name(name) for name in ("check.py", "check.html", "audit.py"))
PROGRAMS = CHECK, PAGE
FILES = CHECK.name, PAGE.name
CERTIFICATE, TREE = "certificate.json", "hierarchy.csv"

_AUDITED = ("basket", "fimi", "jsonl", "long")  # formats that audit.py reads

_ROWS, _TABLES = ("km-anonymity", "k-anonymity"), ("kkm", "mixed-km")


def put_checker(folder: Path, about: Mapping[str, Any]) -> None:
    """Copy both programs into a folder of published files; RequestError if they cannot check the release."""
    require_checked(about)
    write_together({folder / program.name: program.read_bytes() for program in PROGRAMS})


def require_checked(about: Mapping[str, Any]) -> None:
    """Refuse a release that the checker does not check."""
    promise = about.get("guarantee", {})
    model, form = promise.get("model"), about.get("format")
    if form == "parquet" or "files" in about or "items_file" in about:
        what = "a Parquet file" if form == "parquet" else "several files"
        raise RequestError(
            f"The checker for recipients reads one text file, and the data are {what}.",
            hint="Use --output-format jsonl, or another text format; for a table, omit it.",
        )
    known = {"global": _ROWS, "local": _ROWS, "table": _TABLES, "table-cut": _TABLES}
    unchecked = bool({"sensitive", "absent"} & promise.keys()) or "facts" in about
    if model not in known.get(str(about.get("recoding")), ()) or unchecked:
        more = " with sensitive items" if "sensitive" in promise else ""
        more += " with an absent item" if "absent" in promise else ""
        what = "of facts" if "facts" in about else f"which guarantees {model}{more}"
        raise RequestError(
            f"The checker for recipients does not support this release, {what}.",
            hint="It checks k^m-anonymity and k-anonymity of rows of items without classes, and "
            "(k,k^m)-anonymity and mixed k^m-anonymity of tables without sensitive items. "
            "`setveil verify` checks all guarantees.",
        )


@dataclass(frozen=True)
class Certificate:
    """A proof for ``audit.py`` that a release loses no more than necessary, or how much more at most."""

    content: dict[str, Any]  # as it is written
    tree: Hierarchy  # the hierarchy of the run

    def summary(self) -> dict[str, int]:
        """Return what the record of a run says of it."""
        figures = {key: self.content[key] for key in ("loss", "bound")}
        return figures | {"clauses": len(self.content["clauses"]), "branches": len(self.content["tree"])}


def put_certificate(folder: Path, certificate: Certificate, about: Mapping[str, Any]) -> list[Path]:
    """Write a certificate into a run's internal/, with its program, and the hierarchy unless that is a file.

    RequestError if audit.py cannot read the published rows. Returns the files; `about` is the about.json of
    the run.
    """
    from setveil.rows.hierarchy.io import hierarchy_text

    require_audited(about)
    origin = certificate.tree.origin
    lines = json.dumps(certificate.content, ensure_ascii=False, separators=(",", ":"))
    made = {
        folder / CERTIFICATE: (lines.replace("},{", "},\n{") + "\n").encode(),
        folder / AUDIT.name: AUDIT.read_bytes(),
    }
    if origin is None or origin.source != "file":
        made[folder / TREE] = hierarchy_text(certificate.tree, folder / TREE).encode()
    write_together(made, private=True)
    return [*made]


def not_of_facts() -> RequestError:
    """Make the error of a certificate of facts."""
    return RequestError(
        "The program that checks a certificate reads rows of items, not of facts, which have one format.",
        hint="`setveil verify` checks the guarantee.",
    )


def require_audited(about: Mapping[str, Any]) -> None:
    """Refuse a release that audit.py could not read."""
    if about.get("recoding") == "facts":
        raise not_of_facts()
    if about.get("format") not in _AUDITED or "files" in about:
        raise RequestError(
            f"The program that checks a certificate does not read the format {about.get('format')}, in which "
            "the rows are published.",
            hint="--output-format jsonl, basket, fimi or long.",
        )
