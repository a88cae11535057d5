"""The version of the package, and of others that what it computes may depend on."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"


@cache
def packages() -> dict[str, str]:
    """Return the versions of the packages that compute, by name."""
    return {name: version_of(name) for name in ("highspy", "numba", "numpy")}


@cache
def version_of(package: str) -> str:
    """Return the version of a package by the folder next to it: importing it or its metadata takes longer."""
    found = find_spec(package)
    if found is not None and found.origin is not None:
        folders = [*Path(found.origin).parents[1].glob(f"{package}-*.dist-info")]
        if len(folders) == 1:
            return folders[0].stem.removeprefix(f"{package}-")
    from importlib.metadata import version

    return version(package)


def install(extra: str) -> str:
    """Return the command that installs the libraries of an extra next to setveil, wherever it came from."""
    from importlib.metadata import requires
    from shlex import quote

    parts = [line.partition(";") for line in requires("setveil") or []]
    libraries = [name.strip() for name, _, marker in parts if re.search(f"extra == .{extra}.", marker)]
    return f"pip install {' '.join(quote(name) for name in libraries)}"
