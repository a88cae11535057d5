"""From texts and files to the itemsets that a release is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from setveil.base.errors import DataError, did_you_mean, shorten
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.queries import Queries, between, split_queries
from setveil.rows.data.io.decoded import Text, as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.layout import Layout
from setveil.rows.data.spelling import spelled_otherwise

_SEPARATORS = (",", ";", " and ", "+", "&", "|")


def parse_itemsets(texts: Sequence[str], estimator: Estimator, layout: Layout) -> Queries:
    """Take itemsets as the rows of the release are written, or the name of an item as it is."""
    found: Queries = []
    for text in texts:
        if spelled := spelled_otherwise([text], estimator.items) if text not in estimator else ():
            text = spelled[0][1]  # noqa: PLW2901  (a name with a comma in it, too)
        lines = _itemsets_in(text, estimator, layout)
        if not any(lines):
            raise DataError(
                f"{shorten(text)} names no item.", hint=f"Expected items separated by {between(layout)}."
            )
        found += [line for line in lines if line]
    found = [_as_spelled(line, estimator) for line in found]
    require_named(found, estimator)
    return found


def _itemsets_in(text: str, estimator: Estimator, layout: Layout) -> Queries:
    """Split a text into itemsets: by the release's separator or, if that names unknown items, by another."""
    if text in estimator:
        return [(text,)]
    lines = split_queries(Text(shorten(text), text.encode()), layout)
    if all(_is_known(name, estimator) for line in lines for name in line):
        return lines
    splits = [tuple(dict.fromkeys(name.strip() for name in text.split(sign))) for sign in _SEPARATORS]
    several = [names for names in splits if len(names) > 1]
    for names in several:
        if all(_is_known(name, estimator) for name in _as_spelled(names, estimator)):
            return [names]
    if sum(map(len, lines)) > 1:
        return lines
    for names in several:  # no item that is not listed is called like two, one of which is
        if any(_is_named(name, estimator) for name in _as_spelled(names, estimator)):
            return [names]
    return lines


def _is_known(name: str, estimator: Estimator) -> bool:
    return name in estimator or bool(estimator.group(name))


def _is_named(name: str, estimator: Estimator) -> bool:
    return _is_known(name, estimator) or estimator.shows(name) or estimator.begins(name)


def _as_spelled(itemset: Sequence[str], estimator: Estimator) -> tuple[str, ...]:
    """Write items that the release spells otherwise (dots, case, blanks, accents) as it does."""
    unknown = [name for name in itemset if name not in estimator]
    named = dict(spelled_otherwise(unknown, estimator.items)) if unknown else {}
    return tuple(named.get(name, name) for name in itemset)


def read_itemsets(path: Path, estimator: Estimator, layout: Layout) -> Queries:
    """Read itemsets from a file, one a line, written as the rows of the release."""
    text = as_text(read_bytes(path), str(path))
    found = split_queries(text, layout)
    if not found:
        raise DataError(f"{path} is an empty file, expected one itemset a line.")
    for line, itemset in enumerate(found, 1):
        if not itemset:
            raise DataError(f"{path}, line {line}: found no item.")
        require_named([itemset], estimator, f"{path}, line {line}: ")
    return found


def require_named(itemsets: Sequence[Sequence[str]], estimator: Estimator, where: str = "") -> None:
    """Refuse items that the release does not name; those that it need not list are answered by bounds."""
    names = [name for itemset in itemsets for name in itemset]
    unknown = [name for name in names if not _is_known(name, estimator) and not estimator.may_hide(name)]
    if not unknown:
        return
    if estimator.shows(unknown[0]):
        raise DataError(
            f"{where}{shorten(unknown[0])} is a label, and rows with its items may show others as well.",
            hint="Ask for an item" + (", or of one class: --class N." if estimator.in_classes else "."),
        )
    if estimator.begins(unknown[0]):
        raise DataError(
            f"{where}{shorten(unknown[0])} is no item of the release, but begins codes that it lists.",
            hint="Groups of codes without a label of their own have no answer here: ask for codes.",
        )
    names = [*estimator.items, *estimator.labels]
    hint = did_you_mean(unknown[0], names, estimator.lacking, most=3, quoted=True)
    raise DataError(f"{where}{shorten(unknown[0])} is {estimator.names} of the release.", hint=hint)
