"""When long work shall have ended: at a time, or as soon as someone asks for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from setveil.base.progress import Progress, silent

Clock = Callable[[], float]  # tells seconds that only rise


class Deadline:
    """The end of some work, which others share: `seconds` from its beginning, `end` by the clock, or inf."""

    def __init__(
        self, seconds: float | None = None, progress: Progress = silent, *, clock: Clock | None = None
    ) -> None:
        """Begin now, and end after this many seconds (None: never), or when the listener asks for it."""
        self.clock, self.progress = clock or time.monotonic, progress
        self.begun = self.clock()
        self.seconds = math.inf if seconds is None else seconds
        self.end = self.begun + self.seconds

    @property
    def left(self) -> float:
        """Seconds that are left, below 0 if it is over."""
        return self.end - self.clock()

    @property
    def passed(self) -> float:
        """Seconds since it began."""
        return self.clock() - self.begun

    @property
    def is_over(self) -> bool:
        """Whether the work shall end."""
        return self.left <= 0 or self.progress.stop_requested()

    def part(self, number: float) -> Deadline:
        """Make a deadline for the first of this many pieces of work, which share what is left evenly."""
        seconds = None if self.end == math.inf else max(self.left, 0.0) / number
        return Deadline(seconds, self.progress, clock=self.clock)
