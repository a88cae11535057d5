"""Disassociation: which items are in the same row is hidden, so that some possible data hide everyone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import DataError, InfeasibleError, RequestError, listed, shorten
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Flag, ItemsOrLeaves, Probability, integer, size
from setveil.base.values.numbers import as_json, as_written, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.coherence import labels_of
from setveil.judges.guarantees.kkm import M
from setveil.judges.guarantees.km import K, known_words, not_covered_words

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions

RHO = Fraction(1, 5)  # where items are sensitive and no rho is given


@dataclass(frozen=True, init=False)
class Disassociated(Guarantee):
    """Anyone who knows at most m items of a person cannot rule out that k rows hold them.

    Take any set of at most m items in a row of any data that the release may come from. Some such data have
    at least k rows that contain the set. With sensitive items also: in no chunk, whichever of its items are
    known (at most m), does more than a share rho of the rows contain a sensitive item.

    This is weaker than k^m-anonymity: an attacker is not certain, but may be nearly so
    (docs/groups.md has examples).

    Parameters
    ----------
    k : int
        At least 1.
    m : int or float
        At least 1, or `math.inf`.
    rho : number or str, optional
        Above 0 and at most 1, taken as written. None: 1/5 where items are sensitive.
    sensitive : iterable of str
        Labels of the sensitive items; each must occur in the data that are anonymized.
    unsafe : bool
        Whether to guarantee nothing of the sensitive items: then there is no rho, and what can be inferred of
        them is only looked at.

    References
    ----------
    Terrovitis, Liagouris, Mamoulis, Skiadopoulos, "Privacy preservation by disassociation", PVLDB 5(10),
    2012, section 3, doi:10.14778/2336664.2336668

    Examples
    --------
    >>> Disassociated(k=5, m=2).phrase
    'disassociation (k=5, m=2)'
    >>> Disassociated(k=5, m=2, sensitive=["HIV"]).phrase
    'safe disassociation (k=5, m=2, rho=0.2)'
    """

    k: int
    m: int | float
    rho: Fraction | None
    sensitive: tuple[str, ...]
    assumed: bool = field(compare=False, repr=False)  # whether rho was not given

    model: ClassVar[str] = "disassociated"

    def __init__(
        self,
        k: int,
        m: int | float = 2,
        rho: Fraction | float | str | None = None,
        sensitive: Iterable[str] = (),
        unsafe: bool = False,
    ) -> None:
        object.__setattr__(self, "k", integer("k", k, 1))
        object.__setattr__(self, "m", size("m", m))
        object.__setattr__(self, "sensitive", labels_of(sensitive, "sensitive"))
        if not isinstance(unsafe, bool):
            raise RequestError(f"unsafe must be True or False, got {unsafe!r}.")
        if rho is not None and (unsafe or not self.sensitive):
            raise RequestError(
                "--rho bounds what is learned of sensitive items, and "
                + ("--unsafe leaves that open." if unsafe else "none is named."),
                hint="Omit one of them." if unsafe else "Name them: --sensitive.",
            )
        if unsafe and not self.sensitive:
            raise RequestError("--unsafe leaves sensitive items open, and none is named.", hint="Omit it.")
        least = None if unsafe or not self.sensitive else as_written(RHO if rho is None else rho, "rho")
        object.__setattr__(self, "rho", least)
        object.__setattr__(self, "assumed", least is not None and rho is None)

    @property
    def unsafe(self) -> bool:
        """Whether nothing is guaranteed of the sensitive items."""
        return bool(self.sensitive) and self.rho is None

    @property
    def least(self) -> int:
        """Fewest rows of a cluster."""
        return self.k if self.rho is None else max(self.k, math.ceil(self.k / self.rho))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        if self.rho is None:
            return f"disassociation (k={self.k}, m={self.m})"
        return f"safe disassociation (k={self.k}, m={self.m}, rho={written(self.rho)})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive items."""
        return self.sensitive

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for infinity, rho as text if it is no decimal)."""
        record: dict[str, Any] = {
            "model": self.model,
            "k": self.k,
            "m": "inf" if self.m == math.inf else self.m,
        }
        if self.sensitive:
            record |= {} if self.rho is None else {"rho": as_json(self.rho)}
            record["sensitive"] = list(self.sensitive)
        return record

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data with too few rows for a cluster, and sensitive items that they do not have.

        Raises
        ------
        DataError
            If a sensitive item does not occur in the data.
        InfeasibleError
            If some rows hold items, but fewer than one cluster needs.
        """
        unknown = [x for x in self.sensitive if x not in data.vocabulary.ids]
        if unknown and data.n_items:
            some = "is" if len(unknown) == 1 else f"are {len(unknown):,}"
            raise DataError(
                f"Among the sensitive items {some} not in the data: {listed(unknown)}.",
                hint="Name items exactly as in the data.",
            )
        filled = data.filled_rows
        if not 0 < filled < self.least:
            return
        needed = f"k = {self.k}"
        greatest = filled
        if self.rho is not None:
            needed = f"k / rho = {self.least}"
            greatest = max((k for k in range(1, filled + 1) if math.ceil(k / self.rho) <= filled), default=0)
        raise InfeasibleError(
            f"{self.phrase} cannot be met: {count(filled, 'row')} of {data.n_rows:,} contain items, and "
            f"a cluster needs {needed} of them.",
            hint=f"No k is possible with rho = {written(self.rho or RHO)}: increase rho.",
            greatest_k=greatest or None,
        )


# --- in words


def _promise(g: Facts) -> str:
    promise = (
        f"Someone who knows {known_words(g['m'])} of a person cannot rule out that {count(g['k'], 'row')} "
        "contain them: some data that the release may come from have this many. "
        "That is weaker than k^m-anonymity."
    )
    if g.get("rho") is None:
        return promise
    named = count(len(g["sensitive"]), "sensitive item")
    return f"{promise} And nobody is right about any of {named} with a chance above {g['rho']}."


def inference_words(found: Facts) -> str:
    """Say what tells most about a sensitive item."""
    known = f", with {', '.join(found['itemset'])}" if found.get("itemset") else ""
    if "item" not in found:
        return f"a sensitive item is learned with a chance of {found['confidence']:.4g}"
    where = f"in cluster {found['cluster']}"
    return (
        f"{where} {found['sensitive_rows']:,} of {count(found['support'], 'row')} contain "
        f"{found['item']}{known} "
        f"({found['confidence']:.4g})"
    )


def _fulfilled(g: Facts) -> str:
    text = (
        f"the smallest cluster has {count(g['greatest_k'], 'row')}" if g["clusters"] else "there are no rows"
    )
    if "greatest_confidence" not in g:
        return text
    most = g["greatest_confidence"]
    return f"{text}; {'no sensitive item is published' if most is None else inference_words(most)}"


def _broken(g: Facts) -> str:
    atleast = "" if g["complete"] else "at least "
    return f"{atleast}{count(g['violations'], 'failure')} in {count(g['clusters'], 'cluster')}"


def _not_covered(g: Facts) -> Points:
    points: Points = [
        (
            "Being certain is excluded, being nearly certain is not.",
            "Some data that the release may come from have k such rows. How likely those are is not bounded.",
        )
    ]
    if g.get("rho") is None:
        inferred = g.get("inferences")
        counted = (
            f" Here {count(inferred, 'set')} of known items {'gives' if inferred == 1 else 'give'} a "
            "sensitive "
            "item away with a chance above 0.2."
            if inferred
            else ""
        )
        points.append((
            "Items that everyone in a cluster has.",
            "Clusters are made of rows that have items in common, and a chunk says so: someone who knows "
            "the cluster "
            f"of a person knows these.{counted} With sensitive items and a rho that is bounded.",
        ))  # fmt: skip
    points.append((
        "Items that belong together.",
        "Where items are in different chunks although one hardly occurs without the other, someone who knows "
        "how chunks are made may link them with a chance above 1 in k (the cover problem).",
    ))  # fmt: skip
    return [*points, *not_covered_words({"m": g["m"], "k": g["k"]})]


def _reading(g: Facts) -> Points:
    someone = "all items of a person" if g["m"] == "inf" else f"{count(g['m'], 'item')} of a person"
    points = [
        ("k:", f"in how many rows what is known is at least, in some possible data, here {count(g['k'])}."),
        ("m:", f"what someone may know, here {someone}."),
    ]
    if g.get("rho") is not None:
        text = f"the greatest chance with which a sensitive item may be learned, here {g['rho']}."
        points.append(("rho:", text))
    return points


_FAILURES = {
    "rows": "the cluster has {support} of {need} rows",
    "part": "a part is empty, names an item twice or one that is not in its chunk: {items}",
    "item": "{items} is in no part",
    "parts": "{support} parts, for {need} rows",
    "twice": "{items} is in more than one chunk of the cluster",
    "support": "support {support}: {items}",
    "filled": "{support} parts and no term chunk, where {need} are needed",
    "scope": "a shared chunk of {support} cluster",
    "repeated": "the part {items} {support} times, where {need} are needed, as its items are in other chunks",
    "confidence": "{betrays} in {sensitive} of {support} rows, with {items}",
}


def violation_words(entry: Facts) -> str:
    """Say in one line which condition fails, and where."""
    clusters = ", ".join(map(str, entry["clusters"]))
    where = f"cluster{'s' if len(entry['clusters']) != 1 else ''} {clusters}"
    chunk = f", chunk {entry['chunk']}" if entry["chunk"] else ""
    text = _FAILURES[entry["kind"]].format(
        items=shorten(", ".join(entry["itemset"]))[1:-1] or "nothing known",
        support=entry.get("support"), need=entry.get("need"),
        betrays=entry.get("betrays"), sensitive=entry.get("sensitive_rows"),
    )  # fmt: skip
    return f"{where}{chunk}: {text}"


def _beyond(g: Facts) -> list[str]:
    lines = [f"smallest cluster: {count(g['greatest_k'], 'row')}"] if g["clusters"] else []
    most = g.get("greatest_confidence")
    if most is not None:
        lines.append(f"most certain inference: {inference_words(most)}")
    if g.get("inferences"):
        lines.append(f"above 0.2: {count(g['inferences'], 'set')} of known items")
    return lines


model = Model(
    name="disassociated",
    title="disassociation",
    make=Disassociated,
    options={
        "k": K,
        "m": M,
        "rho": Option(Probability(), "Greatest chance to be right about a sensitive item (default 1/5)."),
        "sensitive": Option(
            ItemsOrLeaves(),
            "Items that nobody may learn of a person: a file, or a list with commas.",
            secret=True,
        ),
        "unsafe": Option(Flag(), "Publish in spite of sensitive items, and say what can be inferred."),
    },
    algorithm="disassociation",
    words=Words(
        parameters=("k", "m", "rho", "sensitive"),
        promise=_promise,
        fulfilled=_fulfilled,
        broken=_broken,
        not_covered=_not_covered,
        reading=_reading,
        violation=violation_words,
        beyond=_beyond,
        known="m",
    ),
    family="chunks",
    axes={
        "k": "rows in some possible data (k)",
        "m": "what someone may know (m)",
        "rho": "greatest chance of a sensitive item (rho)",
    },
    example={"k": 2, "m": 2},
    release="chunks",
)
