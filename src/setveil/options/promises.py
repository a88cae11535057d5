"""From the options of a command, or the keys of a study, to the guarantee that they describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.errors import RequestError
from setveil.options.numbers import parse_integer, parse_number

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.guarantees import Guarantee


@dataclass(frozen=True)
class Model:
    """How options describe a privacy model.

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

    return KmAnonymity(k, parse_number("m", m))


def _whole_rows(_data: Transactions, _encoding: str, k: int) -> Guarantee:
    from setveil.guarantees.kanonymity import TransactionalKAnonymity

    return TransactionalKAnonymity(k)


def _constraints(
    data: Transactions,
    encoding: str,
    k: int,
    privacy: str,
    m: str | None = None,
    image: Mapping[str, str | None] | None = None,
) -> Guarantee:
    from setveil.guarantees.constraints import PrivacyConstraints

    if privacy == "all":
        if m is None:
            raise RequestError("--privacy all needs --m, the size of the itemsets to protect.")
        return PrivacyConstraints(k, m=parse_integer("m", m))
    if m is not None:
        raise RequestError("--m goes with --privacy all only.")
    if privacy == "pgen":
        from setveil.policy.pgen import pgen

        return PrivacyConstraints(k, pgen(data, k))
    from setveil.options.inputs import load_privacy

    return PrivacyConstraints(k, load_privacy(privacy, data, image, encoding))


def _coherence(
    data: Transactions, encoding: str, h: str, k: int, p: str, private: str | Sequence[str] | None = None
) -> Guarantee:
    from setveil.guarantees.coherence import Coherence
    from setveil.options.inputs import load_labels

    if private is None or isinstance(private, str):
        private = load_labels(private, data, encoding)
    return Coherence(h, k, parse_number("p", p), private)


def _privacy_degree(
    data: Transactions,
    encoding: str,
    p: str,
    sensitive: str | None = None,
    sensitive_random: tuple[int, int] | None = None,
    check: bool = True,
) -> Guarantee:
    from setveil.guarantees.privacydegree import PrivacyDegree
    from setveil.options.inputs import load_labels

    degree = parse_integer("p", p)
    if check and sensitive is None and sensitive_random is None:
        raise RequestError(
            "privacy-degree needs --sensitive.", hint="For experiments: --sensitive-random 10."
        )
    if sensitive is not None and sensitive_random is not None:
        raise RequestError("Sensitive items are either named (--sensitive) or drawn (--sensitive-random).")
    if sensitive_random is not None:
        return PrivacyDegree(degree, _draw_sensitive(data, max(degree, 1), *sensitive_random))
    return PrivacyDegree(degree, load_labels(sensitive, data, encoding, check=check))


def _draw_sensitive(data: Transactions, p: int, number: int, seed: int) -> tuple[str, ...]:
    """Draw items that at most one row in p holds."""
    drawn = _draw(data, number, p, seed)
    if len(drawn) < number:
        raise RequestError(
            f"{number:,} sensitive items were asked for, but only {len(drawn):,} items are in at most one "
            f"row of p = {p}."
        )
    return drawn


def draw_private(data: Transactions, share: float, seed: int) -> tuple[str, ...]:
    """Draw private items for experiments, among those in at most a fifth of the rows.

    Parameters
    ----------
    data : Transactions
        The rows.
    share : float
        Share of all items to draw, 0 to 1; the number is rounded, halves up.
    seed : int
        At least 0; with the data it decides which.

    Raises
    ------
    RequestError
        If there are not so many items in at most a fifth of the rows.
    """
    number = int(Fraction(str(share)) * data.n_items + Fraction(1, 2))
    drawn = _draw(data, number, 5, seed)
    if len(drawn) < number:
        raise RequestError(
            f"{number:,} private items were asked for, but only {len(drawn):,} items are in at most a fifth "
            "of the rows."
        )
    return drawn


def _draw(data: Transactions, number: int, least: int, seed: int) -> tuple[str, ...]:
    """Draw so many of the items that occur in at most one row of `least`, or all there are."""
    import numpy as np

    supports = data.supports()
    possible = np.flatnonzero((supports > 0) & (supports * least <= data.n_rows))
    keys = np.random.PCG64(seed).random_raw(possible.size)
    drawn = np.sort(possible[np.argsort(keys, kind="stable")[:number]])
    return tuple(data.vocabulary.labels[item] for item in drawn.tolist())


MODELS = {
    "km-anonymity": Model(("k", "m"), (), _km),
    "k-anonymity": Model(("k",), (), _whole_rows),
    "constraints": Model(("k", "privacy"), ("m",), _constraints),
    "coherence": Model(("h", "k", "p"), ("private",), _coherence),
    "privacy-degree": Model(("p",), ("sensitive", "sensitive_random"), _privacy_degree),
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


def make_guarantee(
    model: str, options: dict[str, Any], data: Transactions, encoding: str, **more: Any
) -> Guarantee:
    """Make the guarantee of a model from the options that were given (see `require_options`).

    Parameters
    ----------
    model, options
        As for `require_options`.
    data : Transactions
        The rows to be anonymized, or those that are published.
    encoding : str
        Of files that options name.
    **more
        What the model's `make` takes besides.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return MODELS[model].make(data, encoding, **given, **more)


def _named(options: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in options)
