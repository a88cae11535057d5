"""k^m-anonymity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError, RequestError


@dataclass(frozen=True)
class KmAnonymity:
    """Every non-empty set of at most m published items occurs in no row or in at least k rows.

    So nobody who knows m items of a person can narrow that person down to fewer than k rows.

    Parameters
    ----------
    k : int
        At least 2.
    m : int or float
        At least 1, or `math.inf` (k^∞: as many items as the longest row has).

    References
    ----------
    Terrovitis, Mamoulis, Kalnis, "Privacy-preserving Anonymization of Set-valued Data", VLDB 2008, section 3,
    doi:10.14778/1453856.1453874 (which says "more than k"; k or more is meant and used by all).

    Examples
    --------
    >>> KmAnonymity(k=5, m=2).phrase
    '5^2-anonymity'
    """

    k: int
    m: int | float = 2

    model: ClassVar[str] = "km-anonymity"

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < 2:
            raise RequestError(f"k must be an integer of at least 2, got {self.k!r}.")
        if isinstance(self.m, bool) or not (
            self.m == math.inf or (isinstance(self.m, Integral) and self.m >= 1)
        ):
            raise RequestError(f"m must be an integer of at least 1, or inf, got {self.m!r}.")
        object.__setattr__(self, "k", int(self.k))  # numpy's integers are fine, but JSON does not know them
        object.__setattr__(self, "m", math.inf if self.m == math.inf else int(self.m))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        return f"{self.k}^{'∞' if self.m == math.inf else self.m}-anonymity"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for an infinite m)."""
        return {"model": self.model, "k": self.k, "m": "inf" if self.m == math.inf else self.m}

    def size_limit(self, data: Transactions) -> int:
        """Size of the largest itemset to look at: m, or the longest row if that is shorter."""
        longest = int(data.row_lengths().max(initial=0))
        return int(min(self.m, longest))

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that no generalization can make k^m-anonymous.

        Raises
        ------
        InfeasibleError
            If there are non-empty rows, but fewer than k: even one label for everything has a smaller
            support.
        """
        filled = int((data.row_lengths() > 0).sum())
        if 0 < filled < self.k:
            rows = f"the data have {data.n_rows:,} rows"
            if filled < data.n_rows:
                rows += f", of which {filled:,} hold any item"
            nearest = f"The greatest k that can be reached is {filled}." if filled >= 2 else ""
            raise InfeasibleError(
                f"{self.phrase} cannot be reached: {rows}, and fewer than k = {self.k} rows hide nobody.",
                hint=nearest or "At least two non-empty rows are needed for any k.",
            )
