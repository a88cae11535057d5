"""Noise, and what it costs, by OpenDP: nothing here draws or accounts by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

from setveil.base.errors import RequestError
from setveil.base.version import install


@dataclass(frozen=True)
class Spent:
    """What one line of a release cost."""

    epsilon: Fraction  # what OpenDP's map returns, rounded upwards to 12 digits
    distance: int  # by how much one row can change what noise is added to
    scale: float  # of the noise


class Noise(Protocol):
    """What adds noise to counts, and says what that costs."""

    def laplace(self, counts: Sequence[int], distance: int, budget: Fraction) -> tuple[list[int], Spent]:
        """Add noise to counts that one row changes by `distance` in all."""

    def greatest(self, counts: Sequence[int], number: int, budget: Fraction) -> tuple[list[int], Spent]:
        """Find the places of the greatest counts, best first; one row raises each by one at most."""


class OpenDP:
    """OpenDP's noise, of the operating system's randomness: it has no seed."""

    def __init__(self) -> None:
        try:
            import opendp.prelude as dp
        except ImportError:
            raise RequestError(
                "dp-blocks draws its noise by the library OpenDP, which is not installed.",
                hint=install("dp"),
            ) from None
        dp.enable_features("contrib")
        self._dp: Any = dp
        self._counts = dp.vector_domain(dp.atom_domain(T=int))

    def laplace(self, counts: Sequence[int], distance: int, budget: Fraction) -> tuple[list[int], Spent]:
        """Add noise to counts that one row changes by `distance` in all."""
        metric = self._dp.l1_distance(T=int)

        def made(scale: float) -> Any:
            return self._dp.m.make_laplace(self._counts, metric, scale=scale)

        mechanism, spent = _within(made, distance, distance, budget)
        return [int(one) for one in mechanism(list(counts))], spent

    def greatest(self, counts: Sequence[int], number: int, budget: Fraction) -> tuple[list[int], Spent]:
        """Find the places of the greatest counts, best first; one row raises each by one at most."""
        metric = self._dp.linf_distance(T=int, monotonic=True)

        def made(scale: float) -> Any:
            return self._dp.m.make_noisy_top_k(
                self._counts, metric, self._dp.max_divergence(), k=number, scale=scale
            )

        mechanism, spent = _within(made, 1, number, budget)
        return [int(one) for one in mechanism(list(counts))], spent


def _within(made: Any, distance: int, times: int, budget: Fraction) -> tuple[Any, Spent]:
    """Make a mechanism of the least scale that costs no more than a budget, as OpenDP counts it.

    Budgets are rounded downwards to 12 digits, and costs upwards, so that those of decimal numbers add up.
    """
    granted = Fraction(_DOWN.divide(Decimal(budget.numerator), Decimal(budget.denominator)))
    try:
        scale = float(times / granted)
    except OverflowError:
        scale = math.inf
    if not 0 < scale < _MOST:
        raise RequestError(
            f"The noise for a budget of {float(budget):g} has no size that can be computed with.",
            hint="Give an --epsilon between 0.000001 and 1,000,000.",
        )
    while True:
        mechanism = made(scale)
        epsilon = Fraction(_UP.create_decimal_from_float(float(mechanism.map(distance))))
        if epsilon <= granted:
            return mechanism, Spent(epsilon, distance, scale)
        scale = math.nextafter(scale, math.inf)


_MOST = 1e12
_DOWN, _UP = (Context(prec=12, rounding=how) for how in (ROUND_FLOOR, ROUND_CEILING))
