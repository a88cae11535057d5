"""Show the attacker's view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.errors import RequestError, described, faces
from setveil.base.notebook import grids
from setveil.base.progress import silent
from setveil.base.values.numbers import number_of
from setveil.commands.arguments import Listener, exposed_by, heard, is_path, labels_of, release_of, rows_of
from setveil.commands.measure import require_same_form
from setveil.commands.refusals import of_single_rows
from setveil.judges.attacker.absence import absence_risk, table_absence_risk
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.attacker.distances import distance_risk, distance_risk_after, has_days
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.attacker.population import CONFIDENCE, fraction_risk, population_risk
from setveil.judges.guarantees import ITEMS, LABELS
from setveil.judges.guarantees.verify.absence import nothing_absent, signs_of
from setveil.kernels.rows import frozen, recode_rows
from setveil.releases.published import kind_at, kind_named
from setveil.releases.published import rows as single_rows
from setveil.releases.published.about import about_beside, read_about
from setveil.releases.published.counts import Counts
from setveil.releases.published.group_files import as_groups, require_in_groups
from setveil.releases.published.listing import MEMBERS_FILE, others_in, with_others
from setveil.releases.published.shared import counts_beside
from setveil.report.risk import risk_tables, risk_text
from setveil.rows.data.framed import Framed
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl


class RiskTable(dict[str, Any], Framed):
    """What `setveil.risk` found, a dict that shows itself as the tables of ``setveil risk``.

    >>> import setveil as sv
    >>> found = sv.risk([["tea", "milk"], ["tea", "rum"], ["tea"]], m=1)
    >>> print(str(found).splitlines()[0])
    Rows unique by their most identifying item: 2 of 3 rows (67%).
    """

    @property
    def _sides(self) -> list[tuple[str, Any]]:
        return [("", self)] if "risk" in self else list(self.items())

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame: one line for each number of known items, and how they are chosen.

        Parameters
        ----------
        long : bool
            One line for each threshold instead of a column.

        Examples
        --------
        >>> import setveil as sv
        >>> found = sv.risk([["tea", "milk"], ["tea", "rum"], ["tea"]], m=1, thresholds=[2])
        >>> found.to_polars().select("choice", "m", "below_2").rows()
        [('best', 1, 2.0), ('random', 1, 1.0)]
        """
        import polars as pl

        lines = [
            {
                **({"data": name} if name else {}),
                "choice": entry["choice"],
                "m": entry["m"],
                **{f"below_{t}": float(rows) for t, rows in entry["rows_below"].items()},
                "right_guess": float(entry["probability"]),
            }
            for name, found in self._sides
            for entry in found["risk"]
        ]
        frame = pl.DataFrame(lines)
        if not long:
            return frame
        columns = [name for name in frame.columns if name.startswith("below_")]
        others = [name for name in frame.columns if name not in columns]
        narrow = frame.unpivot(columns, index=others, variable_name="below", value_name="rows")
        return narrow.with_columns(pl.col("below").str.strip_prefix("below_").cast(pl.Int64))

    def __repr__(self) -> str:
        return risk_text(self._sides)

    def _repr_html_(self) -> str:
        return grids(risk_tables(self._sides))


def risk(
    data: str | PathLike[str] | object,
    *,
    m: int | Iterable[int] | None = None,
    private: Iterable[str] | str | PathLike[str] | None = None,
    original: object = None,
    thresholds: Iterable[int] = (2, 5, 10),
    seed: int = 0,
    effort: int | None = None,
    fraction: float | str | None = None,
    population: object = None,
    absent: int | None = None,
    absence: str | None = None,
    progress: Listener = None,
) -> RiskTable:
    """Count the rows that an attacker singles out who knows a few items of a person.

    Parameters
    ----------
    data : path, data frame, list of lists, Transactions, Table, VerifiedRelease or Release
        An original or a release, taken as it is: each label is one item, whatever it represents.
    m : int or iterable of int, optional
        How many items are known, by default 1, 2, 3 and 4; of a table, of which all quasi-identifiers are
        known as well, 0, 1, 2 and 3.
    private : list of str, or text, optional
        Items that nobody knows and that must not be learned: a list, or as on the command line a file or a
        text with commas. Without any, the sensitive items of rows in groups.
    original : path, data frame, list of lists, Transactions or Table, optional
        What `data` were made from: both are looked at.
    thresholds : iterable of int
        A row counts below threshold t if fewer than t rows fit.
    seed : int
        Draws rows and sets where not all can be looked at.
    effort : int, optional
        Steps that a count may take before rows are drawn instead (by default 1,000,000,000).
    fraction : float or text, optional
        The share of a population that the rows are, such as 0.05 or "5%": `population` says how often the
        only row that fits someone is that person's (docs/risk.md). The rows must be a simple random sample.
    population : path, data frame, list of lists or Transactions, optional
        A population of which each row of `data` is one: then `population` counts the rows that fit there.
    absent : int, optional
        1: someone also knows an item that a person has not: `absence` counts the rows that are narrowed down
        so (docs/risk.md).
    absence : {"items", "labels"}, optional
        With `absent`, of a release: an absent item excludes rows only by labels that certainly mean it (the
        default), or any label may be known to be absent. Of an original both are the same.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    RiskTable
        What ``setveil risk --json`` prints (see docs/risk.md), a dict that shows itself as tables and has
        `to_polars`, `to_pandas` and `to_arrow`: `risk` with the rows below each threshold, for the best and
        for a random choice of m items, `revealing` with the most identifying items, `inference` where there
        are private items, with what tells most of any and of each (`items`). With `original` two of these,
        `before` and `after`. Of a release in classes, two for anyone who knows the class of a person and
        anyone who does not: `class known` and `class not known`.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type.
    DataError
        If the data cannot be read, or a private item is not in them.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea", "rum"], ["tea", "milk"], ["tea"]]
    >>> found = sv.risk(rows, m=1, private=["rum"])
    >>> found["risk"][0]["rows_below"]
    {'2': 0, '5': 4, '10': 4}
    """
    options: dict[str, Any] = {
        "sizes": None if m is None else _sizes("m", m),
        "thresholds": _sizes("thresholds", thresholds),
        "seed": seed,
        "effort": effort,
        "progress": heard(progress),
    }
    rows = exposed_by(data, kind_at(fspath(data)) if is_path(data) else single_rows)
    before = None if original is None else rows_of(original, "The original", tables=True)
    if before is not None:
        require_same_form(before, kind_named(rows.kind).info)
    everybody = None if population is None else rows_of(population, "The population")
    about = None if before is not None and absent is None else meaning_beside(data)
    found = attacked(
        rows, before, private, fraction=share_of(fraction), population=everybody, about=about,
        listed=None if everybody is None else all_listed(data, about),
        absent=(absent, absence, counts_of(data)), **options,
    )  # fmt: skip
    return RiskTable(found if len(found) > 1 else found[""])


def attacked(
    rows: Any,
    before: Any,
    private: Any,
    *,
    encoding: str = "utf-8",
    fraction: float | Fraction | None = None,
    population: Transactions | None = None,
    about: Mapping[str, Any] | None = None,
    listed: Mapping[str, Any] | None = None,
    absent: tuple[int | None, str | None, Counts | None] = (None, None, None),
    **options: Any,
) -> dict[str, dict[str, Any]]:
    """Count what attackers find in rows, or in those before and after.

    `options`: of `attack_risk`. `fraction`, `population`: also say what a match is worth if the rows are a
    share of the population, or count it there. `about`: the about.json of the rows; `listed`: the same with
    all members of labels. `absent`: how many absent items are also known (None: none), in which reading, and
    the counts that reveal them.
    """
    if rows.unfindable is not None:
        raise rows.unfindable.error()
    if private is not None and rows.secretless is not None:
        raise rows.secretless.error()
    _require_facts(rows, before)
    _require_plain(rows, before, fraction, population)
    _require_absent(rows, private, *absent[:2])
    secrets = _private(private, rows, before, encoding)
    both = rows.views(secrets)
    if before is not None:
        first, *others = before.views(secrets).items()
        both = {"before": first[1], **dict(others), **{name or "after": some for name, some in both.items()}}
    found = {name: attack_risk(some, private=secrets, **options) for name, some in both.items()}
    for name, some in both.items() if fraction is not None or population is not None else ():
        ms = [entry["m"] for entry in found[name]["risk"] if entry["choice"] == "best"]
        known, seed = knowledge_of(some, secrets), options.get("seed", 0)
        options.get("progress", silent)("a stranger's matches")
        if population is None:
            assert fraction is not None  # noqa: S101  (one of the two is given)
            entries = fraction_risk(known, fraction, ms, seed)
            found[name]["population"] = {
                "fraction": float(fraction), "confidence": CONFIDENCE, "entries": entries
            }  # fmt: skip
        else:
            shown = population if listed is None else published_as(population, listed, some)
            entries = population_risk(known, shown, ms, found[name]["thresholds"], seed)
            found[name]["population"] = {"rows": population.n_rows, "entries": entries}
    for name, some in both.items():
        if has_days(some):
            found[name]["distances"] = distance_risk(some, found[name]["thresholds"])
    if before is not None and has_days(before):
        thresholds_and_seed = found["after"]["thresholds"], options.get("seed", 0)
        found["after"]["distances"] = distance_risk_after(before, rows, *thresholds_and_seed)
    for name, some in both.items() if absent[0] else ():
        of_release = name != "before"
        reading = (absent[1] or ITEMS) if of_release else ITEMS  # of an original every item tells
        members = with_others(about) if of_release and about is not None else {}
        absent_lines = absent[2].lines() if of_release and absent[2] is not None else ()
        signs = [labels for _, labels in signs_of(some.item_rows, reading, members, absent_lines)]
        ms = [entry["m"] for entry in found[name]["risk"] if entry["choice"] == "best"]
        look = table_absence_risk if some.is_table else absence_risk
        entries = look(some, signs, ms, found[name]["thresholds"], options.get("progress", silent))
        found[name]["absence"] = {"absent": 1, "absence": reading, "entries": entries}
    return found


def _require_facts(rows: Any, before: Any) -> None:
    """Refuse facts next to what is not made of facts."""
    if before is not None and before.only_facts != rows.only_facts:
        wrong = (
            "The original is read as facts, and the release is none of facts."
            if before.only_facts
            else "The release is one of facts, and the original is not read as facts."
        )
        raise RequestError(
            wrong,
            hint=faces(
                "Read it as the release was made: --id-column, --set, --when, --amount.",
                "original=sv.read_facts(...), as the release was made.",
            ),
        )


def counts_of(data: object) -> Counts | None:
    """Find the counts that are published next to rows."""
    made = release_of(data)
    if made is not None:
        return made.counts
    found: Counts | None = counts_beside(fspath(data))[0] if is_path(data) else None
    return found


def _require_absent(rows: Any, private: Any, absent: Any, absence: Any) -> None:
    """Refuse what cannot be said of absent items."""
    if absent is None:
        if absence is not None:
            raise RequestError("--absence goes with --absent.", hint="--absent 1")
        return
    if absent is True or absent != 1:
        raise RequestError(
            f"--absent must be 1, got {absent!r}.",
            hint="setveil verify --absent 2 counts pairs of absent items.",
        )
    if absence not in (None, ITEMS, LABELS):
        raise RequestError(f"--absence must be {ITEMS} or {LABELS}, got {absence!r}.")
    if not rows.shows_absence:
        raise nothing_absent()
    if private is not None:
        raise RequestError("--absent does not go with --private.", hint="Omit one of them.")


def share_of(fraction: Any) -> float | Fraction | None:
    """Take the share of the population that rows are."""
    if fraction is None:
        return None
    value = number_of(fraction)
    if not isinstance(value, int | float | Fraction) or isinstance(value, bool) or not 0 < value <= 1:
        raise RequestError(
            f"--fraction must be above 0 and at most 1 (100%), got {described(fraction)}.",
            hint="The share of the population that the rows are, such as 5% or 0.05.",
        )
    return value


def meaning_beside(data: object) -> Mapping[str, Any] | None:
    """Find the about.json of a release that was named; None for rows that represent themselves."""
    made = release_of(data)
    if made is not None:
        return made.meaning() or None
    about = about_beside(fspath(data)) if is_path(data) else None
    return None if about is None else read_about(about)


def all_listed(data: object, about: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Add to the meaning of labels the members that only the internal files list, if these are there."""
    if about is None or not others_in(about):
        return about
    made = release_of(data)
    if made is not None:
        labels = made.members()
    else:
        path = about_beside(fspath(data)) if is_path(data) else None
        if path is None or not (path.parent.parent / "internal" / MEMBERS_FILE).is_file():
            return about
        labels, _ = single_rows.all_members(path, about)
    return {**{name: value for name, value in about.items() if name != "others"}, "labels": labels}


def published_as(population: Transactions, about: Mapping[str, Any], rows: Transactions) -> Transactions:
    """Give the items of the population the labels of a release; those under none are suppressed."""
    if about.get("recoding", "global") != "global":
        raise RequestError(
            "--population takes a release in which an item has one label (a global recoding).",
            hint="Look at the data that it was made from.",
        )
    if others_in(about):
        raise RequestError(
            "--population needs the label of every item, and this release does not list all of them.",
            hint="Name the folder of the run with internal/members.json, or make it with --list-members.",
        )
    image = {item: label for label, items in about["labels"].items() for item in items}
    shown = rows.vocabulary.labels
    ids = {label: at for at, label in enumerate(shown)}
    to = np.array([ids.get(image.get(x, x), -1) for x in population.vocabulary.labels], np.int32)
    indptr, items = recode_rows(population.indptr, population.items, to)
    return Transactions(frozen(indptr, np.int64), frozen(items, np.int32), Vocabulary(shown))


def _require_plain(rows: Any, before: Any, fraction: Any, population: Any) -> None:
    """Refuse what cannot be said of a population."""
    if fraction is None and population is None:
        return
    if fraction is not None and population is not None:
        raise RequestError(
            "--fraction and --population answer the same question.",
            hint="--population counts what --fraction estimates: give it alone.",
        )
    if not all(type(some) is Transactions for some in (rows, before) if some is not None):
        raise of_single_rows("population" if fraction is None else "fraction")
    if population is not None and before is not None:
        raise RequestError(
            "--population looks at one file, so not with --original.", hint="Call it for each."
        )


def _sizes(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        if isinstance(value, str | bytes | dict) or value is None:
            raise RequestError(f"{name} must be an integer, or several, got {described(value)}.")
        return (value,)
    return tuple(value)


def _private(private: Any, rows: Any, before: Any, encoding: str) -> tuple[str, ...]:
    """Take the private items; of rows in groups the sensitive ones if none are named."""
    sets = rows.item_rows
    groups = as_groups(sets)
    if private is None:
        return groups.sensitive.labels
    if before is not None or groups is not sets:
        return labels_of("private", private, sets if before is None else before, encoding)
    labels = labels_of("private", private, groups.qid, encoding, check=False)
    require_in_groups(labels, fspath(private) if is_path(private) else ",".join(labels), groups)
    return labels
