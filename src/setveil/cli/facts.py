"""Options that say what the columns of a raw file of facts are, and what is read by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from setveil.cli.engines import MEMORY
from setveil.cli.help import FACTS
from setveil.cli.options import Bundle, fact_options
from setveil.cli.session import say
from setveil.errors import RequestError, did_you_mean, listed
from setveil.options.columns import Columns, names_in, split_hierarchies
from setveil.options.facts import OF_READING, QI
from setveil.options.facts import FactOptions as Words
from setveil.options.reading import Reading
from setveil.wording import count

if TYPE_CHECKING:
    from setveil.facts.asked import FactsRequest
    from setveil.facts.facts import Facts as RowsOfFacts
    from setveil.facts.generalizing import Generalizing
    from setveil.facts.tables import FactTable
    from setveil.hierarchy.tree import Hierarchy
    from setveil.tables.how import How
    from setveil.tables.roles import Roles

MIXED = "mixed-km"  # the promise in which quasi-identifiers count, too

__all__ = ["FACTS", "Facts", "FactsAsked", "ReadFacts", "facts_asked", "facts_of", "read_facts"]

Facts = Annotated[Words, Bundle(fact_options, Words)]
ReadFacts = Annotated[Words, Bundle(lambda: fact_options(*OF_READING), Words)]


@dataclass(frozen=True)
class FactsAsked:
    """How facts are read and generalized, and the promise with the m that was said with their codes."""

    asked: FactsRequest
    how: How
    generalizing: Generalizing
    promise: dict[str, Any]
    columns: Columns  # as they were said, with those of persons
    words: Words
    most: int | None = None  # the facts of a row that are kept

    @property
    def of_persons(self) -> bool:
        """Whether columns say what someone may know of a person besides facts."""
        return bool(self.columns.qi)

    def require_possible(self, model: str, of_tables: bool, output_format: str | None) -> None:
        """Refuse promises that are not about such rows, and choices where there is none."""
        from setveil.published.facts import info

        if of_tables and not self.of_persons:
            raise RequestError(
                f"{model} is about tables, and nothing says what someone may know of a person besides facts.",
                hint="Name such columns: --qi age,sex; or omit --model.",
            )
        if self.of_persons and not of_tables:
            raise RequestError(
                f"--qi: only tables have such columns, and {model} is about rows of facts.",
                hint="--model kkm protects persons with what someone may know of them besides facts.",
            )
        if not self.of_persons and output_format is not None:
            raise RequestError(f"--output-format: {info.written}.", hint="Omit it.")

    def roles(self, given: Sequence[str], encoding: str) -> Roles:
        """Say what the columns of persons are, and read their hierarchies."""
        from pathlib import Path

        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.decode import require_file
        from setveil.tables.levels import Levels
        from setveil.tables.roles import with_trees

        named = split_hierarchies(given, of_tables=True)[1]
        own = {name: file for name, file in named.items() if name in names_in(self.columns.qi)}
        roles = self.words.as_roles(self.columns, self.asked, own)
        for known in roles.qi.values():
            if known.hierarchy is not None and not isinstance(known.hierarchy, Levels):
                require_file(Path(str(known.hierarchy)))
        return with_trees(
            roles, lambda path: None if path is None else read_hierarchy(path, encoding=encoding)
        )

    def hierarchies(self, given: Sequence[str]) -> dict[str, str]:
        """Say where the hierarchies of the codes are: NAME=FILE, or FILE where there is one column."""
        names = list(self.asked.sets)
        plain, named = split_hierarchies(given, of_tables=True)
        named = {name: file for name, file in named.items() if name not in names_in(self.columns.qi)}
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
    facts: Words,
    columns: Columns,
    reading: Reading,
    promise: dict[str, Any],
    engine: str,
    model: str | None = None,
    *,
    of_persons: bool = False,
) -> FactsAsked | None:
    """Settle how facts are read; None where the rows hold none.

    With `of_persons` there may be columns that say what someone may know of a person.
    """
    if not facts.wanted(columns):
        if facts.given:
            raise RequestError(
                f"{', '.join(facts.given)}: nothing says that the rows hold facts.",
                hint="Name dates or amounts, or the codes with their m: --when date:month, --set code:m=2.",
            )
        return None
    asked = facts.as_asked(columns, of_persons=of_persons)
    if engine != MEMORY:
        raise RequestError("Facts are read in memory.", hint="Omit --engine.")
    if facts.most_facts is not None and facts.most_facts < 1:
        raise RequestError(f"--most-facts must be an integer of at least 1, got {facts.most_facts}.")
    m = asked.m
    if model == MIXED and m is not None:
        m = _with_known({name: n for name, n in asked.sets.items() if n is not None}, promise["m"])
        promise = {**promise, "m": None}
    said = ",".join(f"{name}={number}" for name, number in m.items()) if isinstance(m, dict) else m
    if m is not None and promise["m"] not in (None, said, str(said)):
        own = " ".join(f"--set {name}:m={number}" for name, number in asked.sets.items())
        raise RequestError(f"m is given twice: --m {promise['m']} and {own}.", hint="Give it once.")
    with_m = promise if m is None else {**promise, "m": str(said)}
    return FactsAsked(
        asked,
        columns.as_how(reading),
        facts.as_generalizing(columns),
        with_m,
        columns,
        facts,
        facts.most_facts,
    )


def _with_known(sets: Mapping[str, int], m: Any) -> dict[str, int]:
    """Say how many quasi-identifiers somebody may know, besides so many facts of each column."""
    text = str(m or "")
    if not text.isdigit() or int(text) < 1:
        raise RequestError(
            f"--m must say how many quasi-identifiers somebody may know besides the facts, got {m}.",
            hint="Such as --m 2 --set code:m=2.",
        )
    if QI in sets:
        raise RequestError(
            f"A column of codes is called {QI}, which stands for the quasi-identifiers here.",
            hint="Name it otherwise in the header of the file.",
        )
    return {QI: int(text), **sets}


def read_persons(
    source: Any, facts: FactsAsked, promise: dict[str, Any], seed: int, roles: Roles
) -> FactTable:
    """Read persons and their facts, and say what was taken as what."""
    from setveil.cli.files import say_notes, saying_how
    from setveil.facts.tables import read_table_of_facts, sentence_of_table
    from setveil.tables.read import flat_notes, sentence, warnings_of

    _require_one_file(source)
    k = str(promise.get("k") or "")
    with saying_how():
        table = read_table_of_facts(
            source, roles, facts.asked, facts.how,
            fewest=int(k) if k.isdigit() else 0, most=facts.most, seed=seed,
        )  # fmt: skip
    said = sentence_of_table(table, sentence(table, roles))
    say(f"Reading {'standard input' if source == '-' else source}: {said}.")
    say_notes(table.facts.origin)
    for note in (*table.notes, *warnings_of(table)):
        say(f"Warning: {note}")
    for note in flat_notes(table):
        say(f"Note: {note}")
    if table.most is not None:
        fewer = f"{table.left_out:,} of {count(table.n_occurrences + table.left_out, 'occurrence')}"
        say(f"At most {count(table.most, 'fact')} of a row, drawn by seed {seed}: {fewer} left out.")
    return table


def _require_one_file(source: Any) -> None:
    if not isinstance(source, str) or not source:
        raise RequestError("Facts are read from one file.", hint="Put the files together.")


def read_facts(source: Any, facts: FactsAsked, promise: dict[str, Any], seed: int) -> RowsOfFacts:
    """Read facts, and say what was taken as what."""
    from setveil.cli.files import say_notes, saying_how
    from setveil.facts.read import read_rows_of_facts, sentence

    _require_one_file(source)
    k = str(promise.get("k") or "")
    with saying_how():
        data = read_rows_of_facts(source, facts.asked, facts.how, fewest=int(k) if k.isdigit() else 0)
    say(f"Reading {'standard input' if source == '-' else source}: {sentence(data)}.")
    say_notes(data.origin)
    for note in data.notes:
        say(f"Warning: {note}")
    if facts.most is None:
        return data
    fewer = data.at_most(facts.most, seed)
    some = f"{fewer.left_out:,} of {count(data.n_occurrences, 'occurrence')}"
    say(f"At most {count(facts.most, 'fact')} of a row, drawn by seed {seed}: {some} left out.")
    return fewer


def facts_of(
    source: Any, facts: Words, columns: Columns, reading: Reading, k: int | None = None
) -> RowsOfFacts | None:
    """Read facts from a raw file that is looked at, as for a k; None where its rows hold none."""
    asked = facts_asked(facts, columns, reading, {"m": None}, MEMORY)
    return None if asked is None else read_facts(source, asked, {"k": k}, 0)
