"""Forms of values of one person: addresses, telephone numbers, card numbers, hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address

MAIL, PHONE, IP, CARD, ADDRESS = (
    "e-mail addresses",
    "telephone numbers",
    "IP addresses",
    "card numbers",
    "exact addresses",
)
# Mail addresses and telephone numbers are known by these parts, wherever they are looked for.
_AT = r"[^@\s]+@[^@\s]+\.[^@\s]+"
_DIALED = r"[0-9][0-9 ()/.-]{6,}"
# What a value may be in a column of such values; `form_of` names what it can hardly be but by itself.
_LIKELY_MAIL, _LIKELY_PHONE = re.compile(_AT), re.compile(rf"(\+|00){_DIALED}")
_LONG = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z+/=_-]{16,}")
_NUMBERED = re.compile(r"[0-9]{6,}[/-][0-9]{1,4}|[\[(#][0-9]{6,}[\])]?", re.ASCII)
_ANYWHERE = re.compile(
    r"@|^\+[0-9]|\([0-9]{2,5}\) ?[0-9]{3}|^(?=.*[0-9])[0-9a-f-]{16,}$", re.ASCII | re.IGNORECASE
)
_LOCAL_PHONE = re.compile(r"0[0-9]{1,4}[ /-][0-9][0-9 /-]{4,}|\(?[0-9]{3}\)?[ -][0-9]{3}-[0-9]{4}")
_MAIL = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[A-Za-z]{2,}")
_PHONE = re.compile(r"\+[1-9][0-9]{0,2}[ ()/.-]{0,2}[0-9][0-9 ()/.-]{5,}[0-9]")
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])")
_CARD = r"[3-6][0-9]{12,18}|[3-6][0-9]{3}(?:[ -][0-9]{4}){3}|3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}"
_HOUSE = r"[0-9]{1,5} ?[a-z]?"
_ADDRESS = (
    rf"[0-9]{{1,5}}[a-z]? (?:[\w'.-]+ ){{1,4}}"
    r"(?:street|st\.?|avenue|ave\.?|road|rd\.?|lane|drive|boulevard|blvd\.?)"
    rf"|(?:[\w'.-]+ ){{1,4}}(?:street|avenue|road|lane|drive|boulevard|crescent) {_HOUSE}"
    rf"|(?:[\w.'-]+ ){{0,3}}[\w.'-]*"
    rf"(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|damm|ufer) {_HOUSE}"
    rf"|[0-9]{{1,5}}(?: ?(?:bis|ter|[a-d]))?,? "
    rf"(?:rue|avenue|av\.|boulevard|bd\.?|allée|chemin|impasse|quai) .+"
    rf"|(?:calle|c/|avenida|avda\.|paseo|plaza|camino) ?.+?,? (?:n[.º°o]* ?)?{_HOUSE}(?:[,.] ?.*)?"
    r"|[+-]?[0-9]{1,2}\.[0-9]{4,}[ ,;/]{1,2}[+-]?[0-9]{1,3}\.[0-9]{4,}"  # coordinates, to 10 m
)
_WORDS = r"[^\W\d_][\w.'\u2019-]*(?: [^\W\d_][\w.'\u2019-]*){0,4}"
_LIKELY_ADDRESS = rf"{_WORDS},? {_HOUSE}|{_HOUSE},? {_WORDS}"
_CERTAIN = 10  # a column is of addresses if one of this many of them certainly is
UNMISTAKABLE = _LIKELY_MAIL, _LIKELY_PHONE, _LOCAL_PHONE, _LONG, _NUMBERED, _IPV4  # forms that IDs have
_HASH = re.compile(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f-]{16,}", re.IGNORECASE)
_HOLDS_ADDRESS = re.compile(rf"(?<=[^@\s])@[^@\s]+\.[^@\s]|^\+{_DIALED}")  # from @ on: labels may be long


def form_of(label: str) -> str:
    """Name the form of a value that can hardly be anything else; "" if it has none."""
    if _MAIL.fullmatch(label):
        return MAIL
    if _PHONE.fullmatch(label) and 8 <= sum(map(str.isdigit, label)) <= 15:
        return PHONE
    if _IPV4.fullmatch(label) or _is_ipv6(label):
        return IP
    if re.fullmatch(_CARD, label) and is_card(label):
        return CARD
    return ADDRESS if re.fullmatch(_ADDRESS, label, re.IGNORECASE) else ""


def likely_form(label: str) -> str:
    """Name the form of a value, also one that codes may have, as of local telephone numbers or hashes."""
    if _LOCAL_PHONE.fullmatch(label):
        return PHONE
    return form_of(label) or ("hashes" if _HASH.fullmatch(label) else "")


def addresses(values: Sequence[str], *, named: bool = False) -> list[str]:
    """List the exact addresses of a column: what is written so if most values are, and some must be.

    "Am Markt 5" may be a product, like "Windows 11", unless the column also has "Lindenweg 7" or is `named`
    like addresses.
    """
    likely = [value for value in values if re.fullmatch(_LIKELY_ADDRESS, value, re.IGNORECASE)]
    certain = sum(re.fullmatch(_ADDRESS, value, re.IGNORECASE) is not None for value in likely)
    return likely if 2 * len(likely) > len(values) and (named or _CERTAIN * certain >= len(likely)) else []


def is_mail(label: str) -> bool:
    """Return whether a value may be a mail address, whatever its ending."""
    return _LIKELY_MAIL.fullmatch(label) is not None


def is_phone(label: str) -> bool:
    """Return whether a value may be a telephone number with the code of a country."""
    return _LIKELY_PHONE.fullmatch(label) is not None


def is_long(label: str) -> bool:
    """Return whether a value is a long word with digits, as hashes and keys are."""
    return _LONG.fullmatch(label) is not None


def is_personal(label: str) -> bool:
    """Return whether a value looks like a telephone number, a mail address or a hash, which are no items."""
    return _ANYWHERE.search(label) is not None


def is_full_name(text: str) -> bool:
    """Return whether a text is written as the first and last names of a person are."""
    words = text.replace(",", " ").split()
    parts = [part for word in words for part in word.split("-")]
    return 2 <= len(words) <= 4 and all(part.isalpha() and part[0].isupper() for part in parts)


def holds_address(label: str) -> bool:
    """Return whether a value contains a mail address or is a telephone number."""
    return _HOLDS_ADDRESS.search(label) is not None


def _is_ipv6(label: str) -> bool:
    if label.count(":") < 2 or (label.count(":") < 7 and "::" not in label) or len(label) < 6:
        return False
    with suppress(ValueError):
        return bool(ip_address(label))
    return False


def is_card(label: str) -> bool:
    """Return whether a number of 13 to 19 digits has the last digit that card numbers must have (Luhn)."""
    digits = [int(sign) for sign in label if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return 13 <= len(digits) <= 19 and (sum(digits[::-2]) + sum(doubled)) % 10 == 0
