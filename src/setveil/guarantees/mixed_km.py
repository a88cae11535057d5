"""Mixed k^m-anonymity of tables: m facts of a person, items and quasi-identifiers alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.guarantees import Facts, Model, Points, Words
from setveil.guarantees.kkm import M, require_rows
from setveil.guarantees.km import K, KmAnonymity
from setveil.values.declared import Keywords
from setveil.wording import count

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions


@dataclass(frozen=True)
class MixedKmAnonymity(Keywords):
    """Every set of at most m facts, published items or quasi-identifiers, is in no row or at least k.

    Weaker than (k,k^m)-anonymity, which holds whatever number of quasi-identifiers is known: for those whose
    quasi-identifiers are hard to know.

    Parameters
    ----------
    k : int
        At least 2.
    m : int or float
        At least 1, or `math.inf`: as many facts as the longest row has.

    References
    ----------
    The model of Amnesia, https://amnesia.openaire.eu, for tables with a set-valued column.

    Examples
    --------
    >>> MixedKmAnonymity(k=5, m=2).phrase
    'mixed k^m-anonymity (k=5, m=2)'
    """

    k: int
    m: int | float = 2

    model: ClassVar[str] = "mixed-km"
    secrets: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        of_facts = KmAnonymity(self.k, self.m)
        object.__setattr__(self, "k", of_facts.k)
        object.__setattr__(self, "m", of_facts.m)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        return f"mixed k^m-anonymity (k={self.k}, m={self.m})"

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


# --- in words


def _known(m: int | str) -> str:
    return "any number of facts" if m == "inf" else f"up to {count(int(m), 'fact')}"


def _promise(g: Facts) -> str:
    return (
        f"Anyone who knows {_known(g['m'])} of a person, items and quasi-identifiers counted alike, finds at "
        f"least {count(g['k'], 'row')} that fit, or none."
    )


def _fewest(g: Facts) -> str:
    smallest = g["greatest_k"]
    return (
        "there are no rows" if smallest is None else f"the smallest group found has {count(smallest, 'row')}"
    )


def _broken(g: Facts) -> str:
    atleast = "" if g.get("complete", True) else "at least "
    known = "any number of facts" if g["m"] == "inf" else f"at most {count(g['m'], 'fact')}"
    return f"{atleast}{count(g['violations'], 'set')} of {known} in fewer than {count(g['k'], 'row')}"


def _not_covered(g: Facts) -> Points:
    if g["m"] == "inf":
        return []
    text = (
        f"Quasi-identifiers count: someone who knows {count(g['m'] + 1)} or more facts, such as age, sex and "
        f"zip code alone, may find fewer than {count(g['k'], 'row')}, even only one."
    )
    return [(f"Knowing more than {count(g['m'], 'fact')}.", text)]


def _reading(g: Facts) -> Points:
    someone = "everything" if g["m"] == "inf" else f"{count(g['m'], 'fact')}"
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know of a person in all, here {someone}."),
    ]


def _beyond(g: Facts) -> list[str]:
    if g["greatest_k"] is None:
        return ["There are no rows: every k and m hold."]
    if g["greatest_k"] < 2:
        return [f"greatest k at m = {g['m']}: none (a set of facts belongs to a single row)"]
    return [f"greatest k at m = {g['m']}: {g['greatest_k']}"]


def _violation(entry: Facts) -> str:
    known = [*(f"{name} = {label}" for name, label in entry["class"].items()), *entry["itemset"]]
    return f"support {entry['support']}: {', '.join(known)}"


model = Model(
    name="mixed-km",
    title="mixed k^m-anonymity",
    make=MixedKmAnonymity,
    options={"k": K, "m": M},
    algorithm="forest",
    words=Words(
        parameters=("k", "m"),
        promise=_promise,
        fulfilled=_fewest,
        broken=_broken,
        not_covered=_not_covered,
        reading=_reading,
        violation=_violation,
        beyond=_beyond,
        known="m",
    ),
    family="mixed tables",
    axes={"k": "rows that fit at least (k)", "m": "facts someone may know (m)"},
    example={"k": 2, "m": 2},
    release="tables",
    counts=True,
    place=7,
)
