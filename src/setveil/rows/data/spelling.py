"""Spellings of one item: labels that differ only in dots, case, blanks or Unicode form; rounded numbers."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from setveil.base.errors import DataError, RequestError, shorten
from setveil.base.wording import count

log = logging.getLogger("setveil")

NONE = "none"  # every spelling stays an item of its own, whatever the hierarchy says
NORMALIZED = ("codes", "text", NONE)
OF_HIERARCHY = "hierarchy"  # spellings became the one that the hierarchy has

_ROUNDED = re.compile(r"[+-]?[0-9](?:[.,]([0-9]*))?[eE]\+([0-9]+)")
_LEAST = 5  # an exponent from which a spreadsheet has written a number so
_LETTER_CODE = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z][0-9A-Za-z. ]*")
_SHOWN = 3
_SHORTEST = 3  # signs of a code that others may begin with
# Numbers whose dot has one place: 250.01 and 25001 are one code, 1.5 and 15 are not.
_OF_DIGITS = re.compile(r"[0-9. ]+")
_PLACED = re.compile(r"[0-9]{3}\.[0-9]{1,2}|[0-9]{4,5}")
_UNSEEN = {"Cf", "Cc"}  # soft hyphens, blanks without width, ...


def text_form(label: str) -> str:
    r"""Write a text in small letters, with composed accents, single blanks and no invisible signs.

    >>> text_form(" Caf\u0065\u0301\u00a0 Cr\u00e8me\u200b")
    'café crème'
    """
    if label.isascii() and label.islower() and " " not in label and label.isprintable():
        return label
    # Small letters come first: that of a composed letter may be decomposed.
    composed = unicodedata.normalize("NFC", label.lower())
    seen = "".join(sign for sign in composed if sign.isspace() or unicodedata.category(sign) not in _UNSEEN)
    return " ".join(seen.split())


def code_form(label: str) -> str:
    """Write a code in capitals without dots and blanks.

    >>> code_form(" e11.9 "), code_form("E119")
    ('E119', 'E119')
    """
    plain = text_form(label).upper()
    return plain.replace(".", "").replace(" ", "") or plain or label


def codes_below(name: str, items: Iterable[str]) -> tuple[str, ...]:
    """Find the codes that a shorter code begins: E11 is the group of E11.0 to E11.9.

    A code of digits alone begins those with a dot after it: 250 is the group of 250.01, not of 25001.

    >>> codes_below("e11", ["E11.9", "E119", "E12.0", "tea"]), codes_below("250", ["250.1", "25001"])
    (('E11.9', 'E119'), ('250.1',))
    """
    start = code_form(name)
    if len(start) < _SHORTEST:
        return ()
    if _LETTER_CODE.fullmatch(name.strip()):
        forms = ((item, code_form(item)) for item in items)
        return tuple(item for item, form in forms if form != start and form.startswith(start))
    if _OF_DIGITS.fullmatch(name.strip()):
        dotted = f"{name.strip().rstrip('.')}."
        return tuple(item for item in items if item.strip().startswith(dotted))
    return ()


def beginnings(codes: Iterable[str]) -> set[str]:
    """Collect what codes begin with, up to the first digit or a dot: no items, but chapters or groups.

    >>> sorted(beginnings(["E10.0", "250.1", "tea", "i 2"]))
    ['250', 'E', 'E10']
    """
    found = set[str]()
    for code in codes:
        if _LETTER_CODE.fullmatch(code) or _OF_DIGITS.fullmatch(code):
            found |= {code[:at].upper() for at, sign in enumerate(code) if at and sign == "."}
            letters = re.match("[A-Za-z]+(?=[0-9])", code)
            found |= {letters[0].upper()} if letters else set()
    return found


def form_of(how: str) -> Callable[[str], str]:
    """Find the form that `--normalize` names."""
    if how not in NORMALIZED:
        raise RequestError(f"normalize must be {', '.join(NORMALIZED[:-1])} or {NONE}, got {how!r}.")
    if how == NONE:
        return lambda label: label
    return code_form if how == "codes" else lambda label: text_form(label) or label


@dataclass(frozen=True)
class Merged:
    """Numbers of spellings and of the items that they became."""

    how: str  # one of NORMALIZED, or OF_HIERARCHY
    spellings: int  # different labels before
    items: int  # different labels after
    examples: tuple[tuple[str, ...], ...] = ()  # spellings of one item each

    def as_dict(self) -> dict[str, object]:
        """Return it as JSON types."""
        return {
            "how": self.how,
            "spellings": self.spellings,
            "items": self.items,
            "examples": [list(one) for one in self.examples],
        }

    def counted(self) -> str:
        """Say how many were merged."""
        such = "; ".join(" = ".join(map(shown, one[:_SHOWN])) for one in self.examples)
        of = f"{count(self.spellings, 'spelling')} became {count(self.items, 'item')}"
        of += ", as the hierarchy has them" if self.how == OF_HIERARCHY else ""
        return f"{of}{', such as ' if such else ''}{such}"

    def sentence(self) -> str:
        """Report merged spellings, and the option that merged or would separate them."""
        if self.how == OF_HIERARCHY:
            return f"{self.counted()}. `--normalize none` keeps them apart."
        return f"--normalize {self.how}: {self.counted()}."


def shown(label: str) -> str:
    """Write a label so that signs that cannot be seen are seen."""
    plain = unicodedata.is_normalized("NFC", label) and label.replace(" ", "").isprintable()
    return shorten(label) if plain else ascii(label)


def normalized(labels: Sequence[str], how: str) -> tuple[list[str], Merged]:
    """Write labels in one form, and say which became the same."""
    form = form_of(how)
    made = [form(label) if label else label for label in labels]
    groups = alike({label: new for label, new in zip(labels, made, strict=True) if label})
    examples = tuple(tuple(sorted(group)) for group in groups[:_SHOWN])
    used = {label for label in labels if label}
    return made, Merged(how, len(used), len({form(label) for label in used}), examples)


def respelled(labels: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Find the codes that are other spellings of just one known code, and that code.

    >>> respelled(["E11.9", "E119", "e11.9", "Tea"], ["E11.9", "tea"])
    {'E119': 'E11.9', 'e11.9': 'E11.9'}
    """
    every = set(known)
    missing = sorted(set(labels) - every)
    forms: dict[str, list[str]] = {}
    for label in every if missing else ():
        forms.setdefault(code_form(label), []).append(label)
    found = {label: forms.get(code_form(label), []) for label in missing}
    return {
        label: ones[0] for label, ones in found.items() if len(ones) == 1 and are_one_code(ones[0], label)
    }


def merged_into(names: Mapping[str, str]) -> Merged:
    """Say which spellings became which codes of the hierarchy."""
    groups: dict[str, list[str]] = {}
    for label, one in names.items():
        groups.setdefault(one, [one]).append(label)
    examples = tuple(tuple(group) for group in list(groups.values())[:_SHOWN])
    return Merged(OF_HIERARCHY, sum(map(len, groups.values())), len(groups), examples)


def alike(forms: Mapping[str, str]) -> list[list[str]]:
    """List the labels that have the same form, where several have it."""
    groups: dict[str, list[str]] = {}
    for label, form in forms.items():
        groups.setdefault(form, []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def are_one_code(one: str, other: str) -> bool:
    """Return whether two labels may be one code, although a dot is missing in one of them."""
    if not any(sign.isdigit() for sign in one):
        return False
    if _OF_DIGITS.fullmatch(one) is None:
        return True
    return all(_PLACED.fullmatch(label.strip()) for label in (one, other))


def misread(missing: Iterable[str], known: Iterable[str]) -> tuple[str, str, str] | None:
    r"""Find a label that is a known one, written in UTF-8 and read in another encoding, and say which.

    >>> misread(["K\u00c3\u00a4se"], ["K\u00e4se"])
    ('KÃ¤se', 'Käse', 'cp1252')
    """
    every = set(known)
    for label in missing:
        for encoding in ("cp1252", "latin-1"):
            try:
                meant = label.encode(encoding).decode()
            except UnicodeError:
                continue
            if meant != label and meant in every:
                return label, meant, encoding
    return None


def spelled_otherwise(missing: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """List the labels that are another spelling of a known one, each with that one.

    >>> spelled_otherwise(["e119", "tea"], ["E11.9", "I10"])
    [('e119', 'E11.9')]
    """
    forms: dict[str, str] = {}
    for label in known:
        forms.setdefault(code_form(label), label)
    pairs = [(label, forms.get(code_form(label))) for label in missing]
    return [
        (label, one)
        for label, one in pairs
        if one is not None and (text_form(one) == text_form(label) or are_one_code(one, label))
    ]


def normalization(pairs: Iterable[tuple[str, str]]) -> str:
    """Name the form in which pairs of spellings are one: "text", or "codes" if all are codes or dots differ.

    >>> [normalization([pair]) for pair in (("bread", "Bread"), ("e119", "E11.9"), ("i10", "I10"))]
    ['text', 'codes', 'codes']
    """
    several = list(pairs)
    codes = all(_LETTER_CODE.fullmatch(label.strip()) for pair in several for label in pair)
    return "codes" if codes or any(text_form(one) != text_form(other) for one, other in several) else "text"


def look_alikes(labels: Iterable[str]) -> str:
    """Say how many items differ only in their spelling, and the option that makes them one; empty: none do.

    >>> look_alikes(["tea", "Tea", "milk"])
    "2 of 3 items differ from another one only in case, blanks or how accents are written, such as 'Tea' and \
'tea': they are spellings of 1 item. `--normalize text` makes them one."
    >>> look_alikes(["tea", "milk"])
    ''
    """
    said, how = found_spellings(labels)
    return f"{said} `--normalize {how}` makes them one." if how else said


def found_spellings(labels: Iterable[str]) -> tuple[str, str | None]:
    """Say how many items differ only in their spelling, and what makes them one: "codes" or "text"."""
    labels = list(labels)
    texts = alike({label: text_form(label) for label in labels})
    codes = alike({label: code_form(label) for label in labels if _LETTER_CODE.fullmatch(label.strip())})
    ones = {label for group in codes for label in group}
    more = [group for group in codes if len({text_form(label) for label in group}) > 1]
    whole = [group for group in texts if not ones.issuperset(group)]
    groups, how = (codes, "codes") if more and not whole else (texts, "text")
    if not groups:
        return _without_zeros(labels), None
    what = "dots, case or blanks" if how == "codes" else "case, blanks or how accents are written"
    first = sorted(groups[0])
    return (
        f"{sum(map(len, groups)):,} of {count(len(labels), 'item')} differ from another one only in {what}, "
        f"such as {shown(first[0])} and {shown(first[1])}: they are spellings of "
        f"{count(len(groups), 'item')}."
    ), how


def _without_zeros(labels: Sequence[str]) -> str:
    """Say how many numbers differ only in the zeros at their beginning."""
    numbers = {label: label.lstrip("0") or "0" for label in labels if label.isascii() and label.isdigit()}
    groups = alike(numbers)
    if not groups:
        return ""
    first = sorted(groups[0])
    return (
        f"{sum(map(len, groups)):,} of {count(len(labels), 'item')} differ from another one only in zeros "
        f"at the beginning, such as {shown(first[0])} and {shown(first[1])}: a program may have dropped "
        "zeros. Export the codes as text if they are the same."
    )


def is_rounded(value: str) -> bool:
    """Return whether a number was written with an exponent, and has lost digits.

    >>> is_rounded("1.96416E+14"), is_rounded("1.5E+1"), is_rounded("5E12")
    (True, False, False)
    """
    match = _ROUNDED.fullmatch(value)
    return match is not None and int(match[2][:4]) >= max(_LEAST, len(match[1] or "") + 1)


def refuse_rounded(name: str, column: str, values: Mapping[str, int], what: str) -> None:
    """Raise if values of a column, each on some lines, are numbers that a spreadsheet has rounded."""
    rounded = {value: times for value, times in values.items() if "+" in value and is_rounded(value)}
    if not rounded:
        return
    lines, first = sum(rounded.values()), next(iter(rounded))
    of = f"{column} of {name}" if column else name
    left = count(len(rounded), "different value is", "different values are")
    raise DataError(
        f"{of} has {count(lines, 'value')} that a spreadsheet or a program rounded, "
        f"such as {shorten(first)}: different {what} may have become one ({left} left). "
        "Expected all their digits.",
        hint="Export the column from its source again as text; the digits cannot be found in this file.",
    )
