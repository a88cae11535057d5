"""How long work tells what it is doing, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A listener for long work."""

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear that `phase` is under way, `done` (0..1) of it finished (None: not known)."""


def silent(phase: str, done: float | None = None) -> None:
    """Listen to nothing."""
