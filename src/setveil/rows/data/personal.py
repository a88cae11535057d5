"""Values of the input that belong to one person: found when rows are read, then compared with a release.

Readers collect such values (IDs, addresses, telephone and card numbers) of every column, ignored ones
included, and of every field position. `setveil.runs.last_check` compares them with all of ``published/``. A
value matches if it is a whole published value, whatever its case, blanks, dots and Unicode form (see
`folded`), and whatever its hyphens and leading zeros (see `PLAIN`). Compared are

- of any column or field: values written like an e-mail address, a telephone number with ``+``, an IP address,
  a card number (its last digit fits) or an exact address (street and house number), or with such a word;
- of a field position whose values behave like IDs: each value that no other position has, so that the age
  ``17`` is not taken for patient number ``17``, and items that come back are never IDs;
- of the ID column, and of ignored columns that are named or look like IDs: each value that says something by
  itself. One of fewer than 9 digits or 6 characters, of one word, or like a diagnosis code, counts only if an
  item column has it on the same line: order 17 and product 17 may differ.

Values are kept as hashes, so that nothing of a person stays in memory and a million of them take 8 MB.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed
from setveil.rows.data import evidence
from setveil.rows.data.columns import split_names
from setveil.rows.data.ids import Values, of_cells, why_id
from setveil.rows.data.named_columns import Column
from setveil.rows.data.names import is_address_name, is_person_id, tells_person
from setveil.rows.data.personal_forms import ADDRESS, CARD, IP, MAIL, PHONE, addresses, form_of

if TYPE_CHECKING:
    import polars as pl


IDS = "person IDs"
LAST = {-1: "last", -2: "next-to-last"}
_SAME = 0.01  # share of lines on which an item column has the ID of its line

_HINTS = (  # that a value may be of a form: for polars, which is fast
    r"@|^\+|[0-9.:]\.[0-9]|::|[0-9a-f]:[0-9a-f]|^[3-6][0-9]{3}[ 0-9-]{8,}$"
    r"|[^\W0-9]{2}.* [0-9]|^[0-9]+.* [^\W0-9]"
)
GAP = re.compile(r"[\s;|]+")  # between words of a label; where a separator was not seen, it is a whole line
_FORM_INSIDE = r"@|[\s;|]\+[0-9]|[0-9:]\.?[0-9]+[.:][0-9]|[3-6][0-9]{12,}"  # hints, as above
_CODE = re.compile(r"[A-Z][0-9][0-9A-Z]\.?[0-9A-Z]{0,4}", re.ASCII)  # of a diagnosis
_SAYING = 9  # digits that can hardly be another number by chance
_BY_CHANCE = rf"^(?:[0-9]{{6,{_SAYING - 1}}}|{_CODE.pattern})$"
_SAID = r"[0-9]|[^\W_][\W_]+[^\W_]"  # in a value that says something: a digit, or several words
_MANY_ALIKE = 20_000  # values of a column that are not looked at one by one if the first are of one form
_FEW = 10_000  # values that are looked through sooner than polars is imported
_LENGTHY = 2_000  # signs of a value, for which polars alone takes time in proportion
_EXAMPLES = 3  # masked values that a message shows
_SHORT = 12  # digits that no pattern of a hint fits
_SPELLED = r"[^!-~]|\."
_UNSEEN = r"[\s\p{Cf}\p{Cc}]+"
_SOME = 3  # values of a form that other codes may have by chance

_DASHES = r"[-_/\u2010-\u2015\u2212]"
# What people write or omit in one ID: P-0017 is P17, and the spreadsheet's 17.0 is 17.
PLAIN = (
    (r"^\s*([0-9]+)[.,]0+\s*$", "$1"), (r"(^|[^0-9.,])0+([0-9])", "$1$2"), (rf"{_DASHES}", ""),
)  # fmt: skip
_NOT_PLAIN = "|".join(pattern for pattern, _ in PLAIN)

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class PersonalColumn:
    """Values of one column or field position that belong to one person each."""

    name: str  # of the column; ``field 2`` of a file without columns
    named: str  # what --not-ids calls it
    kind: str  # what they are, such as `IDS`
    hashes: Hashes  # of the values, ascending

    def among(self, values: Sequence[str]) -> list[str]:
        """List the values, of some, that this column has."""
        if not values or not self.hashes.size:
            return []
        plain, at = _plain(values)
        own = np.concatenate([hashed(folded(values)), hashed(plain)])
        place = np.minimum(np.searchsorted(self.hashes, own), self.hashes.size - 1)
        found = np.flatnonzero(self.hashes[place] == own)
        return [
            values[one] for one in np.unique(np.concatenate([np.arange(len(values)), at])[found]).tolist()
        ]


@dataclass(frozen=True, eq=False)
class Personal:
    """All values of an input that must not be published, and the columns that were named as no IDs."""

    columns: tuple[PersonalColumn, ...] = ()
    not_ids: tuple[str, ...] = ()

    def without(self, not_ids: str | Iterable[str] | None, known: Collection[str] | None = None) -> Personal:
        """Omit the columns (names) or fields (numbers, ``2-5`` are several) that were named as no IDs.

        `known`: further names that are valid, in a file without columns; None: any.
        """
        names = split_names(not_ids) if isinstance(not_ids, str) else [str(one) for one in not_ids or ()]
        if not names:
            return self
        fine = set(chain.from_iterable(map(_numbers, names)))
        if known is not None:
            wrong = [name for name in names if not _is_field(name) and name not in known]
            if wrong:
                raise RequestError(
                    f"--not-ids names {listed(wrong)}, expected numbers of fields, counted from 1.",
                    hint="A file without columns has fields: --not-ids 1, or --not-ids last.",
                )
        left = tuple(one for one in self.columns if not {one.named, one.name, bare(one.name)} & fine)
        return Personal(left, tuple(dict.fromkeys((*self.not_ids, *names))))

    def respelled(self, before: Sequence[str], after: Sequence[str]) -> Personal:
        """Add how values are written once spellings of an item were made one (see ``--normalize``)."""
        new = dict(zip(before, after, strict=True))
        changed = [label for label, one in new.items() if one != label]
        columns = []
        for column in self.columns:
            more = hashed([new[label] for label in column.among(changed)])
            columns.append(replace(column, hashes=np.union1d(column.hashes, more)) if more.size else column)
        return replace(self, columns=tuple(columns))

    def __add__(self, other: Personal) -> Personal:
        return Personal(
            (*self.columns, *other.columns), tuple(dict.fromkeys((*self.not_ids, *other.not_ids)))
        )


NOTHING = Personal()


def hashed(values: Sequence[str] | pl.Series) -> Hashes:
    """Hash texts, alike in every process."""
    return _series(values).hash(0).to_numpy()


def folded(values: Sequence[str] | pl.Series) -> pl.Series:
    """Write texts without what spellings of one ID differ in: case, blanks, dots, Unicode form.

    Numbers of fewer than 9 digits keep their dots: 1.7 and 17 are two values.
    """
    texts = _series(values).str.to_lowercase()
    at = texts.str.contains(_SPELLED).arg_true()
    if not at.len():
        return texts
    some = texts.gather(at)
    bare = some.str.normalize("NFC").str.to_uppercase().str.to_lowercase().str.replace_all(_UNSEEN, "")
    few = bare.str.contains(r"^[0-9.]+$") & (bare.str.count_matches("[0-9]") < _SAYING)
    bare = bare.zip_with(few, bare.str.replace_all(".", "", literal=True))
    return texts.scatter(at, bare.zip_with(bare != "", some))


def _plain(values: Sequence[str] | pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """List the values that `PLAIN` changes, if enough is left of them (1-7 is not 17), and their places."""
    texts = _series(values).str.to_lowercase()
    at = texts.str.contains(_NOT_PLAIN).arg_true()
    some = texts.gather(at)
    bare = _plainly(some)
    fine = _say_something(some) & (bare.str.len_chars() >= 6) & ~bare.str.contains(_BY_CHANCE)
    return bare.filter(fine), at.filter(fine).to_numpy().astype(np.int64)


def _plainly(texts: pl.Series) -> pl.Series:
    for pattern, left in PLAIN:
        texts = texts.str.replace_all(pattern, left)
    return folded(texts)


def _series(values: Sequence[str] | pl.Series) -> pl.Series:
    import polars as pl

    try:
        return values if isinstance(values, pl.Series) else pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:  # half a character, which JSON may hold
        plain = [value.encode(errors="backslashreplace").decode() for value in values]
        return pl.Series(plain, dtype=pl.String)


def masked(value: str) -> str:
    """Show how a value begins and ends, and nothing else of it, not even its length."""
    if len(value) < 4:
        return "****"
    return f"{value[: 1 if len(value) < 6 else 2]}****{value[-1]}"


def masked_examples(values: Iterable[str]) -> str:
    """Show a few of the values, masked, in their order.

    >>> masked_examples(["P-1001", "P-1002", "P-1003", "P-1004"])
    'P-****1, P-****2, P-****3'
    """
    return ", ".join(masked(value) for value in sorted(values)[:_EXAMPLES])


def merged(several: Sequence[tuple[PersonalColumn, ...]]) -> tuple[PersonalColumn, ...]:
    """Put together what several files have in the same column."""
    found: dict[tuple[str, str], list[PersonalColumn]] = {}
    for one in chain.from_iterable(several):
        found.setdefault((one.name, one.kind), []).append(one)
    return tuple(
        replace(some[0], hashes=np.sort(np.concatenate([one.hashes for one in some])))
        for some in found.values()
    )


# --- values


def forms(labels: Sequence[str] | pl.Series, name: str = "") -> dict[str, list[str]]:
    """Find the values of a column with this name that are written like what one person has, by their kind."""
    likely = _matching(labels, _HINTS)
    some = Counter(map(form_of, likely[: evidence.LINES]))
    usual, times = max(some.items(), key=lambda one: one[1], default=("", 0))
    if (
        usual in {MAIL, PHONE, ADDRESS}
        and len(likely) > _MANY_ALIKE
        and times >= evidence.SURE * some.total()
    ):
        return {usual: likely}
    found: dict[str, list[str]] = {}
    for label in likely:
        if kind := form_of(label):
            found.setdefault(kind, []).append(label)
    if len(likely) * 2 > len(labels) and (several := addresses(likely, named=is_address_name(name))):
        found[ADDRESS] = list(dict.fromkeys((*found.get(ADDRESS, ()), *several)))
    if IP in found and 3 * sum(map(_is_far, found[IP])) < len(found[IP]):
        del found[IP]  # numbers of sections or enzymes, such as 1.14.13.39
    if CARD in found:
        long = sum(13 <= len(label) <= 19 and label.isascii() and label.isdigit() for label in likely)
        if sum(map(str.isdigit, found[CARD])) < evidence.SURE * long:
            del found[CARD]  # one in ten numbers of other sorts has a last digit that fits
    return found


def forms_inside(labels: Sequence[str]) -> dict[str, list[str]]:
    """Find the labels of several words that contain a value with the form of a personal value."""
    whose: dict[str, list[str]] = {}
    for label in _matching(_matching(labels, r"[\s;|]"), _FORM_INSIDE):
        for word in GAP.split(label):
            whose.setdefault(word, []).append(label)
    found = forms(list(whose)) if whose else {}
    return {kind: list(dict.fromkeys(chain(*map(whose.__getitem__, some)))) for kind, some in found.items()}


def _matching(labels: Sequence[str] | pl.Series, pattern: str) -> list[str]:
    """List the labels that have a pattern, by polars if they are many or long: it takes time to import."""
    if isinstance(labels, Sequence):
        if len(labels) <= _FEW and max(map(len, labels), default=0) < _LENGTHY:
            return list(filter(re.compile(pattern).search, labels))
        if max(map(len, labels)) < _SHORT and all(map(str.isdecimal, labels)):
            return []
    import polars as pl

    try:
        every = labels if isinstance(labels, pl.Series) else pl.Series(labels, dtype=pl.String)
    except UnicodeEncodeError:  # half a character, which JSON may hold
        return list(filter(re.compile(pattern).search, labels))
    return every.filter(every.str.contains(pattern)).to_list()


def _is_far(label: str) -> bool:
    """Return whether a part of an IP address is greater than numbers of sections are."""
    return ":" in label or any(int(part) >= 100 for part in label.split("."))


def says_something(label: str) -> bool:
    """Return whether a value can hardly be that of another column by chance."""
    if label.isascii() and label.isdigit():
        return len(label) >= _SAYING
    return len(label) >= 6 and _CODE.fullmatch(label) is None and any(sign.isdigit() for sign in label)


def column_of(name: str, named: str, kind: str, labels: Sequence[str] | pl.Series) -> PersonalColumn:
    """Hash the values of a column or a position."""
    hashes = np.concatenate([hashed(folded(labels)), hashed(_plain(labels)[0])])
    return PersonalColumn(name, named, kind, _ascending(hashes))


def _ascending(hashes: Hashes) -> Hashes:
    """Sort hashes, and omit repeats; many times faster than `numpy.unique`."""
    found = np.sort(hashes)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if found.size else found


def _of_forms(name: str, named: str, labels: Sequence[str] | pl.Series) -> list[PersonalColumn]:
    return [column_of(name, named, kind, some) for kind, some in forms(labels, named).items()]


# --- columns


def items_of_columns(items: Iterable[Values]) -> tuple[PersonalColumn, ...]:
    """Find what columns of items, or other columns that are published, have of single persons."""
    found: list[PersonalColumn] = []
    for column in items:
        name, named, labels = column.name, bare(column.name), column.present
        found += _of_forms(name, named, labels)
        found += [column_of(name, named, kind, some) for kind, some in forms_inside(labels).items()]
    return tuple(found)


def ids_of_columns(
    ids: Sequence[Values], columns: Iterable[tuple[str, pl.Series]], items: Sequence[Values]
) -> tuple[PersonalColumn, ...]:
    """Find what columns that are not published have of single persons.

    `ids`: the column that says which row a line belongs to, if any. `columns`: names, and the texts of all
    lines, of others that may have IDs. `items`: published columns, line by line if they can be compared with
    the others.
    """
    import polars as pl

    found: list[PersonalColumn] = []
    keys = ((one.name, one) for one in ids)
    for name, column in chain[tuple[str, Values | pl.Series]](keys, columns):
        if isinstance(column, Values):
            labels = pl.Series(column.labels, dtype=pl.String)
            different = labels.gather(np.flatnonzero(np.bincount(column.codes)))
            first = labels.gather(column.codes[: evidence.LINES])
        else:
            first = column.head(evidence.LINES)
            different = column.unique() if first.n_unique() < first.len() else column
        named = bare(name)
        if forms(
            first.unique(), named
        ):  # the first lines tell; what is published itself is looked at in full
            found += _of_forms(name, named, different)
        if isinstance(column, Values) or _are_ids(name, first):
            telling = hashed(folded(different.filter(_say_something(different))))
            plain = hashed(_plain(different)[0])
            own = np.sort(hashed(_plainly(different.str.to_lowercase())))
            several = [telling, plain, *(_on_same_lines(own, column, one) for one in items)]
            hashes = _ascending(np.concatenate(several))
            if hashes.size:
                found.append(PersonalColumn(name, named, IDS, hashes))
    return tuple(found)


def ids_column(name: str, named: str, ids: Sequence[str]) -> PersonalColumn:
    """Make a column of the IDs, of some, that say something."""
    different = _series(ids)
    return column_of(name, named, IDS, different.filter(_say_something(different)))


def cells_of(column: Values) -> tuple[str, pl.Series]:
    """Name a column, and list the texts of its lines."""
    import polars as pl

    return column.name, pl.Series(column.labels, dtype=pl.String).gather(pl.Series(column.codes))


def numbered(cells: pl.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Write the texts of lines as codes and the text of each."""
    texts = cells.fill_null("")
    hashes = hashed(texts)
    order = np.argsort(hashes, kind="stable")
    new = np.concatenate(([True], np.diff(hashes[order]) != 0)) if order.size else np.zeros(0, np.bool_)
    codes = np.empty(order.size, np.int64)
    codes[order] = np.cumsum(new) - 1
    return codes, texts.gather(order[new]).to_list()


def other_columns(
    names: Sequence[str],
    head: Sequence[Sequence[str]],
    used: Collection[int],
    read: Callable[[int], Column | pl.Series],
) -> list[tuple[str, pl.Series]]:
    """Read the columns outside `used` whose first lines look like values of single persons."""
    found: list[tuple[str, pl.Series]] = []
    for at, name in enumerate(names):
        if at in used or not _may_be(name, [row[at] for row in head if at < len(row)]):
            continue
        with suppress(DataError):  # a column of another type, or one that cannot be read
            column = read(at)
            if isinstance(column, Column):
                found.append(cells_of(Values(name, column.codes, column.labels)))
            else:
                found.append((name, column))
    return found


def _may_be(name: str, cells: Sequence[str]) -> bool:
    name = _inmost(name)
    return is_person_id(name) or bool(forms(list(set(cells)), name)) or bool(why_id(of_cells(name, cells)))


def _inmost(name: str) -> str:
    """Take the last part of the name of a field inside others, if it tells a person: ``who.patient``."""
    last = name.rpartition(".")[2]
    return last if tells_person(last) else name


def _are_ids(name: str, first: pl.Series) -> bool:
    name = _inmost(name)
    return is_person_id(name) or bool(why_id(of_cells(name, first.to_list())))


def _say_something(labels: pl.Series) -> pl.Series:
    found = labels.str.contains(_SAID) & ~labels.str.contains(_BY_CHANCE)
    return found & (labels.str.len_chars() >= 6)


def _on_same_lines(own: Hashes, column: pl.Series | Values, items: Values) -> Hashes:
    """List the IDs that a column of items has on the line of the ID, as these items are written.

    `own`: hashes of the IDs of a column, plainly written.
    """
    labels = _series(items.labels)
    other = hashed(_plainly(labels.str.to_lowercase()))
    place = np.minimum(np.searchsorted(own, other), own.size - 1)
    if not own.size or not (own[place] == other).any():
        return own[:0]
    ids = _plainly((cells_of(column)[1] if isinstance(column, Values) else column).str.to_lowercase())
    if ids.len() != items.codes.size:
        return own[:0]
    hashes = hashed(ids)
    same = (hashes == other[items.codes]) & (ids != "").to_numpy()
    few = np.count_nonzero(same) < max(_SOME, _SAME * ids.len())
    by_chance = few or np.count_nonzero(same) <= _by_chance(hashes, other, items)
    return own[:0] if by_chance else hashed(folded(labels))[items.codes[same]]


def _by_chance(ids: Hashes, labels: Hashes, items: Values) -> float:
    """Count the lines that would have their ID as an item by chance, as small numbers of both do."""
    different, times = np.unique(ids, return_counts=True)
    place = np.minimum(np.searchsorted(different, labels), different.size - 1)
    lines = np.where(different[place] == labels, times[place], 0)
    expected = float(lines @ items.times) / ids.size
    return expected + 3 * math.sqrt(expected)


def bare(name: str) -> str:
    """Name a column as options do: one without a name by its number."""
    return name.removeprefix("column ")


def _is_field(name: str) -> bool:
    return re.fullmatch(r"[0-9]{1,6}(-[0-9]{1,6})?", name, re.ASCII) is not None or name in LAST.values()


def _numbers(name: str) -> list[str]:
    """Write out a range of fields."""
    first, sign, last = name.partition("-")
    if sign and _is_field(name) and first.isdigit():
        return [name, *map(str, range(int(first), min(int(last), int(first) + 100_000) + 1))]
    return [name]
