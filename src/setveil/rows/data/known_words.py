"""Recognizes values that mean nothing, a sum, yes or no, and numbers, dates and codes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

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
_NO_VALUE = (
    r"(not?|nicht|non|sans|sin|senza|ohne|keine)[ _-](available|applicable|specified|recorded|reported|known"
    r"|stated|data|value|values|answer|response|diagnos[ie]s|code|entry|information|angabe|angaben|diagnose"
    r"|eintrag|daten|bekannt|erfasst|renseigné|renseignée|disponible|précisé|réponses?|datos?"
    r"|respuesta|código|diagnóstico|información|dati)|#(ref|value|name|div/0|num|wert|bezug|valeur)[!?]?"
    r"|[(\[<](missing|unknown|unbekannt|inconnu|not set|no value)[)\]>]"
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
    return plain in _MAY_BE_MISSING or re.fullmatch(_NO_VALUE, plain, re.IGNORECASE) is not None


def is_total(text: str) -> bool:
    """Return whether a name or an ID is a word for a sum."""
    return text.strip().rstrip(":").casefold() in TOTALS


def _forms(*words: str) -> set[str]:
    return {form for word in words for form in (word, word.title(), word.upper())}


YES = frozenset({"1", *_forms("true", "yes", "checked", "wahr", "ja", "vrai", "oui")})
NO = frozenset({"0", "", *_forms("false", "no", "unchecked", "falsch", "nein", "faux", "non")})
TICKS, NO_TICKS = frozenset("xXyY"), frozenset("nN")  # which may be items as well

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
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
_MOMENT = rf"{_DAY}(?:[T :]{_TIME})?"
_DAY_OR_TIME = re.compile(
    rf"({_TIME}|mo|di|mi|do|fr|sa|so|(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|mittwoch|sonnabend"
    r"|(mon|diens|donners|frei|sams|sonn)tag|lun(di|es|ed[iì])?|mar(di|tes|ted[iì])?"
    r"|m[eé]r(c|credi|coles|coled[iì])?|mi[eé](rcoles)?|jeu(di)?|jue(ves)?|gio(ved[iì])?"
    r"|ven(dredi|erd[iì])?|vie(rnes)?|sam(edi)?|s[aá]b(ado|ato)?|dim(anche)?|dom(ingo|enica)?)\.?",
    re.IGNORECASE,
)


@lru_cache(1 << 14)  # the same cells are looked at for each way to read a file
def kind(value: str) -> str:
    """Return the sort of a value: `integer`, `number`, `date`, `code` (letters and digits), `word`."""
    if INTEGER.fullmatch(value):
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
    return re.fullmatch(_MOMENT, value, re.ASCII) is not None


def are_days_or_times(values: Iterable[str]) -> bool:
    """Return whether values are days of the week or times of the day.

    >>> are_days_or_times(["Mo", "Di", "NA"]), are_days_or_times(["Do", "Mi", "La"])
    (True, False)
    >>> are_days_or_times(["9:30", "14:00:05"]), are_days_or_times(["Fr."])
    (True, False)
    """
    found = {value for value in values if value not in MISSING}
    return len(found) > 1 and all(map(_DAY_OR_TIME.fullmatch, found))
