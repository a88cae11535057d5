"""Compile ahead what commands need, so that no first run has to wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from setveil.compiling import Processes, listed, needed_by, processes_for
from setveil.errors import OutputError, RequestError, described
from setveil.progress import Progress, silent
from setveil.threads import threads

USUAL = "demo", "anonymize", "verify", "measure", "risk", "query"


@dataclass(frozen=True)
class Warmed:
    """What was compiled.

    Attributes
    ----------
    functions : int
        How many functions there are now, counted once for each set of types that they take.
    compiled : int
        How many of them were compiled just now; the others were there.
    failed : int
        How many could not be compiled: each will be when something needs it.
    folder : Path
        Where they are kept.
    """

    functions: int
    compiled: int
    failed: int
    folder: Path


def warm(*, everything: bool = False, progress: Progress = silent) -> Warmed:
    """Compile for this machine what commands need, and keep it; what is there is not compiled again.

    The functions are compiled by as many processes as threads may be used (`setveil.threads.use_threads`), 8
    at most.

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
    from setveil import jit
    from setveil.jit import files

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
