"""Encodings of several files in one text: ``cp1252``, or ``utf-8,tree.csv=cp1252``."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath
from unicodedata import name as name_of_letter

from setveil.base.errors import RequestError

_IN_WORDS = 0.6  # of letters that are not Latin are next to others; accents hardly ever
_SURE = 0.9  # of these letters are of one script
_MIXED = 0.2  # of words have letters of another script and Latin ones
_WORD = re.compile(r"[^\W\d_]+")
_HEAD = 1 << 16  # bytes that are looked at
_SCRIPTS = {  # encodings, by the beginnings of the names of their letters
    "cp932": ("HIRAGANA", "KATAKANA", "CJK", "FULLWIDTH", "IDEOGRAPHIC"),
    "euc_jp": ("HIRAGANA", "KATAKANA", "CJK", "FULLWIDTH", "IDEOGRAPHIC"),
    "euc_kr": ("HANGUL SYLLABLE",),
    "cp1251": ("CYRILLIC",),
    "koi8_r": ("CYRILLIC",),
    "cp866": ("CYRILLIC",),
    "cp1253": ("GREEK",),
    "cp1255": ("HEBREW LETTER",),
    "gb18030": ("CJK",),
    "big5": ("CJK",),
}
_LARGER = {"euc_kr": "cp949"}  # with more letters, which a text may contain as well
_FREQUENT = 0.7  # of the characters of a Chinese text are frequent ones, which GB 2312 numbers first


def scripts_in(content: bytes) -> list[str]:
    """Name the encodings in which a text that is not UTF-8 has words of another script than the Latin one.

    >>> words = [("牛乳,パン", "cp932"), ("Иванов Пётр,сыр", "cp1251"), ("우유", "cp949"), ("é", "cp1252")]
    >>> [scripts_in(word.encode(encoding)) for word, encoding in words]
    [['cp932'], ['cp1251'], ['cp949'], []]
    """
    head = content[:_HEAD]
    head = head[: head.rfind(b"\n") + 1] or head
    high = [byte > 127 for byte in head]
    beside = sum(a and b for a, b in pairwise(high))
    if 2 * beside < _IN_WORDS * sum(high):
        return []
    found = {}
    for encoding, letters in _SCRIPTS.items():
        try:
            text = head.decode(encoding)
        except UnicodeDecodeError:
            continue
        words = [word for word in _WORD.findall(text) if not word.isascii()]
        if sum(re.search("[A-Za-z]", word) is not None for word in words) > _MIXED * len(words):
            continue  # accents of Latin letters
        signs = [sign for sign in text if not sign.isascii()]
        fitting = [sign for sign in signs if name_of_letter(sign, "").startswith(letters)]
        if fitting and len(fitting) >= _SURE * len(signs):
            found[encoding] = len(fitting) / len(signs) + _plausible(encoding, fitting, words)
    best = max(found.values(), default=0.0)
    return [_LARGER.get(encoding, encoding) for encoding, score in found.items() if score == best > 0]


def latin_in(content: bytes) -> str:
    """Name the encoding, cp1252 or cp1250, in which accents are letters: of western or of central Europe.

    >>> latin_in("żółty ser".encode("cp1250")), latin_in("Käse, thé".encode("cp1252"))
    ('cp1250', 'cp1252')
    """
    letters = {
        encoding: sum(sign.isalpha() for sign in content[:_HEAD].decode(encoding, "ignore"))
        for encoding in ("cp1252", "cp1250")
    }
    return max(letters, key=lambda one: letters[one])


def _plausible(encoding: str, letters: list[str], words: list[str]) -> float:
    """Rate a script by its frequent letters, or by words that have capitals at their beginnings only."""
    if encoding in {"gb18030", "big5"}:
        frequent = sum(0xB0 <= (sign.encode("gb2312", "ignore") or b"\0")[0] <= 0xD7 for sign in letters)
        share = frequent / len(letters)
        return share / 2 if share >= _FREQUENT or encoding == "big5" else 0.0
    if encoding in {"cp932", "euc_jp"}:
        kana = sum(name_of_letter(sign).startswith(("HIRAGANA", "KATAKANA")) for sign in letters)
        return 1 + kana / len(letters) if 10 * kana > len(letters) else _FREQUENT * (encoding == "cp932")
    as_written = sum(word in (word.lower(), word.upper(), word.capitalize()) for word in words)
    return 1 + (as_written / len(words) + sum(not sign.isupper() for sign in letters) / len(letters)) / 2


def encoding_of(named: str | None, file: str) -> str | None:
    """Find the encoding that is named for a file; None if none is.

    `named`: an encoding for all files, or `FILE=ENCODING` for a file, with or without its folder, or several
    with commas.

    >>> encoding_of("tree.csv=cp1252", "data/tree.csv"), encoding_of("tree.csv=cp1252", "rows.csv")
    ('cp1252', None)
    >>> encoding_of("latin-1,tree.csv=utf-8", "rows.csv")
    'latin-1'
    """
    if named is None or not any(sign in named for sign in "=,"):
        return named
    of_all, of_files = _parted(named)
    plain = file.split(" (", maxsplit=1)[0]  # of an archive, whose member is in brackets
    places = (file, plain, PurePath(plain).name)
    return next((of_files[place] for place in places if place in of_files), of_all)


def is_named_for(named: str | None, file: str) -> bool:
    """Return whether an encoding is named for this file alone."""
    return named is not None and "=" in named and encoding_of(named, file) != _parted(named)[0]


def files_of(named: str | None) -> list[str]:
    """List the files for which an encoding is named."""
    return [] if named is None or "=" not in named else list(_parted(named)[1])


def with_encoding(named: str | None, file: str, encoding: str) -> str:
    """Write what is named for all files with the encoding of one more, or of all that are not named (``""``).

    >>> with_encoding(None, "", "cp1252"), with_encoding("latin-1", "tree.csv", "cp1252")
    ('cp1252', 'latin-1,tree.csv=cp1252')
    """
    parted = named is not None and any(sign in named for sign in "=,")
    of_all, of_files = _parted(named) if named is not None and parted else (named, {})
    own = file.split(" (", maxsplit=1)[0]
    if not own or "," in own:
        of_all = encoding
    else:
        of_files[own] = encoding
    alone = [] if of_all is None or (of_all == "utf-8" and of_files) else [of_all]
    return ",".join([*alone, *(f"{path}={name}" for path, name in of_files.items())])


def _parted(named: str) -> tuple[str | None, dict[str, str]]:
    """Split an option into the encoding of all files and those of single files."""
    of_all: str | None = None
    of_files: dict[str, str] = {}
    for part in named.split(","):
        file, sign, encoding = part.strip().rpartition("=")
        before = of_files.setdefault(file, encoding) if sign else of_all or encoding
        if not encoding or (sign and not file) or before != encoding:
            raise RequestError(
                f"The encoding is {named!r}, expected one encoding for all files, or FILE=ENCODING for one.",
                hint="Such as --encoding cp1252, --encoding tree.csv=cp1252, or both of them.",
            )
        if not sign:
            of_all = encoding
    return of_all, of_files
