"""The request where nothing says which columns of a table count: its columns, and likely readings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from setveil.base.errors import TableError, shorten
from setveil.rows.data import answers, evidence, known_words
from setveil.rows.data.columns import as_field, as_fields, numbered_alike
from setveil.rows.data.columns_of_one_kind import (
    all_differ,
    hold_ends,
    hold_somebody,
    numbered_columns,
    of_one_kind,
    only_items_lack,
)
from setveil.rows.data.ids_in_lines import why_ids, why_personal, why_sets_are_table
from setveil.rows.data.layout import in_words
from setveil.rows.data.likely_roles import (
    are_items_of,
    are_mostly_measured,
    are_personal,
    holds_no_item,
    id_score,
    is_called_id,
    is_called_measured,
    item_score,
    likely_ids,
    subject_rank,
)
from setveil.rows.data.named_columns import NamedColumns, called
from setveil.rows.data.names import (
    is_event,
    is_item_name,
    is_people,
    is_place,
    is_sex,
    may_be_item,
    numbers_events,
    tells_person,
)
from setveil.rows.data.objects_in_cells import inner_columns
from setveil.rows.data.personal_forms import is_full_name, is_personal
from setveil.rows.data.totals import amounts_of, ends_with_sums, sums_among

SAMPLES = 3
_FIELDS = 3  # kinds of fields that are in no column of one thing
_AMOUNT = re.compile(r"[0-9]+(\.0+)?", re.ASCII)
_WORDS = re.compile(r"[^\s,;|]+")
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
    return not any(is_called_id(table, at) or _holds_ids(columns[at]) for at in range(len(columns)))


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
    word = _words(table)
    if any(map(_are_lines, values)):
        return []  # what stands between fields was not seen
    if table.separator == " " and any(map(_are_names, values, values[1:])):
        return []
    whose, per = _of_people(table, values, word)
    bare = [at for at in range(width) if not is_called_id(table, at) and not is_sex(table.names[at])]
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
    shifted = table.trimmed and table.separator == " " and not only_items_lack(table, values)
    several = of_one_kind(table, values) if width > 2 and not shifted else []
    if table.trimmed and not table.header and hold_somebody([values[at] for at in several]):
        several = []
    if several and _are_amounts([values[at] for at in several]):
        options = {"format": "onehot", **whose, "item_columns": as_fields(several, word)}
        return [(options, f"one row per {per}, an item where its number is above 0")] if table.header else []
    if several:
        options = {**whose, "item_columns": as_fields(several, word)}
        readings.append((options, f"one row per {per}, items from these columns"))
    if table.trimmed or (several and numbered_columns(table)):
        return readings
    if width == 1:
        if holds_no_item(table, 0, values[0]) and not (table.header and is_place(table.names[0])):
            return []
        alike = len(values[0]) >= evidence.MANY and not why_ids([[value] for value in values[0]])
        alike |= table.header and is_item_name(table.names[0]) and not are_personal(values[0])
        return [({"item_columns": word[0]}, "one row per line, with one item")] if alike else []
    filled = [at for at in range(width) if any(values[at]) and at not in several]
    ids = [at for at in filled if not is_called_measured(table, at)]
    ids = sorted(
        ids, key=lambda at: (-subject_rank(table, at, values[at]), -id_score(table, at, values[at]), at)
    )
    for id_at in [at for at in ids if not are_mostly_measured(table, at, values[at])][:1]:
        rest = [at for at in filled if at != id_at and are_items_of(table, values, id_at, at)]
        if rest:
            item_at = min(rest, key=lambda at: (-item_score(table, at, values[at]), at))
            meaning = f"one row per value of {called(table, id_at)}, items from {called(table, item_at)}"
            readings.append(({"id_column": word[id_at], "item_column": word[item_at]}, meaning))
    return readings


def _words(table: NamedColumns) -> list[str]:
    """Name each column as an option does: by its name if no other has it, else by its number."""
    times = Counter(table.names)
    return [
        name if table.header and name and times[name] == 1 else str(at + 1)
        for at, name in enumerate(table.names)
    ]


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
    if any(all_differ(filled[at]) or hold_ends(head, [at]) for at in items[:-1]):
        return []
    columns = sorted(width - 1 - at for at in items) if back else items
    return [
        (
            {"item_columns": as_fields(columns, word)},
            f"{meaning}; short lines lack the first" if back else meaning,
        )
    ]


def _come_again(values: Sequence[str], others: set[str]) -> bool:
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
    ids = [at for at in places if any(values[at])]
    ids = [at for at in ids if is_called_id(table, at) or evidence.are_different(values[at])]
    ids = [
        at
        for at in ids
        if not is_called_measured(table, at) and not are_mostly_measured(table, at, values[at])
    ]
    return max(
        ids,
        key=lambda at: (subject_rank(table, at, values[at]), id_score(table, at, values[at]), -at),
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
        if one == sign and (not is_called_id(table, at) or _are_baskets(table.names[at], values[at], sign))
    ]
    lists = [at for at in lists if not holds_no_item(table, at, values[at])]
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
        if 1 <= len(set(values[at]) - known_words.MISSING) <= answers.MOST and not is_called_id(table, at)
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


def _are_amounts(columns: Sequence[Sequence[str]]) -> bool:
    cells = [value for column in columns for value in column]
    return all(value.isdigit() for value in cells if value) and 2 * cells.count("0") > len(cells)
