"""Verifiers, one per privacy model: from published rows to a verdict, by no algorithm's code."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from setveil.errors import RequestError
from setveil.guarantees import Guarantee

MODELS = {
    "km-anonymity": "km:verify_km",
    "k-anonymity": "kanonymity:verify_kanonymity",
    "constraints": "constraints:verify_constraints",
    "coherence": "coherence:verify_coherence",
    "privacy-degree": "privacydegree:verify_privacydegree",
}


_KNOWS = {"constraints": ("image",), "privacy-degree": ("original",)}


class Verdict(Protocol):
    """What the verdicts of all verifiers have in common."""

    @property
    def holds(self) -> bool:
        """Whether the guarantee holds. Always certain."""

    @property
    def violations(self) -> int:
        """How often it is broken."""

    def found(self) -> dict[str, Any]:
        """Return what else was found, as JSON types."""

    def as_dict(self) -> dict[str, Any]:
        """Return guarantee, outcome, first violations and findings as JSON types."""


def must_know(model: str) -> tuple[str, ...]:
    """Name what a model's verifier takes besides the published rows.

    `image`: the label that each item is published as. `original`: the rows before.
    """
    return _KNOWS.get(model, ())


def verify(published: Any, guarantee: Guarantee, **more: Any) -> Verdict:
    """Check a guarantee from what is published alone.

    Parameters
    ----------
    published : Transactions or PublishedGroups
        The published rows; each label is taken as one item, whatever it stands for.
    guarantee : KmAnonymity, TransactionalKAnonymity, PrivacyConstraints, Coherence or PrivacyDegree
        What was promised.
    **more
        `show`: how many violations to list (10); `progress`; and what the model's own verifier takes.

    Returns
    -------
    Verdict
        With counterexamples.

    Raises
    ------
    RequestError
        If there is no verifier for the guarantee.
    """
    home = MODELS.get(getattr(guarantee, "model", ""))
    if home is None:
        raise RequestError(f"There is no verifier for {type(guarantee).__name__}.")
    module, _, function = home.partition(":")
    verdict: Verdict = getattr(importlib.import_module(f"{__name__}.{module}"), function)(
        published, guarantee, **more
    )
    return verdict
