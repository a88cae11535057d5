"""k^m-anonymity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import InfeasibleError, RequestError, described, faces
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Choice, Integer, Sizes, integer, size
from setveil.base.values.per_column import PerColumn
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from setveil.rows.data.transactions import Transactions
    from setveil.rows.engine.parts import RowsOnDisk


FACTS, CODES = "facts", "codes"  # what counts as one known item


@dataclass(frozen=True)
class KmAnonymity(Guarantee):
    """Every non-empty set of at most m published items occurs in no row or in at least k rows.

    So nobody who knows m items of a person can narrow that person down to fewer than k rows.

    Parameters
    ----------
    k : int
        At least 2.
    m : int, float, or mapping of str to int
        At least 1, or `math.inf`: as many items as the longest row has. Where items are of several columns
        (see `setveil.read_facts`), also a number for each: every set of at most this many items of each
        column.
    absent : int
        1: the guarantee also holds against someone who also knows an item that the person does not have: no
        row, or at least k rows, contain a set of at most m items (also the empty one) and lack that item. An
        item excludes rows only where the release shows labels that certainly mean it (docs/verify.md). 0:
        absent items are not covered.
    known : {"facts", "codes"}
        Of facts (see `setveil.read_facts`): what counts as one known item, a fact, or a code with everything
        about it: at least k rows show all that is published of any m codes of a person (docs/facts.md).

    References
    ----------
    Terrovitis, Mamoulis, Kalnis, "Privacy-preserving Anonymization of Set-valued Data", VLDB 2008, section 3,
    doi:10.14778/1453856.1453874 (which says "more than k"; k or more is meant and used by all).

    Examples
    --------
    >>> KmAnonymity(k=5, m=2).phrase
    'k^m-anonymity (k=5, m=2)'
    >>> KmAnonymity(k=5, m={"code": 2, "drug": 1}).phrase
    'k^m-anonymity (k=5, m=2 of code, 1 of drug)'
    """

    k: int
    m: Any = 2  # int or float; or a mapping, which becomes a `PerColumn`
    absent: int = 0
    known: str = FACTS

    model: ClassVar[str] = "km-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, 2))
        object.__setattr__(self, "m", size("m", self.m, per_column=True))
        object.__setattr__(self, "absent", integer("absent", self.absent, 0))
        _require_promised(self.absent, self.m)
        _require_known(self.known, self.m, self.absent)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        if self.absent:
            return f"(k,m,a)-anonymity (k={self.k}, m={self.m}, a={self.absent}, absent items)"
        if self.of_codes:
            return f"k^m-anonymity of whole codes (k={self.k}, m={self.m})"
        return f"k^m-anonymity (k={self.k}, m={self.m})"

    @property
    def of_codes(self) -> bool:
        """Whether a code with everything about it counts as one known item."""
        return self.known == CODES

    @property
    def for_single_facts(self) -> KmAnonymity:
        """The guarantee about single facts, which that of whole codes implies."""
        return replace(self, known=FACTS)

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for an infinite m)."""
        record = {"model": self.model, "k": self.k, "m": m_as_json(self.m)}
        record |= {"absent": self.absent} if self.absent else {}
        return {**record, "known": CODES} if self.of_codes else record

    def for_columns(self, names: Iterable[str]) -> KmAnonymity:
        """Take the guarantee for items of some columns: of a single one, m is a number.

        Raises
        ------
        RequestError
            If m names other columns than these.
        """
        if not isinstance(self.m, PerColumn):
            return self
        known = list(names)
        self.m.require_columns(known)
        return replace(self, m=self.m.each[known[0]]) if len(known) == 1 else self

    def up_to(self, most: int) -> KmAnonymity:
        """Lower m to at most `most`: in each column if m is a number for each."""
        m = self.m.at_most(most) if isinstance(self.m, PerColumn) else min(self.m, most)
        return replace(self, m=m)

    @property
    def rounds(self) -> int | float:
        """The most that may be known of items that count together: m, or the greatest of the columns'."""
        return max(self.m.each.values()) if isinstance(self.m, PerColumn) else self.m

    def size_limit(self, data: Transactions | RowsOnDisk) -> int:
        """Size of the largest itemset to look at: m, or the longest row if that is shorter."""
        longest = data.longest
        return int(min(self.m, longest))

    def require_feasible(self, data: Transactions | RowsOnDisk) -> None:
        """Refuse data that no generalization can make k^m-anonymous.

        Raises
        ------
        InfeasibleError
            If there are non-empty rows, but fewer than k: even one label for everything has a smaller
            support.
        """
        filled = data.filled_rows
        if 0 < filled < self.k:
            raise too_few(self.phrase, self.k, data.n_rows, filled)


def is_km(guarantee: object) -> TypeIs[KmAnonymity]:
    """Return whether it is k^m-anonymity."""
    return isinstance(guarantee, KmAnonymity)


def too_few(phrase: str, k: int, n_rows: int, filled: int, why: str = "") -> InfeasibleError:
    """Make the error of fewer than k rows that hold any item."""
    rows = f"the data have {count(n_rows, 'row')}"
    if filled < n_rows:
        rows += f", {filled:,} of them with items"
    message = f"{phrase} cannot be met: {rows}, and fewer than k = {k} rows hide nobody.{why}"
    return too_few_of("non-empty rows", filled, message)


def too_few_of(kind: str, n_rows: int, message: str) -> InfeasibleError:
    """Make the error of this many rows of a kind, which must hide one another."""
    if n_rows < 2:
        return InfeasibleError(message, hint=f"At least two {kind} are needed for any k.")
    return InfeasibleError(message, greatest_k=n_rows)


def m_as_json(m: int | float) -> Any:
    """Return m as JSON types: a number, "inf", or a number by column."""
    return dict(m.each) if isinstance(m, PerColumn) else "inf" if m == math.inf else m


def _require_promised(absent: int, m: Any) -> None:
    """Refuse what cannot be guaranteed of absent items."""
    if absent > 1:
        raise RequestError(
            f"A guarantee is about 1 absent item at most, got {absent}.",
            hint="`setveil verify --absent 2` checks a release that was made for less.",
        )
    if absent and (m == math.inf or isinstance(m, PerColumn)):
        raise RequestError(
            f"With {faces('--absent', 'absent')}, m must be one number of items, got {m}.",
            hint=f"Such as {faces('--m 2', 'm=2')}.",
        )


def _require_known(known: str, m: Any, absent: int) -> None:
    """Refuse what is not known as one item, and what is not guaranteed of whole codes."""
    if known not in (FACTS, CODES):
        raise RequestError(f"known must be {FACTS!r} or {CODES!r}, got {described(known)}.")
    if known == CODES and (absent or m == math.inf or isinstance(m, PerColumn)):
        value = faces("--absent", "absent") if absent else f"m = {m}"
        raise RequestError(
            f"Where whole codes are known, m is one number of codes, and none is absent, got {value}.",
            hint=f"Such as {faces('--m 2 --known codes', 'm=2, known=codes')}.",
        )


# --- in words


def number_words(m: Any, what: str = "item") -> str:
    """Name this many items: ``2 items``; ``2 items of code and 1 item of drug``."""
    if not isinstance(m, Mapping):
        return count(int(m), what)
    return " and ".join(f"{count(number, what)} of {name}" for name, number in m.items())


def known_words(m: Any, what: str = "item") -> str:
    """Say how many items someone knows."""
    return f"any number of {what}s" if m == "inf" else f"up to {number_words(m, what)}"


def promise_words(g: Facts) -> str:
    """State the guarantee."""
    absent = f", and {count(g['absent'], 'item')} that is not in it," if g.get("absent") else ""
    unit = "code" if _of_codes(g) else g.get("unit", "item")
    whole = f", {'with' if g['m'] == 1 else 'each with'} everything about it," if _of_codes(g) else ""
    return (
        f"Anyone who knows {known_words(g['m'], unit)} of a person's row{absent}{whole} finds at "
        f"least {count(g['k'], 'row')} that fit, or none."
    )


def _of_codes(g: Facts) -> bool:
    return g.get("known") == CODES


def _fewest(g: Facts) -> str:
    smallest = g["greatest_k"]
    if smallest is None:
        return "no item is published"
    found = f"the smallest group found has {count(smallest, 'row')}"
    return f"{found}; which facts are of one code, the originals say" if _of_codes(g) else found


def broken_words(g: Facts) -> str:
    """Say what the check found where the guarantee is violated."""
    if g.get("overlap"):
        return overlap_words(g)
    atleast = "" if g.get("complete", True) else "at least "
    known = "any number of items" if g["m"] == "inf" else f"at most {number_words(g['m'])}"
    if g.get("absent"):
        absent = "1 absent item" if g["absent"] == 1 else f"{g['absent']} absent items"
        pairs = f"{count(g['violations'], 'pair')} of {known} and at most {absent}".replace(
            "at most 1 ab", "1 ab"
        )
        return f"{pairs} in fewer than {count(g['k'], 'row')}"
    if _of_codes(g):
        known = f"all that is shown of at most {count(g['m'], 'code')}"
    return f"{atleast}{count(g['violations'], 'set')} of {known} in fewer than {count(g['k'], 'row')}"


def overlap_words(g: Facts) -> str:
    """Say that the check found labels that overlap."""
    return f"{count(g['violations'], 'violation')}: labels overlap, so that a fact lies in two of them"


def overlapping_words(entry: Facts) -> str:
    """Say which labels overlap, and of a table in which class."""
    known = ", ".join(f"{name} = {label}" for name, label in entry.get("class", {}).items())
    where = f"{known}: " if known else ""
    return f"{where}some fact lies in both {entry['overlap'][0]} and {entry['overlap'][1]}"


def not_covered_words(g: Facts) -> Points:
    """Say what knowing more than m items means."""
    if g["m"] == "inf":
        return []
    if isinstance(g["m"], Mapping):
        text = (
            f"Someone who knows more items of a column may find fewer than {count(g['k'], 'row')}, even only "
            "one."
        )
        return [(f"Knowing more than {number_words(g['m'])}.", text)]
    if _of_codes(g):
        return _beyond_codes(g)
    text = (
        f"Someone who knows {count(g['m'] + 1)} or more items of a person may find fewer than "
        f"{count(g['k'], 'row')}, even only one."
    )
    more = [(f"Knowing more than {count(g['m'], 'item')}.", text)]
    return [*more, *_absence_words()] if g.get("absent") else more


def _beyond_codes(g: Facts) -> Points:
    """Say what a guarantee about whole codes does not cover."""
    fewer = f"may find fewer than {count(g['k'], 'row')}, even only one."
    return [
        (
            f"Knowing more than {count(g['m'], 'code')}.",
            f"Someone who knows {count(g['m'] + 1)} or more codes of a person {fewer}",
        ),
        (
            "Knowing when a code was not recorded.",
            "The known facts of a code are all its facts in the row. Someone who also knows a period without "
            f"the code {fewer}",
        ),
    ]


def _absence_words() -> Points:
    """Say what a guarantee about an absent item does not cover."""
    text = (
        "The guarantee covers one absent item, which excludes the rows that certainly contain it. Someone "
        "who knows two absent items, or that all items of a label are absent, may find fewer rows."
    )
    return [("Knowing that an item is absent.", text)]


def _reading(g: Facts) -> Points:
    someone = "all items of a person" if g["m"] == "inf" else f"{number_words(g['m'])} of a person"
    if _of_codes(g):
        someone = (
            f"{count(g['m'], 'code')} of a person, {'with' if g['m'] == 1 else 'each with'} all its facts"
        )
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know, here {someone}."),
        *(
            [("absent:", "how many items the person is known not to have, here 1.")]
            if g.get("absent")
            else []
        ),
    ]


def _beyond(g: Facts) -> list[str]:
    greatest_k, greatest_m = g["greatest_k"], g.get("greatest_m")
    if greatest_k is None:
        return ["No row contains an item: every k and m is satisfied."]
    known = "this m" if isinstance(g["m"], Mapping) else f"m = {g['m']}"
    if greatest_k >= 2:
        stopped = "" if g["complete"] or g["holds"] else " or less (counting was stopped)"
        first = f"greatest k at {known}: {greatest_k}{stopped}"
    else:
        first = f"greatest k at {known}: none (a set of items belongs to a single row)"
    if g.get("absent"):
        return [first.replace(":", f", {g['absent']} absent:", 1)]
    if isinstance(g["m"], Mapping) or _of_codes(g):
        return [first]
    open_end = "" if g["complete"] or not g["holds"] else " or more (the search was stopped)"
    return [first, f"greatest m at k = {g['k']}: {'none' if greatest_m == 0 else greatest_m}{open_end}"]


def violation_words(entry: Facts) -> str:
    """Say which items too few rows hold."""
    if "overlap" in entry:
        return overlapping_words(entry)
    where = f"class {entry['class']}, " if "class" in entry else ""
    if "absent" in entry:
        known = [*entry["itemset"], *(f"no {label}" for label in entry["absent"])]
        return f"support {entry['support']}: {', '.join(known)}"
    if not entry["itemset"]:
        return f"{where}{count(entry['support'], 'row')} in all"
    return f"{where}support {entry['support']}: {', '.join(entry['itemset'])}"


K = Option(Integer(1), "Everyone hides among at least k rows.", short="k", needed=True)

model = Model(
    name="km-anonymity",
    title="k^m-anonymity",
    make=KmAnonymity,
    options={
        "k": K,
        "m": Option(
            Sizes(),
            "Items of a person that an attacker may know: 1, 2, ... or inf; for columns code=2,drug=1.",
            short="m",
            needed=True,
        ),
        "absent": Option(
            Integer(0),
            "Items that a person is known not to have: 0 or 1 (default 0; 1 only by exact).",
            separate_in_verify=True,
        ),
        "known": Option(
            Choice((FACTS, CODES)),
            "Known item of facts: a fact, or a code with everything about it (only exact).",
            separate_in_verify=True,
        ),
    },
    algorithm="exact",
    words=Words(
        parameters=("k", "m", "absent", "known"),
        promise=promise_words,
        fulfilled=_fewest,
        broken=broken_words,
        not_covered=not_covered_words,
        reading=_reading,
        violation=violation_words,
        beyond=_beyond,
        known="m",
    ),
    family="rows",
    axes={
        "k": "rows that fit at least (k)",
        "m": "what someone may know (m)",
        "absent": "items known to be absent",
    },
    example={"k": 2, "m": 2},
    counts=True,
)
