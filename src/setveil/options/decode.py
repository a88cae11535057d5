"""From what was given for an option, on the command line or in a study, to its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.fields import (
    GroupsOfItems,
    Integer,
    ItemFile,
    Items,
    Itemsets,
    ItemWeights,
    Kind,
    Option,
    Probability,
    Share,
    Size,
    options_of,
)
from setveil.options.numbers import parse_integer, parse_number, parse_share

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.hierarchy.tree import Hierarchy


@dataclass(frozen=True, eq=False)
class Given:
    """What the values of options depend on.

    Attributes
    ----------
    data : Transactions
        The rows to be anonymized, or those that are published.
    encoding : str
        Of files that options name.
    hierarchy : Hierarchy or None
        Groups of items may be made of it.
    seed : int
        Draws items where an option asks for that.
    image : mapping of str to (str or None), optional
        Where `data` are published rows: what items became. Items that it does not know were suppressed.
    named_here : bool
        Whether items must be among those of the data.
    """

    data: Transactions
    encoding: str = "utf-8"
    hierarchy: Hierarchy | None = None
    seed: int = 0
    image: Mapping[str, str | None] | None = None
    named_here: bool = True


def decode(name: str, kind: Kind, text: Any, given: Given, others: Mapping[str, Any]) -> Any:
    """Turn what was given for an option into its value.

    Parameters
    ----------
    name : str
        Of the option, for messages.
    kind : Kind
        What its values may be.
    text : str, number, bool, Path or list of str
        What was given: a text as on the command line, or a value that is one already.
    given : Given
        The rows, and what else values depend on.
    others : mapping
        Values of the options before it.

    Raises
    ------
    RequestError, DataError
        If it is not acceptable, or a file cannot be read.
    """
    read = _READERS.get(type(kind))
    return text if read is None else read(name.replace("_", "-"), text, given, others)


def decode_parameters(parameters: Any, texts: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Turn what was given for an algorithm's own parameters into their values; None: was not given.

    Names that the algorithm does not know are left as they are, to be refused by it.
    """
    options = options_of(parameters)
    return {
        name: decode(name, options[name].kind, text, given, {}) if name in options else text
        for name, text in texts.items()
        if text is not None
    }


def as_given(option: Option, value: Any) -> Any:
    """Turn a value of a study file into what would be given on the command line for the same.

    There a text may be a file or a list; a study has settled which: a file is ``{"path": ...}``.
    """
    if isinstance(value, dict):
        return value["path"]
    if isinstance(option.kind, Items):
        return [label for part in str(value).split(",") if (label := part.strip())]
    return value


def _integer(name: str, text: Any, _given: Given, _others: Mapping[str, Any]) -> int:
    return parse_integer(name, text) if isinstance(text, str) else int(text)


def _size(name: str, text: Any, _given: Given, _others: Mapping[str, Any]) -> int | float:
    return parse_number(name, str(text))


def _share(_name: str, text: Any, _given: Given, _others: Mapping[str, Any]) -> float | None:
    return parse_share(text) if isinstance(text, str) else text


def _probability(_name: str, text: Any, _given: Given, _others: Mapping[str, Any]) -> str:
    return str(text)


def _item_file(_name: str, text: Any, given: Given, _others: Mapping[str, Any]) -> tuple[str, ...]:
    from setveil.options.inputs import load_items

    return load_items(Path(text), given.data, given.encoding)


def _weights(_name: str, text: Any, given: Given, _others: Mapping[str, Any]) -> dict[str, float]:
    from setveil.options.inputs import load_weights

    return load_weights(Path(text), given.encoding)


def _items(_name: str, text: Any, given: Given, _others: Mapping[str, Any]) -> tuple[str, ...]:
    from setveil.options.inputs import load_labels, require_known

    if isinstance(text, str):
        return load_labels(text, given.data, given.encoding, check=given.named_here)
    return require_known(tuple(dict.fromkeys(text)), ",".join(text), given.data, check=given.named_here)


def _itemsets(
    _name: str, text: Any, given: Given, others: Mapping[str, Any]
) -> tuple[tuple[str, ...], ...] | None:
    if text == "all":
        return None
    if text == "pgen":
        from setveil.policy.pgen import pgen

        return pgen(given.data, others["k"])
    from setveil.options.inputs import load_privacy

    return load_privacy(text, given.data, given.image, given.encoding)


def _groups(
    _name: str, text: Any, given: Given, _others: Mapping[str, Any]
) -> tuple[tuple[str, ...], ...] | None:
    from setveil.options.inputs import load_utility

    return load_utility(text, given.data, given.hierarchy, given.encoding)


_READERS: Mapping[type[Kind], Callable[..., Any]] = {
    Integer: _integer,
    Size: _size,
    Share: _share,
    Probability: _probability,
    ItemFile: _item_file,
    ItemWeights: _weights,
    Items: _items,
    Itemsets: _itemsets,
    GroupsOfItems: _groups,
}
