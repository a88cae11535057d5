"""Work on parts of the rows, several at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TypeVar

from setveil.base.progress import Progress
from setveil.base.threads import be_one_of_many

R = TypeVar("R")


class _StopListener:
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
    listeners = [_StopListener(progress) for _ in range(n)]
    busy = be_one_of_many if n >= threads else None
    with ThreadPoolExecutor(min(threads, n), initializer=busy) as pool:
        futures = [pool.submit(work, number, listeners[number]) for number in range(n)]
        ended = SimpleQueue[Future[R]]()
        for future in futures:
            future.add_done_callback(ended.put)
        done = 0
        try:
            while done < n:
                try:
                    ended.get(timeout=0.1).result()  # raises what the work raised
                    done += 1
                    progress(what, done / n)
                except Empty:
                    pass
                progress.stoppable = any(listener.stoppable for listener in listeners)
        finally:
            progress.stoppable = False
            for future in futures:
                future.cancel()
    return [future.result() for future in futures]
