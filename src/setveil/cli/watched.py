"""A command that another program started, watches and steers: setveil's own pages do.

Where the environment variable `SETVEIL_WATCHED` is set, what goes to standard error is lines of JSON
(``phase``, ``note`` and ``error``), and standard input steers. A line asks work that could end early to do
so, as one Ctrl-C does, but never throws anything away. The end of it is a second Ctrl-C: so the command also
ends when the other program does. The variable's value is the memory, in MB, that the command may take.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from setveil.base.staging import give_up
from setveil.cli.ctrlc import leave

if TYPE_CHECKING:
    from setveil.base.errors import SetveilError

VARIABLE = "SETVEIL_WATCHED"
OUT_OF_MEMORY = 1

_stop_requested = threading.Event()


def is_watched() -> bool:
    """Whether another program reads what this command says."""
    return VARIABLE in os.environ


def stop_requested() -> bool:
    """Whether the work shall end with what it has, as soon as it could."""
    return _stop_requested.is_set()


def write(what: str, content: Any) -> None:
    """Tell the other program something."""
    line = json.dumps({what: content}) + "\n"
    sys.stderr.write(line)
    sys.stderr.flush()


def write_error(error: SetveilError) -> None:
    """Tell the other program why the command ends without an answer."""
    said = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    greatest_k = getattr(error, "greatest_k", None)
    write("error", said if greatest_k is None else {**said, "greatest_k": greatest_k})


def be_steered() -> None:
    """Listen to the other program from now on, and keep to the memory that it grants."""
    from setveil.runs.memory import keep_to

    threading.Thread(target=_listen, daemon=True).start()
    limit = float(os.environ[VARIABLE])
    keep_to(limit, lambda: _out_of_memory(limit))


def _listen() -> None:
    while os.read(0, 1):
        _stop_requested.set()
    give_up()  # nothing half-done stays on the disk
    leave()


def _out_of_memory(limit: float) -> None:
    give_up()
    write(
        "error",
        {
            "kind": "MemoryError",
            "message": f"It took more than the {limit:,.0f} MB of memory that it may take.",
            "hint": "A smaller m, fewer rows, or a machine with more memory.",
        },
    )
    os._exit(OUT_OF_MEMORY)
