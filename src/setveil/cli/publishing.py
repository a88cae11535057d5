"""The options of commands that publish: what is written of a release, where, and what its report says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as calendar_date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from setveil.base.errors import RequestError
from setveil.cli.bundles import Bundle
from setveil.cli.help import ABOUT, OUTPUT
from setveil.cli.options import (
    External,
    ForceRun,
    NoDetails,
    Out,
    OutputFormat,
    Seed,
    flag,
    integer,
    option,
    parameters_of,
)

if TYPE_CHECKING:
    from setveil.report.record import Record
    from setveil.rows.data.transactions import Transactions
    from setveil.runs.run import VerifiedRelease


@dataclass(frozen=True, kw_only=True)
class Published:
    """What is written of a release, and where."""

    out: Out
    output_format: OutputFormat = None
    seed: Seed = 0
    external: External = False
    checker: bool = flag(OUTPUT, "Add check.py and check.html, for recipients.")
    no_counts: bool = flag(OUTPUT, "Publish no counts of items (counts.csv).")
    counts_min: int | None = integer(OUTPUT, "Publish only counts of at least N rows (default: k).", 2)
    list_members: bool = flag(OUTPUT, "List all items of each label in about.json, also rare ones.")
    suppress_below: int | None = integer(OUTPUT, "Suppress items that fewer than N rows contain, first.", 2)
    rare_names: bool = flag(OUTPUT, "Allow items of fewer than k rows as labels.")
    no_details: NoDetails = False
    force: ForceRun = False

    @property
    def counts(self) -> bool | int:
        """Whether counts are shared, or of how many rows each must speak."""
        if self.no_counts and self.counts_min is not None:
            raise RequestError(
                "--no-counts and --counts-min contradict each other.", hint="Give one of them."
            )
        return self.counts_min or not self.no_counts

    def require_possible(self) -> None:
        """Refuse a folder that cannot be written, and counts that are asked for and are not."""
        from setveil.runs.folder import require_writable

        require_writable(self.out, force=self.force)
        _ = self.counts

    def write(
        self,
        release: VerifiedRelease,
        data: Transactions,
        usual_format: str | None,
        record: Mapping[str, Any],
    ) -> Record:
        """Write a release of some rows with what the report is to say besides, and return the report."""
        from setveil.cli.files import warn_of_formulas

        report = release.write(
            self.out, force=self.force, format=self.output_format or usual_format, external=self.external,
            checker=self.checker, list_members=self.list_members, rare_names=self.rare_names,
            record={key: value for key, value in record.items() if value},
        )  # fmt: skip
        warn_of_formulas(release, data, report)
        return report


def _day(text: str) -> str:
    """Read a date, or today's."""
    if text == "today":
        return calendar_date.today().isoformat()
    try:
        return calendar_date.fromisoformat(text).isoformat()
    except ValueError:
        raise click.BadParameter(f"{text!r} is no date such as 2026-01-31, nor today.") from None


@dataclass(frozen=True, kw_only=True)
class About:
    """Additional content of the report."""

    purpose: str | None = option(ABOUT, "State what the release is for.", "TEXT")
    recipient: str | None = option(ABOUT, "State who gets the release.", "TEXT")
    responsible: str | None = option(ABOUT, "State who is responsible for the release.", "TEXT")
    legal_basis: str | None = option(ABOUT, "State the legal basis of the release.", "TEXT")
    review: str | None = option(ABOUT, "State when the release is reviewed.", "TEXT")
    date: str | None = option(
        ABOUT,
        "State the date of the release, such as 2026-01-31.",
        "DATE|today",
        parser=_day,
    )
    names_file: Path | None = option(
        ABOUT, "Show names next to codes: lines of code,name.", "FILE", "--names"
    )

    def fields(self) -> dict[str, str]:
        """Return what was given, but for names."""
        texts = {
            "purpose": self.purpose,
            "recipient": self.recipient,
            "responsible": self.responsible,
            "legal_basis": self.legal_basis,
            "review": self.review,
            "date": self.date,
        }
        return {key: text for key, text in texts.items() if text is not None}

    def names(self, encoding: str) -> dict[str, str]:
        """Read what codes represent."""
        if self.names_file is None:
            return {}
        from setveil.runs.options.inputs import load_names

        return load_names(self.names_file, encoding)


Publishing = Annotated[Published, Bundle(lambda: parameters_of(Published), Published)]
Telling = Annotated[About, Bundle(lambda: parameters_of(About), About)]
