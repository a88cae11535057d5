"""Labels and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_COMPLEMENT = str.maketrans("0123456789", "9876543210")


def is_integer(label: str) -> bool:
    """Return whether a label is an integer: an optional sign and ASCII digits, nothing else."""
    return _INTEGER.fullmatch(label) is not None


def _numeric_key(label: str) -> tuple[int, int, str, str]:
    # Compares integers of any length without converting them (Python refuses to parse thousands of digits).
    digits = label.lstrip("+-").lstrip("0")
    if label[0] == "-" and digits:
        return (-1, -len(digits), digits.translate(_COMPLEMENT), label)
    return (1 if digits else 0, len(digits), digits, label)


def item_order(labels: Iterable[str]) -> list[str]:
    """Sort labels into item order, which decides every tie in every algorithm.

    It is numeric if every label is an integer (equal numbers such as ``7`` and ``007`` by text), else by code
    point.

    >>> item_order(["10", "9", "007", "7"])
    ['007', '7', '9', '10']
    >>> item_order(["10", "9", "x"])
    ['10', '9', 'x']
    """
    labels = list(labels)
    if all(is_integer(label) for label in labels):
        return sorted(labels, key=_numeric_key)
    return sorted(labels)


class Vocabulary:
    """Distinct labels of the items 0..n-1, in an order that the maker chose."""

    __slots__ = ("__dict__", "labels")

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels: tuple[str, ...] = tuple(labels)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Id of each label."""
        return {label: i for i, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self):,} labels"
