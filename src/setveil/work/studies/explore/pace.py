"""How the time of an exploration is dealt out, and how its end is kept."""

from __future__ import annotations

from setveil.base.deadline import Deadline
from setveil.base.errors import UnfinishedError

LEAST_LIMIT = 0.1  # seconds for the search of one release


class OutOfTimeError(UnfinishedError):
    """The time for everything is over: what is under way is given up."""


class EndingProgress:
    """Passes on what work tells, and gives the work up when the time for everything is over."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline, self.progress = deadline, deadline.progress
        self.stoppable = False  # of one piece of work; all together can be stopped anyway

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear what is under way."""
        self.require_time()
        self.progress(phase, done)

    def stop_requested(self) -> bool:
        """Whether all of it should end."""
        return self.progress.stop_requested()

    def require_time(self) -> None:
        """Give up what is under way if the time for everything is over."""
        if self.deadline.left <= 0:
            raise OutOfTimeError("The time for everything is over.")


class Pace:
    """Divides the time left until `deadline` among the guarantees left.

    What follows a search (verifying, measuring) is expected to take as long as for the guarantee before that
    covers as many known items, or else as the longest of those that cover fewer.
    """

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self._after: dict[int | float, float] = {}  # seconds beyond the limit of the last search, by m
        self._begun = 0.0

    def expected(self, m: int | float) -> float:
        """Expect how long a guarantee about m items takes beyond its search."""
        fewer = [seconds for other, seconds in self._after.items() if other < m]
        return self._after.get(m, max(fewer, default=0.0))

    def has_time(self, m: int | float) -> bool:
        """Whether another guarantee can be looked at."""
        if self.deadline.is_over:
            return False
        return self.deadline.left >= self.expected(m)

    def begin(self, m: int | float, number: int) -> float:
        """Begin with one of this many guarantees that are left, and say how long its search may take."""
        self._begun = self.deadline.passed
        return max(self.deadline.left / number - self.expected(m), LEAST_LIMIT)

    def searched(self, limit: float) -> None:
        """Hear that the search has ended that might have taken this many seconds."""
        now = self.deadline.passed
        self._begun = now - max(now - self._begun - limit, 0.0)

    def end(self, m: int | float) -> None:
        """Hear that what follows the search has ended, too."""
        self._after[m] = self.deadline.passed - self._begun
