"""The version of the package, and of others that what it computes may depend on."""

from functools import cache

__version__ = "0.1.0"


@cache
def packages() -> dict[str, str]:
    """Return the versions of the packages that compute, by name."""
    from importlib.metadata import version

    return {name: version(name) for name in ("highspy", "numba", "numpy")}
