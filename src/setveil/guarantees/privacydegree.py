"""Privacy degree: how surely a sensitive item cannot be tied to a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import item_order
from setveil.errors import DataError, InfeasibleError, RequestError, listed, shorten


@dataclass(frozen=True)
class PrivacyDegree:
    """In every published group, at most one row in p holds any one sensitive item.

    Rows are published in groups: their other items (the quasi-identifiers) as they are, of the sensitive ones
    only how often each occurs in the group. So even who knows all other items of a person can say of no
    sensitive item that this person has it with a probability above 1/p.

    Parameters
    ----------
    p : int
        At least 2.
    sensitive : tuple of str
        The sensitive items, kept without repeats in item order; other iterables and integers are taken, too.
        Empty: those that a release names itself (to verify one).

    References
    ----------
    Ghinita, Tao, Kalnis, "On the Anonymization of Sparse High-Dimensional Data", ICDE 2008, section 2,
    doi:10.1109/ICDE.2008.4497480

    Examples
    --------
    >>> PrivacyDegree(10, ("pregnancy test",)).phrase
    'privacy degree 10'
    """

    p: int
    sensitive: tuple[str, ...] = ()

    model: ClassVar[str] = "privacy-degree"

    def __post_init__(self) -> None:
        if isinstance(self.p, bool) or not isinstance(self.p, Integral) or self.p < 2:
            raise RequestError(f"p must be an integer of at least 2, got {self.p!r}.")
        object.__setattr__(self, "p", int(self.p))  # numpy's integers are fine, but JSON does not know them
        object.__setattr__(self, "sensitive", _labels(self.sensitive))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameter."""
        return f"privacy degree {self.p}"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types."""
        return {"model": self.model, "p": self.p, "sensitive": list(self.sensitive)}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that cannot be published in groups of this privacy degree, or not with any use.

        Raises
        ------
        RequestError
            If no item is named as sensitive, or all items are.
        DataError
            If a sensitive item does not occur in the data.
        InfeasibleError
            If a sensitive item is in more than one row of p: so it is in every group at best.
        """
        if not self.sensitive:
            raise RequestError("No sensitive item is named, expected at least one.")
        if data.n_items == 0:
            return  # rows without items have nothing to hide
        ids = data.vocabulary.ids
        unknown = [label for label in self.sensitive if label not in ids]
        if unknown:
            some = "is" if len(unknown) == 1 else f"are {len(unknown):,}"
            raise DataError(
                f"Among the sensitive items {some} not in the data: {listed(unknown)}.",
                hint="Name items exactly as in the data.",
            )
        if len(self.sensitive) == data.n_items:
            raise RequestError(
                f"All {data.n_items:,} items of the data are sensitive: no other is left to be published.",
                hint="Name as sensitive only what must not be tied to a person.",
            )
        supports = data.supports()[[ids[label] for label in self.sensitive]]
        worst = int(np.argmax(supports))  # the first in item order
        if supports[worst] * self.p > data.n_rows:
            greatest = data.n_rows // int(supports[worst])
            label = shorten(self.sensitive[worst])
            raise InfeasibleError(
                f"{self.phrase} cannot be reached: {label} is in {supports[worst]:,} of {data.n_rows:,} "
                f"rows, more than one in p = {self.p}.",
                hint=f"The greatest p that can be reached is {greatest}."
                if greatest >= 2
                else f"No p of at least 2 can be reached while {label} is sensitive.",
            )


def _labels(sensitive: Iterable[object]) -> tuple[str, ...]:
    if isinstance(sensitive, str | bytes) or not isinstance(sensitive, Iterable):
        raise RequestError(f"sensitive must be a collection of items, got {sensitive!r}.")
    labels = set()
    for item in sensitive:
        if isinstance(item, Integral) and not isinstance(item, bool):
            labels.add(str(int(item)))
        elif isinstance(item, str) and item:
            labels.add(item)
        else:
            raise RequestError(f"A sensitive item must be a non-empty string or an integer, got {item!r}.")
    return tuple(item_order(labels))
