"""Names of methods in a study: an algorithm with its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_IMPROVED = re.compile(r" \(improved: ([^)]*)\)")


def method_name(algorithm: str, improved: Sequence[str], others: Sequence[str]) -> str:
    """Name an algorithm with what improves on its paper, and its other parameters, each as `name=value`."""
    better = [f"(improved: {', '.join(improved)})"] if improved else []
    return " ".join([algorithm, *better, *others])


def named_parameters(method: str) -> tuple[str, ...]:
    """List the names of the parameters in the name of a method.

    >>> named_parameters("cahd (improved: rounds=3) alpha=2")
    ('rounds', 'alpha')
    """
    return tuple(part.partition("=")[0] for one in _parts(method) for part in one)


def keep_parameters(method: str, algorithm: str, keep: Callable[[str, str], bool]) -> str:
    """Name a method by its algorithm and those of its parameters that may be shown.

    >>> keep_parameters("cahd (improved: rounds=3) alpha=2", "cahd", lambda name, value: name != "rounds")
    'cahd alpha=2'
    """
    kept = [[part for part in one if re.fullmatch(r"[a-z_]+=[^=]+", part) and keep(*part.split("="))]
            for one in _parts(method)]  # fmt: skip
    return method_name(algorithm, *kept)


def without_parameter(method: str, parameter: str) -> str:
    """Take a parameter with its value from the name of a method.

    >>> without_parameter("cahd (improved: rounds=3) alpha=2", "rounds")
    'cahd alpha=2'
    """

    def others(match: re.Match[str]) -> str:
        kept = [part for part in match[1].split(", ") if part.partition("=")[0] != parameter]
        return f" (improved: {', '.join(kept)})" if kept else ""

    return re.sub(rf"\s{re.escape(parameter)}=\S+", "", _IMPROVED.sub(others, method, count=1))


def _parts(method: str) -> tuple[list[str], list[str]]:
    """Part a name into the parameters that improve on the paper, and the others."""
    better = _IMPROVED.search(method)
    rest = _IMPROVED.sub("", method, count=1).split()[1:]
    return better[1].split(", ") if better else [], rest
