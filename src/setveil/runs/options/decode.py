"""From what was given for an option, on the command line or in a study, to its value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setveil.base.errors import RequestError, as_option, did_you_mean
from setveil.base.values.declared import Option, options_of
from setveil.base.values.kinds import Items, Kind
from setveil.base.wording import are
from setveil.methods import algorithms

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the values of options depend on.

    `data`: the rows to anonymize, or published ones; then `image` is what items became, and items that it
    lacks were suppressed. `hierarchy`: items may be its groups. `seed`: draws items, if an option requests
    that. `named_here`: items must be among those of the data. `drawn_from`: the rows from which a sample was
    drawn; items that only occur there may be named, and are omitted.
    """

    data: Transactions
    encoding: str = "utf-8"
    hierarchy: Hierarchy | None = None
    seed: int = 0
    image: Mapping[str, str | None] | None = None
    named_here: bool = True
    drawn_from: Transactions | None = None

    @property
    def known(self) -> Transactions:
        """The rows whose items may be named."""
        return self.data if self.drawn_from is None else self.drawn_from

    def occurring(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Omit items that a sample lacks."""
        if self.drawn_from is None:
            return tuple(labels)
        return tuple(label for label in labels if label in self.data.vocabulary.ids)

    # --- what kinds of values ask for

    def items_of_file(self, path: str | Path) -> tuple[str, ...]:
        """Read items from a file."""
        from setveil.runs.options.inputs import load_items

        return self.occurring(load_items(Path(path), self.known, self.encoding))

    def lines_of_file(self, path: str | Path) -> tuple[str, ...]:
        """Read items from a file, one per line, whatever the data hold."""
        from setveil.runs.options.inputs import load_lines

        return load_lines(Path(path), self.encoding)

    def weights(self, path: str | Path) -> dict[str, float]:
        """Read weights of items from a file."""
        from setveil.runs.options.inputs import load_weights

        weights = load_weights(Path(path), self.encoding)
        return {item: weights[item] for item in self.occurring(weights)}

    def label_weights(self, path: str | Path) -> dict[str, float]:
        """Read weights of labels of a hierarchy from a file."""
        from setveil.runs.options.inputs import load_weights

        return load_weights(Path(path), self.encoding)

    def column_labels(self, path: str | Path) -> dict[str, list[str]]:
        """Read labels of columns from a file."""
        from setveil.runs.options.inputs import load_column_labels

        return load_column_labels(Path(path), self.encoding)

    def items(self, text: str | Iterable[str]) -> tuple[str, ...]:
        """Take items of the data: a list, or a text (a file, or commas)."""
        from setveil.runs.options.inputs import load_labels, require_known

        if isinstance(text, str):
            labels = load_labels(text, self.known, self.encoding, check=self.named_here)
        else:
            labels = tuple(dict.fromkeys(text))
            labels = require_known(labels, ",".join(labels), self.known, check=self.named_here)
        return self.occurring(labels)

    def items_or_leaves(self, text: str | Iterable[str]) -> tuple[str, ...]:
        """Take items of the data; leaves of the hierarchy exist, too, though no row holds them."""
        from setveil.runs.options.inputs import load_labels

        tree = self.hierarchy
        if tree is None or not isinstance(text, str):
            return self.items(text)
        labels = load_labels(text, self.known, self.encoding, check=False)
        exist = {*self.known.vocabulary.labels, *tree.labels[: tree.n_leaves]}
        return self.occurring(labels) if exist.issuperset(labels) else self.items(text)

    def items_or_columns(self, text: str | Iterable[str]) -> tuple[str, ...]:
        """Take names of kept columns and of items; what a published table lacks may have been omitted."""
        from setveil.runs.options.inputs import load_labels, require_known

        data: Any = self.known
        columns = {column.name for column in getattr(data, "kept", ())}
        items = data if hasattr(data, "vocabulary") else data.sets
        if isinstance(text, str):
            labels = load_labels(text, items, self.encoding, check=False)
        else:
            labels = tuple(dict.fromkeys(text))
        named = tuple(label for label in labels if label not in columns)
        require_known(named, ",".join(labels), items, check=self.named_here and items is data)
        kept = {*columns, *self.occurring(named)}
        return tuple(label for label in labels if label in kept)

    def itemsets(self, text: str, others: Mapping[str, Any]) -> tuple[tuple[str, ...], ...] | None:
        """Take itemsets to protect: of a file, all (None), or those by which every row is protected."""
        if text == "all":
            return None
        if text == "pgen":
            from setveil.methods.constraints.pgen import pgen

            return pgen(self.data, others["k"])
        from setveil.runs.options.inputs import load_privacy

        return load_privacy(text, self.known, self.image, self.encoding)

    def groups(self, text: str) -> tuple[tuple[str, ...], ...] | None:
        """Take groups of items: of a file, or made of all items or of the hierarchy."""
        from setveil.runs.options.inputs import load_utility

        groups = load_utility(text, self.known, self.hierarchy, self.encoding)
        if groups is None or self.drawn_from is None:
            return groups
        return tuple(group for labels in groups if (group := self.occurring(labels)))


def decode(name: str, kind: Kind, text: Any, inputs: Inputs, others: Mapping[str, Any]) -> Any:
    """Turn the text or value of an option into its value, which depends on `inputs` and options before it."""
    return kind.read(name.replace("_", "-"), text, inputs, others)


def decode_parameters(parameters: Any, texts: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Turn texts of an algorithm's own parameters into values; unknown names stay as they are."""
    options = options_of(parameters)
    return {
        name: decode(name, options[name].kind, text, inputs, {}) if name in options else text
        for name, text in texts.items()
        if text is not None
    }


def require_parameters(algorithm: str, parameters: Any, texts: Mapping[str, Any], encoding: str) -> None:
    """Refuse invalid parameters of an algorithm, if no data are needed to know; None: not given."""
    options = options_of(parameters)
    unknown = [name for name, text in texts.items() if text is not None and name not in options]
    if unknown:
        raise no_parameter(algorithm, unknown, options)
    parameters(**plain_values(options, texts, encoding))


def no_parameter(
    algorithm: str, unknown: Sequence[str], known: Iterable[str], more: Iterable[str] = ()
) -> RequestError:
    """Make the error of parameters that an algorithm has not; `more`: what else could have been meant."""
    known = list(known)
    if unknown == ["certificate"]:
        return RequestError(
            f"{algorithm} has no parameter certificate: only k^m-anonymity by exact has one. `setveil "
            "verify` checks any guarantee.",
            hint=f"{as_option('certificate')} is of exact.",
        )
    have = {name: options_of(algorithms.load(name).Parameters) for name in algorithms.names()}
    return RequestError(
        f"{algorithm} has no parameter {', '.join(unknown)}; it has {', '.join(known) or 'none'}.",
        hint=whose(unknown, have) or did_you_mean(unknown[0], [*known, *more]),
    )


def whose(unknown: Iterable[str], have: Mapping[str, Iterable[str]]) -> str:
    """Say of options that one has not which others have them: `have`, what each has by its name."""
    owners: dict[str, list[str]] = {}
    for option in unknown:
        names = ", ".join(name for name, options in have.items() if option in options)
        if names:
            owners.setdefault(names, []).append(as_option(option))
    return "; ".join(
        f"{', '.join(options)} {are(len(options))} of {names}" for names, options in owners.items()
    ) + ("." if owners else "")


def plain_values(options: Mapping[str, Option], texts: Mapping[str, Any], encoding: str) -> dict[str, Any]:
    """Turn what was given for options into their values, as far as that takes no data."""
    nothing = Inputs(cast("Transactions", None), encoding)
    values: dict[str, Any] = {}
    for name, option in options.items():
        text = texts.get(name)
        if text is None:
            continue
        if not option.kind.names_items:
            values[name] = decode(name, option.kind, text, nothing, values)
        elif option.kind.names_file(str(text)):
            require_file(Path(text))
    return values


def require_file(path: Path | None) -> None:
    """Refuse a file that cannot be read, before what takes long is done."""
    from setveil.rows.data.io.source import read_bytes

    if path is not None and str(path) != "-" and not os.access(path, os.R_OK):
        read_bytes(path)  # which says what is wrong


def as_typed(option: Option, value: Any) -> Any:
    """Turn a value of a study file into what would be given on the command line for the same.

    There a text may be a file or a list; a study has settled which: a file is ``{"path": ...}``.
    """
    if isinstance(value, dict):
        return value["path"]
    if isinstance(option.kind, Items):
        return [label for part in str(value).split(",") if (label := part.strip())]
    return value
