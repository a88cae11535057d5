"""Files of measures, guarantees and algorithms of one's own, as a user names them."""

from __future__ import annotations

from os import PathLike, fspath
from types import ModuleType

from setveil.base import plugins
from setveil.base.errors import RequestError
from setveil.base.plugins import PluginFile
from setveil.judges.guarantees import models, require_model
from setveil.judges.utility import measures, require_measures
from setveil.methods import algorithms


def plugin(path: str | PathLike[str]) -> ModuleType:
    """Load measures, a guarantee or an algorithm of your own from a Python file, which is executed.

    Afterwards all functions know what the file holds: its measures are among those of every release, its
    guarantee can be requested and verified, and its algorithm can be named.

    Parameters
    ----------
    path : path
        The file. See docs/own_method.md for what it must hold.

    Returns
    -------
    module
        The executed file, with the class of its guarantee.

    Raises
    ------
    DataError
        If the file cannot be read.
    RequestError
        If it fails, or does not hold what it must.

    Examples
    --------
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> measure = "Measure('longest', 'Longest', lambda case: case.published.row_lengths().max(), 'items')"
    >>> _ = Path("own.py").write_text(f"from setveil.judges.utility import Measure; MEASURES = ({measure},)")
    >>> [one.title for one in sv.plugin("own.py").MEASURES]
    ['Longest']
    """
    return load_plugin(fspath(path), trusted=True).module


def load_plugin(text: str, *, trusted: bool) -> PluginFile:
    """Load a file, and check all that it holds (see `setveil.base.plugins.load`)."""
    found = plugins.load(text, _require, trusted=trusted)
    try:
        models()
        measures()
    except RequestError:
        plugins.forget(found)
        raise
    return found


def _require(module: ModuleType, where: str) -> None:
    """Refuse a file that holds nothing, or what cannot be used."""
    checks = {
        "info": algorithms.require_algorithm, "model": require_model, "MEASURES": require_measures,
    }  # fmt: skip
    held = [name for name in checks if hasattr(module, name)]
    if not held:
        raise RequestError(
            f"{where} contains no measures (MEASURES), no guarantee (model) and no algorithm (info).",
            hint=plugins.PAGE,
        )
    for name in held:
        checks[name](module, where)
