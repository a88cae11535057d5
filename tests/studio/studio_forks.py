"""The studio's desks, commands and workers of studies, forked from an interpreter that has imported all.

To start one and to load what is compiled takes longer than nearly all that tests ask of it. Who starts one
sees a process as usual, with its arguments, environment, folder, mask, streams and exit code, whose death is
the death of the one that works. That a desk or a command starts at all is shown by tests whose processes are
their own: those that start a studio by `studio_browser.serve`, and some of `test_studio_jobs`.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import cli_helpers
import warm

CAN_FORK = warm.CAN_FORK and hasattr(os, "pidfd_open")

# What stands in for Python hands on: all that a process has from the one that started it, and its own number.
_GIVEN = """
import json, os, sys
sys.argv[1:] = [json.dumps([sys.argv, dict(os.environ), os.umask(0), os.getpid()])]
"""

# Does in a fork what Python does with -m or -c, and ends with the process that stands in for it.
_SCRIPT = """
import json, os, runpy, select, signal, sys, threading
from setveil.studies.compare import sweep
(python, *words), environment, mask, client = json.loads(sys.argv.pop())
asking = os.pidfd_open(client)
def end_together():
    select.select([asking], [], [])
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end_together, daemon=True).start()
os.setsid()
os.umask(mask)
os.environ.clear()
os.environ.update(environment)
for study in (sweep.run_all, sweep.sweep):
    study.__kwdefaults__["worker"] = (python, *sweep.WORKER[1:])
if words[0] == "-c":
    sys.argv = ["-c", *words[2:]]
    exec(words[1], {"__name__": "__main__"})
    sys.exit()
sys.argv = words[words.index("-m") + 1:]
sys.modules.pop(sweep.WORKER[-1])  # which may be what is run
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@functools.cache
def python() -> str:
    """Return what stands in for Python, where it is asked for a module of setveil or given a script."""
    if not CAN_FORK:
        return sys.executable
    interpreter = cli_helpers.interpreter()
    place = Path(interpreter.address).with_name(f"python-{os.getpid()}")  # goes with it
    first, client = interpreter.command(_SCRIPT).split("\n", 1)
    place.write_text(first + _GIVEN + client)
    place.chmod(0o700)
    return str(place)


def studio() -> tuple[str, ...]:
    """Return a command like ``setveil``, a process of its own, that lets all be forked that it starts."""
    script = "import sys; sys.executable = sys.argv.pop(1); from setveil.__main__ import main; main()"
    return (sys.executable, "-c", script, python())
