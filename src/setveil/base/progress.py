"""How long work tells what it is doing and hears that it should end, without knowing from whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast


class Progress(Protocol):
    """A listener for long work.

    Attributes
    ----------
    stoppable : bool
        Set by the work: whether it could end early with what it has so far.
    """

    stoppable: bool

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear that `phase` is under way, `done` (0..1) of it finished (None: not known)."""

    def stop_requested(self) -> bool:
        """Whether work that could end early should do so."""


class _Silent:
    stoppable = False

    def __call__(self, phase: str, done: float | None = None) -> None:
        pass

    def stop_requested(self) -> bool:
        return False


silent = _Silent()


class _Listener(_Silent):
    def __init__(self, hear: Callable[[str, float | None], None]) -> None:
        self.hear = hear

    def __call__(self, phase: str, done: float | None = None) -> None:
        self.hear(phase, done)


def listener(progress: Progress | Callable[[str, float | None], None]) -> Progress:
    """Make a plain function of phase and share done into a listener that never requests a stop."""
    return cast(Progress, progress) if hasattr(progress, "stop_requested") else _Listener(progress)
