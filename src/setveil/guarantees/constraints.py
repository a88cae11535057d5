"""Privacy constraints: itemsets that must not single out anybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError, RequestError


@dataclass(frozen=True)
class PrivacyConstraints:
    """No part of what is published of a protected itemset occurs in some row, but in fewer than k rows.

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
    '5-protection of 2 itemsets'
    >>> PrivacyConstraints(5, m=2).phrase
    '5-protection of all 2-itemsets'
    """

    k: int
    itemsets: Sequence[Sequence[str]] | None = None
    m: int | None = None

    model: ClassVar[str] = "constraints"

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < 2:
            raise RequestError(f"k must be an integer of at least 2, got {self.k!r}.")
        object.__setattr__(self, "k", int(self.k))
        if (self.itemsets is None) == (self.m is None):
            raise RequestError(
                "Privacy constraints are either itemsets or a size m, expected one of the two.",
                hint="m=2 protects all itemsets of two items.",
            )
        if self.itemsets is None:
            if isinstance(self.m, bool) or not isinstance(self.m, Integral) or self.m < 1:
                raise RequestError(f"m must be an integer of at least 1, got {self.m!r}.")
            object.__setattr__(self, "m", int(self.m))
        else:
            object.__setattr__(self, "itemsets", _itemsets(self.itemsets))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        if self.itemsets is None:
            return f"{self.k}-protection of all {self.m}-itemsets"
        return f"{self.k}-protection of {len(self.itemsets):,} itemset{'s' * (len(self.itemsets) != 1)}"

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
        if filled == 0 or filled >= self.k or not self._concern(data):
            return
        rows = f"the data have {data.n_rows:,} rows"
        if filled < data.n_rows:
            rows += f", of which {filled:,} hold any item"
        nearest = f"The greatest k that can be reached is {filled}." if filled >= 2 else ""
        raise InfeasibleError(
            f"{self.phrase} cannot be reached: {rows}, and fewer than k = {self.k} rows hide nobody.",
            hint=nearest or "At least two non-empty rows are needed for any k.",
        )

    def _concern(self, data: Transactions) -> bool:
        if self.itemsets is None:
            return True
        supports = data.supports()
        ids = data.vocabulary.ids
        return any(item in ids and supports[ids[item]] for itemset in self.itemsets for item in itemset)


def _itemsets(itemsets: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    if isinstance(itemsets, str):
        raise RequestError(f"The itemsets are the text {itemsets!r}, expected a collection of itemsets.")
    out = []
    for number, itemset in enumerate(itemsets, 1):
        if isinstance(itemset, str):
            raise RequestError(
                f"Itemset {number} is the text {itemset!r}, expected a collection of items.",
                hint="Split it first, or wrap a single item in a list.",
            )
        items = tuple(dict.fromkeys(itemset))
        if not items or not all(isinstance(item, str) and item for item in items):
            raise RequestError(f"Itemset {number} is {items!r}, expected at least one item, each a string.")
        out.append(items)
    return tuple(out)
