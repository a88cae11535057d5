"""Errors in words where a function got an argument of another kind than its signature names."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from setveil.base.errors import RequestError, SetveilError, described

P = ParamSpec("P")
R = TypeVar("R")

# By the name of a kind in annotations: what it accepts, how messages name one and several.
_KINDS: dict[str, tuple[Any, str, str]] = {
    "str": (str, "a text", "texts"),
    "int": (Integral, "an integer", "integers"),
    "float": (Real, "a number", "numbers"),
    "Number": (Real | Fraction | str, "a number", "numbers"),
    "Fraction": (Fraction, "a fraction", "fractions"),
    "bool": (bool, "True or False", "True or False"),
    "None": (type(None), "None", "None"),
    "PathLike": (PathLike, "a path", "paths"),
    "Mapping": (Mapping, "a dict", "dicts"),
    "Sequence": (Sequence, "a list", "lists"),
    "Iterable": (Iterable, "a list", "lists"),
}


def in_words(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that fails at an argument of a wrong kind say so; other errors stay as they are."""

    @functools.wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except SetveilError:
            raise
        except Exception as error:
            wrong = _wrong(function, arguments, named)
            if wrong is None:
                raise
            raise wrong from error

    call.__module__ = "setveil"  # where it is found by its name, as when it is pickled
    return call


def _wrong(function: Callable[..., Any], arguments: Any, named: Any) -> RequestError | None:
    """Find the first argument that is of no kind that its annotation names."""
    signature = inspect.signature(function)
    try:
        values = signature.bind(*arguments, **named).arguments
    except TypeError:
        return None  # Python says what is missing or too much
    for name, value in values.items():
        kinds = signature.parameters[name].annotation
        if not _fits(value, kinds):
            expected = " or ".join(dict.fromkeys(map(_words, _parts(kinds))))
            return RequestError(
                f"{name} must be {expected}, got {described(value)}.",
                hint=f"help(setveil.{function.__name__}) describes it.",
            )
    return None


def _fits(value: object, annotation: str) -> bool:
    """Whether a value is of some kind of an annotation, or of one that is not known here."""
    return any(_is_of(value, part) for part in _parts(annotation))


def _is_of(value: object, part: str) -> bool:
    kind, _, inside = part.partition("[")
    inner = _parts(inside.removesuffix("]"), ",")
    if kind == "Literal":
        return value in ast.literal_eval(f"({inside.removesuffix(']')},)")
    if kind not in _KINDS:
        return True
    if not isinstance(value, _KINDS[kind][0]) or (isinstance(value, bool) and kind in ("int", "float")):
        return False
    if isinstance(value, Mapping) and kind == "Mapping":
        keys, values = inner
        return all(_fits(key, keys) and _fits(one, values) for key, one in value.items())
    if kind in ("Sequence", "Iterable"):
        members = value if isinstance(value, Collection) else ()
        return not isinstance(value, str | bytes | Mapping) and all(_fits(one, inner[0]) for one in members)
    return True


def _words(part: str) -> str:
    """Name a kind: "a list of texts"."""
    kind, _, inside = part.partition("[")
    if kind == "Literal":
        return " or ".join(map(repr, ast.literal_eval(f"({inside.removesuffix(']')},)")))
    one = _KINDS[kind][1]
    if kind not in ("Sequence", "Iterable"):
        return one
    members = {inner.partition("[")[0] for inner in _parts(inside.removesuffix("]"))}
    several = [_KINDS[member][2] for member in sorted(members & _KINDS.keys())]
    return f"{one} of {' or '.join(several)}" if several and members <= _KINDS.keys() else one


def _parts(annotation: str, sign: str = "|") -> list[str]:
    """Split an annotation at a sign that is in no brackets."""
    parts, depth = [""], 0
    for letter in annotation.replace("os.", ""):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == sign and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
