"""Verifiers, one per privacy model: from published rows to a verdict, by no algorithm's code.

The verifier of the model in ``guarantees/x.py`` is the function ``verify_x`` in ``guarantees/verify/x.py``.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from setveil.errors import RequestError
from setveil.guarantees import Guarantee, models, module_of


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
    if getattr(guarantee, "model", None) not in models():
        raise RequestError(f"There is no verifier for {type(guarantee).__name__}.")
    name = module_of(guarantee.model)
    check = getattr(importlib.import_module(f"{__name__}.{name}"), f"verify_{name}")
    verdict: Verdict = check(published, guarantee, **more)
    return verdict
