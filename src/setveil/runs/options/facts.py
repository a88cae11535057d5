"""Facts in words: the options that say what is known next to a code, and how facts are generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from setveil.base.errors import RequestError
from setveil.base.values.declared import as_words, parameter
from setveil.base.values.kinds import Choice, Flag, Integer, Text, Texts
from setveil.runs.options.columns import Columns, names_in

if TYPE_CHECKING:
    from setveil.rows.facts.generalizing import Generalizing
    from setveil.rows.facts.request import FactsRequest
    from setveil.rows.tables.roles import Roles

OF_READING = ("when", "amount", "date_format", "fact_sign")  # options that say how facts are read
NOT_RECOMMENDED = (
    "recommend compares algorithms, and takes no facts: of codes with dates or amounts exact proves the "
    "least loss of each order, and anonymize tries all orders."
)
QI = "qi"  # what m of the quasi-identifiers is said of, as `setveil.judges.guarantees.mixed_km` names it
OF_COLUMNS = ("--set", "--weight")  # options of tables that facts have, too


@dataclass(frozen=True)
class FactOptions:
    """What was said of dates and amounts; None: nothing."""

    when: Sequence[str] | None = parameter(
        Texts("COLUMN:PERIOD"),
        "Dates, published as day, week, month, quarter or year at the finest, such as date:month; or "
        "date:30d-since-first. May be repeated.",
        default=None,
    )
    amount: Sequence[str] | None = parameter(
        Texts("COLUMN:BOUNDS"),
        "Amounts, added over the lines of a fact and published in bands: price:0,5,20, or price:8 (about 8 "
        "bands), price:mean:..., :max:..., :lines:.... May be repeated.",
        default=None,
    )
    date_format: str | None = parameter(
        Text("a format"),
        "How dates are written, such as %d.%m.%Y, sas or excel (default: 2024-01-31).",
        default=None,
    )
    fact_sign: str | None = parameter(
        Text("a sign"), "Between the parts of a fact (default: @).", default=None
    )
    fact_order: str | None = parameter(
        Text("first|last|DEPTH"),
        "Drop periods and bands first, last, or at a depth of the codes' tree (default: the best).",
        default=None,
    )
    fact_loss: str | None = parameter(
        Choice(("volume", "parts")),
        "Loss of a box: by the facts that it represents, or each part by itself, with --weight PART=W.",
        default=None,
    )
    fact_lines: bool | None = parameter(
        Flag(), "Then try another depth in each branch of the codes' tree, while there is time.", default=None
    )

    most_facts: int | None = parameter(
        Integer(1), "Suppress all but N facts of a row, drawn by --seed, before anything else.", default=None
    )

    def wanted(self, columns: Columns) -> bool:
        """Whether facts are to be read: dates or amounts are named, a set with its own m, or several sets."""
        sets = columns.set or ()
        several = len(sets) > 1 and not columns.roles
        return bool(self.when or self.amount) or several or any(":m=" in text for text in sets)

    @property
    def explicit_options(self) -> list[str]:
        """The options that were given."""
        names = (
            "when",
            "amount",
            "date_format",
            "fact_sign",
            "fact_order",
            "fact_loss",
            "fact_lines",
            "most_facts",
        )
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]

    def arguments(self) -> list[str]:
        """Return what was given as it is written on the command line."""
        return as_words({field.name: getattr(self, field.name) for field in fields(self)})

    def require_alone(self, columns: Columns) -> None:
        """Refuse columns that say what is known of a person in addition to facts."""
        others = [option for option in columns.explicit_options if option not in OF_COLUMNS]
        if others:
            raise RequestError(
                f"{', '.join(others)}: only tables have such columns, not rows of facts.",
                hint="Omit them; anonymize and verify take tables of facts.",
            )

    def as_request(self, columns: Columns) -> FactsRequest:
        """Say which columns are what."""
        from setveil.rows.facts.request import make_facts_request

        if columns.roles is not None:
            raise RequestError(
                "--roles says what columns of a table of items are, not of facts.",
                hint="Name them: --qi age,sex --set code --when date:month.",
            )
        return make_facts_request(
            columns.set,
            self.when,
            self.amount,
            date_format=self.date_format,
            sign=self.fact_sign,
            missing={},
        )

    def as_roles(self, columns: Columns, request: FactsRequest, hierarchies: Mapping[str, str]) -> Roles:
        """Say what the columns of persons are, with the hierarchies of some of them."""
        known = names_in(columns.qi)

        weights = [text for text in columns.weight or () if text.rpartition("=")[0] in known]
        alone = replace(columns, set=None, weight=weights)
        return replace(alone.as_roles(hierarchies), set_name=request.set_name)

    def as_generalizing(self, columns: Columns) -> Generalizing:
        """Say how facts are generalized."""
        from setveil.rows.facts.generalizing import Generalizing

        weights = {}
        for name, text in columns.pairs("weight").items():
            if name in names_in(columns.qi):
                continue
            try:
                weights[name] = Fraction(text)
            except (ValueError, ZeroDivisionError):
                raise RequestError(f"--weight {name} must be a number, got {text!r}.") from None
        return Generalizing(self.fact_order, self.fact_loss or "volume", weights, lines=bool(self.fact_lines))
