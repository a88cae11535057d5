"""Columns of ages: the full years from a date of birth to a date, such as that of an admission."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from setveil.base.errors import DataError, RequestError, shorten
from setveil.kernels.rows import frozen
from setveil.rows.tables.columns import TableColumns
from setveil.rows.tables.dates import day_of, days_of
from setveil.rows.tables.day_numbers import day_of_number, programs_of
from setveil.rows.tables.quasi_identifiers import MISSING
from setveil.rows.tables.table import TextColumn

Ages = Mapping[str, tuple[str, str]]  # columns of birth and of the other date (or that date), by the new name


def with_ages(
    read_as: Callable[[Sequence[str]], TableColumns], names: Sequence[str], ages: Ages
) -> TableColumns:
    """Read columns by name, ages among them, each computed from two dates or a date and a fixed day."""
    if not ages:
        return read_as(names)
    dates = [one for birth, at in ages.values() for one in (birth, at) if day_of(one) is None]
    wanted = list(dict.fromkeys([*(name for name in names if name not in ages), *dates]))
    read = read_as(wanted)
    taken = next((name for name in ages if name in read.header), None)
    if taken is not None:
        raise RequestError(
            f"--age {taken}: {read.name} has a column of this name.", hint="Choose another name."
        )
    columns = {name: (text, place) for name, text, place in zip(wanted, read.texts, read.places, strict=True)}
    columns |= {name: (_age(read, columns, name, *of), columns[of[0]][1]) for name, of in ages.items()}
    several = [columns[name] for name in names]
    return replace(
        read,
        header=(*read.header, *ages),
        texts=tuple(text for text, _ in several),
        places=tuple(place for _, place in several),
    )


def _age(
    read: TableColumns,
    columns: Mapping[str, tuple[TextColumn, Callable[[int], str]]],
    name: str,
    birth: str,
    at: str,
) -> TextColumn:
    born = columns[birth][0]
    fixed = day_of(at)
    texts = [] if fixed else [*born.labels, *columns[at][0].labels]
    program = next(iter(programs_of([text for text in texts if text != MISSING])), None)
    births = _days(born, program)
    days, other = [fixed], np.zeros(born.codes.size, np.int64)
    if fixed is None:
        days, other = _days(columns[at][0], program), columns[at][0].codes.astype(np.int64)
    pairs, codes = np.unique(born.codes * np.int64(len(days)) + other, return_inverse=True)
    labels = []
    for pair, (one, two) in enumerate(divmod(int(both), len(days)) for both in pairs):
        age = full_years(births[one], days[two])
        if age is not None and age < 0:
            raise DataError(
                f"{read.place(int(np.argmax(codes == pair)))}: {shorten(birth)} is {births[one]}, after "
                f"{days[two]} ({shorten(at)}), so that there is no age.",
                hint=f"--missing {birth}=VALUE says that a date of birth is not known.",
            )
        labels.append(MISSING if age is None else str(age))
    different = list(dict.fromkeys(labels))
    number = np.array([different.index(label) for label in labels], np.int32)
    return TextColumn(name, frozen(number[codes], np.int32), tuple(different))


def full_years(birth: date | None, day: date | None) -> int | None:
    """Count the birthdays after a birth, up to a day.

    >>> full_years(date(1990, 3, 15), date(2024, 3, 14)), full_years(date(1990, 3, 15), date(2024, 3, 15))
    (33, 34)
    """
    if birth is None or day is None:
        return None
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def _days(column: TextColumn, program: str | None) -> list[date | None]:
    if program is not None:
        return [day_of_number(label, program) for label in column.labels]
    try:
        found = days_of(column.labels)
    except DataError as error:
        raise DataError(f"Column {shorten(column.name)} contains {error.message}", hint=error.hint) from None
    return [found.get(label) for label in column.labels]
