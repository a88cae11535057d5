"""The systems that are known, and those that cannot be."""

from __future__ import annotations

import re

from setveil.base.errors import RequestError, did_you_mean
from setveil.rows.hierarchy.systems import digits, icd
from setveil.rows.hierarchy.systems.code import System

BOTH = "icd9+icd10"

_SYSTEMS = (
    System(
        "icd9", "ICD-9-CM", "250.01, 25001, V45.1, E849.0",
        re.compile(r"(?:ICD[-_ ]?9(?:[-_ ]?CM)?[\s:|]+|9:\s*)"), icd.place9, 3, 5,
    ),
    System(
        "icd10", "ICD-10", "E11.9, E119, S72.001A",
        re.compile(r"(?:ICD[-_ ]?10(?:[-_ ]?(?:CM|WHO|GM|AM|CA))?[\s:|]+|10:\s*)"), icd.place10,
    ),
    System("atc", "ATC", "A10BA02", re.compile(r"ATC[\s:|]+"), digits.place_atc, spaced=True),
    System("unspsc", "UNSPSC", "43211503", re.compile(r"UNSPSC[\s:|]+"), digits.place_unspsc),
    System("nace", "NACE", "01.11, A01.11", re.compile(r"NACE[\s:|]+"), digits.place_nace, 2, 4),
    System("naics", "NAICS", "325412", re.compile(r"NAICS[\s:|]+"), digits.place_naics),
    System(
        "isco", "ISCO", "2512", re.compile(r"(?:ISCO(?:-?(?:08|88))?[\s:|]+|OC)"), digits.place_isco, 1, 4
    ),
    System(
        "coicop", "COICOP", "01.1.4, 0114", re.compile(r"(?:COICOP[\s:|]+|CP)"), digits.place_coicop, 2, 5
    ),
)  # fmt: skip
SYSTEMS = {system.name: system for system in _SYSTEMS}
NAMES = ("icd9", "icd10", BOTH, *(name for name in SYSTEMS if not name.startswith("icd")))

_NONE = {
    "ndc": "the codes of drugs (NDC) begin with their makers, not with kinds of drugs",
    "gtin": "the numbers of articles (GTIN, EAN, UPC) begin with their makers, not with kinds of articles",
}
_SAME = {"ean": "gtin", "upc": "gtin"}


def systems_of(name: str) -> tuple[System, ...]:
    """Find the systems that a name means: one, or two whose codes stand together.

    >>> [system.title for system in systems_of("icd9+icd10")]
    ['ICD-9-CM', 'ICD-10']
    """
    if name in _NONE or name in _SAME:
        raise RequestError(
            f"There is no hierarchy of {name}: {_NONE[_SAME.get(name, name)]}.",
            hint="Join the codes with a list that says what each is, or build by what occurs together.",
        )
    if name == BOTH:
        return SYSTEMS["icd9"], SYSTEMS["icd10"]
    if name not in SYSTEMS:
        meant = did_you_mean(name, NAMES)
        raise RequestError(
            f"There is no system {name!r}; there are {', '.join(NAMES)}.{f' {meant}' if meant else ''}"
        )
    return (SYSTEMS[name],)
