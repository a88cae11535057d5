"""(k,k^m)-anonymity of tables: all quasi-identifiers of a person, and m items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import DataError, InfeasibleError, RequestError, described, listed, shorten
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer, ItemsOrColumns, Probability, Sizes, integer
from setveil.base.values.numbers import as_json, as_written, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.km import (
    K,
    KmAnonymity,
    known_words,
    m_as_json,
    not_covered_words,
    number_words,
    overlap_words,
    overlapping_words,
    too_few_of,
)

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.tables.table import Table


@dataclass(frozen=True, init=False)
class KKmAnonymity(Guarantee):
    """Every class has at least k rows, and within it every set of at most m items no row or at least k.

    A class is all rows with the same published quasi-identifiers. So nobody who knows any of a person's
    quasi-identifiers and m of the person's items can narrow that person down to fewer than k rows.

    With `sensitive`, the rows of a class must not have too much in common either: no sensitive value may be
    in more than a share h of them, nor of those among them that show any set of at most p other items.

    Parameters
    ----------
    k : int
        At least 2.
    m : int, float or mapping of str to int
        At least 1, or `math.inf`: as many items as the longest row has. Of facts of several columns it may be
        a number for each.
    sensitive : iterable of str
        Kept columns, each of whose values is sensitive, an empty field too, and items.
    h : number or str, optional
        Greatest share, above 0 and at most 1, taken as written: 0.3, "0.3", "30%"; "1/3" is allowed. Needed
        where something is sensitive.
    p : int
        How many items that are not sensitive may be known in addition to the quasi-identifiers, for that.

    References
    ----------
    Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, "Anonymizing Data with Relational and Transaction
    Attributes", ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23.

    Examples
    --------
    >>> KKmAnonymity(k=5, m=2).phrase
    '(k,k^m)-anonymity (k=5, m=2)'
    >>> KKmAnonymity(k=5, m=2, sensitive=["outcome"], h="50%").phrase
    '(k,k^m)-anonymity (k=5, m=2), shares up to 0.5 (p=0)'
    """

    k: int
    m: Any  # int or float; or a mapping, which becomes a `PerColumn`
    sensitive: tuple[str, ...]
    h: Fraction | None
    p: int

    model: ClassVar[str] = "kkm"
    mixed: ClassVar[bool] = False  # all quasi-identifiers are known, and m counts items

    def __init__(
        self,
        k: int,
        m: Any = 2,
        sensitive: Iterable[str] = (),
        h: Fraction | float | str | None = None,
        p: int = 0,
    ) -> None:
        of_items = KmAnonymity(k, m)
        names = _names(sensitive)
        object.__setattr__(self, "p", integer("p", p, 0))
        if names and h is None:
            raise RequestError(
                "h is needed: the greatest share of a class that may have a sensitive value.",
                hint="Such as 0.5, or 50%.",
            )
        if not names and (h is not None or p):
            raise RequestError(
                f"{'p' if h is None else 'h'} says how well sensitive values are hidden, but none is named.",
                hint="Name kept columns or items as sensitive.",
            )
        object.__setattr__(self, "k", of_items.k)
        object.__setattr__(self, "m", of_items.m)
        object.__setattr__(self, "sensitive", names)
        object.__setattr__(self, "h", None if h is None else as_written(h))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        shares = "" if self.h is None else f", shares up to {written(self.h)} (p={self.p})"
        return f"(k,k^m)-anonymity (k={self.k}, m={self.m}){shares}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive columns and items."""
        return self.sensitive

    def betrays(self, held: int, rows: int) -> bool:
        """Whether a sensitive value in `held` of `rows` rows is in too many of them."""
        return self.h is not None and held * self.h.denominator > rows * self.h.numerator

    @property
    def of_items(self) -> KmAnonymity:
        """What is guaranteed of the items of the rows of one class."""
        return KmAnonymity(self.k, self.m)

    def for_columns(self, names: Iterable[str]) -> KKmAnonymity:
        """Take the guarantee for items of some columns: of a single one, m is a number."""
        m = self.of_items.for_columns(names).m
        return self if m is self.m else KKmAnonymity(self.k, m, self.sensitive, self.h, self.p)

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for an infinite m, h as text if no decimal)."""
        record = {"model": self.model, "k": self.k, "m": m_as_json(self.m)}
        if self.h is not None:
            record |= {"sensitive": list(self.sensitive), "h": as_json(self.h), "p": self.p}
        return record

    def require_feasible(self, data: Transactions) -> None:
        """Refuse tables of fewer than k rows, and sensitive values that are too frequent in all rows.

        Raises
        ------
        InfeasibleError
            If there are rows, but fewer than k, or a sensitive value is in more than a share h of them.
        DataError
            If something sensitive is neither a kept column nor an item.
        """
        require_rows(self.phrase, data, self.k)
        if not self.sensitive:
            return
        table: Table = data  # type: ignore[assignment]  # as the model is about tables
        _require_there(self.sensitive, table)
        held, value = _most_frequent(self.sensitive, table)
        if self.betrays(held, table.n_rows):
            share = Fraction(held, table.n_rows)
            raise InfeasibleError(
                f"{self.phrase} cannot be met: {value} is in {held:,} of all {table.n_rows:,} rows, a "
                f"share of {float(share):.4g}.",
                hint=f"The least possible h is {written(share)}."
                if share < 1
                else "Every row has it: do not publish it.",
            )


def _names(sensitive: Any) -> tuple[str, ...]:
    if isinstance(sensitive, str | bytes) or not isinstance(sensitive, Iterable):
        raise RequestError(
            f"sensitive must be a collection of kept columns and items, got {described(sensitive)}."
        )
    names = tuple(sensitive)
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if wrong:
        raise RequestError(f"A sensitive column or item must be a non-empty text, got {described(wrong[0])}.")
    return tuple(dict.fromkeys(names))


def _require_there(sensitive: tuple[str, ...], table: Table) -> None:
    if not table.n_rows:
        return
    known = {column.name for column in table.kept} | set(table.vocabulary.labels)
    unknown = [name for name in sensitive if name not in known]
    if unknown:
        quasi = {column.name for column in table.columns} & set(unknown)
        raise DataError(
            f"Neither a kept column nor an item is {listed(unknown)}, named as sensitive.",
            hint=f"{shorten(min(quasi))} is a quasi-identifier: known values cannot be hidden."
            if quasi
            else "Name columns and items exactly as in the data; columns must be kept.",
        )


def _most_frequent(sensitive: tuple[str, ...], table: Table) -> tuple[int, str]:
    """Find the sensitive value of most rows: their number, and its name."""
    import numpy as np

    named, found = set(sensitive), [(0, "")]
    for column in table.kept:
        if column.name in named and table.n_rows:
            rows = np.bincount(column.codes)
            most = int(rows.argmax())
            found.append((int(rows[most]), value_words(column.name, column.labels[most])))
    supports = table.supports()
    found += [
        (int(supports[i]), shorten(label))
        for i, label in enumerate(table.vocabulary.labels)
        if label in named
    ]
    return max(found, key=lambda entry: entry[0])


def require_rows(phrase: str, data: Transactions, k: int) -> None:
    """Refuse data of some, but fewer than k rows."""
    if 0 < data.n_rows < k:
        raise too_few_of(
            "rows",
            data.n_rows,
            f"{phrase} cannot be met: the table has {count(data.n_rows, 'row')}, and fewer than k = {k} "
            "rows hide nobody.",
        )


# --- in words


def value_words(column: str, value: str) -> str:
    """Name a value of a column."""
    return f"{column} = {value or '(empty)'}"


def _promise(g: Facts) -> str:
    known = known_words(g["m"], g.get("unit", "item"))
    found = (
        f"Anyone who knows any of a person's quasi-identifiers and {known} of the person's row "
        f"finds at least {count(g['k'], 'row')} that fit, or none."
    )
    if "h" not in g:
        return found
    besides = f" and {known_words(g['p'])} that are not sensitive" if g["p"] else ""
    return (
        f"{found} Of the rows that fit all quasi-identifiers{besides}, no more than a share of {g['h']} have "
        f"any one sensitive value ({', '.join(g['sensitive'])})."
    )


def _fewest(g: Facts) -> str:
    smallest = g["greatest_k"]
    if smallest is None:
        return "there are no rows"
    share = g.get("greatest_share")
    common = "" if share is None else f"; the most common sensitive value of a class is in {share:.4g} of it"
    return f"the smallest group found has {count(smallest, 'row')}{common}"


def _broken(g: Facts) -> str:
    if g.get("overlap"):
        return overlap_words(g)
    atleast = "" if g.get("complete", True) else "at least "
    if g.get("absent"):
        absent = count(g["absent"], "absent item")
        return (
            f"{count(g['violations'], 'class', 'classes')}, or pairs of at most {count(g['m'], 'item')} and "
            f"{absent} within one, in fewer than {count(g['k'], 'row')}"
        )
    return (
        f"{atleast}{count(g['violations'], 'class', 'classes')} or sets of items within one in fewer than "
        f"{count(g['k'], 'row')}"
        + (f", or with one sensitive value in more than a share of {g['h']}" if "h" in g else "")
    )


def _not_covered(g: Facts) -> Points:
    common = (
        "If all rows of a class show one diagnosis, knowing the class is enough to learn it."
        if "h" not in g
        else "Of what is not sensitive, a class may still have all in common; and nothing bounds what those "
        f"learn who know more than {count(g['p'], 'item')} next to the quasi-identifiers."
    )
    points = [
        ("What all matching rows share.", common),
        (
            "Kept columns.",
            "They are published unchanged; someone who knows their values may find fewer rows.",
        ),
    ]
    if isinstance(g["m"], Mapping):
        points.insert(0, not_covered_words(g)[0])
    elif g["m"] != "inf":
        text = (
            f"Someone who knows {count(g['m'] + 1)} or more items of a person may find fewer than "
            f"{count(g['k'], 'row')}, even only one."
        )
        points.insert(0, (f"Knowing more than {count(g['m'], 'item')}.", text))
    return points


def _reading(g: Facts) -> Points:
    someone = "all items" if g["m"] == "inf" else number_words(g["m"])
    points = [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know in addition to all quasi-identifiers, here {someone}."),
    ]
    if "h" in g:
        points += [
            ("h:", f"the greatest share of rows with one sensitive value, here {g['h']}."),
            ("p:", f"with how many known items that must hold, here {count(g['p'])}."),
        ]
    return points


def _beyond(g: Facts) -> list[str]:
    if g["greatest_k"] is None:
        return ["There are no rows: every k and m is satisfied."]
    absent = f", {g['absent']} absent" if g.get("absent") else ""
    at = f" at {'this m' if isinstance(g['m'], Mapping) else 'm = ' + str(g['m'])}{absent}"
    if g["greatest_k"] < 2:
        return [f"greatest k{at}: none (someone's class, or items in it, belong to a single row)"]
    return [f"greatest k{at}: {g['greatest_k']}"]


def violation_words(entry: Facts) -> str:
    """Say which class, and which items in it, too few rows show, or too many with one sensitive value."""
    if "overlap" in entry:
        return overlapping_words(entry)
    known = ", ".join(f"{name} = {label}" for name, label in entry["class"].items()) or "all rows"
    items = ", ".join([*entry["itemset"], *(f"no {label}" for label in entry.get("absent", ()))])
    which = f"{known}{f'; {items}' if items else ''}"
    if "betrays" not in entry:
        return f"support {entry['support']}: {which}"
    value = value_words(entry["column"], entry["betrays"]) if entry["column"] else entry["betrays"]
    return f"{which}: {value} in {entry['sensitive_rows']} of {count(entry['support'], 'row')}"


M = Option(
    Sizes(),
    "Items of a person that an attacker may know: 1, 2, ... or inf; for columns code=2,drug=1.",
    short="m",
    needed=True,
)

model = Model(
    name="kkm",
    title="(k,k^m)-anonymity",
    make=KKmAnonymity,
    options={
        "k": K,
        "m": M,
        "sensitive": Option(
            ItemsOrColumns(),
            "Kept columns and items that a class must not have in common: a file, or a list with commas.",
            secret=True,
        ),
        "h": Option(Probability(), "Greatest share of a class with one sensitive value, such as 50%."),
        "p": Option(Integer(0), "Items that an attacker may know next to the quasi-identifiers (default 0)."),
    },
    algorithm="rt",
    words=Words(
        parameters=("k", "m", "sensitive", "h", "p"),
        promise=_promise,
        fulfilled=_fewest,
        broken=_broken,
        not_covered=_not_covered,
        reading=_reading,
        violation=violation_words,
        beyond=_beyond,
        known="m",
        known_in_all="quasi-identifiers",
    ),
    family="tables",
    axes={
        "k": "rows that fit at least (k)",
        "m": "items someone may know (m)",
        "h": "greatest share of a sensitive value (h)",
        "p": "items known for that (p)",
    },
    example={"k": 2, "m": 2},
    release="tables",
    counts=True,
)
