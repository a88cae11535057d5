"""From the options of a command to the guarantee that they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.cli.options import parse_m
from setveil.errors import RequestError

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.guarantees import Guarantee


@dataclass(frozen=True)
class Model:
    """How the command line describes a privacy model.

    Attributes
    ----------
    needs, takes : tuple of str
        Names of the options that must, and of those that may, be given.
    make : callable
        Makes the guarantee from the data, the encoding of files, and the options by name.
    """

    needs: tuple[str, ...]
    takes: tuple[str, ...]
    make: Callable[..., Guarantee]


def _km(_data: Transactions, _encoding: str, k: int, m: str) -> Guarantee:
    from setveil.guarantees.km import KmAnonymity

    return KmAnonymity(k, parse_m(m))


def _whole_rows(_data: Transactions, _encoding: str, k: int) -> Guarantee:
    from setveil.guarantees.kanonymity import TransactionalKAnonymity

    return TransactionalKAnonymity(k)


MODELS = {
    "km-anonymity": Model(("k", "m"), (), _km),
    "k-anonymity": Model(("k",), (), _whole_rows),
}


def require_options(model: str, options: dict[str, Any]) -> None:
    """Refuse a model that does not exist, and options that it lacks or does not know.

    Parameters
    ----------
    model : str
        Name of a privacy model.
    options : dict
        Values of all options that describe guarantees; None: was not given.

    Raises
    ------
    RequestError
        With what is missing or superfluous.
    """
    if model not in MODELS:
        raise RequestError(f"There is no privacy model {model!r}; there are {', '.join(MODELS)}.")
    known = MODELS[model]
    missing = [name for name in known.needs if options.get(name) is None]
    if missing:
        raise RequestError(f"{model} needs {_named(missing)}.")
    both = (*known.needs, *known.takes)
    extra = [name for name, value in options.items() if value is not None and name not in both]
    if extra:
        raise RequestError(f"{model} has no {_named(extra)}; it takes {_named(both)}.")


def make_guarantee(model: str, options: dict[str, Any], data: Transactions, encoding: str) -> Guarantee:
    """Make the guarantee of a model from the options that were given (see `require_options`)."""
    given = {name: value for name, value in options.items() if value is not None}
    return MODELS[model].make(data, encoding, **given)


def _named(options: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"--{name}" for name in options)
