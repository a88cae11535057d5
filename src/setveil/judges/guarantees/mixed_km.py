"""Mixed k^m-anonymity of tables: m facts of a person, items and quasi-identifiers alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.values.per_column import PerColumn
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.kkm import M, require_rows
from setveil.judges.guarantees.km import K, KmAnonymity, m_as_json, overlap_words, overlapping_words

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


QI = "qi"  # what m of the quasi-identifiers is said of, where it is said of columns


@dataclass(frozen=True)
class MixedKmAnonymity(Guarantee):
    """Every set of at most m facts, published items or quasi-identifiers, is in no row or at least k.

    Weaker than (k,k^m)-anonymity, which holds whatever number of quasi-identifiers is known: for those whose
    quasi-identifiers are hard to know.

    Parameters
    ----------
    k : int
        At least 2.
    m : int, float or mapping of str to int
        At least 1, or `math.inf`: as many facts as the longest row has. It may also be a number of items of
        each column, and as ``qi`` of quasi-identifiers: ``{"qi": 2, "code": 2, "drug": 1}``.

    References
    ----------
    The model of Amnesia, https://amnesia.openaire.eu, for tables with a set-valued column.

    Examples
    --------
    >>> MixedKmAnonymity(k=5, m=2).phrase
    'mixed k^m-anonymity (k=5, m=2)'
    """

    k: int
    m: Any = 2  # int or float; or a mapping, which becomes a `PerColumn`

    model: ClassVar[str] = "mixed-km"
    mixed: ClassVar[bool] = True  # m counts quasi-identifiers and items

    def __post_init__(self) -> None:
        km = KmAnonymity(self.k, self.m)
        object.__setattr__(self, "k", km.k)
        object.__setattr__(self, "m", km.m)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        return f"mixed k^m-anonymity (k={self.k}, m={self.m})"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for an infinite m)."""
        return {"model": self.model, "k": self.k, "m": m_as_json(self.m)}

    def for_columns(self, names: Iterable[str]) -> MixedKmAnonymity:
        """Take the guarantee for items of some columns.

        Raises
        ------
        RequestError
            If m names other columns than these and the quasi-identifiers.
        """
        if isinstance(self.m, PerColumn):
            self.m.require_columns([QI, *names])
        return self

    def require_feasible(self, data: Transactions) -> None:
        """Refuse tables of fewer than k rows.

        Raises
        ------
        InfeasibleError
            If there are rows, but fewer than k.
        """
        require_rows(self.phrase, data, self.k)


# --- in words


def _number(m: Any) -> str:
    """Name this many facts: ``2 facts``; ``1 quasi-identifier and 2 facts of code``."""
    if not isinstance(m, Mapping):
        return count(int(m), "fact")
    said = [count(number, "quasi-identifier" if name == QI else "fact") for name, number in m.items()]
    return " and ".join(
        text if name == QI else f"{text} of {name}" for name, text in zip(m, said, strict=True)
    )


def _known(m: Any) -> str:
    return "any number of facts" if m == "inf" else f"up to {_number(m)}"


def _promise(g: Facts) -> str:
    if isinstance(g["m"], Mapping):
        return (
            f"Anyone who knows {_known(g['m'])} of a person finds at least {count(g['k'], 'row')} that fit, "
            "or none."
        )
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
    if g.get("overlap"):
        return overlap_words(g)
    atleast = "" if g.get("complete", True) else "at least "
    known = "any number of facts" if g["m"] == "inf" else f"at most {_number(g['m'])}"
    return f"{atleast}{count(g['violations'], 'set')} of {known} in fewer than {count(g['k'], 'row')}"


def _not_covered(g: Facts) -> Points:
    if g["m"] == "inf":
        return []
    if isinstance(g["m"], Mapping):
        text = f"Someone who knows more may find fewer than {count(g['k'], 'row')}, even only one."
        return [(f"Knowing more than {_number(g['m'])}.", text)]
    text = (
        f"Quasi-identifiers count: someone who knows {count(g['m'] + 1)} or more facts, such as age, sex and "
        f"zip code alone, may find fewer than {count(g['k'], 'row')}, even only one."
    )
    return [(f"Knowing more than {count(g['m'], 'fact')}.", text)]


def _reading(g: Facts) -> Points:
    someone = "everything" if g["m"] == "inf" else _number(g["m"])
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know of a person in all, here {someone}."),
    ]


def _beyond(g: Facts) -> list[str]:
    if g["greatest_k"] is None:
        return ["There are no rows: every k and m is satisfied."]
    at = "this m" if isinstance(g["m"], Mapping) else f"m = {g['m']}"
    if g["greatest_k"] < 2:
        return [f"greatest k at {at}: none (a set of facts belongs to a single row)"]
    return [f"greatest k at {at}: {g['greatest_k']}"]


def _violation(entry: Facts) -> str:
    if "overlap" in entry:
        return overlapping_words(entry)
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
        known_in_all="quasi-identifiers",
    ),
    family="mixed tables",
    axes={"k": "rows that fit at least (k)", "m": "facts someone may know (m)"},
    example={"k": 2, "m": 2},
    release="tables",
    counts=True,
)
