"""The IDs of a series: keyed codes, and IDs whose spelling has changed."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from setveil.base.errors import DataError, OutputError, shorten
from setveil.base.staging import private_file
from setveil.base.wording import count

_SIZE = 32  # bytes of a key
_CODE = 16  # bytes of a code
_TRIED = 2_000  # ids of a file that are compared with those before
_PREFIX = re.compile(r"[^0-9]+(?=[0-9])")
_LONGEST = 16  # digits that a number may have been filled up to

Coded = Callable[[str], str]


def new_key(path: Path) -> bytes:
    """Make a key and write it to a new file that is its owner's alone."""
    key = secrets.token_bytes(_SIZE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with private_file(path, "x", encoding="ascii") as file:
            file.write(key.hex() + "\n")
    except OSError as error:
        raise OutputError(f"The key {path} cannot be written: {error.strerror or error}.") from None
    return key


def read_key(path: Path) -> bytes:
    """Read the key of a series."""
    lost = (
        "Without it nobody can say who is in the series. If the file is elsewhere: --key FILE. "
        "If it is lost, the series cannot go on; its published releases stay as they are."
    )
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise DataError(f"The key of the series is not there: {path}.", hint=lost) from None
    except (OSError, ValueError):
        key = b""
    if len(key) != _SIZE:
        raise DataError(f"{path} is no key of a series: expected {2 * _SIZE} hexadecimal digits.", hint=lost)
    return key


def fingerprint(key: bytes) -> str:
    """Say which key it is, without telling it."""
    return hmac.digest(key, b"setveil series", "sha256")[:_CODE].hex()


def coded(key: bytes | None) -> Coded:
    """Return the function that gives an id its code; without a key ids stay as they are."""
    if key is None:
        return str
    return lambda name: hmac.digest(key, name.encode(), "sha256")[:_CODE].hex()


def codes_of(ids: Sequence[str], code: Coded) -> list[str]:
    """Give each row its person; blanks around an id do not count."""
    bare = [one.strip() for one in ids]
    if len(set(bare)) < len(bare):
        seen: set[str] = set()
        twice = next(one for one in bare if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise DataError(
            f"The id {shorten(twice)} is on several rows of the file, which differ in blanks around it.",
            hint="A person has one row in a release: write each id in one way.",
        )
    if "" in bare:
        raise DataError("A row has an empty id.", hint="Every row needs the id of its person.")
    return [code(one) for one in bare]


def require_same_form(ids: Sequence[str], known: set[str], code: Coded, *, register: bool) -> str:
    """Refuse IDs that are written otherwise than earlier ones, if nobody is known by them.

    `ids`: of the new file. `known`: codes of people in earlier releases. `register`: people must be known.
    Returns a warning if nobody is known, else "".
    """
    bare = [one.strip() for one in ids]
    if not known or not bare or any(code(one) in known for one in bare):
        return ""
    tried = bare[:_TRIED]
    examples = [
        f"{shorten(one)} was {shorten(other)}"
        for one in tried
        if (other := next((o for o in _other_forms(one) if code(o) in known), None)) is not None
    ]
    if 2 * len(examples) > len(tried):
        raise DataError(
            "Nobody in the file is known to the series, but most would be if their ids were written as "
            f"before: {', '.join(examples[:2])}.",
            hint="Write ids in every file alike: 007 and 7 are two people.",
        )
    nobody = f"None of the {count(len(bare), 'person', 'people')} in the file is known to the series."
    if register:
        raise DataError(
            nobody,
            hint="Each release of a register contains everyone of the earlier ones. Check the file and the "
            "column of ids.",
        )
    return f"{nobody} Check that these ids are those of the earlier releases."


def _other_forms(name: str) -> Iterator[str]:
    """List how an id may have been written: with leading zeros or none, in other case, without a prefix."""
    yield from (name.lower(), name.upper(), _PREFIX.sub("", name, count=1))
    if name.isdecimal():
        bare = name.lstrip("0") or "0"
        yield from (bare.zfill(length) for length in range(1, _LONGEST + 1))
