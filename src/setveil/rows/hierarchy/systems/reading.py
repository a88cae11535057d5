"""Read the codes of a file together: what one code does not tell, the others may, or the user is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.wording import are, count
from setveil.rows.data.spelling import merged_into
from setveil.rows.hierarchy.systems.code import NotPlacedError, Path, System
from setveil.rows.hierarchy.systems.known import SYSTEMS, systems_of

Zeros = Literal["kept", "lost"]
ZEROS_ARE = ("kept", "lost")

_MANY = 50  # different codes, of which one would begin with a zero if zeros were there
_FEW = 0.005  # of all occurrences, of which nothing need be said aloud when they are no codes
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9.]*)?")
_NAMED = re.compile(r"(?:ICD[-_ ]?)?(9|10)(?:[-_ ]?(?:CM|WHO|GM|AM|CA))?")

CAPITALS, DOT, NAME, ZEROS = (
    "in capitals and without blanks",
    "without the dot at the end",
    "without the name of the system",
    "with the zeros that were missing",
)


@dataclass
class CodesRead:
    """What was read of the codes of a file."""

    systems: tuple[System, ...]
    paths: dict[str, Path] = field(default_factory=dict)  # of each item that was placed
    # what was changed: the items, and as what they were read
    changed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    unlisted: dict[str, list[str]] = field(default_factory=dict)  # why items were not placed: which
    # of each code that is no leaf, because another spelling of it is: that one
    spelled: dict[str, str] = field(default_factory=dict)
    named: int = 0  # how many groups were given a name
    note: str = ""  # what was taken as written, though it need not be

    @property
    def title(self) -> str:
        """The systems, for sentences."""
        return " and ".join(system.title for system in self.systems)

    def missing(self) -> list[str]:
        """List the items that were not placed."""
        return [item for items in self.unlisted.values() for item in items]


def read_codes(
    items: Sequence[str], system: str, zeros: Zeros | None = None, said: Mapping[str, str] | None = None
) -> CodesRead:
    """Read items as codes of a system, or of two.

    `zeros`: "kept" or "lost" at the beginning of numbers; by default detected, or asked. `said`: the system
    of each item, if a column says it. No codes, and codes whose meaning cannot be determined, are a
    DataError.
    """
    if zeros not in (None, *ZEROS_ARE):
        raise RequestError(f"--zeros must be kept or lost, got {zeros!r}.")
    found = CodesRead(systems_of(system))
    texts: dict[str, dict[str, str]] = {one.name: {} for one in found.systems}
    changes: dict[str, dict[str, str]] = {}
    unsure: list[str] = []
    for item in items:
        text, named, changes[item] = _plain(item, found.systems)
        home = named or (said and said.get(item)) or _by_form(text, found.systems)
        if home is None:
            unsure.append(item)
        elif home in texts:
            texts[home][item] = text
        else:
            _leave(found, item, home if home not in SYSTEMS else f"named as a code of {SYSTEMS[home].title}")
    if unsure:
        titles = " or of ".join(one.title for one in found.systems)
        raise DataError(
            f"{len(unsure):,} of {count(len(items), 'item')} may be codes of {titles}: {listed(unsure)}.",
            hint="Write 9: or 10: before these codes, or say which column names the system: --system-column.",
        )
    for one in found.systems:
        _read(one, texts[one.name], zeros, found, changes)
    for item in found.paths:
        for how, read in changes[item].items():
            found.changed.setdefault(how, []).append((item, read))
    if not found.paths:
        reason, examples = next(iter(found.unlisted.items()))
        raise DataError(
            f"No item is a code of {found.title}: {listed(examples, 3)} {are(len(examples))} {reason}.",
            hint=f"Codes look like {'; '.join(one.form for one in found.systems)}.",
        )
    return found


def named_system(text: str) -> str | None:
    """Find the version of ICD that the field of a column names: ``9``, ``ICD-10-CM``.

    >>> named_system("9"), named_system("icd10cm"), named_system("11")
    ('icd9', 'icd10', None)
    """
    match = _NAMED.fullmatch(text.strip().upper())
    return f"icd{match[1]}" if match else None


def code_of(text: str, systems: Iterable[System]) -> str | None:
    """Read a code that has all its zeros, as its system writes it; None: it is none, or of two systems."""
    found = set()
    for system in systems:
        plain = text.strip().upper()
        mark = system.mark.match(plain)
        try:
            found.add(system.code(_filled(system, plain[mark.end() :] if mark else plain)))
        except NotPlacedError:
            continue
    return found.pop() if len(found) == 1 else None


def _plain(item: str, systems: Sequence[System]) -> tuple[str, str | None, dict[str, str]]:
    """Take off what is not of the code: blanks, a dot at its end, and the name of a system, which is told."""
    text, named, changes = item.strip().upper(), None, {}
    if any(system.spaced for system in systems):
        text = "".join(text.split())
    if text != item:
        changes[CAPITALS] = text
    for system in SYSTEMS.values():
        mark = system.mark.match(text)
        if mark and (system in systems or mark[0][-1] in ": |"):
            named, text = system.name, text[mark.end() :]
            changes[NAME] = text
            break
    if len(text) > 1 and text.endswith("."):
        text = text[:-1]
        changes[DOT] = text
    return text, named, changes


def _by_form(text: str, systems: Sequence[System]) -> str | None:
    """Tell of which of two systems a code is; None: it may be of both. Else why it is of neither."""
    if len(systems) == 1:
        return systems[0].name
    fits = []
    for system in systems:
        try:
            system.place(_filled(system, text))
        except NotPlacedError:
            continue
        fits.append(system.name)
    if len(fits) > 1:
        return None
    return fits[0] if fits else "no code of either"


def _filled(system: System, text: str) -> str:
    """Add the zeros that must stand before the dot, or before a number that is too short."""
    before, dot, after = text.partition(".")
    if _NUMBER.fullmatch(text) and len(before) < system.whole:
        return before.zfill(system.whole) + dot + after
    return text


def _read(
    system: System,
    texts: Mapping[str, str],
    zeros: Zeros | None,
    found: CodesRead,
    changes: Mapping[str, dict[str, str]],
) -> None:
    lost = system.loses_zeros and _are_lost(system, set(texts.values()), zeros, found)
    for item, text in texts.items():
        whole = _filled(system, text)
        if lost and _is_number(text) and not text.startswith("0"):
            readings = _readings(system, text)
            if len(readings) > 1:
                _leave(found, item, "without its zeros what may be two codes")
                continue
            whole = readings[0] if readings else whole
        try:
            path = system.place(whole)
        except NotPlacedError as error:
            _leave(found, item, str(error))
            continue
        if whole != text:
            changes[item][ZEROS] = path[-1]
        found.paths[item] = path if len(found.systems) == 1 else _apart(system, path)


def _apart(system: System, path: Path) -> Path:
    """Name the groups of one of two systems so that they are not those of the other: V10 is in both."""
    version = system.name.removeprefix("icd")
    return system.title, *(f"{version}:{group}" for group in path)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _readings(system: System, text: str) -> list[str]:
    """List what a number may have been before its zeros were dropped."""
    out = []
    for length in range(max(len(text), system.whole), system.longest + 1):
        try:
            system.place(text.zfill(length))
        except NotPlacedError:
            continue
        out.append(text.zfill(length))
    return out


def _are_lost(system: System, texts: set[str], zeros: Zeros | None, found: CodesRead) -> bool:
    """Tell whether numbers lost the zeros they began with, which a dot shows; ask where nothing tells."""
    bare = {text for text in texts if _is_number(text) and _readings(system, text)}
    dotted = {text for text in texts if "." in text}
    if dotted and all(len(text) <= system.whole for text in bare):
        _refuse_procedures(system, texts, zeros)
        return False
    if zeros is not None:
        return zeros == "lost"
    unsure = sorted(t for t in bare if not t.startswith("0") and len(_readings(system, t)) > 1)
    if not unsure or any(text.startswith("0") for text in bare):
        return False
    meant = " or ".join(map(system.code, _readings(system, unsure[0])))
    if len(bare) < _MANY and all(len(text) >= system.whole for text in bare):
        found.note = (
            f"No number begins with a zero, and all were taken as written. If zeros were lost "
            f"({unsure[0]} may be {meant}), say --zeros lost."
        )
        return False
    raise DataError(
        f"None of {count(len(bare), 'different number')} without a dot begins with a zero, so zeros may have "
        f"been lost: is {unsure[0]} the code {meant} of {system.title}? {len(unsure):,} may be two codes.",
        hint="If no zero is missing, say --zeros kept; if some are, --zeros lost, and what may be two codes "
        "is left under '(unlisted)'. Better: export the codes as text, or with dots.",
    )


def _refuse_procedures(system: System, texts: set[str], zeros: Zeros | None) -> None:
    """Ask whether codes such as 38.93 are diagnoses: procedures have two digits before the dot."""
    if system.name != "icd9" or zeros is not None:
        return
    before = [text.partition(".")[0] for text in texts if _NUMBER.fullmatch(text)]
    if len(before) >= _MANY and all(len(digits) <= 2 for digits in before):
        raise DataError(
            f"All {count(len(before), 'number')} have at most two digits before the dot, as procedures have "
            "(volume 3 of ICD-9-CM), which are no diagnoses.",
            hint="If they are diagnoses that have lost their zeros, say --zeros lost; procedures are grouped "
            "by --by prefix.",
        )


def _leave(found: CodesRead, item: str, reason: str) -> None:
    found.unlisted.setdefault(reason, []).append(item)


def in_words(found: CodesRead, supports: Mapping[str, int] | None) -> list[str]:
    """Say what was changed and what was not placed, with numbers, examples and its share of occurrences."""
    out = []
    for how, pairs in found.changed.items():
        item, read = pairs[0]
        out.append(f"{count(len(pairs), 'code')} read {how}, such as {shorten(item, 40)} as {read}.")
    if found.spelled:
        merged = merged_into(found.spelled)
        out.append(f"{merged.sentence()}")
    missing = found.missing()
    if missing:
        of = supports or dict.fromkeys([*found.paths, *missing], 1)
        share = sum(of[item] for item in missing) / max(1, sum(of.values()))
        what = "codes" if supports is None else "occurrences"
        begins = "Warning: under" if share > _FEW else "Under"
        out.append(f"{begins} '(unlisted)': {count(len(missing), 'item')}, {share:.2%} of all {what}.")
        out += [f"  {len(items):,} {reason}: {listed(items, 3)}" for reason, items in found.unlisted.items()]
    if found.named:
        out.append(f"{count(found.named, 'group has', 'groups have')} a name.")
    return [*out, found.note] if found.note else out
