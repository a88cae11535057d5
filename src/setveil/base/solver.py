"""HiGHS, which solves linear and integer programs, as all who solve by it set it up."""

from __future__ import annotations

import highspy


class _Quiet(highspy.Highs):
    """The solver without a word on standard output, where it presents itself when made since version 1.16."""

    def enableCallbacks(self) -> None:  # noqa: N802  (called while the solver is made)
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def solver(**options: float | str) -> highspy.Highs:
    """Make a solver that repeats itself: quiet, with one thread and a fixed seed, and with these options."""
    made = _Quiet()  # type: ignore[no-untyped-call]
    for option, value in ({"output_flag": False, "threads": 1, "random_seed": 0} | options).items():
        made.setOptionValue(option, value)
    return made
