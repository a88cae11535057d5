"""The errors that setveil raises on purpose.

::

    SetveilError                 exit code of the command line
    ├── RequestError             2  a parameter or an option is not acceptable
    │   └── OutputError          2  the output folder cannot be written
    ├── InfeasibleError          3  no release can satisfy the request
    ├── DataError                4  unreadable or inconsistent data
    │   └── HierarchyError       4  ... in a hierarchy
    │       └── MissingItemsError    ... that lacks items of the data
    └── GuaranteeError           1  a release failed its own verification and was not written

Every message says what, where, what was found, what is allowed; `hint` says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence


class SetveilError(Exception):
    """Base of every error that setveil raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, where, and what was expected.
    hint : str, optional
        What the user can do about it.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class RequestError(SetveilError, ValueError):
    """A parameter or an option is not acceptable."""

    exit_code = 2


class OutputError(RequestError):
    """The output cannot be written where it was asked for."""


class InfeasibleError(SetveilError, ValueError):
    """No release can satisfy the request; the message names the nearest feasible parameter."""

    exit_code = 3


class DataError(SetveilError, ValueError):
    """The data cannot be read or contradict themselves."""

    exit_code = 4


class HierarchyError(DataError):
    """A hierarchy is malformed or does not fit the data.

    Parameters
    ----------
    message, hint : str
        As in `SetveilError`.
    problems : sequence of str
        Every problem found, one line each (the message shows the first few).
    """

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class MissingItemsError(HierarchyError):
    """Items of the data are not in the hierarchy."""


class GuaranteeError(SetveilError):
    """A release failed its own verification: a defect of setveil, never of the user's data."""


def shorten(text: str, width: int = 60) -> str:
    """Quote a value from the data for a message, cut to at most `width` characters."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


def listed(values: Sequence[str], most: int = 5) -> str:
    """Quote the first few of many values for a message and say how many more there are."""
    more = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(shorten(value, 40) for value in values[:most]) + more
