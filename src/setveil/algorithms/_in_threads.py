"""Work on parts of the rows, several at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

from setveil.progress import Progress
from setveil.threads import be_one_of_many

R = TypeVar("R")


class _Quiet:
    """Listens in a thread: hears from the work that asked for it whether to stop, and tells nobody else."""

    def __init__(self, outer: Progress) -> None:
        self.stoppable = False
        self.stop_requested = outer.stop_requested

    def __call__(self, phase: str, done: float | None = None) -> None:
        pass


def in_threads(
    work: Callable[[int, Progress], R],
    n: int,
    threads: int,
    progress: Progress,
    what: str = "parts of the rows",
) -> list[R]:
    """Do the work on parts 0..n-1, several at a time; return what came out, in their order."""
    listeners = [_Quiet(progress) for _ in range(n)]
    busy = be_one_of_many if n >= threads else None
    with ThreadPoolExecutor(min(threads, n), initializer=busy) as pool:
        futures = [pool.submit(work, number, listeners[number]) for number in range(n)]
        left = set(futures)
        try:
            while left:
                done, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
                progress.stoppable = any(listener.stoppable for listener in listeners)
                if done:
                    progress(what, (n - len(left)) / n)
                for future in done:
                    future.result()  # raises what the work raised
        finally:
            progress.stoppable = False
            for future in left:
                future.cancel()
    return [future.result() for future in futures]
