"""Options by their names on the command line: how a file is read, and what its columns are."""

from __future__ import annotations

from collections.abc import Iterable

from setveil.base.values.declared import options_of
from setveil.runs.options.columns import OF_VALUES, PUBLISHED, Columns
from setveil.runs.options.facts import FactOptions
from setveil.runs.options.reading import Reading

# Options of settings, which may come from someone else: these write, read or ask elsewhere.
NOT_OF_A_FILE = frozenset({"studio", "out", "force", "config", "plot-band", "trace", "query", "connection"})


def option_names(*declared: Iterable[str]) -> tuple[str, ...]:
    """List options by their names on the command line, each once."""
    found = dict.fromkeys(name.replace("_", "-") for names in declared for name in names)
    return tuple(name for name in found if name not in NOT_OF_A_FILE)


READING = option_names(options_of(Reading))
COLUMNS = option_names(PUBLISHED)
VALUES = option_names(OF_VALUES)
MADE_OF_COLUMNS = option_names(name for name in options_of(Columns) if name not in PUBLISHED)
# those that a page asks
ROLES = option_names(name for name in options_of(Columns) if name not in {"roles", "weight"})
FACTS = option_names(options_of(FactOptions))
