"""(k, rho)^m-anonymity: nobody is found by m items, and nothing sensitive is learned from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import RequestError
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Choice, ItemsOrLeaves, Probability, integer, size
from setveil.base.values.numbers import as_json, as_written, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.coherence import labels_of
from setveil.judges.guarantees.kkm import M
from setveil.judges.guarantees.km import K, known_words, not_covered_words, too_few_of

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions

PUBLIC, ANY = "public", "any"
KNOWS = (PUBLIC, ANY)


@dataclass(frozen=True, init=False)
class KmRho(Guarantee):
    """Anyone who knows at most m items of a person finds k rows that fit, and learns nothing sensitive.

    Every non-empty set of at most m known items in some row is in at least k rows. Among the rows that
    contain a set of at most m known items (all rows, for the empty set), at most a share rho contain any one
    other sensitive item.

    Parameters
    ----------
    k : int
        At least 1 (1: only sensitive items are protected).
    m : int or float
        At least 1, or `math.inf`.
    rho : number or str
        Above 0 and at most 1, taken as written: 0.3, "0.3" and "30%" are 3/10; "1/3" is allowed. A confidence
        of exactly rho is allowed.
    sensitive : iterable of str
        Labels of the sensitive items; they need not occur. With none this is k^m-anonymity.
    knows : {"public", "any"}
        Which items an attacker may know beforehand: only those that are not sensitive, or all.

    Examples
    --------
    >>> KmRho(k=5, m=2, rho=0.2, sensitive=["HIV"]).phrase
    '(k,rho)^m-anonymity (k=5, rho=0.2, m=2)'
    """

    k: int
    m: int | float
    rho: Fraction
    sensitive: tuple[str, ...]
    knows: str

    model: ClassVar[str] = "km-rho"

    def __init__(
        self,
        k: int,
        m: int | float = 2,
        rho: Fraction | float | str = Fraction(1, 2),
        sensitive: Iterable[str] = (),
        knows: str = PUBLIC,
    ) -> None:
        object.__setattr__(self, "k", integer("k", k, 1))
        object.__setattr__(self, "m", size("m", m))
        if knows not in KNOWS:
            raise RequestError(f'knows must be "public" or "any", got {knows!r}.')
        object.__setattr__(self, "rho", as_written(rho, "rho"))
        object.__setattr__(self, "sensitive", labels_of(sensitive, "sensitive"))
        object.__setattr__(self, "knows", knows)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        also = ", sensitive items known, too" if self.knows == ANY else ""
        return f"(k,rho)^m-anonymity (k={self.k}, rho={written(self.rho)}, m={self.m}{also})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive items."""
        return self.sensitive

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for infinity, rho as text if it is no decimal)."""
        return {
            "model": self.model,
            "k": self.k,
            "m": "inf" if self.m == math.inf else self.m,
            "rho": as_json(self.rho),
            "sensitive": list(self.sensitive),
            "knows": self.knows,
        }

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data in which every item is sensitive: nothing else is left to be published with care.

        Raises
        ------
        RequestError
            If all items that occur are sensitive.
        InfeasibleError
            If some, but fewer than k rows hold items that are not sensitive.
        """
        require_public(data, self.sensitive)
        filled = filled_rows(data, self.sensitive)
        if 0 < filled < self.k:
            raise too_few_of(
                "such rows",
                filled,
                f"{self.phrase} cannot be met: only {filled:,} of {count(data.n_rows, 'row')} contain "
                f"items that are not sensitive, and fewer than k = {self.k} rows hide nobody.",
            )


def require_public(data: Transactions, sensitive: Iterable[str]) -> None:
    """Refuse data in which every item is sensitive."""
    if data.n_items and set(data.vocabulary.labels) <= set(sensitive):
        raise RequestError(
            f"All {count(data.n_items, 'item')} of the data are sensitive: no other is left to be published.",
            hint="Name as sensitive only what must not be learned of a person.",
        )


def filled_rows(data: Transactions, sensitive: Iterable[str]) -> int:
    """Count the rows that contain an item that is not sensitive."""
    import numpy as np

    hidden = set(sensitive)
    public = np.fromiter((label not in hidden for label in data.vocabulary.labels), bool, data.n_items)
    row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
    return int(np.unique(row_of[public[data.items]]).size)


# --- in words


def sensitive_words(g: Facts) -> str:
    """Name the sensitive items by their number."""
    return f"sensitive item ({count(len(g['sensitive']))} named)"


def _known(g: Facts) -> str:
    known = known_words(g["m"])
    return known.replace("item", "public item") if g["knows"] == PUBLIC else f"{known}, sensitive ones too,"


def _promise(g: Facts) -> str:
    rows = f"finds at least {count(g['k'], 'row')} that fit, or none, and " if g["k"] > 1 else ""
    return (
        f"Anyone who knows {_known(g)} of a person {rows}is right about any {sensitive_words(g)} with a "
        f"chance of at most {g['rho']}."
    )


def confidence_words(found: Facts) -> str:
    """Describe the set that reveals most about a sensitive item, without names if these are not published."""
    if "item" not in found:
        return f"a sensitive item with a chance of {found['confidence']:.4g}"
    known = f" with {', '.join(found['itemset'])}" if found["itemset"] else ""
    return (
        f"{found['item']} in {found['sensitive_rows']:,} of {count(found['support'], 'row')}{known} "
        f"({found['confidence']:.4g})"
    )


def greatest_words(g: Facts) -> str:
    """Describe the most certain inference that the published rows allow."""
    if g["greatest_confidence"] is None:
        return "no sensitive item is published"
    return f"the most certain inference is {confidence_words(g['greatest_confidence'])}"


def _broken(g: Facts) -> str:
    atleast = "" if g["complete"] else "at least "
    return (
        f"{atleast}{count(g['violations'], 'set')} of known items in fewer than {count(g['k'], 'row')}, or "
        f"that reveal a sensitive item with a chance above {g['rho']}"
    )


def inference_not_covered(g: Facts) -> Points:
    """Say what no bound of single confidences covers."""
    several = (
        [
            (
                "Several sensitive items together.",
                "Each is bounded alone. The chance that a person has any one of several may be greater: to "
                "bound a class of them, add to every row of the class one item that represents it, and name "
                "that, too.",
            )
        ]
        if len(g["sensitive"]) > 1
        else []
    )
    return [
        *several,
        (
            "Knowing that an item is absent.",
            "Someone who knows that a person lacks some items may learn more than is guaranteed.",
        ),
        (
            "Knowing how releases are made.",
            "Someone who knows that no more was hidden than necessary may suspect more of a sensitive item "
            "than is shown, where the chance is exactly the greatest that is allowed.",
        ),
    ]


def _not_covered(g: Facts) -> Points:
    points: Points = []
    if g["m"] != "inf":
        more = count(g["m"] + 1)
        fewer = not_covered_words({"m": g["m"], "k": g["k"]}) if g["k"] > 1 else []
        points += fewer or [(
            f"Knowing more than {count(g['m'], 'item')}.",
            f"Someone who knows {more} or more items of a person may learn more of the sensitive ones.",
        )]  # fmt: skip
    if g["knows"] == PUBLIC:
        text = "Someone who already knows a sensitive item of a person may find fewer rows and learn more."
        points.append(("Knowing sensitive items.", text))
    return points + inference_not_covered(g)


def _reading(g: Facts) -> Points:
    someone = "all items of a person" if g["m"] == "inf" else f"{count(g['m'], 'item')} of a person"
    which = "none of them sensitive" if g["knows"] == PUBLIC else "sensitive ones too"
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know, here {someone}, {which}."),
        ("rho:", f"the greatest chance with which a sensitive item may be learned, here {g['rho']}."),
    ]


def violation_words(entry: Facts) -> str:
    """Say which items are in too few rows, or what they reveal about a sensitive item."""
    where = f"class {entry['class']}, " if "class" in entry else ""
    known = ", ".join(entry["itemset"]) or "nothing known"
    if "betrays" not in entry:
        return f"{where}support {entry['support']}: {known}"
    rows = count(entry["support"], "row")
    return f"{where}{known}: {entry['betrays']} in {entry['sensitive_rows']:,} of {rows}"


def confidences_beyond(g: Facts) -> list[str]:
    """List the greatest confidence of each sensitive item."""
    return [f"most certain inference: {confidence_words(found)}" for found in g["confidences"][:20]]


def _beyond(g: Facts) -> list[str]:
    rows = [] if g["greatest_k"] is None else [f"greatest k at m = {g['m']}: {g['greatest_k']}"]
    return [*rows, *confidences_beyond(g)]


SENSITIVE = Option(
    ItemsOrLeaves(),
    "Items that nobody may learn of a person: a file, or a list with commas.",
    needed=True,
    secret=True,
)
RHO = Option(
    Probability(), "Greatest chance to be right about a sensitive item, such as 0.2 or 1/5.", needed=True
)

model = Model(
    name="km-rho",
    title="(k,rho)^m-anonymity",
    make=KmRho,
    options={
        "k": K,
        "m": M,
        "rho": RHO,
        "sensitive": SENSITIVE,
        "knows": Option(Choice(KNOWS), "Items an attacker may know: public ones (default), or any."),
    },
    algorithm="exact",
    words=Words(
        parameters=("k", "m", "rho", "sensitive", "knows"),
        promise=_promise,
        fulfilled=greatest_words,
        broken=_broken,
        not_covered=_not_covered,
        reading=_reading,
        violation=violation_words,
        beyond=_beyond,
        hides_sensitive=True,
        known="m",
    ),
    family="inference",
    axes={
        "k": "rows that fit at least (k)",
        "m": "what someone may know (m)",
        "rho": "greatest chance of a sensitive item (rho)",
    },
    example={"k": 2, "m": 2, "rho": "0.5", "sensitive": ["s"]},
)
