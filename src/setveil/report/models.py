"""A guarantee in words: what is guaranteed, and what its check found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from setveil.base.wording import about_events
from setveil.judges.guarantees import Facts, Points, Words, model_named, names


def words_for(facts: Facts) -> Words:
    """Find the words for a guarantee."""
    if facts["model"] not in names():
        raise ValueError(f"No words for the privacy model {facts['model']!r}.")
    model = model_named(facts["model"])
    return _of_rows(model.words, facts["rows_are"]) if "rows_are" in facts else model.words


def _of_rows(words: Words, noun: str) -> Words:
    """Say of rows that are events what words say of people."""

    def line(say: Callable[[Facts], str]) -> Callable[[Facts], str]:
        return lambda g: about_events(say(g), noun)

    def points(say: Callable[[Facts], Points]) -> Callable[[Facts], Points]:
        return lambda g: [(about_events(title, noun), about_events(text, noun)) for title, text in say(g)]

    return replace(
        words,
        promise=line(words.promise),
        fulfilled=line(words.fulfilled),
        broken=line(words.broken),
        not_covered=points(words.not_covered),
        reading=points(words.reading),
        beyond=lambda g: [about_events(text, noun) for text in words.beyond(g)],
    )


def title(guarantee: Facts) -> str:
    """Name a privacy model as headings do."""
    return model_named(guarantee["model"]).title


def promise(guarantee: Facts, unit: str = "item") -> str:
    """State what is guaranteed, in one sentence; `unit`: what rows are made of, an item or a fact."""
    return words_for(guarantee).promise({**guarantee, "unit": unit})


def items_known(guarantee: Facts) -> int | None:
    """Return how many items of a person, of whatever column, someone may know; None: nothing limits them."""
    known = guarantee.get(words_for(guarantee).known)
    if isinstance(known, Mapping):
        return min(int(number) for number in known.values())
    return None if known in (None, "inf") else int(known)


def check(guarantee: Facts) -> str:
    """State the outcome of the verification, in one or two sentences."""
    words = words_for(guarantee)
    if not guarantee["holds"]:
        return f"It does NOT hold. In the published rows: {words.broken(guarantee)}."
    how = ", recounted from the published rows" if words.recounted else ", as far as files can show"
    return f"It holds{how}: {words.fulfilled(guarantee)}."


def rechecked(guarantee: Facts) -> str:
    """State the outcome of a verification that found the guarantee satisfied, in a few words."""
    words = words_for(guarantee)
    how = "" if words.recounted else ", as far as files can show"
    return f"Rechecked{how}: {words.fulfilled(guarantee)}."


def with_columns(guarantee: Facts, items: str, article: str) -> str:
    """Name the items that someone knows, after the columns that a guarantee takes for known in any case.

    >>> with_columns({"model": "kkm"}, "2 items", "the")
    'the quasi-identifiers and 2 items'
    >>> with_columns({"model": "km-anonymity"}, "2 items", "the")
    '2 items'
    """
    columns = words_for(guarantee).known_in_all
    return f"{article} {columns} and {items}" if columns else items
