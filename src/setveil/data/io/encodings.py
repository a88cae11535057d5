"""Encodings of several files in one text: ``cp1252``, or ``utf-8,tree.csv=cp1252``."""

from __future__ import annotations

from pathlib import PurePath

from setveil.errors import RequestError


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
