"""Privacy models: what a release promises. `verify` checks the promise from published rows alone."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from setveil.data.transactions import Transactions


class Guarantee(Protocol):
    """What the classes in this folder have in common: frozen dataclasses of a model's parameters."""

    model: ClassVar[str]

    @property
    def phrase(self) -> str:
        """Short name of the guarantee with its parameters."""

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that no release can protect so (`InfeasibleError`), as far as that is plain."""

    def as_dict(self) -> dict[str, Any]:
        """Return `model` and the parameters as JSON types ("inf" for infinity)."""
