"""Whether other rows are of the people of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, listed
from setveil.base.wording import are, count
from setveil.report.record import PeopleEntry
from setveil.rows.data.io.rows import read_ids
from setveil.rows.data.personal import masked_examples
from setveil.rows.data.transactions import Transactions
from setveil.work.past.run import PastRun


def people_of(earlier: PastRun, data: Transactions, relation: str | None) -> PeopleEntry:
    """Find out whether other rows are of the people of a run, if the IDs of both can be read again.

    `relation`: "same" (some of them are) or "other" (nobody is), whatever the IDs say. Returns for the
    record: `told`; `checked`, whether IDs could be compared; `ids`, how many the earlier rows have; `shared`,
    how many of them the others have.
    """
    same = (
        "Two releases of the same people may together reveal what each hides (docs/series.md). Omit these "
        "people, release one union instead, or publish a series, with one guarantee over both: `setveil "
        "series`. To go on nevertheless: --people same"
    )
    if (Path(earlier.name) / "internal" / "series.json").is_file():
        same = (
            "The earlier run is of a series, which can have a next release with its labels and a guarantee "
            "over both: `setveil series add --labels-of`. To go on nevertheless: --people "
            "same"
        )
    then: Mapping[str, Any] = earlier.report["input"].get("read") or {}
    now = data.origin.as_dict() if data.origin else {}
    hashes = {file.get("sha256") for file in then.get("files") or ()} - {None}
    again = [file["path"] for file in now.get("files", ()) if file["sha256"] in hashes]
    if again and relation != "same":
        raise DataError(
            f"{listed(again)} {'was' if len(again) == 1 else 'were'} read by the earlier run, too: these are "
            "the same rows.",
            hint=f"{same}.",
        )
    before = after = None
    if now.get("id_column") and now["id_column"] == then.get("id_column"):
        before, after = read_ids(then), read_ids(now)
    if before is None or after is None:
        return {"told": relation, "checked": False}
    shared = sorted(before & after)
    if shared and relation is None:
        raise DataError(
            f"{count(len(shared), 'id')} of the new rows {are(len(shared))} among those of the earlier run, "
            f"too, such as {masked_examples(shared)}.",
            hint=f"{same}; if ids are mere numbers of rows and the people are others: --people other.",
        )
    return {"told": relation, "checked": True, "ids": len(before), "shared": len(shared)}
