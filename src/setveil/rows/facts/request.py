"""The columns of codes, dates and amounts, and their published parts: options parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from setveil.base.errors import RequestError, described, did_you_mean, faces, listed, shorten
from setveil.base.values.per_column import OF
from setveil.rows.facts.bands import Bands, number_in, plain
from setveil.rows.facts.dates import level_of
from setveil.rows.facts.facts import SIGN
from setveil.rows.tables.day_numbers import EXCEL, SAS

WAYS = ("sum", "mean", "max", "lines")  # what becomes of the amounts of a person's lines with the same fact
_NOT_SIGNS = '*?[]()<>=,:."\\'


@dataclass(frozen=True)
class When:
    """A column of dates."""

    column: str
    level: str  # the finest period, or "30d-since-first"
    of: str | None = None  # the column of codes that it belongs to; None: all


@dataclass(frozen=True)
class Amount:
    """A column of amounts."""

    column: str
    way: str  # one of `WAYS`
    bounds: tuple[Decimal, ...]  # of bands; empty: about `number` bands are chosen
    number: int = 0
    of: str | None = None  # the column of codes that it belongs to; None: all


@dataclass(frozen=True)
class FactsRequest:
    """What a reading of facts was asked for."""

    # The columns of codes (where codes of one sort stand in several, what to call them), each with how many
    # of its facts somebody may know: of all columns, or of none, where nothing was said.
    sets: Mapping[str, int | None]
    dates: tuple[When, ...] = ()  # in the order in which they were given
    amounts: tuple[Amount, ...] = ()
    date_format: str | None = None
    sign: str = SIGN
    missing: Mapping[str, tuple[str, ...]] | None = None  # values of columns that mean that there is none

    @property
    def m(self) -> int | dict[str, int] | None:
        """What was said of how many facts someone may know: a number, of one column, or one for each."""
        said = {name: m for name, m in self.sets.items() if m is not None}
        return next(iter(said.values())) if len(self.sets) == 1 and said else said or None

    @property
    def set_name(self) -> str | None:
        """The column of codes, where there is one."""
        return next(iter(self.sets)) if len(self.sets) == 1 else None

    @property
    def attributes(self) -> tuple[When | Amount, ...]:
        """All that is known next to codes, dates first."""
        return (*self.dates, *self.amounts)

    def dates_of(self, name: str) -> list[When]:
        """List the dates that belong to the codes of a column."""
        return [one for one in self.dates if one.of in (None, name)]

    def amounts_of(self, name: str) -> list[Amount]:
        """List the amounts that belong to the codes of a column."""
        return [one for one in self.amounts if one.of in (None, name)]


def make_facts_request(
    sets: Any,
    when: Any = None,
    amount: Any = None,
    *,
    date_format: str | None = None,
    sign: str | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
) -> FactsRequest:
    """Read the options about the columns of facts.

    `sets`: columns of codes: ``code``, ``code:m=2``, or ``{"code": {"m": 2}, "drug": {"m": 1}}``. `when`,
    `amount`: ``date:month``, ``price:0,5,20``, ``price:mean:8``; or from columns to the text after the first
    colon. With ``drug=`` before it, the column belongs to the codes of this column alone. `date_format`: as
    for `datetime.strptime`. `sign`: between the parts of a fact.
    """
    named = _sets(sets)
    dates = tuple(_when(*one) for one in _pairs("when", when, named))
    amounts = tuple(_amount(*one) for one in _pairs("amount", amount, named))
    _require_once(named, (*dates, *amounts))
    if date_format not in (None, SAS, EXCEL) and "%" not in str(date_format):
        raise RequestError(
            f"--date-format must say where day, month and year are, got {date_format!r}.",
            hint="Such as --date-format '%d.%m.%Y'.",
        )
    said = {column: tuple(values) for column, values in (missing or {}).items()}
    return FactsRequest(named, dates, amounts, date_format, _sign(sign), said)


def _require_once(named: Mapping[str, int | None], attributes: Sequence[When | Amount]) -> None:
    """Refuse what is named twice, and an m of some columns of codes but not of others."""
    if not named:
        raise RequestError(
            "Nothing says which column contains the codes of facts.", hint="Name it: --set code."
        )
    for name in named:
        own = [one.column for one in attributes if one.of in (None, name)]
        twice = next((one for one in own if one in named or own.count(one) > 1), None)
        if twice is not None:
            raise RequestError(f"The column {shorten(twice)} is named twice among codes, dates and amounts.")
    said = [name for name, m in named.items() if m is not None]
    missing = [name for name in named if name not in said]
    if said and missing:
        raise RequestError(
            f"m is said of {listed(said)}, but not of {listed(missing)}.",
            hint=f"Say it of each, such as --set {missing[0]}:m=1, or one for all: --m 2.",
        )
    odd = next((name for name in named if len(named) > 1 and OF in name), None)
    if odd is not None:
        raise RequestError(
            f"The column of codes {shorten(odd)} contains {OF!r}, which stands between column and "
            "code where there are several columns.",
            hint="Name it otherwise in the header of the file.",
        )


def _sign(sign: str | None) -> str:
    if sign is None:
        return SIGN
    if (
        len(sign) != 1
        or not sign.isascii()
        or not sign.isprintable()
        or sign.isalnum()
        or sign in _NOT_SIGNS + " -"
    ):
        raise RequestError(
            f"--fact-sign must be one sign that no part of a fact contains, got {sign!r}.",
            hint="Such as --fact-sign '|'.",
        )
    return sign


def _sets(sets: Any) -> dict[str, int | None]:
    if isinstance(sets, Mapping):
        pairs = [
            (name, dict(more or {}) if isinstance(more, Mapping | type(None)) else more)
            for name, more in sets.items()
        ]
    else:
        texts = [sets] if isinstance(sets, str) else list(sets or ())
        pairs = [_set_in(text) for text in texts]
    found: dict[str, int | None] = {}
    for name, more in pairs:
        if not isinstance(name, str) or not name:
            raise RequestError(f"A column of codes is named by a text, got {described(name)}.")
        if name in found:
            raise RequestError(f"--set: column {name!r} is given twice.")
        unknown = [key for key in more if key != "m"] if isinstance(more, Mapping) else [str(more)]
        if unknown:
            raise RequestError(
                f"--set {name}: there is no {unknown[0]!r}, expected m.",
                hint=faces("Such as code:m=2.", 'Such as {"code": {"m": 2}}.'),
            )
        m = more.get("m")
        if m is not None and (isinstance(m, bool) or not isinstance(m, int) or m < 1):
            hint = "A column that nobody can know anything of is no column of codes." if m == 0 else ""
            raise RequestError(
                f"--set {name}: m must be an integer of at least 1, got {described(m)}.", hint=hint
            )
        found[name] = m
    return found


def _set_in(text: str) -> tuple[str, dict[str, Any]]:
    """Take ``code:m=2`` apart."""
    name, sign, rest = text.rpartition(":m=")
    if not sign:
        return text, {}
    return name, {"m": int(rest) if rest.isascii() and rest.isdigit() else rest}


def _pairs(option: str, value: Any, named: Mapping[str, Any]) -> list[tuple[str, Any, str | None]]:
    """List columns, what was said of each, and the column of codes that it belongs to: None, all of them."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        pairs = []
        for text in [value] if isinstance(value, str) else list(value):
            column, sign, rest = str(text).partition(":")
            if not sign or not column or not rest:
                such = "date:month" if option == "when" else "price:0,5,20"
                raise RequestError(f"--{option} must be COLUMN:..., such as --{option} {such}, got {text!r}.")
            pairs.append((column, rest))
    found: list[tuple[str, Any, str | None]] = []
    for column, rest in pairs:
        of, sign, alone = str(column).partition("=")
        if sign and of not in named:
            raise RequestError(
                f"--{option} {column}: {of!r} is no column of codes; there is {listed(list(named))}.",
                hint=did_you_mean(of, named),
            )
        found.append((alone, rest, of) if sign else (column, rest, None))
    return found


def _when(column: str, level: Any, of: str | None) -> When:
    if not isinstance(level, str):
        raise RequestError(f"--when {column}: expected a period such as month, got {described(level)}.")
    return When(column, level_of(level), of)


def _amount(column: str, value: Any, of: str | None) -> Amount:
    if isinstance(value, str):
        way, sign, rest = value.partition(":")
        if not sign:
            way, rest = "sum", value
        if way not in WAYS:
            raise RequestError(
                f"--amount {column}: there is no {way!r} of amounts; there are {', '.join(WAYS)}.",
                hint=did_you_mean(way, WAYS),
            )
        texts = [part.strip() for part in rest.split(",")]
    elif isinstance(value, Sequence) or (isinstance(value, int) and not isinstance(value, bool)):
        way, texts = "sum", [str(one) for one in ([value] if isinstance(value, int) else value)]
    else:
        raise RequestError(f"--amount {column}: expected bounds of bands, got {described(value)}.")
    bounds = [number_in(text) for text in texts]
    if any(bound is None for bound in bounds):
        wrong = texts[bounds.index(None)]
        raise RequestError(
            f"--amount {column}: {wrong!r} is no number.", hint="Bounds of bands: --amount price:0,5,20."
        )
    found = tuple(bound for bound in bounds if bound is not None)
    if len(found) == 1 and found[0] == found[0].to_integral_value() and 3 <= found[0] <= 100:
        return Amount(column, way, (), int(found[0]), of)
    if len(found) == 1:
        raise RequestError(
            f"--amount {column}: one number says how many bands there shall be, from 3 to 100, got "
            f"{plain(found[0])}.",
            hint="Bounds of bands are two or more: --amount price:0,5,20.",
        )
    Bands(found)
    return Amount(column, way, found, of=of)
