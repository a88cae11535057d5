"""The version of the package, and of others that what it computes may depend on."""

import re
from functools import cache

__version__ = "0.1.0"


@cache
def packages() -> dict[str, str]:
    """Return the versions of the packages that compute, by name."""
    from importlib.metadata import version

    return {name: version(name) for name in ("highspy", "numba", "numpy")}


def install(extra: str) -> str:
    """Return the command that installs the libraries of an extra next to setveil, wherever it came from."""
    from importlib.metadata import requires
    from shlex import quote

    parts = [line.partition(";") for line in requires("setveil") or []]
    libraries = [name.strip() for name, _, marker in parts if re.search(f"extra == .{extra}.", marker)]
    return f"pip install {' '.join(quote(name) for name in libraries)}"
