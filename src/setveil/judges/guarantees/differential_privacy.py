"""Differential privacy: without any one person's row, the release would hardly be less likely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import RequestError, described
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Positive
from setveil.base.values.numbers import as_json, fraction, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Words

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


LEAST, MOST = Fraction(1, 10**6), Fraction(10**6)


@dataclass(frozen=True, init=False)
class DifferentialPrivacy(Guarantee):
    """A release is as likely, up to a factor of e^epsilon, if a row is added or removed.

    A guarantee about how a release is made, not about what is in it: noise that was drawn as it should be
    cannot be distinguished from other noise. A row is a person; several rows of one person must be merged
    before.

    Parameters
    ----------
    epsilon : number or str
        From 0.000001 to 1,000,000, taken as written.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006,
    doi:10.1007/11681878_14

    Examples
    --------
    >>> DifferentialPrivacy(epsilon="1/2").phrase
    'differential privacy (epsilon=0.5)'
    """

    epsilon: Fraction

    model: ClassVar[str] = "differential-privacy"

    def __init__(self, epsilon: Fraction | float | str) -> None:
        found = fraction(epsilon)
        if found is None or found <= 0:
            raise RequestError(f"epsilon must be a number above 0, got {described(epsilon)}.")
        if not LEAST <= found <= MOST:
            raise RequestError(
                f"epsilon must be a number from {float(LEAST):f} to {int(MOST):,}, got {described(epsilon)}.",
                hint="Small is strong; 1 is usual.",
            )
        object.__setattr__(self, "epsilon", found)

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameter."""
        return f"differential privacy (epsilon={written(self.epsilon)})"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameter as JSON types (epsilon as text if it is no decimal)."""
        return {"model": self.model, "epsilon": as_json(self.epsilon)}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse nothing: any data can be published so."""


# --- in words


def factor(epsilon: object) -> str:
    """Write the factor by which chances may differ."""
    try:
        return f"{math.exp(float(Fraction(str(epsilon)))):.3g}"
    except OverflowError:
        return "beyond all numbers"


def _plain(epsilon: object) -> str:
    return written(Fraction(str(epsilon)))


_FAILURES = {
    "epsilon": "the lines spend {found} in all, more than {need}",
    "scale": "the noise of the line {where} has scale {found}, less than the {need} that its epsilon needs",
    "distance": "one row can change the line {where} by {need}, not by {found}",
    "item": "{where} is in more than one block",
    "cells": "block {where} has {found} cells, not {need}",
    "rows": "{where} contains {found} rows, where {need} follow from the noisy counts",
}


def violation_words(entry: Facts) -> str:
    """Say in one line what does not add up."""
    return _FAILURES[entry["kind"]].format(**entry)


model = Model(
    name="differential-privacy",
    title="differential privacy",
    make=DifferentialPrivacy,
    options={
        "epsilon": Option(
            Positive(),
            "Privacy budget: limit of the influence of any row on the release, such as 1.",
            needed=True,
        ),
    },
    algorithm="dp-blocks",
    words=Words(
        parameters=("epsilon",),
        promise=lambda g: (
            "What is published would have come out with nearly the same chance, but for a factor of "
            f"{factor(g['epsilon'])} at most, if any one person's row were not in the data or another one "
            "were."
        ),
        fulfilled=lambda g: (
            f"the account adds up, {_plain(g['spent'])} of {_plain(g['epsilon'])} is spent; that the noise "
            "was drawn as it should be, they cannot show"
        ),
        broken=lambda g: count(g["violations"], "entry", "entries") + " of the account do not add up",
        not_covered=lambda _: [
            (
                "Several rows of one person.",
                "The guarantee is about a row. Who has more than one is protected less; merge them before.",
            ),
            (
                "Further releases.",
                "Each one, and each draw of a study, adds its epsilon to the total for the same people.",
            ),
            (
                "What is true of many.",
                "What holds for people in general can be learned, and applied to someone who is not even in "
                "the data.",
            ),
        ],
        reading=lambda g: [
            (
                "epsilon:",
                f"by how much the chance of any outcome may depend on one row: by a factor of "
                f"{factor(g['epsilon'])} for {_plain(g['epsilon'])}. Small is strong; above 10 little is "
                "guaranteed.",
            )
        ],
        violation=violation_words,
        beyond=lambda g: [
            f"spent: {_plain(g['spent'])}; that the noise was drawn as it should be, no file can show"
        ],
        recounted=False,
    ),
    family="noise",
    axes={"epsilon": "privacy budget (epsilon)"},
    example={"epsilon": 1},
    release="blocks",
)
