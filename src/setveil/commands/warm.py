"""Compile ahead what commands need, so that no first run has to wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from setveil.base.compiling import Processes, listed, needed_by, processes_for
from setveil.base.errors import OutputError, RequestError, described
from setveil.base.progress import Progress, silent
from setveil.base.threads import threads

USUAL = "demo", "anonymize", "verify", "measure", "risk", "query"


@dataclass(frozen=True)
class Warmed:
    """The result of compiling ahead.

    `functions`: how many there are now, once for each set of types. `compiled`: how many were compiled just
    now. `failed`: how many could not be; each will be compiled when it is needed. `folder`: where they are.
    """

    functions: int
    compiled: int
    failed: int
    folder: Path


def warm(*, everything: bool = False, progress: Progress = silent) -> Warmed:
    """Compile for this machine what commands need, and keep it; what is there is not compiled again.

    The functions are compiled by as many processes as threads may be used
    (`setveil.base.threads.use_threads`), 8 at most.

    Parameters
    ----------
    everything : bool
        Compile for all commands and algorithms, not only for those that most people use first.
    progress : callable, optional
        Hears how far it is.

    Returns
    -------
    Warmed
        What is there now.

    Raises
    ------
    OutputError
        If there is no folder to keep it in.
    RequestError
        If nothing is compiled in this process, or `everything` is no bool.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.warm().failed
    0
    """
    if not isinstance(everything, bool):
        raise RequestError(f"everything must be True or False, got {described(everything)}.")
    from setveil.base import jit
    from setveil.base.jit import files

    if not jit.IS_COMPILED:
        raise RequestError("Nothing is compiled where NUMBA_DISABLE_JIT is set.", hint="Unset it.")
    folder = files.folder()
    if folder is None:
        raise OutputError(
            "Compiled functions cannot be kept: their folder cannot be written, or others can write in it.",
            hint="Name another folder in the environment variable NUMBA_CACHE_DIR.",
        )
    numbers = [*range(len(listed()))] if everything else needed_by(*USUAL)

    def hear(done: int) -> None:
        progress("compiling", done / len(numbers))

    progress("compiling", 0.0)
    processes = Processes(numbers, max(processes_for(threads()), 1), hear)
    processes.wait()
    done = len(processes.compiled) + len(processes.there)
    return Warmed(done, len(processes.compiled), len(numbers) - done, folder)
