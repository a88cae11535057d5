"""Lines of integers in a text, with other lines above or below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from setveil.base.errors import TableError, shorten
from setveil.base.wording import are
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.lines import as_spec, has_comments_only, in_words, numbers_in, without_lines
from setveil.rows.data.io.request import ReadingRequest
from setveil.rows.data.io.sniff import head_rows, holds_numbers
from setveil.rows.data.names import is_event, is_person_name, may_be_item

CanBeRead: TypeAlias = Callable[[Text, ReadingRequest, Mapping[str, str]], bool]

_NUMBERS = "fimi", "spmf", "basket"  # formats of text that may be lines of integers


def require_numbers(text: Text, chosen: str, request: ReadingRequest, can_be_read: CanBeRead) -> None:
    """Raise if lines next to lines of integers hold anything else; `can_be_read` tries options."""
    if chosen not in _NUMBERS or request.format == "basket" or text.settled or not holds_numbers(text):
        return
    numbers = numbers_in(text)
    if (chosen == "spmf" and has_comments_only(text, numbers)) or _are_names(text, numbers):
        return
    if request.format is None and _begin_with_ids(text, numbers):
        return  # nothing speaks for rows of items below a name of IDs
    if numbers == [1]:
        refuse_title_of_people(text.name, text.content.decode().split("\n", 1)[0].strip())
    if numbers:
        format_of = {} if request.format is not None else {"format": "fimi" if chosen == "basket" else chosen}
        options = {**format_of, "skip_lines": as_spec(numbers)}
        question = TableError(
            f"{text.name}: {in_words(numbers)} {are(len(numbers))} not integers between blanks, as all "
            "others are",
            [],
            [(options, "one row per line, without these; every number an item")],
        )
        question.keep(lambda options: can_be_read(text, request, options))
        raise question


def _begin_with_ids(text: Text, numbers: Sequence[int]) -> bool:
    """Return whether the integers below some lines begin with IDs."""
    from setveil.rows.data.ids_in_lines import why_ids

    return bool(why_ids(head_rows(without_lines(text, numbers), " ")))


def _are_names(text: Text, numbers: Sequence[int]) -> bool:
    """Return whether only the first line has no integers, and as many fields as the others: a header."""
    widths = {sign: [len(row) for row in head_rows(text, sign)] for sign in "\t "}
    return len(numbers) == 1 and any(len(set(found)) == 1 and found[0] > 1 for found in widths.values())


def refuse_title_of_people(name: str, title: str) -> None:
    """Raise if a line is a title of people, so that the lines below would be people, not items."""
    if is_person_name(title) and not (may_be_item(title) or is_event(title)):
        raise TableError(
            f"{name}: the first line, {shorten(title)}, may be the title of the others, which would be "
            "people, not items",
            [],
            [],
            "name the columns of IDs and items; or, if the lines contain items, add --skip-lines 1 --format "
            "basket",
            "",
        )
