"""The demands of a guarantee about sensitive items, of any model."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from setveil.base.errors import RequestError
from setveil.methods.algorithms.exact._hidings import ITEMS, NOTHING, OCCURRENCES
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Promise:
    """The demands on a release, of any model."""

    k: int
    m: int | float
    rho: Fraction
    sensitive: tuple[str, ...]
    is_known: bool  # whether sensitive items may be known
    hide: str  # how they may be left out (see `Sensitive`)
    phrase: str


def promise_of(guarantee: Any, parameters: Exact) -> Promise:
    """Say what a guarantee demands, and how sensitive items may be suppressed."""
    phrase = guarantee.phrase
    if guarantee.model == "coherence":
        if parameters.hide is not None:
            raise RequestError("Coherence leaves public items out, never private ones.", hint="Omit --hide.")
        return Promise(guarantee.k, guarantee.p, guarantee.h, guarantee.private, False, NOTHING, phrase)
    any_size = guarantee.model == "rho-uncertainty"
    is_known = any_size or guarantee.knows == "any"
    if is_known and parameters.hide == OCCURRENCES:
        raise RequestError(
            "Single occurrences of sensitive items cannot be hidden from attackers who may know sensitive "
            "items: hiding one would change how many rows fit what is known.",
            hint="Choose --hide items, or --knows public.",
        )
    hide = parameters.hide or (ITEMS if is_known else OCCURRENCES)
    k, m = (1, inf) if any_size else (guarantee.k, guarantee.m)
    return Promise(k, m, guarantee.rho, guarantee.sensitive, is_known, hide, phrase)


def flat_hierarchy(data: Transactions) -> Hierarchy:
    """Make the hierarchy that has nothing above the items of the data but a root."""
    root = "*"
    while root in data.vocabulary.ids:
        root += "*"
    return Hierarchy({**dict.fromkeys(data.vocabulary.labels, root), root: None})
