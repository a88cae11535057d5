"""Programs of others: files that the user names, and what installed packages offer as entry points.

A file may hold an algorithm (`info`, `Parameters`, `anonymize`), measures (`MEASURES`), and a privacy model
(`model`, its class of guarantees, and `verify`). `setveil.methods.algorithms`, `setveil.judges.utility` and
`setveil.judges.guarantees` say what each must look like. This module executes a file only if the user named
it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import TYPE_CHECKING, Any

from setveil.base.errors import DataError, RequestError, as_option, reason_of, shorten

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PAGE = "docs/own_method.md says what such a file must contain."


@dataclass(frozen=True)
class PluginFile:
    """A file that the user named, and what its execution made."""

    name: str  # the file's name with hyphens for underscores
    path: Path
    sha256: str
    module: ModuleType


_files: dict[str, PluginFile] = {}  # those that were named in this process


def files(holding: str = "") -> tuple[PluginFile, ...]:
    """List the files that were named, or those that hold a name."""
    return tuple(file for file in _files.values() if not holding or hasattr(file.module, holding))


def load(
    text: str | Path,
    require: Callable[[ModuleType, str], object],
    *,
    trusted: bool = False,
    option: str = "plugin",
) -> PluginFile:
    """Execute a file that the user named, once, so that setveil finds what it holds.

    `require` refuses a module, with the words for it in messages, that does not hold what it must. A file is
    `trusted` if the user named it: on this command line, in Python, or in a study that was named there. Names
    from any other file, such as settings or the record of a run, are not. `option` names it in messages.
    """
    path = Path(text)
    if not trusted:
        raise RequestError(
            f"A file names {shorten(str(path))} as the {option}. That is a program, and setveil executes "
            "only programs that you name yourself.",
            hint=f"Read it first. To use it, name it yourself: {as_option(option, quote(str(path)))}.",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    name, sha256 = path.stem.replace("_", "-"), hashlib.sha256(content).hexdigest()
    if path.suffix != ".py" or not re.fullmatch(r"[a-z0-9](-?[a-z0-9])*", name):
        raise RequestError(
            f"{path}: the file's name is the {option}'s, and {path.stem!r} cannot be one.",
            hint="Lower-case letters, digits and underscores, as in my_method.py.",
        )
    known = _files.get(name)
    if known is not None and known.path != path.absolute():
        raise RequestError(
            f"{path} would be called {name}, as that of {known.path} is.", hint="Rename the file."
        )
    if known is None or known.sha256 != sha256:
        known = PluginFile(name, path.absolute(), sha256, _executed(path, content, require))
        _files[name] = known
    else:
        require(known.module, str(path))
    return known


def _executed(path: Path, content: bytes, require: Callable[[ModuleType, str], object]) -> ModuleType:
    """Run a file of Python as a module."""
    name = f"setveil_plugin_{path.stem}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module  # where dataclasses look for the names of types
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102  (that is what was asked for)
        require(module, str(path))
    except BaseException as error:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, RequestError) or not isinstance(error, Exception):
            raise
        raise RequestError(
            f"{path} cannot be loaded: {type(error).__name__}: {reason_of(error)}.", hint=PAGE
        ) from error
    return module


def entry_points(group: str) -> Iterable[EntryPoint]:
    """List what packages offer in a group."""
    if not something_is_offered():
        return ()
    from importlib import metadata

    return metadata.entry_points(group=group)


@cache
def something_is_offered() -> bool:
    """Return whether a package may offer anything; `importlib.metadata` takes ten times as long to answer."""
    for folder in map(Path, sys.path):
        if folder.is_file():  # an archive, which only `importlib.metadata` looks into
            return True
        for file in folder.glob("*-[Ii][Nn][Ff][Oo]/entry_points.txt"):
            with suppress(OSError):
                if b"[setveil." in file.read_bytes():
                    return True
    return False


def offered(group: str, taken: Callable[[], Any], kind: str) -> dict[str, EntryPoint]:
    """Find what other packages offer in a `group` of entry points, by name, without importing any.

    `taken` lists the names that setveil has itself; `kind` is whose name it is, with its article.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        other = found.get(entry.name)
        if other is not None or entry.name in taken():
            whose = f"{package_of(other)} offers, too" if other else "setveil has already"
            raise RequestError(
                f"The package {package_of(entry)} offers {kind} {entry.name}, which {whose}.",
                hint="Uninstall it, or ask for a version with another name.",
            )
        found[entry.name] = entry
    return found


def package_of(entry: EntryPoint) -> str:
    """Name the package of an entry point, with its version."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


@cache
def imported(entry: EntryPoint, kind: str) -> tuple[ModuleType, str]:
    """Import what a package offers, and say where it is from, for messages."""
    where = f"The {kind} {entry.name} of the package {package_of(entry)}"
    try:
        return entry.load(), where
    except Exception as error:
        raise RequestError(
            f"{where} cannot be loaded: {type(error).__name__}: {reason_of(error)}."
        ) from error


def forget(file: PluginFile) -> None:
    """Take back a file that cannot be used."""
    _files.pop(file.name, None)
    sys.modules.pop(file.module.__name__, None)
