"""The threads that compiled loops are spread over. What is computed never depends on how many there are."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
R = TypeVar("R")


class _Setting:
    wanted: int | None = None


_inside = threading.local()  # its `one` is there in threads that do their pieces one after the other


def usable_cpus() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def use_threads(number: int | None) -> None:
    """Use this many threads from now on; None: one for each processor that this process may use."""
    _Setting.wanted = number


def threads() -> int:
    """Return how many threads are used."""
    if _Setting.wanted is not None:
        return _Setting.wanted
    return usable_cpus()


def each(work: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
    """Do some work on each piece, several at a time, and return what came out in the order of the pieces.

    Work that is done so does its own pieces one after the other.
    """
    some = list(pieces)
    if len(some) < 2 or hasattr(_inside, "one") or threads() == 1:
        return [work(piece) for piece in some]
    return list(_pool(threads()).map(work, some))


def be_one_of_many() -> None:
    """Let this thread do its pieces of work one after the other: there are others next to it."""
    _inside.one = True


@cache
def _pool(number: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(number, "setveil", initializer=be_one_of_many)
