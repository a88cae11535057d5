"""Random problems whose sensitive items must not be learned, for the exact algorithm and its slow twin."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from random import Random
from typing import Any

import pytest

import setveil as sv
from naive import coherence as by_moles
from naive import exact_rho as naive
from naive.anonymize import Tree
from naive.exact_rho import ITEMS, NOTHING, OCCURRENCES, Promise, Terms
from naive.km import Rows
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import ALPHABETS, random_rows, random_tree, transactions

RHOS = ("1/2", "1/2", "1/3", "1/5", "2/5", "2/3", "0.3", "3/4", "9/10", "1")
WEIGHTS = (0, 1, 2, 7, Fraction(1, 3), Fraction(5, 7), 0.3, 0.1, 1.5, 1e-3)
SHARES = (0, 0.05, 0.1, 0.2, 0.3, 0.5, Fraction(1, 3))
OBJECTIVES = ("ncp", "lm", "items")


@dataclass(frozen=True)
class Problem:
    """Rows, an optional hierarchy, the guarantee, and the objective."""

    rows: Rows
    tree: Tree | None
    promise: Promise
    terms: Terms = field(default_factory=Terms)
    model: str = "km-rho"

    @property
    def guarantee(self) -> Any:
        promise = self.promise
        if self.model == "coherence":
            return sv.Coherence(promise.rho, promise.k, promise.m, promise.sensitive)
        if self.model == "rho-uncertainty":
            return sv.RhoUncertainty(promise.rho, promise.sensitive)
        return sv.KmRho(promise.k, promise.m, promise.rho, promise.sensitive, promise.knows)

    @property
    def public_rows(self) -> list[frozenset[str]]:
        return by_moles.without(self.rows, self.promise.sensitive)

    def least_loss(self) -> tuple[Fraction | None, naive.Found | None]:
        promise = self.promise
        if self.model == "coherence":
            return naive.coherence(
                self.rows, self.tree, promise.rho, promise.k, promise.m, promise.sensitive, self.terms
            )
        if self.model == "km-rho" and 0 < sum(map(bool, self.public_rows)) < promise.k:
            return None, None  # who holds a public item cannot be hidden: refused
        return naive.least_loss(self.rows, self.tree, promise, self.terms)

    @property
    def hierarchy(self) -> Hierarchy | None:
        return None if self.tree is None else Hierarchy(self.tree)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the exact algorithm."""
        terms = self.terms
        return {
            "hide": None if terms.hide == NOTHING else terms.hide,
            "suppress": terms.suppress,
            "objective": terms.objective,
            "weights": terms.weights,
            "keep": terms.keep,
            "max_suppressed": terms.max_suppressed,
        }

    def solve(self, **more: Any) -> sv.VerifiedRelease:
        return sv.anonymize(
            transactions(self.rows),
            self.guarantee,
            hierarchy=self.hierarchy,
            algorithm="exact",
            details=False,
            **self.parameters,
            **more,
        )


# The guarantee, the items hidden for it, and the treatment of public items.
SETTINGS = {
    "occurrences": ("km-rho", "public", OCCURRENCES, True),
    "items": ("km-rho", "public", ITEMS, True),
    "any known": ("km-rho", "any", ITEMS, True),
    "rho-uncertainty": ("rho-uncertainty", "any", ITEMS, True),
    "coherence": ("coherence", "public", NOTHING, True),
    "coherence without hierarchy": ("coherence", "public", NOTHING, False),
}
EVERY_SETTING = pytest.mark.parametrize("setting", SETTINGS)


def draw_problem(rng: Random, setting: str, most_public: int = 6, most_rows: int = 9) -> Problem:
    """Draw a problem; each term in some, so that many have none and few have all."""
    model, knows, hide, has_tree = SETTINGS[setting]
    alphabet = rng.choice(ALPHABETS)
    n_public = rng.randint(max(1, most_public - 2), most_public) if rng.random() < 0.8 else rng.randint(1, 3)
    items = rng.sample(alphabet, n_public + rng.choice((1, 2, 2, 2, 3) if rng.random() < 0.95 else (0,)))
    public, sensitive = items[:n_public], items[n_public:]
    while True:
        occurring = rng.sample(items, rng.randint(max(1, len(items) - 1), len(items)))
        rows = random_rows(rng, occurring, rng.randint(0, most_rows), rng.choice((2, 3, 4)))
        if rng.random() < 0.4:  # rows that are alike do not fall to k
            rows = (rows * 3)[:most_rows]
        if any(row & set(public) for row in rows) or not any(rows):
            break
    named = items if has_tree else sorted(set(chain.from_iterable(rows)))
    promise = Promise(
        k=1 if model == "rho-uncertainty" else rng.choice((1, 2, 2, 2, 3)),
        m=math.inf if model == "rho-uncertainty" else rng.choice((1, 2, 2, 2, 3, math.inf)),
        rho=Fraction(rng.choice(RHOS[-4:] if model == "coherence" and rng.random() < 0.7 else RHOS)),
        sensitive=tuple(x for x in rng.sample(sensitive, len(sensitive)) if x in named),
        knows=knows,
    )
    suppress = not has_tree or rng.random() < 0.75
    weighed = rng.sample(named, rng.randint(0, len(named))) if rng.random() < 0.4 else []
    terms = Terms(
        hide,
        rng.choice([x for x in OBJECTIVES if (hide, x) != ("occurrences", "items")]),
        suppress,
        weights={item: rng.choice(WEIGHTS) for item in weighed},
        keep=tuple(rng.sample(named, min(rng.randint(1, 2), len(named)))) if rng.random() < 0.25 else (),
        max_suppressed=rng.choice(SHARES) if suppress and rng.random() < 0.3 else None,
    )
    return Problem(rows, random_tree(rng, items) if has_tree else None, promise, terms, model)
