"""What is seen of work under way: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from setveil.base.wording import visible
from setveil.cli.watched import is_watched, write

FIRST_LINE = 10.0  # seconds: shorter work is not worth a line
_LONGEST_SILENCE = 600.0
_NUMBERS = re.compile(r"[0-9][0-9,]*")
_MEANINGFUL_SECONDS, _MEANINGFUL_SHARE = 3.0, 0.02


def tell(text: str) -> None:
    """Write a line to standard error; standard output is for answers only."""
    if sys.stderr is None:  # print would take standard output instead
        return
    if is_watched():
        write("note", text)
    else:
        with contextlib.suppress(OSError):  # a full disk, a terminal that was closed: the work goes on
            print(visible(text), file=sys.stderr, flush=True)  # noqa: T201


def duration(seconds: float) -> str:
    """Write a time as minutes and seconds, with hours where there are any.

    >>> duration(75.2), duration(3725)
    ('1:15', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Phases:
    """What the work is doing; written by it, read by anyone who draws."""

    def __init__(
        self,
        ended: Callable[[str, float], None] = lambda phase, seconds: None,  # hears of each that has ended
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.phase = "starting"
        self.done: float | None = None  # share of it that is finished, if known
        self.stoppable = False  # whether the work could end early with what it has
        self.stop = False  # whether it is asked to
        self.ended = ended
        self.clock = clock
        self.begun = clock()
        self._first: tuple[float, float] | None = None  # when a share was first heard of, and which

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear what is under way, and how much of it is finished."""
        now = self.clock()
        another = phase != self.phase and _kind(phase) != _kind(self.phase)
        if another:
            self.ended(self.phase, now - self.begun)
            self.begun = now
        anew = another or done is None or self.done is None or done < self.done
        self.phase, self.done = phase, done
        if anew:
            self._first = None if done is None else (now, done)

    def stop_requested(self) -> bool:
        """Whether work that could end early should do so."""
        return self.stop

    def end(self) -> None:
        """Hear that the work is over."""
        self.ended(self.phase, self.clock() - self.begun)

    def remaining(self) -> float | None:
        """Estimate the seconds that the phase still takes; None as long as that would be a guess."""
        first, done = self._first, self.done
        if first is None or done is None:
            return None
        seconds, share = self.clock() - first[0], done - first[1]
        if seconds < _MEANINGFUL_SECONDS or share < _MEANINGFUL_SHARE:
            return None
        return seconds * (1 - done) / share


def _kind(phase: str) -> str:
    """Suppress the numbers in which the names of one phase differ ("3 of 40 runs")."""
    return _NUMBERS.sub("", phase)


class ProgressDisplay:
    """Shows work under way: nothing but what is published."""

    def tick(self) -> None:
        """Show nothing."""

    def tell(self, text: str) -> None:
        """Show a line of text."""
        tell(text)

    def close(self) -> None:
        """Leave everything as it is."""


class Silence(ProgressDisplay):
    """Shows nothing at all."""

    def tell(self, text: str) -> None:
        """Show nothing."""


class ProgressLines(ProgressDisplay):
    """Shows how work is in plain lines, the first after 10 seconds, then ever more seldom."""

    def __init__(self, phases: Phases) -> None:
        self.phases = phases
        self.begun = phases.clock()
        self.next = FIRST_LINE

    def tick(self) -> None:
        """Show a line if it is time for one."""
        seconds = self.phases.clock() - self.begun
        if seconds < self.next:
            return
        self.next = seconds + min(seconds, _LONGEST_SILENCE)
        done, left = self.phases.done, self.phases.remaining()
        share = "" if done is None else f", {done:.0%}"
        more = "" if left is None else f", about {duration(left)} left"
        tell(f"[{duration(seconds)}] {self.phases.phase}{share}{more}")


class Bar(ProgressDisplay):
    """A progress bar with phase, elapsed and, where it is known, remaining time, on a terminal."""

    def __init__(self, phases: Phases) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.phases = phases
        self.bar: Any = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(visible(phases.phase), total=None, left="")
        self.bar.start()

    def tick(self) -> None:
        """Draw the bar as the work stands."""
        done, left = self.phases.done, self.phases.remaining()
        self.bar.update(
            self.task,
            description=visible(self.phases.phase),
            total=None if done is None else 1.0,
            completed=done or 0.0,
            left="" if left is None else f"about {duration(left)} left",
        )

    def tell(self, text: str) -> None:
        """Show a line of text above the bar."""
        with contextlib.suppress(OSError):
            self.bar.console.print(visible(text), markup=False, highlight=False)

    def close(self) -> None:
        """Remove the bar."""
        with contextlib.suppress(OSError):
            self.bar.stop()


class Events(ProgressDisplay):
    """Shows how work stands to another program: a line whenever something has changed."""

    def __init__(self, phases: Phases) -> None:
        self.phases = phases
        self.last: dict[str, Any] | None = None

    def tick(self) -> None:
        """Write how the work stands, if it stands otherwise than before."""
        done = self.phases.done
        now = {
            "name": self.phases.phase,
            "share": None if done is None else round(min(max(done, 0.0), 1.0), 3),
            "stoppable": self.phases.stoppable and not self.phases.stop,
        }
        if now != self.last:
            self.last = now
            write("phase", now)

    def tell(self, text: str) -> None:
        """Pass on a line of text."""
        write("note", text)

    def close(self) -> None:
        """Write how the work stood at last."""
        self.tick()


def drawing(phases: Phases, *, quiet: bool) -> ProgressDisplay:
    """Choose how work is shown."""
    if sys.stderr is not None and is_watched():
        return Events(phases)
    if quiet or sys.stderr is None:
        return Silence()
    if sys.stderr.isatty():
        return Bar(phases)
    return ProgressLines(phases)
