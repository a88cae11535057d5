"""Options that say what the columns of a raw file of facts are, and what is read by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from setveil.cli.engines import MEMORY
from setveil.cli.options import FACTS, Bundle, fact_options
from setveil.cli.session import say
from setveil.errors import RequestError, did_you_mean, listed
from setveil.options.columns import Columns, split_hierarchies
from setveil.options.facts import Facts as Words
from setveil.options.reading import Reading

if TYPE_CHECKING:
    from setveil.facts.asked import Asked
    from setveil.facts.facts import Facts as RowsOfFacts
    from setveil.facts.generalizing import Generalizing
    from setveil.hierarchy.tree import Hierarchy
    from setveil.tables.how import How

__all__ = ["FACTS", "Facts", "FactsAsked", "facts_asked", "read_facts"]

Facts = Annotated[Words, Bundle(lambda asked: fact_options(), Words)]


@dataclass(frozen=True)
class FactsAsked:
    """How facts are read and generalized, and the promise with the m that was said with their codes."""

    asked: Asked
    how: How
    generalizing: Generalizing
    promise: dict[str, Any]

    def require_possible(self, model: str, of_tables: bool, output_format: str | None) -> None:
        """Refuse promises that are not about rows of facts, and choices where there is none."""
        from setveil.published.facts import info

        if of_tables:
            raise RequestError(
                f"{model} is about tables; facts are released as rows, under km-anonymity.",
                hint="Leave --model out, and name no columns besides codes, dates and amounts.",
            )
        if output_format is not None:
            raise RequestError(f"--output-format: {info.written}.", hint="Leave it out.")

    def hierarchies(self, given: Sequence[str]) -> dict[str, str]:
        """Say where the hierarchies of the codes are: NAME=FILE, or FILE where there is one column."""
        names = list(self.asked.sets)
        plain, named = split_hierarchies(given, of_tables=True)
        for name, file in named.items():
            if name not in names:
                raise RequestError(
                    f"--hierarchy {name}={file}: there are hierarchies of codes only, which are "
                    f"{listed(names)}; those of periods and bands are made.",
                    hint=did_you_mean(name, names),
                )
        if plain is not None and len(names) > 1:
            raise RequestError(
                f"--hierarchy {plain}: nothing says of which column of codes, {listed(names)}.",
                hint=f"--hierarchy {names[0]}={plain}",
            )
        if plain is not None and named:
            raise RequestError(f"--hierarchy: the codes have two, {plain} and {named[names[0]]}.")
        return named if plain is None else {names[0]: plain}

    def tree(self, given: Sequence[str], encoding: str) -> Hierarchy | None:
        """Read the hierarchies of the codes; those of several columns side by side."""
        from setveil.hierarchy.columns import joined
        from setveil.hierarchy.io import read_hierarchy

        files = self.hierarchies(given).items()
        trees = {name: read_hierarchy(file, encoding=encoding) for name, file in files}
        return joined(trees) if len(self.asked.sets) > 1 and trees else next(iter(trees.values()), None)


def facts_asked(
    facts: Words, columns: Columns, reading: Reading, promise: dict[str, Any], engine: str
) -> FactsAsked | None:
    """Settle how facts are read; None where the rows hold none."""
    if not facts.wanted(columns):
        if facts.given:
            raise RequestError(
                f"{', '.join(facts.given)}: nothing says that the rows hold facts.",
                hint="Name dates or amounts, or the codes with their m: --when date:month, --set code:m=2.",
            )
        return None
    asked = facts.as_asked(columns)
    if engine != MEMORY:
        raise RequestError("Facts are read in memory.", hint="Leave out --engine.")
    m = asked.m
    said = ",".join(f"{name}={number}" for name, number in m.items()) if isinstance(m, dict) else m
    if m is not None and promise["m"] not in (None, said, str(said)):
        own = " ".join(f"--set {name}:m={number}" for name, number in asked.sets.items())
        raise RequestError(f"m is given twice: --m {promise['m']} and {own}.", hint="Give it once.")
    with_m = promise if m is None else {**promise, "m": str(said)}
    return FactsAsked(asked, columns.as_how(reading), facts.as_generalizing(columns), with_m)


def read_facts(source: Any, facts: FactsAsked, promise: dict[str, Any]) -> RowsOfFacts:
    """Read facts, and say what was taken as what."""
    from setveil.cli.files import saying_how
    from setveil.facts.read import read_rows_of_facts, sentence

    if not isinstance(source, str) or not source:
        raise RequestError("Facts are read from one file.", hint="Put the files together.")
    k = str(promise.get("k") or "")
    with saying_how():
        data = read_rows_of_facts(source, facts.asked, facts.how, fewest=int(k) if k.isdigit() else 0)
    say(f"Reading {'standard input' if source == '-' else source}: {sentence(data)}.")
    for note in data.notes:
        say(f"Warning: {note}")
    return data
