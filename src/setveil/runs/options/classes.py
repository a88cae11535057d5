"""Which requests for classes are rejected, and what to use instead: said once, for all who ask."""

from __future__ import annotations

from setveil.base.errors import RequestError, faces
from setveil.judges.guarantees import model_named

GIVE = ("km-anonymity", "km-rho")
SOLVER = "exact"  # what each class is recoded by
NAME = "classes"

_MODELS = {
    "rho-uncertainty": "it protects from those who know any items, sensitive ones too, and counts with the "
    "rows would tell more of these",
    "coherence": "its private items are all published, so that a class cut on public ones would say how they "
    "go together",
    "constraints": "its constraints are about supports of itemsets in all rows, which classes would divide",
    "k-anonymity": "its rows are alike by themselves already, each group of them a class",
    "privacy-degree": "its rows are in groups of their own, whose items are published as they are",
    "kkm": "the classes of a table are made by its columns",
    "mixed-km": "the classes of a table are made by its columns",
}
_INSTEAD = "Omit --classes, or guarantee k^m-anonymity or (k,rho)^m-anonymity (--rho)."


def require_classes(algorithm: str | None, model: str) -> None:
    """Refuse classes for a model or an algorithm that cannot have them, with the reason."""
    if model not in GIVE:
        reason = _MODELS.get(model, "it is another kind of guarantee")
        raise RequestError(f"--classes: {model_named(model).title} has no classes: {reason}.", hint=_INSTEAD)
    if algorithm not in (None, NAME, SOLVER):
        raise RequestError(
            f"--classes: each class is recoded by {SOLVER}, which may suppress items and proves that it "
            f"loses the least, not by {algorithm}.",
            hint=faces("Omit --algorithm.", "Omit algorithm."),
        )


def engine_refused(engine: str) -> str:
    """Say why an engine cannot make classes."""
    return f"--classes needs all rows in memory: --engine {engine} has a part of them at a time."
