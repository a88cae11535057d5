"""Verifiers, one per privacy model: from published files to a verdict, by no algorithm's code.

The function ``verify_x`` in ``guarantees/verify/x.py`` checks the model of ``guarantees/x.py``; a label is
one item, whatever it represents. The tests check verifiers against plain Python that tries every set. A
verdict that is not `complete` stopped counting early: the true `greatest_k` may be smaller, `greatest_m` and
confidences greater, and there may be more violations. `holds` is certain nevertheless.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

from setveil.base.errors import RequestError, described
from setveil.judges.guarantees import Guarantee, class_names, model_named, module_of, names
from setveil.judges.guarantees.verify.counts import CountsVerdict

_WIDTH = 120  # of a violation


class Verdict:
    """What the verdicts of all verifiers have in common: whether a guarantee holds, and what breaks it.

    Attributes
    ----------
    guarantee : KmAnonymity, TransactionalKAnonymity, PrivacyConstraints, Coherence or PrivacyDegree
        What was asked.
    holds : bool
        Whether it holds. Always certain.
    violations : int
        How often it is broken.
    first : tuple
        The first violations.
    counts : CountsVerdict or None
        What the check of the counts next to the rows found, where there are any.

    Examples
    --------
    >>> import setveil as sv
    >>> verdict = sv.verify([["tea"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
    >>> verdict.holds, verdict.violations, verdict.first
    (False, 1, ((('milk',), 1),))
    """

    guarantee: Any
    holds: bool
    violations: int
    first: Any
    counts: CountsVerdict | None = None

    @property
    def phrase(self) -> str:
        """Name of what was asked, with its parameters."""
        phrase: str = self.guarantee.phrase
        return phrase

    def found(self) -> dict[str, Any]:
        """Return what else was found, as JSON types."""
        raise NotImplementedError

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return guarantee, outcome, first violations and findings as JSON types ("inf" for infinity)."""
        return {
            **self.guarantee.as_dict(),
            "holds": self.holds,
            "violations": self.violations,
            "first": self.listed(),
            **self.found(),
            **({} if self.counts is None else {"counts": self.counts.as_dict()}),
        }

    def with_counts(self, counts: CountsVerdict) -> Self:
        """Return the verdict on the rows and the counts next to them: it holds only if both do."""
        whole = copy(self)
        object.__setattr__(whole, "counts", counts)
        object.__setattr__(whole, "holds", self.holds and counts.holds)
        return whole

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        phrase = self.phrase
        if self.holds:
            return f"Yes: {phrase} holds."
        if not self.violations and self.counts is not None:
            return f"No: the counts published with the rows are wrong, {self.counts.first[0]}."
        broken = model_named(self.guarantee.model).words.broken(self.as_dict())
        return f"No: {phrase} does not hold, {broken}."

    def _repr_html_(self) -> str:
        from setveil.base.notebook import ROWS, card

        words, record = model_named(self.guarantee.model).words, self.as_dict()
        entries = [words.violation(entry) for entry in record["first"][:ROWS]]
        cut = [entry if len(entry) <= _WIDTH else f"{entry[: _WIDTH - 1]}…" for entry in entries]
        return card(repr(self), enumerate(cut, 1), "; ".join(words.beyond(record)))


@dataclass(frozen=True, repr=False)
class PlainVerdict(Verdict):
    """The verdict of a guarantee that a plugin defines; it holds if there are no violations."""

    guarantee: Guarantee
    violations: int
    # the first violations, of JSON types that the model's `words` can read
    first: tuple[Mapping[str, Any], ...] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)  # everything else, of JSON types
    holds: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", self.violations == 0)

    def found(self) -> dict[str, Any]:
        """Return the findings."""
        return dict(self.findings)

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations."""
        return [dict(entry) for entry in self.first]


def require_guarantee(guarantee: Any) -> Guarantee:
    """Refuse what is no guarantee of any model."""
    model = getattr(guarantee, "model", None)
    if isinstance(guarantee, type) or not isinstance(model, str) or model not in names():
        raise RequestError(
            f"The guarantee must be a KmAnonymity or another model's, got {described(guarantee)}.",
            hint="Such as setveil.KmAnonymity(k=5, m=2). There are "
            f"{', '.join(f'setveil.{name}' for name in class_names())}.",
        )
    return guarantee  # type: ignore[no-any-return]


def verify(published: Any, guarantee: Guarantee, **more: Any) -> Verdict:
    """Check a guarantee by the verifier of its model, which gets `more` (see `setveil.verify`)."""
    module = module_of(require_guarantee(guarantee).model)
    package, _, name = module.__name__.rpartition(".")
    if package != Guarantee.__module__:  # of someone else
        check = module.verify
    else:
        check = getattr(importlib.import_module(f"{__name__}.{name}"), f"verify_{name}")
    verdict: Verdict = check(published, guarantee, **more)
    return verdict
