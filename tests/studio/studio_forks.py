"""The studio's desks, commands and workers of studies, forked from an interpreter that has imported all.

To start one and to load what is compiled takes longer than nearly all that tests ask of it. Who starts one
sees a process as usual, with its arguments, environment, folder, mask, streams and exit code, whose death is
the death of the one that works. That a desk or a command starts at all is shown by tests whose processes are
their own: those that start a studio by `studio_browser.serve`, and some of `test_studio_jobs`.
"""

from __future__ import annotations

import sys

import cli_helpers
import warm


def python() -> str:
    """Return a replacement of Python, for running a module of setveil or a script."""
    return cli_helpers.interpreter().python if warm.CAN_END_TOGETHER else sys.executable


def studio() -> tuple[str, ...]:
    """Return a command like ``setveil``, a process of its own, that lets all be forked that it starts."""
    script = "import sys; sys.executable = sys.argv.pop(1); from setveil.__main__ import main; main()"
    return (sys.executable, "-c", script, python())
