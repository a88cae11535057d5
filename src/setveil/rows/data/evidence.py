"""Evidence for a table rather than rows of items: lines of equal length, different columns, IDs.

A basket has its items anywhere: the first field of a line is of the same sort as the others. A table has
columns. Only values count here, never the name of a column: names decide nothing that could publish IDs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from setveil.rows.data.names import is_id_name, is_item_name, is_person_name
from setveil.rows.data.personal_forms import holds_address, is_full_name, is_personal, likely_form

Rows = Sequence[Sequence[str]]

SEPARATORS = ",;\t|"
LINES = 5000  # of a file that are looked at
ALIKE = 0.8  # so many lines of one length make a table: exports have title lines, totals and broken lines
DIFFERENT = 0.9  # so many different values in a column are ids
SURE = 0.9
LISTS = 0.2  # so many cells with separators are lists
FEW, MANY = 5, 20  # lines from which on the values of a column say something, and something by themselves
_DIGITS = 18  # of numbers that may count lines
_PLACES = 12  # in lines that ids are looked for in, besides the last two
_MOST_HEADERS = 6  # lines that may be above the data
_SHAPED = 500  # lines whose values are compared by how they are written
_ORDER = {0: "first", 1: "second", 2: "third", -1: "last", -2: "last but one"}

PUBLISHED_MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None"})
# Words that programs and people write where there is no value, in any column of what is read.
MISSING = PUBLISHED_MISSING | {
    *("n/a", "n.a.", "N.A.", "<NA>", "#NV", "#N/D", "NaT", "Null", "(null)", "(NULL)", "<null>", "<NULL>"),
    *("[NULL]", r"\N", "(none)", "(blank)", "(leer)", "(vide)", "(en blanco)", "(vuoto)", "(empty)"),
    *("(None)", "(Blank)", "(Leer)", "(Vide)", "(Empty)"),
    *("-", "--", "\u2013", "\u2014", ".", "?", "k.A.", "k. A.", "#NULL!", "#NA", "-nan", "-NaN"),
}
# Words that may mean that there is no value, and may be one: they stay, and are reported.
# fmt: off
_MAY_BE_MISSING = frozenset({
    "unknown", "unbekannt", "inconnu", "inconnue", "desconocido", "desconocida", "sconosciuto", "onbekend",
    "none", "nil", "keine", "keiner", "aucun", "aucune", "ninguno", "ninguna", "nessuno", "nessuna", "geen",
    "missing", "fehlend", "manquant", "undefined", "unspecified", "tbd", "blank", "empty", "leer", "vide",
    "n/d", "nd", "n.d.", "s/d", "-9", "-88", "-98", "-99", "-888", "-998", "-999", "-9999",
})
# fmt: on
_NO_VALUE = re.compile(
    r"(not?|nicht|non|sans|sin|senza|ohne|keine)[ _-](available|applicable|specified|recorded|reported|known"
    r"|stated|data|value|values|answer|response|diagnos[ie]s|code|entry|information|angabe|angaben|diagnose"
    r"|eintrag|daten|bekannt|erfasst|renseigné|renseignée|disponible|précisé|réponses?|datos?"
    r"|respuesta|código|diagnóstico|información|dati)|#(ref|value|name|div/0|num|wert|bezug|valeur)[!?]?"
    r"|[(\[<](missing|unknown|unbekannt|inconnu|not set|no value)[)\]>]",
    re.IGNORECASE,
)
# fmt: off
TOTALS = frozenset({
    "total", "totals", "grand total", "grand totals", "sum", "sum total", "subtotal", "sub-total",
    "overall", "gesamt", "gesamtergebnis", "gesamtsumme", "summe", "insgesamt", "endsumme",
    "zwischensumme", "teilsumme", "sub total", "sous-total", "sous total", "total partiel", "total parcial",
    "subtotale", "totale parziale", "subtotales", "total général", "total general", "totaux", "somme",
    "ensemble", "suma", "suma total", "totales", "totale", "totale complessivo", "somma", "totaal", "razem",
})
# fmt: on


def may_be_missing(text: str) -> bool:
    """Return whether a value is a word that often means that there is none, and may be an item as well.

    >>> [may_be_missing(word) for word in ("Unknown", "keine Angabe", "#REF!", "-99", "no milk", "NDC")]
    [True, True, True, True, False, False]
    """
    plain = text.strip().casefold()
    return plain in _MAY_BE_MISSING or _NO_VALUE.fullmatch(plain) is not None


def is_total(text: str) -> bool:
    """Return whether a name or an ID is a word for a sum."""
    return text.strip().rstrip(":").casefold() in TOTALS


def _forms(*words: str) -> set[str]:
    return {form for word in words for form in (word, word.title(), word.upper())}


YES = frozenset({"1", *_forms("true", "yes", "checked", "wahr", "ja", "vrai", "oui")})
NO = frozenset({"0", "", *_forms("false", "no", "unchecked", "falsch", "nein", "faux", "non")})
TICKS, NO_TICKS = frozenset("xXyY"), frozenset("nN")  # which may be items as well
_TICKED = [frozenset(found) for found in ("x", "X", "y", "Y", "yn", "YN")]

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,' \u00a0][0-9]{3})*(?:[.,][0-9]+)?%?", re.ASCII)
_DAY = (
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4}"
    r"|[0-9]{1,2}([- ]?)(?i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\3(?:[0-9]{4}|[0-9]{2}))"
)
_TIME = (  # of a day, after its date
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?(?: ?[AaPp]\.?[Mm]\.?)?"
    r"(?: ?(?:Z|[A-Z]{2,4})?(?:[+-][0-9]{1,2}(?::?[0-9]{2})?)?)?"
)
_DATE = re.compile(rf"{_DAY}(?:[T ].*|:[0-9].*)?", re.ASCII)
_MOMENT = re.compile(rf"{_DAY}(?:[T :]{_TIME})?", re.ASCII)
_DAY_OR_TIME = re.compile(
    rf"({_TIME}|mo|di|mi|do|fr|sa|so|(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|mittwoch|sonnabend"
    r"|(mon|diens|donners|frei|sams|sonn)tag|lun(di|es|ed[iì])?|mar(di|tes|ted[iì])?"
    r"|m[eé]r(c|credi|coles|coled[iì])?|mi[eé](rcoles)?|jeu(di)?|jue(ves)?|gio(ved[iì])?"
    r"|ven(dredi|erd[iì])?|vie(rnes)?|sam(edi)?|s[aá]b(ado|ato)?|dim(anche)?|dom(ingo|enica)?)\.?",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"\s*(\[.*\]|\{.*\})\s*", re.DOTALL)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_LISTED = re.compile(r"[0-9]{1,15}", re.ASCII)  # a number in a list


@lru_cache(1 << 14)  # the same cells are looked at for each way to read a file
def kind(value: str) -> str:
    """Return the sort of a value: `integer`, `number`, `date`, `code` (letters and digits), `word`."""
    if _INTEGER.fullmatch(value):
        return "integer"
    if _DATE.fullmatch(value):
        return "date"
    if _NUMBER.fullmatch(value):
        return "number"
    if " " not in value and any(c.isdigit() for c in value):
        return "code"
    return "word"


def is_moment(value: str) -> bool:
    """Return whether a value is a date, with a time of the day or without.

    >>> is_moment("2024-05-16 10:00:00 +0200"), is_moment("16.05.2024 9:44 AM GMT+1")
    (True, True)
    >>> is_moment("02MAR2023:10:15:00"), is_moment("2-Mar-23")
    (True, True)
    >>> is_moment("2024-05-16 I10 33"), is_moment("10:00")
    (False, False)
    """
    return _MOMENT.fullmatch(value) is not None


def are_days_or_times(values: Iterable[str]) -> bool:
    """Return whether values are days of the week or times of the day.

    >>> are_days_or_times(["Mo", "Di", "NA"]), are_days_or_times(["Do", "Mi", "La"])
    (True, False)
    >>> are_days_or_times(["9:30", "14:00:05"]), are_days_or_times(["Fr."])
    (True, False)
    """
    found = {value for value in values if value not in MISSING}
    return len(found) > 1 and all(map(_DAY_OR_TIME.fullmatch, found))


def common_width(rows: Rows) -> tuple[int, float]:
    """Return the most frequent number of fields of a line, and the share of the lines that have it."""
    if not rows:
        return 0, 0.0
    width, lines = Counter(map(len, rows)).most_common(1)[0]
    return width, lines / len(rows)


def has_columns(rows: Rows) -> bool:
    """Return whether nearly all lines have the same number of fields, two or more."""
    width, share = common_width(rows)
    return len(rows) > 1 and width > 1 and share >= ALIKE


def end_alike(rows: Rows) -> bool:
    """Return whether lines of different lengths have about one kind of value per place from their end."""
    least = min(map(len, rows), default=0)
    if common_width(rows)[1] < ALIKE and are_numbered_lists(rows, -1):
        return True
    if len(rows) < MANY // 2 or least < 2 or common_width(rows)[1] >= ALIKE:
        return False

    def of_one_kind(place: int) -> bool:
        kinds = Counter(likely_form(row[place]) or kind(row[place]) for row in rows)
        return kinds.most_common(1)[0][1] >= SURE * len(rows)

    return sum(map(of_one_kind, range(-least, 0))) > sum(map(of_one_kind, range(least)))


def are_numbered_lists(rows: Rows, place: int) -> bool:
    """Return whether lines are ascending integers, with a larger one before (0) or after them (-1).

    >>> are_numbered_lists([["3", "7", "9001"], ["5", "9002"], ["1", "4", "6", "9003"]], -1)
    False
    >>> are_numbered_lists([[str(9000 + at), "3", "5", str(6 + at)] for at in range(5)], 0)
    True
    """
    if len(rows) < FEW or any(_INTEGER.fullmatch(field) is None for row in rows for field in row):
        return False
    numbers = [[*map(int, row)] for row in rows if len(row) > 1]
    lists = [row[1:] if place == 0 else row[:-1] for row in numbers]
    ids = {row[place] for row in numbers}
    ascending = all(a < b for row in lists for a, b in pairwise(row))
    several = sum(len(row) > 1 for row in lists) >= FEW
    return several and ascending and len(ids) == len(rows) and min(ids) > max(row[-1] for row in lists)


def are_different(values: Sequence[str]) -> bool:
    """Return whether nearly all values differ, as ids do."""
    return len(set(values)) >= DIFFERENT * len(values)


def is_grouped(values: Sequence[str]) -> bool:
    """Return whether equal values are next to each other only, as ids do where a table is sorted by them."""
    runs = sum(a != b for a, b in pairwise(values)) + 1
    return runs == len(set(values))


def is_id_and_item(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether the values of two columns agree with being IDs and items, in this order.

    The lines of an ID are adjacent, or there are more IDs than items; and items come back under other IDs,
    one a line. Dates and amounts are no IDs; addresses, telephone numbers and hashes are no items. A few
    lines agree with anything.
    """
    amounts = sum(kind(value) in {"date", "number"} for value in ids)
    personal = sum(map(is_personal, items))
    if max(amounts, personal) > (1 - SURE) * len(ids):
        return False
    if len(ids) < FEW:
        return not sign_of_few(items, named=True)
    if sum(bool(set(item) & set(SEPARATORS)) for item in items) > LISTS * len(items):
        return False
    if are_different(items) or is_grouped(items) or list_sign(items):
        return False
    return is_grouped(ids) or len(set(ids)) >= len(set(items))


def are_swapped(ids: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether the values of two columns speak against being ids and items, in this order."""
    if len(ids) < MANY:
        return False
    return are_different(items) or (is_grouped(items) and not is_grouped(ids))


def are_written_lists(values: Sequence[str]) -> bool:
    """Return whether programs wrote lists into nearly all cells: in brackets, with commas between items."""
    return bool(values) and sum(map(bool, map(_WRITTEN.fullmatch, values))) >= SURE * len(values)


def list_sign(values: Sequence[str]) -> str:
    """Name the sign that stands between several items in many cells of a column; "" if none does.

    Items stand anywhere in a list: what comes first in one comes later in others. The words of one name do
    not (``milk, whole`` and ``milk, skim``). Between blanks only numbers and codes may be items.
    """
    filled = [value for value in values if value not in MISSING]
    if are_written_lists(filled) and sum("," in value for value in filled) >= FEW:
        return ","
    plain = [value for value in filled if kind(value) not in {"number", "date"}]
    for sign in (";", "|", "\t", ",", " "):
        if are_sorted_lists(filled, sign):
            return sign
        outside = [value for value in plain if sign in _IN_BRACKETS.sub("", value)]
        parts = [[part.strip(" \t") for part in split_outside(value, sign)] for value in outside]
        lists = [[part for part in row if part not in MISSING and not is_total(part)] for row in parts]
        if len(lists) < FEW or len(lists) <= LISTS * len(filled):
            continue
        if sign == " " and not all(any(c.isdigit() for c in part) for row in lists for part in row):
            continue
        later = {part for row in lists for part in row[1:]}
        earlier = {part for row in lists for part in row[:-1]}
        starts = sum(row[:1] != [] and row[0] in later for row in lists)
        ends = sum(row[:1] != [] and row[-1] in earlier for row in lists)
        if min(starts, ends) >= LISTS * len(lists):
            return sign
    return ""


def sign_of_few(values: Sequence[str], *, named: bool) -> str:
    """Name the sign between items in few cells that are lists: their items come again in others."""
    filled = [value for value in values if value not in MISSING]
    if len(filled) >= MANY or any(kind(value) in {"number", "date"} for value in filled):
        return ""
    for sign in ";|,":
        rows = [[part.strip(" \t") for part in value.split(sign) if part.strip(" \t")] for value in filled]
        times = Counter(part for row in rows for part in {*row})
        lists = [row for row in rows if len(row) > 1]
        again = sum(any(times[part] > 1 for part in row) for row in lists)
        if len(lists) < 2 or any(map(is_personal, times)):
            continue
        if come_anywhere(rows) or (named and 2 * again > len(lists)):
            return sign
    return ""


def split_outside(text: str, sign: str) -> list[str]:
    """Split a text at a sign, but not within round brackets.

    >>> split_outside("Switch, Controller (ODL, NSX)", ",")
    ['Switch', ' Controller (ODL, NSX)']
    """
    if "(" not in text:
        return text.split(sign)
    hidden = _IN_BRACKETS.sub(lambda found: found[0].replace(sign, "\0"), text)
    return [part.replace("\0", sign) for part in hidden.split(sign)]


def are_sorted_lists(values: Sequence[str], sign: str) -> bool:
    """Return whether values are numbers in ascending order with a sign between them, three or more in some.

    Two numbers with a comma may be one with decimals, and three digits after each comma are thousands.
    """
    parts = [value.strip(sign + " ").split(sign) for value in values if sign in value]
    rows = [[part.strip(" \t") for part in row if part.strip(" \t")] for row in parts]
    long = [row for row in rows if len(row) > 2]
    if len(rows) < FEW or len(rows) <= LISTS * len(values) or len(long) < FEW:
        return False
    if not all(_LISTED.fullmatch(part) for row in rows for part in row) or len(set(map(len, rows))) < 2:
        return False
    if sign == "," and all(len(part) == 3 for row in rows for part in row[1:]):
        return False
    return sum(all(int(a) < int(b) for a, b in pairwise(row)) for row in rows) >= SURE * len(rows)


def come_anywhere(rows: Rows) -> bool:
    """Return whether the words of few lines come anywhere, and few lines have one to themselves."""
    rows = [row for row in rows if row]
    first = {row[0] for row in rows}.isdisjoint(word for row in rows for word in row[1:])
    last = {row[-1] for row in rows}.isdisjoint(word for row in rows for word in row[:-1])
    times = Counter(word for row in rows for word in {*row})
    once = {word for word, number in times.items() if number == 1}
    if len(rows) < 3 or first or last or 2 * sum(not once.isdisjoint(row) for row in rows) >= len(rows):
        return False
    if any(kind(word) != "word" for word in once) or any(kind(word) == "date" for word in times):
        return False
    return not any(is_full_name(" ".join(pair)) for row in rows for pair in pairwise(row))


def are_marks(values: Set[str]) -> bool:
    """Return whether columns contain nothing but marks: whether what each is named after is there."""
    found = values - MISSING
    return bool(found & YES and found <= YES | NO) or found in _TICKED


def is_mark(values: Sequence[str]) -> bool:
    """Return whether a column contains nothing but marks, and some lines have none."""
    found = set(values)
    return are_marks(found) and not found <= YES | TICKS


def columns_of_marks(columns: Sequence[Sequence[str]]) -> list[int]:
    """List columns of marks; of several, an item that all lines have, or none, is one of them."""
    marks = [at for at, values in enumerate(columns) if is_mark(values)]
    if len(marks) < 2:
        return marks
    return [at for at, values in enumerate(columns) if at in marks or set(values) <= {"0", "1"}]


def has_header(rows: Rows) -> bool:
    """Return whether the first line is unlike those below it; lines that equal it do not count.

    It is no header if it has a mail address or a telephone number, the like in a column of such values (see
    `likely_form`), or a full name over full names: these would be published as names of columns. Else it is
    one if a column of numbers or dates does not begin with one; else if no field is a number, a date, empty,
    or in its column again. A name may be empty if its column is, and the first if that column numbers the
    lines.
    """
    if len(rows) < 2:
        return False
    if any(map(holds_address, rows[0])):
        return False
    first, rest = rows[0], [row for row in rows[1:] if row != rows[0]]
    again = len(rest) + 1 < len(rows)
    if len(first) > 2 and any(set(first) == {str(n + at) for n in range(len(first))} for at in (0, 1)):
        return True  # columns that are numbered
    columns = [
        [row[at] for row in rest if len(row) > at and row[at] not in MISSING] for at in range(len(first))
    ]
    if any(map(_is_personal_like, first, columns)) or any(map(_is_list_over_lists, first, columns)):
        return False
    unnamed = len(first) > 1 and not first[0] and len(rest) > 1 and _number_lines(columns[0])
    plain = any(first) and all(
        kind(field) in {"word", "code"} if field else not below
        for field, below in zip(first[unnamed:], columns[unnamed:], strict=True)
    )
    unlike = not again
    for field, below in zip(first, columns, strict=True):
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if below and numeric >= SURE * len(below) and kind(field) in {"word", "code"} and field:
            return True
        if below and field and field not in YES | NO and set(below) <= YES | NO and len(below) > 1:
            return True
        if field in below:
            plain = False
        unlike |= sum(kind(value) != kind(field) for value in below) >= SURE * max(len(below), 1)
    return plain and unlike and not any(map(_is_name_over_names, first, columns))


def _is_name_over_names(field: str, below: Sequence[str]) -> bool:
    """Return whether a field is the full name of a person, as nearly all values below it are."""
    if not is_full_name(field) or is_person_name(field) or is_item_name(field) or not below:
        return False
    return sum(map(is_full_name, below)) >= SURE * len(below)


def _is_list_over_lists(field: str, below: Sequence[str]) -> bool:
    """Return whether a field is a list of what lists below it hold, too."""
    for sign in ";|,":
        here = {part.strip(" \t") for part in field.split(sign)}
        if len(here) > 1:
            others = {part.strip(" \t") for value in below if sign in value for part in value.split(sign)}
            if not here.isdisjoint(others - {""}):
                return True
    return False


def _is_personal_like(field: str, below: Sequence[str]) -> bool:
    """Return whether a field is written like an IP address or a hash, as nearly all values below it are."""
    form = likely_form(field)
    return bool(form) and bool(below) and sum(likely_form(v) == form for v in below) >= SURE * len(below)


def _number_lines(values: Sequence[str]) -> bool:
    """Return whether values are integers that differ from line to line."""
    return bool(values) and all(map(_INTEGER.fullmatch, values)) and len(set(values)) == len(values)


def name_lines(values: Sequence[str]) -> bool:
    """Return whether values may be the names of rows of R: running numbers, or words that differ."""
    if values and all(map(_INTEGER.fullmatch, values)):
        return list(values) == [str(number + int(values[0])) for number in range(len(values))]
    return len(set(values)) == len(values) and all(kind(value) == "word" for value in values)


def header_lines(rows: Rows) -> int:
    """Count lines above a table that are words over numbers, or names that the next line completes."""
    if len(rows) >= 2 * FEW and _completes(rows[0], rows[1], rows[2:]):
        return 2
    if len(rows) < MANY:
        return 1
    if (found := _described_lines(rows)) > 1:
        return found
    numeric = []
    columns = [{row[at] for row in rows[_MOST_HEADERS:] if len(row) > at} for at in range(len(rows[0]))]
    for at in range(len(rows[0])):
        kinds = [kind(row[at]) for row in rows[1:] if len(row) > at and row[at] not in MISSING]
        numbers = sum(one in {"integer", "number", "date"} for one in kinds)
        if len(kinds) >= MANY and numbers >= SURE * len(kinds):
            numeric.append(at)
    found = 1
    for row in rows[1:_MOST_HEADERS] if numeric else ():
        if any(field in MISSING or kind(field) not in {"word", "code"} for field in row):
            break
        if any(len(row[at]) < 2 for at in numeric if at < len(row)):
            break
        if any(row[at] in columns[at] for at in range(len(row)) if at not in numeric):
            break
        found += row != rows[0]
    return found


def _described_lines(rows: Rows) -> int:
    """Count the first lines with longer texts than the few values below them, as survey tools write."""
    filled = [
        [row[at] for row in rows[_MOST_HEADERS:] if len(row) > at and row[at] not in MISSING]
        for at in range(len(rows[0]))
    ]
    longest = {
        at: max(map(len, values))
        for at, values in enumerate(filled)
        if 2 * len(set(values)) <= len(values) > 1
    }
    found = 1
    for row in rows[1:_MOST_HEADERS] if len(longest) > 1 else ():
        if (
            len(row) < len(rows[0])
            or not all(row)
            or any(len(row[at]) <= most for at, most in longest.items())
        ):
            break
        if sum(" " in row[at] or row[at].startswith("{") for at in longest) < 2:
            break
        found += row != rows[0]
    return found


def _completes(first: Sequence[str], second: Sequence[str], rest: Rows) -> bool:
    """Return whether a line names columns that lack a name, and is empty where all lines below are not."""
    if any(field and kind(field) not in {"word", "code"} for field in second):
        return False
    added = [field for name, field in zip(first, second, strict=False) if field and not name]
    empty = [at for at, field in enumerate(second) if not field and at < len(first) and first[at]]
    return len(added) > 1 and any(all(len(row) > at and row[at] for row in rest) for at in empty)


def title_lines(rows: Rows) -> tuple[int, int]:
    """Count the first and last lines with one text and empty fields after it, around a table with a header.

    The header is above numbers or dates, or two of its names are those of IDs and items.

    >>> table = [["customer", "product"], *[["C1", "tea"], ["C2", "rice"]] * 3]
    >>> title_lines([["Sales 2024", ""], ["", ""], *table])
    (2, 0)
    """
    found = next((at for at, row in enumerate(rows[: 2 * _MOST_HEADERS]) if not _is_title(row)), 0)
    body = rows[found:]
    if not found or not any(rows[0]) or len(body) <= FEW or not all(body[0]) or not has_columns(body):
        return 0, 0
    columns = ([row[at] for row in body[1:] if len(row) > at] for at in range(len(body[0])))
    kinds = [[kind(value) in {"integer", "number", "date"} for value in column] for column in columns]
    numeric = [
        sum(below) >= SURE * max(len(below), 1) and kind(name) == "word"
        for name, below in zip(body[0], kinds, strict=True)
    ]
    called = [is_id_name(name) or is_person_name(name) for name in body[0]]
    if not any(numeric) and not (any(called) and any(map(is_item_name, body[0]))):
        return 0, 0
    last = 0
    while numeric[0] and last < _MOST_HEADERS and _is_title(body[-1 - last]) and not kinds[0][-1 - last]:
        last += 1
    return found, last


def _is_title(row: Sequence[str]) -> bool:
    return len(row) > 1 and not any(row[1:])


def why_table(rows: Rows) -> str:
    """Say what speaks for a table in the first lines of a file, as stripped fields; "" if nothing does."""
    if has_columns(rows):
        width, share = common_width(rows)
        return f"{'every line has' if share == 1 else 'nearly all lines have'} {width} fields"
    if len(rows) == 1:
        return _why_one_line(rows[0])
    if _first_line_differs(rows):
        return "the first line is unlike the others"
    trimmed = [_trimmed(row) for row in rows]
    below = trimmed[1:] if trimmed and _may_be_header(rows[0], rows[1:]) else []
    return why_ids(trimmed) or why_ids(below)


def why_sets_are_table(rows: Rows, what: str = "line") -> str:
    """Say what speaks for a table in lines of integers between blanks, or in lists; "" if nothing does.

    Sets of nearly one size are common there, so only those of exactly one size are a table, and ids count.
    """
    width, share = common_width(rows)
    if width > 1 and share == 1 and len(rows) > 2:
        return f"every {what} has {width} {'numbers' if what == 'line' else 'values'}"
    return why_ids(rows)


def why_ids(rows: Rows) -> str:
    """Say what speaks for ids among the fields of lines, by their places; "" if nothing does."""
    rows = [row for row in rows if row]
    if len(rows) < 3:
        return ""
    if personal := why_personal(rows):
        return personal
    if sum(len(row) == 1 for row in rows) >= ALIKE * len(rows):
        once = Counter(row[0] for row in rows)
        alone = [value for value, times in once.items() if times == 1]
        numbered = sum(any(c.isdigit() for c in value) for value in alone)
        if 2 * len(once) >= len(rows) or (len(rows) >= MANY and 5 * numbered >= len(rows)):
            return "many of its lines occur only once"
    if place := _why_place(rows) or _why_place(_integers(rows)):
        return place
    if _have_one_of_a_shape(rows[:_SHAPED]):
        return "nearly every line contains just one value that is written as ids or dates are"
    return ""


def _integers(rows: Rows) -> Rows:
    """Omit of mixed lines what is no integer; of others there is nothing to see that was not seen."""
    fields = {field for row in rows for field in row}
    integers = {field for field in fields if _INTEGER.fullmatch(field)}
    if integers == fields:
        return []
    left = ([field for field in row if field in integers] for row in rows)
    return [row for row in left if row]


def _why_place(rows: Rows) -> str:
    """Say what speaks for ids in a place of lines; "" if nothing does."""
    fields = Counter(field for row in rows for field in row if field)
    lines = Counter(field for row in rows for field in set(row) if field)
    kinds = _kinds(fields)
    ascending = are_ascending(rows)
    for place in (*range(_PLACES), -1, -2):
        least = place + 1 if place >= 0 else 2
        values = [row[place] for row in rows if len(row) >= least and row[place]]
        if len(values) < max(3, ALIKE * len(rows)) or len(values) == fields.total():
            continue
        which = _ORDER.get(place, f"{place + 1}th")
        if _differ_in_kind(_kinds(Counter(values)), kinds):
            return f"the {which} field of the lines is of another kind than the others"
        by_chance = ascending or place not in {
            0,
            1,
            2,
            -1,
        }  # places near the ends of sorted lines differ, too
        if are_different(values) and (
            _stay(values, lines) or _are_consecutive(values) or (len(values) >= MANY and not by_chance)
        ):
            return f"the {which} field of nearly every line is a different one"
        if _may_be_persons(values) and (_stay(values, lines) or _count_up(values)):
            return f"the value of the {which} field is in no other"
    return ""


def why_personal(rows: Rows) -> str:
    """Say whether half of some lines contain what tells a person, or a date; "" if they do not."""
    fields = {field for row in rows for field in row}

    def often(found: set[str]) -> bool:
        return 2 * sum(not found.isdisjoint(row) for row in rows) >= max(len(rows), 1)

    if often({field for field in fields if is_personal(field)}):
        return "many lines contain what looks like a telephone number, an address or a hash"
    return "many lines contain a date" if often({field for field in fields if kind(field) == "date"}) else ""


def are_ascending(rows: Rows) -> bool:
    """Return whether the fields of nearly every line ascend, by number or else as texts.

    Then the first of them is the least and the last the greatest, and so differ more than others do.
    """
    several = [row for row in rows if len(row) > 1]
    numbers = all(_INTEGER.fullmatch(field) for row in several for field in row)
    keys = [[(len(field.lstrip("+0")) if numbers else 0, field) for field in row] for row in several]
    return sum(all(a < b for a, b in pairwise(row)) for row in keys) >= SURE * len(several)


def _stay(values: Sequence[str], lines: Counter[str]) -> bool:
    """Return whether few values of a place are in other places (`lines`: how many contain each field)."""
    here = Counter(values)
    staying = sum(lines[value] <= times for value, times in here.items())
    in_lines = sum(times for value, times in here.items() if lines[value] <= times)
    return staying >= SURE * len(here) and in_lines >= SURE * len(values)


def _may_be_persons(values: Sequence[str]) -> bool:
    """Return whether values may be ids on several lines each; those of a few words must stand together."""
    different = set(values)
    if len(different) >= FEW or len(different) < 2 or 10 * len(different) < len(values):
        return len(different) >= FEW
    return is_grouped(values) or all(any(sign.isdigit() for sign in value) for value in different)


def _are_consecutive(values: Sequence[str]) -> bool:
    """Return whether most values are integers, with hardly a gap between the least and the greatest."""
    integers = [value for value in values if _INTEGER.fullmatch(value) and len(value) < _DIGITS]
    numbers = set(map(int, integers))
    if len(numbers) < 3 or len(integers) < ALIKE * len(values):
        return False
    return SURE * (max(numbers) - min(numbers) + 1) <= len(numbers)


def _count_up(values: Sequence[str]) -> bool:
    """Return whether values are integers that count up from line to line, each on several lines."""
    if not _are_consecutive(values):
        return False
    numbers = [int(value) for value in values if _INTEGER.fullmatch(value)]
    return all(0 <= b - a <= 1 for a, b in pairwise(numbers)) and 10 * len(set(numbers)) > len(numbers)


def _why_one_line(row: Sequence[str]) -> str:
    """Distinguish a record, or a header without data, from a row of items."""
    if len(row) > 1 and any(kind(field) != "word" for field in row if field):
        return "there is one line, and it may be a record"
    return ""


def _trimmed(row: Sequence[str]) -> Sequence[str]:
    """Omit empty fields at the end of a line."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _first_line_differs(rows: Rows) -> bool:
    """Return whether the first line of ragged ones is a header: numbers under words, or words of its own."""
    if len(rows) < 3:
        return False
    first, rest = rows[0], rows[1:]
    if len(first) < 2:
        return len(rest[0]) > 1 and all(len(row) == len(rest[0]) for row in rest)
    for at, field in enumerate(first):
        below = [row[at] for row in rest if len(row) > at and row[at]]
        numeric = sum(kind(value) in {"integer", "number", "date"} for value in below)
        if len(below) > 1 and numeric >= SURE * len(below) and kind(field) == "word" and field:
            return True
    as_long = sum(len(row) <= len(first) for row in rest)
    return len(rows) >= 2 * FEW and as_long >= SURE * len(rest) and _may_be_header(first, rest)


def _may_be_header(first: Sequence[str], rest: Rows) -> bool:
    """Return whether the fields of a line are words that are in no other line."""
    names = {field for field in first if field}
    return all(kind(name) == "word" for name in names) and not any(names.intersection(row) for row in rest)


def _have_one_of_a_shape(rows: Rows) -> bool:
    """Return whether nearly every line has, in whatever place, just one field of a shape, as of an id."""
    shapes = {field: _shape(field) for field in {field for row in rows for field in row if field}}
    values: dict[str, list[str]] = {}
    for row in rows:
        times = Counter(shapes[field] for field in set(row) if field)
        for field in dict.fromkeys(row):
            if field and times[shapes[field]] == 1:
                values.setdefault(shapes[field], []).append(field)
    several = 2 * sum(map(len, rows)) >= 3 * len(rows)
    return any(
        are_different(found)
        or (several and kind(found[0]) == "date")
        or (several and "9" in shape and _may_be_persons(found) and is_grouped(found))
        for shape, found in values.items()
        if len(found) >= SURE * len(rows)
    )


def _shape(value: str) -> str:
    """Write 9 for a digit, A for a capital, a for other letters side by side; 9 for any integer."""
    if _INTEGER.fullmatch(value):
        return "9"
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in value)
    return re.sub("a+", "a", "".join(signs))


def _kinds(values: Counter[str]) -> Counter[str]:
    """Count the values of each kind; words that begin with capitals, as names do, are one of their own."""
    kinds: Counter[str] = Counter()
    for value, times in values.items():
        sort = kind(value)
        named = sort == "word" and all(word[0].isupper() for word in value.split())
        kinds["name" if named else sort] += times
    return kinds


def _differ_in_kind(here: Counter[str], everywhere: Counter[str]) -> bool:
    """Return whether the values of one place are of one kind, and all others of other kinds."""
    usual, times = here.most_common(1)[0]
    others = everywhere.total() - here.total()
    return times >= SURE * here.total() and everywhere[usual] - times <= (1 - SURE) * others
