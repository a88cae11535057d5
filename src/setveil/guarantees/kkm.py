"""(k,k^m)-anonymity of tables: all quasi-identifiers of a person, and m items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.errors import InfeasibleError
from setveil.fields import Option, Size
from setveil.guarantees import Facts, Model, Points, Words
from setveil.guarantees.km import K, KmAnonymity, known_words
from setveil.wording import count

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions


@dataclass(frozen=True)
class KKmAnonymity:
    """Every class has at least k rows, and within it every set of at most m items no row or at least k.

    A class is all rows with the same published quasi-identifiers. So nobody who knows any of a person's
    quasi-identifiers and m of the person's items can narrow that person down to fewer than k rows.

    Parameters
    ----------
    k : int
        At least 2.
    m : int or float
        At least 1, or `math.inf`: as many items as the longest row has.

    References
    ----------
    Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, "Anonymizing Data with Relational and Transaction
    Attributes", ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23.

    Examples
    --------
    >>> KKmAnonymity(k=5, m=2).phrase
    '(k,k^m)-anonymity (k=5, m=2)'
    """

    k: int
    m: int | float = 2

    model: ClassVar[str] = "kkm"
    secrets: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        of_items = KmAnonymity(self.k, self.m)
        object.__setattr__(self, "k", of_items.k)
        object.__setattr__(self, "m", of_items.m)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        return f"(k,k^m)-anonymity (k={self.k}, m={self.m})"

    @property
    def of_items(self) -> KmAnonymity:
        """What is promised of the items of the rows of one class."""
        return KmAnonymity(self.k, self.m)

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for an infinite m)."""
        return {"model": self.model, "k": self.k, "m": "inf" if self.m == math.inf else self.m}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse tables of fewer than k rows.

        Raises
        ------
        InfeasibleError
            If there are rows, but fewer than k.
        """
        require_rows(self.phrase, data, self.k)


def require_rows(phrase: str, data: Transactions, k: int) -> None:
    """Refuse data of some, but fewer than k rows.

    Raises
    ------
    InfeasibleError
        With the greatest k that can be reached.
    """
    if 0 < data.n_rows < k:
        nearest = f"The greatest k that can be reached is {data.n_rows}." if data.n_rows >= 2 else ""
        raise InfeasibleError(
            f"{phrase} cannot be reached: the table has {count(data.n_rows, 'row')}, and fewer than k = {k} "
            "rows hide nobody.",
            hint=nearest or "At least two rows are needed for any k.",
        )


# --- in words


def _promise(g: Facts) -> str:
    return (
        f"Anyone who knows any of a person's quasi-identifiers and {known_words(g['m'])} of the person's row "
        f"finds at least {count(g['k'], 'row')} that fit, or none."
    )


def _fewest(g: Facts) -> str:
    smallest = g["greatest_k"]
    return (
        "there are no rows" if smallest is None else f"the smallest group found has {count(smallest, 'row')}"
    )


def _broken(g: Facts) -> str:
    atleast = "" if g.get("complete", True) else "at least "
    return (
        f"{atleast}{count(g['violations'], 'class', 'classes')} or sets of items within one in fewer than "
        f"{count(g['k'], 'row')}"
    )


def _not_covered(g: Facts) -> Points:
    points = [
        (
            "What the rows that fit have in common.",
            "If all rows of a class show one diagnosis, knowing the class is enough to learn it.",
        ),
        ("Kept columns.", "They are published as they are; whoever knows their values may find fewer rows."),
    ]
    if g["m"] != "inf":
        text = (
            f"Someone who knows {count(g['m'] + 1)} or more items of a person may find fewer than "
            f"{count(g['k'], 'row')}, even only one."
        )
        points.insert(0, (f"Knowing more than {count(g['m'], 'item')}.", text))
    return points


def _reading(g: Facts) -> Points:
    someone = "all items" if g["m"] == "inf" else f"{count(g['m'], 'item')}"
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know besides all quasi-identifiers, here {someone}."),
    ]


def _beyond(g: Facts) -> list[str]:
    if g["greatest_k"] is None:
        return ["There are no rows: every k and m hold."]
    if g["greatest_k"] < 2:
        return [f"greatest k at m = {g['m']}: none (someone's class, or items in it, belong to a single row)"]
    return [f"greatest k at m = {g['m']}: {g['greatest_k']}"]


def violation_words(entry: Facts) -> str:
    """Say which class, and which items in it, too few rows show."""
    known = ", ".join(f"{name} = {label}" for name, label in entry["class"].items())
    items = ", ".join(entry["itemset"])
    return f"support {entry['support']}: {known}{f'; {items}' if items else ''}"


M = Option(Size(), "Items of a person that an attacker may know: 1, 2, ... or inf.", short="m", needed=True)

model = Model(
    name="kkm",
    title="(k,k^m)-anonymity",
    make=KKmAnonymity,
    options={"k": K, "m": M},
    algorithm="rt",
    words=Words(
        parameters=("k", "m"),
        promise=_promise,
        fulfilled=_fewest,
        broken=_broken,
        not_covered=_not_covered,
        reading=_reading,
        violation=violation_words,
        beyond=_beyond,
        known="m",
    ),
    family="tables",
    axes={"k": "rows that fit at least (k)", "m": "items someone may know (m)"},
    example={"k": 2, "m": 2},
    release="tables",
    counts=True,
    place=2,
)
