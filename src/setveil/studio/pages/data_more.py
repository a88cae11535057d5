"""More about a file: fields of the options of reading that the page Data does not ask for elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.values.declared import options_of
from setveil.base.values.kinds import Choice, Flag, Integer
from setveil.runs.options.names import READING
from setveil.runs.options.reading import Reading

_ELSEWHERE = frozenset(  # fields of their own
    {
        "format",
        "encoding",
        "separator",
        "id-column",
        "item-column",
        "item-columns",
        "delimiter",
        "not-ids",
        "rows-are-events",
        "normalize",
    }
)
_OPTIONS = {name.replace("_", "-"): option for name, option in options_of(Reading).items()}
FLAGS = tuple(name for name in READING if isinstance(_OPTIONS[name].kind, Flag))
MORE = tuple(name for name in READING if name not in _ELSEWHERE)


def fields(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Describe the field of each option: its name, label, help, what it accepts, and its value."""
    return [
        {
            "name": name,
            "id": f"more-{name}",
            "label": name.replace("-", " ").capitalize().replace(" id", " ID"),
            "help": _OPTIONS[name].help,
            "flag": name in FLAGS,
            "number": isinstance(_OPTIONS[name].kind, Integer),
            "words": _words(_OPTIONS[name].kind),
            "value": options.get(name, ""),
        }
        for name in MORE
    ]


def _words(kind: Any) -> tuple[str, ...]:
    return kind.words if isinstance(kind, Choice) else ()


def before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Take what a project's settings say in these fields."""
    found = {name: settings[name] for name in MORE if name in settings}
    if "missing" in found:
        found["missing"] = ",".join(plain_words(found["missing"]))
    return {name: value for name, value in found.items() if value}


def plain_words(missing: Any) -> list[str]:
    """Take the words that mean in every column that there is no value, and not in some columns."""
    several = [missing] if isinstance(missing, str) else missing if isinstance(missing, list) else []
    return [str(text) for text in several if "=" not in str(text)]


def buttons(readings: Sequence[Sequence[Any]]) -> list[dict[str, str]]:
    """Make the buttons that read a file in a way that an error proposes, if this way is one option."""
    found = []
    for options, meaning in readings:
        name, value = next(iter(options.items()), ("", ""))
        name = name.replace("_", "-")
        if len(options) == 1 and name in MORE:
            text = f"Read it so: {meaning}"
            found.append({"text": text, "name": name, "value": "yes" if value is True else str(value)})
    return found
