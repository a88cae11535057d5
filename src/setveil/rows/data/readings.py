"""The request where nothing says which columns of a table count: its columns, and likely readings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from setveil.base.errors import TableError, shorten
from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.columns import as_field, as_fields, numbered_alike
from setveil.rows.data.ids import come_evenly, look_like_ids
from setveil.rows.data.ids_in_lines import why_ids, why_personal, why_sets_are_table
from setveil.rows.data.layout import in_words
from setveil.rows.data.named_columns import NamedColumns, called
from setveil.rows.data.names import (
    is_event,
    is_id_name,
    is_item_name,
    is_measured_name,
    is_no_item,
    is_people,
    is_person_name,
    is_place,
    is_sex,
    may_be_item,
    numbers_events,
    tells_person,
)
from setveil.rows.data.objects_in_cells import inner_columns
from setveil.rows.data.personal_forms import (
    MAIL,
    PHONE,
    addresses,
    form_of,
    is_full_name,
    is_personal,
    likely_form,
)
from setveil.rows.data.totals import amounts_of, ends_with_sums, sums_among

SAMPLES = 3
_FIELDS = 3  # kinds of fields that are in no column of one thing
_KINDS = 4  # of items at least in a column that is named like the sexes or amounts of another language
_MANY_CONTACTS = 4  # a column is of addresses if one value of this many certainly is
EVERY_FIELD = "one row per line, every field an item"
EVERY_WORD = "one row per line, every word an item"


def refusal(
    table: NamedColumns, why: str, *, more: Mapping[str, str] = MappingProxyType({}), rows: str = ""
) -> TableError:
    """Make the error that asks which columns count.

    `why`: what speaks for a table, if in doubt. `more`: options that all readings need. `rows`: the format by
    which each line may be a row of items as well; empty: none.
    """
    shown = []
    for at in range(len(table.names)):
        values = list(dict.fromkeys(row[at] for row in table.head if len(row) > at and row[at]))
        shown.append((called(table, at), tuple(values[:SAMPLES])))
    readings = (
        [] if table.trouble else [(_with(more, options), text) for options, text in likely_readings(table)]
    )
    if rows and are_items(table):
        kept = {key: value for key, value in more.items() if rows == "basket" and key == "separator"}
        ways: list[dict[str, str]] = [{**kept, "format": rows}]
        if kept.get("separator") == " ":  # blanks may as well belong to the items
            ways.append({"format": rows})
        readings += [(way, EVERY_FIELD) for way in ways]
        if len(table.head) < evidence.FEW and len(table.names) == 2 and not table.header:
            long = {**more, "id_column": "1", "item_column": "2"}
            readings.append((long, "one row per value of column 1, items from column 2"))
    elif rows == "basket" and not more and are_words(table):
        readings.append(({"format": rows, "separator": " "}, EVERY_WORD))
    reason = f" ({why})" if why else ""
    error = TableError(
        f"{table.name} may be a table{reason}, and nothing says which columns count",
        shown,
        readings,
        table.trouble,
    )
    if not table.head:
        error.trouble, error.options_named = "There is no line of data below the header", ""
        error.say_how()
    error.likely_ids = likely_ids(table) if readings else ()
    return error


def likely_ids(table: NamedColumns) -> tuple[str, ...]:
    """List the columns without names that may say whose lines are, by number: those of people before others.

    A person may have several papers, so of several columns only those of the fewest values count.
    """
    if table.header:
        return ()
    columns = [[row[at] for row in table.head if len(row) > at and row[at]] for at in range(len(table.names))]
    full = {at: len(set(column)) for at, column in enumerate(columns) if len(column) == len(table.head)}
    for fits in (_are_forms, _may_identify):
        found = {at: number for at, number in full.items() if fits(columns[at])}
        if found:
            return tuple(str(at + 1) for at, number in found.items() if number == min(found.values()))
    return ()


def _are_forms(values: Sequence[str]) -> bool:
    """Return whether values are mail addresses or telephone numbers."""
    found = sum(likely_form(value) in {MAIL, PHONE} for value in values)
    return bool(values) and found >= evidence.SURE * len(values)


def _may_identify(values: Sequence[str]) -> bool:
    return len(set(values)) > 2 and look_like_ids(values, once=evidence.are_different(values))


def refuse_ids_in_lists(rows: Sequence[Sequence[str]], name: str, key: str) -> None:
    """Raise if the first arrays or lists of a file, or of its `key`, may contain IDs."""
    rows = [row for row in rows if row]
    why = why_sets_are_table(rows, "list" if key else "array")
    if why:
        lists = f"the lists in {shorten(key)} are rows" if key else "each line is a row"
        safe = not (why_ids(rows) or why_personal(rows)) and evidence.come_anywhere(rows)
        options = {"item_column": key} if key else {"format": "jsonl"}
        raise TableError(
            f"{name} may contain records ({why}), and nothing says that {lists} of items",
            [],
            [(options, f"{lists} of items")] if safe else [],
            "" if safe else "take IDs out of the lists first, or name what contains items",
        )


def are_items(table: NamedColumns) -> bool:
    """Return whether nothing speaks for IDs, names or dates among the fields of lines, wherever they are."""
    rows = [[field for field in row if field] for row in (*table.head, *table.outside)]
    if {field for row in rows for field in row} <= known_words.YES | known_words.NO:
        return False  # answers, of which nothing says to which items
    if len(rows) < evidence.FEW:
        rows += [list(table.names)] * table.header
        return not any(is_personal(field) for row in rows for field in row) and evidence.come_anywhere(rows)
    words = [[word for field in row for word in _WORDS.findall(field)] for row in rows]
    if len(rows) < 3 or why_ids(rows) or why_ids(words):
        return False
    if any(sum(map(is_personal, row)) for row in (*rows, *words)):
        return False
    if table.separator == " " and len(rows) < evidence.MANY and not evidence.come_anywhere(rows):
        return False
    columns = [[row[at] for row in table.head if len(row) > at and row[at]] for at in range(len(table.names))]
    return not any(_is_called_id(table, at) or _holds_ids(columns[at]) for at in range(len(columns)))


def are_words(table: NamedColumns) -> bool:
    """Return whether lines without signs between fields contain words that come again, and nobody's names."""
    lines = [row[0] for row in table.head if len(row) == 1]
    lines += table.names if table.header else []
    rows = [line.split() for line in lines]
    times = Counter(word for row in rows for word in {*row})
    if len(table.names) != 1 or max(map(len, rows), default=0) < 2 or any(map(is_full_name, lines)):
        return False
    if any(map(is_personal, times)) or why_ids(rows):
        return False
    if len(rows) >= evidence.MANY:
        once = sum(number == 1 for number in times.values())
        return 2 * len(times) <= len(rows) and 10 * once <= times.total()
    return evidence.come_anywhere(rows)


def _holds_ids(values: Sequence[str]) -> bool:
    """Return whether values stand on one line each, or on lines side by side, as IDs do, or are dates."""
    if len(values) < 2:
        return False
    if any(known_words.kind(value) == "date" for value in values):
        return True
    different = set(values)
    return evidence.are_different(values) or (len(different) > 2 and evidence.is_grouped(values))


def _with(more: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """Add what all readings of a table need; of several columns, their cells say which format it is."""
    needed = {name: more[name] for name in more if name != "format" or "item_columns" not in options}
    return {**needed, **options}


Reading = tuple[dict[str, str], str]


def likely_readings(table: NamedColumns) -> list[Reading]:
    """List how a table is likely to be read: options of `setveil.read`, and what they mean; best first.

    No column that may hold ids is taken for items: where that cannot be determined, there is no reading.
    """
    width = len(table.names)
    values = [[row[at] for row in table.head if len(row) > at] for at in range(width)]
    times = Counter(table.names)
    word = [
        table.names[at] if table.header and table.names[at] and times[table.names[at]] == 1 else str(at + 1)
        for at in range(width)
    ]
    if any(map(_are_lines, values)):
        return []  # what stands between fields was not seen
    if table.separator == " " and any(map(_are_names, values, values[1:])):
        return []
    whose, per = _of_people(table, values, word)
    bare = [at for at in range(width) if not _is_called_id(table, at) and not is_sex(table.names[at])]
    marks = [bare[at] for at in answers.columns_of_marks([values[at] for at in bare])]
    if len(marks) > 1 and 2 * len(marks) >= width:
        options = {**whose, "item_columns": as_fields(marks, word)}
        return [(options, f"one row per {per}, an item for each column")] if table.header else []
    if pivot := _of_pivot(table, values, word):
        return [pivot]
    if inner := _of_objects(table, values, word):
        return inner
    answered = _of_answers(table, values, word)
    if answered:
        return [({**whose, **options}, f"one row per {per}, {meaning}") for options, meaning in answered]
    readings: list[Reading] = _of_lists(table, values, word)
    if readings:
        return readings
    if table.trimmed and not table.header and (readings := _of_ends(table, values, word)):
        return readings
    # an empty field between blanks cannot be seen, unless only items at the ends of lines are missing
    shifted = table.trimmed and table.separator == " " and not _only_items_lack(table, values)
    several = _of_one_kind(table, values) if width > 2 and not shifted else []
    if table.trimmed and not table.header and _hold_somebody([values[at] for at in several]):
        several = []
    if several and _are_amounts([values[at] for at in several]):
        options = {"format": "onehot", **whose, "item_columns": as_fields(several, word)}
        return [(options, f"one row per {per}, an item where its number is above 0")] if table.header else []
    if several:
        options = {**whose, "item_columns": as_fields(several, word)}
        readings.append((options, f"one row per {per}, items from these columns"))
    if table.trimmed or (several and _numbered(table)):
        return readings
    if width == 1:
        if _is_no_item(table, 0, values[0]) and not (table.header and is_place(table.names[0])):
            return []
        alike = len(values[0]) >= evidence.MANY and not why_ids([[value] for value in values[0]])
        alike |= table.header and is_item_name(table.names[0]) and not _are_personal(values[0])
        return [({"item_columns": word[0]}, "one row per line, with one item")] if alike else []
    filled = [at for at in range(width) if any(values[at]) and at not in several]
    ids = [at for at in filled if not _is_measured(table, at)]
    ids = sorted(ids, key=lambda at: (-_rank(table, at, values[at]), -_id_score(table, at, values[at]), at))
    for id_at in [at for at in ids if not _are_measured(table, at, values[at])][:1]:
        rest = [at for at in filled if at != id_at and _are_items_of(table, values, id_at, at)]
        if rest:
            item_at = min(rest, key=lambda at: (-_item_score(table, at, values[at]), at))
            meaning = f"one row per value of {called(table, id_at)}, items from {called(table, item_at)}"
            readings.append(({"id_column": word[id_at], "item_column": word[item_at]}, meaning))
    return readings


def _are_lines(values: Sequence[str]) -> bool:
    """Return whether cells contain several fields with blanks between them: numbers, dates and codes."""
    lines = [
        value.split()
        for value in values
        if value not in known_words.MISSING and not known_words.is_moment(value)
    ]
    width, share = evidence.common_width(lines)
    if width < _FIELDS or share < evidence.ALIKE or len(lines) < evidence.FEW:
        return False
    fields = [
        Counter(known_words.kind(line[at]) for line in lines if len(line) == width) for at in range(width)
    ]
    kinds = {kind for found in fields for kind, times in found.items() if times >= share * len(lines)}
    return len(kinds - {"word"}) >= _FIELDS


def _are_names(firsts: Sequence[str], lasts: Sequence[str]) -> bool:
    """Return whether columns between blanks contain first and last names of persons, and not `True False`."""
    if answers.is_mark(firsts) or answers.is_mark(lasts):
        return False
    found = sum(is_full_name(f"{first} {last}") for first, last in zip(firsts, lasts, strict=False))
    return len(firsts) > 0 and found >= evidence.SURE * len(firsts)


def _of_ends(table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]) -> list[Reading]:
    """Say how lines without a header are read whose items begin, or end, at different places."""
    width, back = len(values), bool(getattr(table, "from_end", False))
    meaning = "one row per line, items from these columns"
    lines = [[field for field in row if field] for row in table.head]
    if evidence.are_numbered_lists(lines, -1 if back else 0):
        places = range(width - 1) if back else range(1, width)
        short = "; short lines lack the first" if back else ""
        return [({"item_columns": as_fields(places, word)}, f"{meaning}{short}")]
    if len(table.head) < evidence.MANY // 2:
        return []  # too few to tell IDs from items
    head = [row[::-1] for row in table.head] if back else table.head
    values = values[::-1] if back else values
    filled = [[value for value in column if value not in known_words.MISSING] for column in values]
    start = min(sum(map(bool, row)) for row in head) - 1
    later = {value for column in filled[start + 1 :] for value in column}
    while start > 1 and _come_again(filled[start - 1], later):
        start -= 1
        later.update(filled[start])
    items = list(range(start, len(values)))
    rows = [[row[at] for at in items if row[at] not in known_words.MISSING] for row in head]
    if start < 1 or not _come_again(filled[start], later) or why_ids(rows):
        return []
    later.update(filled[start])
    if any(not later.isdisjoint(filled[at]) for at in range(start)):
        return []  # IDs and items may stand anywhere
    if any(_may_be_ids(filled[at]) or _hold_ends(head, [at]) for at in items[:-1]):
        return []
    columns = sorted(width - 1 - at for at in items) if back else items
    return [
        (
            {"item_columns": as_fields(columns, word)},
            f"{meaning}; short lines lack the first" if back else meaning,
        )
    ]


def _hold_somebody(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether values that stand only once are full names or IDs, as if short lines shift columns."""
    times = Counter(value for column in columns for value in column if value not in known_words.MISSING)
    once = [value for value, number in times.items() if number == 1]
    return sum(is_full_name(value) or look_like_ids([value], once=False) for value in once) > 1


def _come_again(values: Sequence[str], others: set[str]) -> bool:
    """Return whether many of the values of a column are those of others, too."""
    here = set(values)
    return bool(here) and 5 * len(here & others) >= min(len(here), len(others))


def _of_pivot(table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]) -> Reading | None:
    """Say how a table of amounts with totals is read: IDs, then an item for each column; None: it is none."""
    width = len(values)
    if not table.header or width < 4 or table.trimmed or not table.head:
        return None
    amounts = [[value for value in column if value not in known_words.MISSING] for column in values[1:]]
    if not all(column and all(_AMOUNT.fullmatch(value) for value in column) for column in amounts):
        return None
    numbers = [
        amounts_of([value if value in filled else "" for value in column])
        for column, filled in zip(values[1:], map(set, amounts), strict=True)
    ]
    line = known_words.is_total(table.head[-1][0]) or ends_with_sums(numbers)
    sums = [1 + at for at in sums_among(numbers)]
    sums += [width - 1] if known_words.is_total(table.names[-1]) else []
    if not sums and not line:
        return None
    items = [at for at in range(1, width) if at not in sums]
    options = {"format": "onehot", "id_column": word[0], "item_columns": as_fields(items, word)}
    if line:
        options["skip_last"] = "1"
    meaning = f"one row per value of {called(table, 0)}, an item where its amount is above 0, without totals"
    return options, meaning


def _of_objects(table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]) -> list[Reading]:
    """Say how a table is read in which the cells of a column are objects with items."""
    inside = {at: inner_columns(table.names[at], column) for at, column in enumerate(values) if table.header}
    paths = next(filter(None, inside.values()), [])
    id_at = _id_of_lists(table, values, [place for place, found in inside.items() if not found])
    options = {} if id_at is None else {"id_column": word[id_at]}
    row = "line" if id_at is None else f"value of {called(table, id_at)}"
    item = "item_columns" if id_at is None else "item_column"
    return [({**options, item: path}, f"one row per {row}, items from {path}") for path in paths]


def _id_of_lists(table: NamedColumns, values: Sequence[Sequence[str]], places: Sequence[int]) -> int | None:
    """Find the column of IDs among some, next to a column of lists."""
    ids = [at for at in places if any(values[at])]
    ids = [at for at in ids if _is_called_id(table, at) or evidence.are_different(values[at])]
    ids = [at for at in ids if not _is_measured(table, at) and not _are_measured(table, at, values[at])]
    return max(
        ids,
        key=lambda at: (_rank(table, at, values[at]), _id_score(table, at, values[at]), -at),
        default=None,
    )


def _of_lists(table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]) -> list[Reading]:
    """Say how a table is read in which the cells of a column, or of several, are lists of items."""
    signs = {
        at: sign
        for at, column in enumerate(values)
        if (
            sign := evidence.list_sign(column)
            or evidence.sign_of_few(column, named=table.header and may_be_item(table.names[at]))
        )
    }
    sign = next(iter(signs.values()), "")
    lists = [
        at
        for at, one in signs.items()
        if one == sign and (not _is_called_id(table, at) or _are_baskets(table.names[at], values[at], sign))
    ]
    lists = [at for at in lists if not _is_no_item(table, at, values[at])]
    if any(why_personal([value.split(sign) for value in values[at]]) for at in lists):
        return []
    if not lists:
        return []
    id_at = _id_of_lists(table, values, [at for at in range(len(values)) if at not in signs])
    options = {} if id_at is None else {"id_column": word[id_at]}
    if len(lists) == 1 and options:
        options["item_column"] = word[lists[0]]
    else:
        options["item_columns"] = as_fields(lists, word)
    row = "line" if id_at is None else f"value of {called(table, id_at)}"
    items = ", ".join(called(table, at) for at in lists)
    return [
        (
            {**options, "delimiter": sign},
            f"one row per {row}, items from {items}, with {in_words(sign)} between them",
        )
    ]


def _are_baskets(name: str, values: Sequence[str], sign: str) -> bool:
    """Return whether a column named like an event (basket, order), and not like its ID, contains lists."""
    filled = [value for value in values if value not in known_words.MISSING]
    several = 2 * sum(sign in value for value in filled) > len(filled)
    return is_event(name) and not numbers_events(name) and (several or evidence.are_written_lists(filled))


def _of_answers(table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]) -> list[Reading]:
    """Say how columns are read that hold the same few values, as answers do; each is then an item."""
    if not table.header or table.trimmed:
        return []
    few = [
        at
        for at in range(len(values))
        if 1 <= len(set(values[at]) - known_words.MISSING) <= answers.MOST and not _is_called_id(table, at)
    ]
    few = [at for at in few if not is_sex(table.names[at])]
    alike = numbered_alike({at: table.names[at] for at in few})
    runs = [alike] if answers.values_of([values[at] for at in alike]) else _alike_answers(values, few)
    best = max(runs, key=len, default=[])
    found = answers.values_of([values[at] for at in best])
    if 2 * len(best) < len(few):
        return []
    return [
        ({"item_columns": as_fields(best, word), "yes": as_field(one)}, answers.meaning(one))
        for one in (answers.likely_yes(found) if found else ())
    ]


def _alike_answers(values: Sequence[Sequence[str]], few: Sequence[int]) -> list[list[int]]:
    """Group columns side by side whose values are those of the others."""
    runs: list[list[int]] = []
    for at in few:
        here = set(values[at]) - known_words.MISSING
        before = set(values[runs[-1][0]]) - known_words.MISSING if runs else set()
        if runs and runs[-1][-1] == at - 1 and (here <= before or before <= here):
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _of_people(
    table: NamedColumns, values: Sequence[Sequence[str]], word: Sequence[str]
) -> tuple[dict[str, str], str]:
    """Say by which column the lines of one person are one row; by none if each line may be one."""
    found = []
    for at in range(len(values)) if table.header else ():
        filled = [value for value in values[at] if value not in known_words.MISSING]
        again = len(set(filled)) < len(filled) or len(table.head) >= evidence.LINES
        if tells_person(table.names[at]) and again and len(filled) == len(values[at]):
            found.append((not is_people(table.names[at]), len(set(filled)), at))
    if not found or table.trimmed:
        return {}, "line"
    at = min(found)[-1]
    return {"id_column": word[at]}, f"value of {called(table, at)}"


def _rank(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    """Order columns by the subject of lines: people, then their papers and mail addresses, then others."""
    name = table.names[at] if table.header else ""
    return 2 * is_people(name) + (tells_person(name) or (table.header and _are_forms(values)))


def _are_measured(table: NamedColumns, at: int, values: Sequence[str]) -> bool:
    """Return whether most values are dates, or numbers that are no integers and not named like IDs."""
    return _are_mostly({"date"} if _is_called_id(table, at) else {"date", "number"}, values)


def _are_mostly(kinds: Container[str], values: Sequence[str]) -> bool:
    """Return whether most values that are not missing are of some kinds."""
    filled = [value for value in values if value not in known_words.MISSING]
    return 2 * sum(known_words.kind(value) in kinds for value in filled) > len(filled)


def _is_measured(table: NamedColumns, at: int) -> bool:
    return table.header and is_measured_name(table.names[at])


def _is_no_item(table: NamedColumns, at: int, values: Sequence[str]) -> bool:
    """Return whether a column is named like what is no item, for sure or as its values agree with.

    Days of the week and times are no items, whatever their column is called.
    """
    if table.header and is_item_name(table.names[at]):
        return False
    if known_words.are_days_or_times(values):
        return True
    if not table.header:
        return False
    few = len(set(values) - known_words.MISSING) < _KINDS or _are_mostly({"integer", "number"}, values)
    return is_no_item(table.names[at]) or (few and is_measured_name(table.names[at]))


def _is_called_id(table: NamedColumns, at: int) -> bool:
    """Return whether a column is named like an id, of whatever, or a person."""
    name = table.names[at] if table.header else ""
    return not may_be_item(name) and (is_id_name(name) or is_person_name(name) or numbers_events(name))


def _look_like_ids(values: Sequence[str]) -> bool:
    """Return whether values may be ids: nearly all differ, or many are such as no item is."""
    filled = [value for value in values if value]
    return evidence.are_different(filled) or _are_personal(filled)


def _are_personal(values: Sequence[str]) -> bool:
    return 2 * sum(map(is_personal, values)) >= len(values)


def _are_contacts(values: Sequence[str]) -> bool:
    """Return whether many values belong to one person each, such as streets with house numbers."""
    filled = [value for value in values if value]
    of_form = sum(form_of(value) != "" for value in filled)
    return bool(addresses(filled)) or _MANY_CONTACTS * of_form >= len(filled) > 0


def _are_items_of(table: NamedColumns, values: Sequence[Sequence[str]], id_at: int, at: int) -> bool:
    """Return whether a column contains items for sure, and no ids: by the names of both, else by many values.

    Without a name that says so, the lines of each id must stand together, and those of items not.
    """
    if _are_contacts(values[at]) or _is_no_item(table, at, values[at]) or _are_mostly({"date"}, values[at]):
        return False
    named = table.header and may_be_item(table.names[at])
    called_id = _is_called_id(table, id_at)
    if named and len(values[at]) < evidence.MANY and called_id:
        return not _are_personal(list(filter(None, values[at])))
    if _look_like_ids(values[at]) or _is_called_id(table, at):
        return False
    if named or evidence.is_grouped(values[at]):
        return named or (called_id and len(table.names) == 2)
    ids = values[id_at]
    pairs = {(row[id_at], row[at]) for row in table.head if len(row) > max(id_at, at)}
    if len(pairs) == len(set(ids)) < len(ids):
        return False  # it says the same on all lines of an id
    if len(ids) < evidence.MANY or evidence.are_different(ids):
        return called_id
    alone = likely_ids(table) == (str(id_at + 1),)
    times = Counter(ids)
    alone |= len(table.names) == 2 and come_evenly(list(times), np.array(list(times.values())))
    return called_id or evidence.is_grouped(ids) or (alone and 2 * len(set(values[at])) <= len(times))


def _are_amounts(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether columns contain numbers, most of them 0."""
    cells = [value for column in columns for value in column]
    return all(value.isdigit() for value in cells if value) and 2 * cells.count("0") > len(cells)


def _numbered(table: NamedColumns) -> list[int]:
    """List the columns that are numbered alike under a name that says something, such as DX1, DX2."""
    if not table.header:
        return []
    named = {at: name for at, name in enumerate(table.names) if not is_no_item(name)}
    return numbered_alike(named, said=lambda stem: not _ANY_COLUMN.fullmatch(stem))


def _of_one_kind(table: NamedColumns, values: Sequence[Sequence[str]]) -> list[int]:
    """Find columns that are numbered alike (DX1, DX2, ...), else those side by side that share values."""
    if alike := _numbered(table):
        return [] if any(_is_intruder(table, values, alike, at) for at in alike) else alike
    sets = [
        set()
        if _is_called_id(table, at) or _is_no_item(table, at, column)
        else _shared(column) or _number_codes(table, at, column)
        for at, column in enumerate(values)
    ]
    if words := _of_own_words(table, values):
        return words
    runs: list[list[int]] = []
    for at in range(len(sets)):
        if sets[at] and not answers.is_mark(values[at]):
            if runs and runs[-1][-1] == at - 1 and _alike(sets[at - 1], sets[at]):
                runs[-1].append(at)
            else:
                runs.append([at])
    best = max((_with_sparse(run, values) for run in runs), key=len, default=[])
    rows = [
        [row[at] for at in best if at < len(row) and row[at] not in known_words.MISSING] for row in table.head
    ]
    return best if len(best) > 1 and not why_ids(rows) and not _hold_ends(table.head, best) else []


def _with_sparse(columns: list[int], values: Sequence[Sequence[str]]) -> list[int]:
    """Add the columns that follow, which fewer and fewer lines fill: with values of those before, or none."""
    known = {value for at in columns for value in values[at]} - known_words.MISSING
    fewest = min(sum(value in known for value in values[at]) for at in columns)
    found, empty = [*columns], list[int]()
    for at in range(columns[-1] + 1, len(values)):
        filled = [value for value in values[at] if value not in known_words.MISSING]
        come_again = 2 * sum(value in known for value in filled) > len(filled)
        if not filled:
            empty.append(at)
        elif come_again and len(filled) <= fewest and len(filled) < len(values[at]):
            found, empty, fewest = [*found, *empty, at], [], len(filled)
            known.update(filled)
        else:
            return found
    return [*found, *empty]


def _of_own_words(table: NamedColumns, values: Sequence[Sequence[str]]) -> list[int]:
    """Find columns side by side that hold one word each, or nothing, as forms write what was ticked.

    Most of these words are the names of their columns, unless the first of several headers names them all.
    """
    best: list[int] = []
    run: list[int] = []
    for at, column in enumerate(values):
        found = set(column) - known_words.MISSING
        lacks = len(column) > sum(value in found for value in column)
        fits = lacks and len(found) < 2 and not found & (known_words.YES | known_words.TICKS)
        run = [*run, at] if fits else []
        best = max(best, run, key=len)
    words = [next(iter(set(values[at]) - known_words.MISSING), "") for at in best]
    filled = [(table.names[at], word) for at, word in zip(best, words, strict=True) if word]
    own = sum(name == word for name, word in filled)
    alone = len({word for _, word in filled}) == len(filled) > 1
    return best if table.header and alone and 2 * own >= len(filled) else []


def _number_codes(table: NamedColumns, at: int, values: Sequence[str]) -> set[str]:
    """Return the values of a column if they may be codes of items: numbers of three digits or more."""
    filled = [value for value in values if value not in known_words.MISSING]
    long = all(value.isdecimal() and len(value) > _SHORT for value in filled)
    if not long or len(filled) < evidence.MANY or _is_measured(table, at) or _look_like_ids(filled):
        return set()
    return set() if evidence.is_grouped(values) else set(filled)


def _alike(one: set[str], other: set[str]) -> bool:
    """Return whether columns share values as items do; of numbers most, since ages and places share some."""
    both = len(one & other)
    numbers = all(value.isdecimal() for value in one | other)
    return 3 * both >= 2 * len(one | other) if numbers else 5 * both >= min(len(one), len(other))


def _only_items_lack(table: NamedColumns, values: Sequence[Sequence[str]]) -> bool:
    """Return whether the last columns are numbered alike, and each of the others has values of one kind."""
    alike = numbered_alike(dict(enumerate(table.names))) if table.header else []
    if not alike or alike != list(range(alike[0], len(values))):
        return False
    kinds = [
        Counter(form_of(value) or known_words.kind(value) for value in values[at]) for at in range(alike[0])
    ]
    return all(max(found.values(), default=0) >= evidence.SURE * found.total() for found in kinds)


def _hold_ends(rows: evidence.Rows, columns: Sequence[int]) -> bool:
    """Return whether lines end in columns with what only ends lines, as ids do."""
    filled = [[at for at, value in enumerate(row) if value not in known_words.MISSING] for row in rows]
    ends = [(row[at[-1]], at[-1]) for row, at in zip(rows, filled, strict=True) if at]
    times, last = Counter(value for row in rows for value in row), Counter(value for value, _ in ends)
    here = [times[value] == last[value] for value, at in ends if at in columns]
    return sum(here) >= max(evidence.SURE * len(here), 1)


_AMOUNT = re.compile(r"[0-9]+(\.0+)?", re.ASCII)
_WORDS = re.compile(r"[^\s,;|]+")
_SHORT = 2  # digits that ages and answers have
_ANY_COLUMN = re.compile(r"(.|col|column|field|var|variable|feature|value|unnamed|_)?[\W_]*", re.IGNORECASE)


def _is_intruder(
    table: NamedColumns, values: Sequence[Sequence[str]], columns: Sequence[int], at: int
) -> bool:
    """Return whether a column may hold ids, and shares hardly any value with others that are named alike."""
    filled = [value for value in values[at] if value not in known_words.MISSING]
    if _is_called_id(table, at) or (filled and _are_personal(filled)):
        return True
    others = {value for other in columns if other != at for value in values[other]}
    return _may_be_ids(filled) and 5 * len(set(filled) & others) < len(set(filled))


def _may_be_ids(values: Sequence[str]) -> bool:
    return len(values) >= evidence.MANY and evidence.are_different(values)


def _shared(values: Sequence[str]) -> set[str]:
    """Return the values by which columns side by side are known to hold items; of what may be ids, none."""
    filled = [value for value in values if value not in known_words.MISSING]
    kinds = Counter(map(known_words.kind, filled))
    dates, numbers = kinds["date"] > (1 - evidence.SURE) * len(filled), kinds["integer"] == len(filled)
    return set() if dates or numbers or _look_like_ids(filled) or evidence.is_grouped(values) else set(filled)


def _id_score(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    kinds = {known_words.kind(value) for value in values if value}
    again = len(set(values)) < len(values)
    score = (
        3 * evidence.is_grouped(values)
        + 2 * (evidence.is_grouped(values) and again)
        + 2 * (not kinds & {"date", "number"})
        + (kinds != {"word"})
    )
    if table.header and is_id_name(table.names[at]) and not is_item_name(table.names[at]):
        score += 4
    return score - 9 * answers.is_mark(values) - 2 * (len(set(values)) < min(len(values), 8) / 2)


def _item_score(table: NamedColumns, at: int, values: Sequence[str]) -> int:
    kinds = {known_words.kind(value) for value in values if value}
    score = 2 * (not evidence.are_different(values)) + 3 * (not kinds & {"date"}) + ("code" in kinds)
    score += (len(set(values)) > 4) - 2 * (kinds == {"integer"})
    if table.header and is_item_name(table.names[at]):
        score += 4
    return score - 9 * answers.is_mark(values)
