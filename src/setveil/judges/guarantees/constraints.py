"""Privacy constraints: itemsets that must not single out anyone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import RequestError, listed, require_type
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer, Itemsets, integer
from setveil.base.wording import are, count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.km import (
    K,
    broken_words,
    not_covered_words,
    promise_words,
    too_few,
    violation_words,
)

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True)
class PrivacyConstraints(Guarantee):
    """No published part of a protected itemset occurs in some row, but in fewer than k rows.

    So nobody who knows some items of a protected itemset can narrow a person down to fewer than k rows.

    Parameters
    ----------
    k : int
        At least 2.
    itemsets : sequence of sequences of str, optional
        The itemsets to protect, each with at least one item; their order decides between equals. Items that
        occur nowhere are allowed. None: all itemsets of m items.
    m : int, optional
        At least 1: protect all itemsets of m items that occur in the data (all of them as one itemset where
        they are fewer), in item order. That gives k^m-anonymity.

    Attributes
    ----------
    k : int
    itemsets : tuple of tuples of str, or None
    m : int or None
        One of `itemsets` and `m` is None.

    References
    ----------
    Loukides, Gkoulalas-Divanis, Malin, "COAT: COnstraint-based anonymization of transactions", Knowledge and
    Information Systems 28(2), 2011, section 3.2 (definitions 3.3 and 3.4), doi:10.1007/s10115-010-0354-4

    Examples
    --------
    >>> PrivacyConstraints(5, [["a", "b", "c"], ["d", "e"]]).phrase
    'protection of 2 itemsets (k=5)'
    >>> PrivacyConstraints(5, m=2).phrase
    'protection of all itemsets (k=5, m=2)'
    """

    k: int
    itemsets: Sequence[Sequence[str]] | None = None
    m: int | None = None

    model: ClassVar[str] = "constraints"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, 2))
        if (self.itemsets is None) == (self.m is None):
            raise RequestError(
                "Privacy constraints are either itemsets or a size m, expected one of the two.",
                hint="m=2 protects all itemsets of two items.",
            )
        if self.itemsets is None:
            object.__setattr__(self, "m", integer("m", self.m, 1))
        else:
            object.__setattr__(self, "itemsets", _itemsets(self.itemsets))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        if self.itemsets is None:
            return f"protection of all itemsets (k={self.k}, m={self.m})"
        return f"protection of {count(len(self.itemsets), 'itemset')} (k={self.k})"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types; itemsets by their number only."""
        of_what = {"m": self.m} if self.itemsets is None else {"itemsets": len(self.itemsets)}
        return {"model": self.model, "k": self.k, **of_what}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data in which no release that keeps a protected item can satisfy the constraints.

        Raises
        ------
        InfeasibleError
            If protected items occur, and there are fewer than k rows that hold any item.
        """
        filled = int((data.row_lengths() > 0).sum())
        if filled == 0 or filled >= self.k or (lost := self._first_concerned(data)) is None:
            return
        first = f" The first itemset without protection is {listed(lost)}." if lost else ""
        raise too_few(self.phrase, self.k, data.n_rows, filled, first)

    def _first_concerned(self, data: Transactions) -> Sequence[str] | None:
        """Find the first listed itemset with an item that occurs; nothing in it if none are listed."""
        if self.itemsets is None:
            return ()
        supports = data.supports()
        ids = data.vocabulary.ids
        return next((p for p in self.itemsets if any(i in ids and supports[ids[i]] for i in p)), None)


def _itemsets(itemsets: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    if isinstance(itemsets, str):
        raise RequestError(f"The itemsets are the text {itemsets!r}, expected a collection of itemsets.")
    require_type("The itemsets must be a collection of itemsets", itemsets, Iterable)
    out = []
    for number, itemset in enumerate(itemsets, 1):
        require_type(f"Itemset {number} must be a collection of items", itemset, Iterable)
        if isinstance(itemset, str):
            raise RequestError(
                f"Itemset {number} is the text {itemset!r}, expected a collection of items.",
                hint="Split it first, or wrap a single item in a list.",
            )
        items = tuple(itemset)
        if not items or not all(isinstance(item, str) and item for item in items):
            raise RequestError(f"Itemset {number} is {items!r}, expected at least one item, each a string.")
        out.append(tuple(dict.fromkeys(items)))
    return tuple(out)


# --- in words


def _protected(g: Facts) -> str:
    return count(g["itemsets"], "protected set")


def _promise(g: Facts) -> str:
    if "m" in g:
        return promise_words(g)
    return (
        f"Anyone who knows items of one of {_protected(g)} of a person finds at least {count(g['k'], 'row')} "
        "that fit, or none."
    )


def _fulfilled(g: Facts) -> str:
    if "m" in g:
        return f"no set of at most {count(g['m'], 'item')} is in fewer than {count(g['k'], 'row')}"
    if "supported" not in g:  # a page for readers who do not know what was protected
        return f"no part of any protected set is in fewer than {count(g['k'], 'row')}"
    return (
        f"{count(g['supported'])} of {_protected(g)} {are(g['supported'])} still found, no part of any in "
        f"fewer than {count(g['k'], 'row')}"
    )


def _broken(g: Facts) -> str:
    if "m" in g:
        return broken_words(g)
    return f"{count(g['violations'], 'protected set')} with a part in fewer than {count(g['k'], 'row')}"


def _not_covered(g: Facts) -> Points:
    if "m" in g:
        return not_covered_words(g)
    text = "Someone who knows items that are not together in one of them may find a single row."
    return [("Whatever is not in the protected sets.", text)]


def _violation(entry: Facts) -> str:
    of = f"  (of {', '.join(entry['constraint'])})" if "constraint" in entry else ""
    return violation_words(entry) + of


def _make(k: int, privacy: Iterable[Iterable[str]] | None, m: int | None = None) -> PrivacyConstraints:
    """Make a guarantee from the options: the itemsets of `privacy`, or all of m items if it is None."""
    return PrivacyConstraints(k, m=m) if privacy is None else PrivacyConstraints(k, privacy)  # type: ignore[arg-type]


model = Model(
    name="constraints",
    title="privacy constraints",
    make=_make,
    options={
        "k": K,
        "privacy": Option(
            Itemsets(),
            "Itemsets to protect: a file; all (with --m: all m-itemsets); pgen (what protects every row).",
            needed=True,
        ),
        "m": Option(
            Integer(1), "With --privacy all: size of the itemsets.", short="m", only_with=("privacy", "all")
        ),
    },
    algorithm="coat",
    words=Words(
        parameters=("k", "m", "itemsets"),
        promise=_promise,
        fulfilled=_fulfilled,
        broken=_broken,
        not_covered=_not_covered,
        reading=lambda g: [("k:", f"how many rows must fit, here {count(g['k'])}.")],
        violation=_violation,
        beyond=lambda _: [],
        known="m",
    ),
    family="rows",
    axes={"k": "rows that fit at least (k)", "m": "what someone may know (m)"},
    example={"k": 2, "privacy": "all", "m": 2},
    knows=("image",),
    counts=True,
)
