"""What a parameter is, said where its field is declared.

Command line, study files, `recommend` and the tables of the documentation are made from these declarations,
so that a parameter is added in one place.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import Any, Self

from setveil.base.errors import RequestError, described, did_you_mean
from setveil.base.values.kinds import Kind


@dataclass(frozen=True)
class Option:
    """A parameter as users meet it."""

    kind: Kind  # what values it may have
    help: str  # what it means, in a line
    short: str = ""  # its one-letter option; empty: none
    study_name: str = ""  # its key in a study file where another key has its name; empty: its own name
    # Whether it, or one that may be given instead of it, must be given. (A parameter of an algorithm never
    # must.)
    needed: bool = False
    instead_of: str = ""  # the option that this one replaces; not both can be given
    # (option, value) or None: it means something only where another option has this value, and is needed
    # there
    only_with: tuple[str, str] | None = None
    secret: bool = False  # whether it says which items an attacker does not know beforehand
    # what it says is drawn by the seed, for experiments, with the values of these options; None: is not
    drawn_with: tuple[str, ...] | None = None
    separate_in_verify: bool = False  # whether `verify` has an option of its own for it, for more models
    published: Any = None  # the value in the algorithm's paper, if the default is another that improves on it


def parameter(
    kind: Kind,
    help: str,  # noqa: A002  (the word that users know)
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | Any = MISSING,
    study_name: str = "",
    published: Any = None,
) -> Any:
    """Declare a field of a dataclass of parameters (see `Option`)."""
    option = Option(kind, help, study_name=study_name, published=published)
    if default_factory is not MISSING:
        return dataclasses.field(default_factory=default_factory, metadata={"option": option})
    return dataclasses.field(default=default, metadata={"option": option})


SEED = "seed"


def options_of(parameters: Any) -> dict[str, Option]:
    """List the options of a dataclass of parameters, by the names of its fields.

    A field `seed` is no option: it gets the seed of the run, which has an option already.

    >>> from setveil.base.values.kinds import Integer
    >>> @dataclass(frozen=True)
    ... class Parameters:
    ...     rounds: int = parameter(Integer(0), "How often.", default=3)
    >>> options_of(Parameters)["rounds"].kind.allowed
    'an integer of at least 0'
    """
    found = dataclasses.fields(parameters)
    return {field.name: field.metadata["option"] for field in found if field.name != SEED}


class Keywords:
    """What refuses names of parameters that it does not have, and asks which was meant."""

    def __new__(cls, *_: Any, **fields: Any) -> Self:
        """Refuse names that there are not."""
        known = list(inspect.signature(cls.__init__).parameters)[1:]
        for name in fields:
            if name not in known:
                raise RequestError(
                    f"{cls.__name__} has no parameter {name}; it has {', '.join(known) or 'none'}.",
                    hint=did_you_mean(name, known),
                )
        return super().__new__(cls)


class Declared(Keywords):
    """A frozen dataclass of declared fields that refuses values which are not of their kind.

    Numbers may be texts, as on the command line: "1/3", "5%".

    A class with conditions of its own calls ``super().__post_init__()`` before it checks them.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            kind = field.metadata["option"].kind
            given = getattr(self, field.name)
            value = kind.taken(given)
            object.__setattr__(self, field.name, value)
            allowed = kind.accepts(value)
            if allowed and not (value is None and field.default is None):
                raise RequestError(f"{field.name} must be {allowed}, got {described(given)}.")


def as_words(values: Mapping[str, Any]) -> list[str]:
    """Write options as they are given on the command line, without those that are None.

    >>> as_words({"id_column": "who", "ranges": ["age=5", "zip=2"], "suppress": False, "delimiter": "-"})
    ['--id-column', 'who', '--ranges', 'age=5', '--ranges', 'zip=2', '--no-suppress', '--delimiter=-']
    """
    words: list[str] = []
    for name, value in values.items():
        long = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{long}" if value else f"--no-{long}")
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is not None:
                text = str(one)
                words += [f"--{long}={text}"] if text.startswith("-") else [f"--{long}", text]
    return words
