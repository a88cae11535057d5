"""How codes are read whose first characters name their groups: drugs, products, industries, occupations."""

from __future__ import annotations

import re

from setveil.rows.hierarchy.systems import ranges
from setveil.rows.hierarchy.systems.code import NotPlacedError, Path, growing

_ATC = re.compile(rf"([{ranges.ATC}])(?:([0-9]{{2}})(?:([A-Z])(?:([A-Z])([0-9]{{2}})?)?)?)?")
_NACE = re.compile(r"([A-U])?(?:([0-9]{2})(?:\.?([0-9])(?:\.?([0-9])(\.[0-9]{1,2})?)?)?)?")
_COICOP = re.compile(r"([0-9]{2})(?:\.?([0-9])(?:\.?([0-9])(?:\.?([0-9]))?)?)?")
_NAICS = {sector: sector.split("-") for sector in ranges.NAICS.split()}
_SECTORS = {
    f"{number}": sector
    for sector, ends in _NAICS.items()
    for number in range(int(ends[0]), int(ends[-1]) + 1)
}


def _sections() -> dict[str, str]:
    out = {}
    for line in ranges.NACE.strip().splitlines():
        section, _, divisions = line.partition(": ")
        first, _, last = divisions.partition("-")
        out.update({f"{n:02d}": section for n in range(int(first), int(last or first) + 1)})
    return out


_SECTIONS = _sections()


def place_atc(text: str) -> Path:
    """Place a code of drugs.

    >>> place_atc("A10BA02")
    ('A', 'A10', 'A10B', 'A10BA', 'A10BA02')
    """
    found = _ATC.fullmatch(text)
    if found is None:
        raise NotPlacedError("not of the form A10BA02, or another letter than those of the main groups")
    return growing(found.groups())


def place_unspsc(text: str) -> Path:
    """Place a code of products; zeros at its end name a wider group.

    >>> place_unspsc("43211503"), place_unspsc("43210000")
    (('43', '4321', '432115', '43211503'), ('43', '4321'))
    """
    if not text.isascii() or not text.isdigit():
        raise NotPlacedError("not of digits alone")
    if len(text) % 2:
        raise NotPlacedError("an odd number of digits, so one is missing")
    if len(text) > 10:
        raise NotPlacedError("more than 10 digits")
    pairs = [text[at : at + 2] for at in range(0, len(text), 2)]
    while len(text) >= 8 and len(pairs) > 1 and pairs[-1] == "00":
        pairs.pop()
    first, last = ranges.UNSPSC
    if not first <= int(pairs[0]) <= last or "00" in pairs:
        raise NotPlacedError(f"outside the segments {first} to {last}")
    return growing(tuple(pairs))


def place_nace(text: str) -> Path:
    """Place a code of economic activities.

    >>> place_nace("01.11"), place_nace("A0111") == place_nace("01.11"), place_nace("62")
    (('A', '01', '01.1', '01.11'), True, ('J', '62'))
    """
    found = _NACE.fullmatch(text) if text else None
    if found is None:
        raise NotPlacedError("not of the form 01.11 or A01.11")
    letter, division, *rest = found.groups()
    section = _SECTIONS.get(division) if division else letter
    if section is None:
        raise NotPlacedError("outside the divisions of revision 2")
    if letter not in (None, section):
        raise NotPlacedError("a section of another division in revision 2")
    return section, *growing((division, *rest), ("", ".", ""))


def place_naics(text: str) -> Path:
    """Place a code of industries.

    >>> place_naics("325412"), place_naics("31-33")
    (('31-33', '325', '3254', '32541', '325412'), ('31-33',))
    """
    if text in _NAICS:
        return (text,)
    if not re.fullmatch(r"[0-9]{2,6}", text):
        raise NotPlacedError("not of two to six digits")
    sector = _SECTORS.get(text[:2])
    if sector is None:
        raise NotPlacedError("outside the sectors of NAICS")
    # A single industry group that is called 31 is the sector, whose other numbers mean the same.
    return sector, *(text[:length] for length in range(3, len(text) + 1))


def place_isco(text: str) -> Path:
    """Place a code of occupations.

    >>> place_isco("2512")
    ('2', '25', '251', '2512')
    """
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise NotPlacedError("not of one to four digits")
    return growing(tuple(text))


def place_coicop(text: str) -> Path:
    """Place a code of what households spend on.

    >>> place_coicop("01.1.4"), place_coicop("01141")[-1]
    (('01', '01.1', '01.1.4'), '01.1.4.1')
    """
    found = _COICOP.fullmatch(text)
    if found is None:
        raise NotPlacedError("not of the form 01.1.4 or 01141")
    first, last = ranges.COICOP
    if not first <= int(found[1]) <= last:
        raise NotPlacedError(f"outside the divisions {first:02d} to {last}")
    return growing(found.groups(), ("", "."))
