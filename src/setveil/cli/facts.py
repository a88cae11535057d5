"""Options that say what the columns of a raw file of facts are, and what is read by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from setveil.base.errors import RequestError, did_you_mean, listed
from setveil.base.wording import count
from setveil.cli.bundles import Bundle, fact_options
from setveil.cli.engines import MEMORY
from setveil.cli.help import FACTS
from setveil.cli.readers import ItemsReader
from setveil.cli.session import say
from setveil.judges.guarantees import model_named
from setveil.runs.options.columns import Columns, names_in, split_hierarchies
from setveil.runs.options.facts import OF_READING, QI
from setveil.runs.options.facts import FactOptions as Words
from setveil.runs.options.reading import Reading

if TYPE_CHECKING:
    from setveil.rows.facts.facts import Facts as RowsOfFacts
    from setveil.rows.facts.request import FactsRequest
    from setveil.rows.facts.tables import FactTable
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.roles import Roles

MIXED = "mixed-km"  # the guarantee in which quasi-identifiers count, too

__all__ = ["FACTS", "Facts", "FactsReader", "PersonsReader", "ReadFacts", "facts_of", "facts_reader"]

Facts = Annotated[Words, Bundle(fact_options, Words)]
ReadFacts = Annotated[Words, Bundle(lambda: fact_options(*OF_READING), Words)]


class FactsReader(ItemsReader):
    """Rows of facts: how they are read and generalized, and the guarantee with the m of their codes."""

    kind = "facts"
    has_facts = True

    def __init__(
        self,
        columns: Columns,
        reading: Reading,
        hierarchies: Sequence[str] | None,
        words: Words,
        request: FactsRequest,
        promise: dict[str, Any],
    ) -> None:
        """Take what was said, what of it is asked of facts, and the guarantee with their m."""
        super().__init__(columns, reading, hierarchies)
        self.words, self.request, self.promise = words, request, promise
        self.how = columns.as_how(reading)
        self._generalizing = words.as_generalizing(columns)

    @property
    def m(self) -> Any:
        """The m that was said with columns of codes; None: it is said by --m."""
        return self.request.m

    @property
    def generalizing(self) -> dict[str, Any]:
        """How facts are generalized, as runs and explorations take it."""
        return {"generalizing": self._generalizing}

    @property
    def plain_hierarchy(self) -> str | None:
        """The hierarchy of the first codes that have one, as it was named."""
        return next(iter(self.files().values()), None)

    @property
    def hierarchy_file(self) -> None:
        """No hierarchy: those of codes are read with them."""
        return None

    def require_promised(self, model: str | None, output_format: str | None) -> None:
        """Refuse guarantees that are not about such rows, and choices where there is none."""
        from setveil.releases.published.facts import info

        if model is not None and model_named(model).release == "tables":
            raise RequestError(
                f"{model} is about tables, and no columns are named that someone may know.",
                hint="Name such columns: --qi age,sex; or omit --model.",
            )
        if output_format is not None:
            raise RequestError(f"--output-format: {info.written}.", hint="Omit it.")

    def to_publish(self, _source: Any, _way_out: Callable[[], str]) -> tuple[Reading, None]:
        """Return how the data are read; the release has the format that suits them."""
        return self.reading, None

    def files(self) -> dict[str, str]:
        """Say where the hierarchies of the codes are: NAME=FILE, or FILE where there is one column."""
        names = list(self.request.sets)
        plain, named = split_hierarchies(self.hierarchies)
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

    def tree(self) -> Hierarchy | None:
        """Read the hierarchies of the codes; those of several columns side by side."""
        from setveil.rows.hierarchy.columns import joined
        from setveil.rows.hierarchy.io import read_hierarchy

        encoding = self.reading.text_encoding
        trees = {name: read_hierarchy(file, encoding=encoding) for name, file in self.files().items()}
        return joined(trees) if len(self.request.sets) > 1 and trees else next(iter(trees.values()), None)

    def read(
        self, source: Any, *, fewest: int = 0, seed: int = 0, how: Reading | None = None
    ) -> tuple[Any, Hierarchy | None]:
        """Read the facts and the hierarchies of their codes, and say what was taken as what."""
        tree = self.tree()
        return self._checked(source, fewest, seed), tree

    def _checked(self, source: Any, fewest: int = 0, seed: int = 0) -> Any:
        """Read the facts of one file, with last bands that `fewest` people reach."""
        if not isinstance(source, str) or not source:
            raise RequestError("Facts are read from one file.", hint="Put the files together.")
        return self._read(source, fewest, seed)

    def read_with_ids(self, source: Any) -> tuple[Any, None]:
        """Read the facts."""
        return self._checked(source), None

    def _read(self, source: str, fewest: int, seed: int) -> RowsOfFacts | FactTable:
        from setveil.cli.files import say_notes
        from setveil.rows.facts.read import read_rows_of_facts, sentence

        data = read_rows_of_facts(source, self.request, self.how, fewest=fewest)
        say(f"Reading {_named(source)}: {sentence(data)}.")
        say_notes(data.origin)
        for note in data.notes:
            say(f"Warning: {note}")
        most = self.words.most_facts
        if most is None:
            return data
        fewer = data.at_most(most, seed)
        _say_fewer(most, seed, fewer.left_out, data.n_occurrences)
        return fewer

    def arguments(self) -> list[str]:
        """Return what was said of reading, columns and facts as it is written on the command line."""
        return super().arguments() + self.columns.arguments(self.hierarchies) + self.words.arguments()


class PersonsReader(FactsReader):
    """A table of persons with facts: columns say what someone may know of a person in addition to these."""

    kind = "tables"

    def require_promised(self, model: str | None, _output_format: str | None) -> None:
        """Refuse guarantees that are not about tables."""
        if model is not None and model_named(model).release != "tables":
            raise RequestError(
                f"--qi: only tables have such columns, and {model} is about rows of facts.",
                hint="--model kkm also protects against knowledge in addition to facts.",
            )

    def roles(self) -> Roles:
        """Say what the columns of persons are, and read their hierarchies."""
        from pathlib import Path

        from setveil.rows.hierarchy.io import read_hierarchy
        from setveil.rows.tables.roles import with_trees
        from setveil.runs.options.decode import require_file

        named = split_hierarchies(self.hierarchies)[1]
        own = {name: file for name, file in named.items() if name in names_in(self.columns.qi)}
        roles = self.words.as_roles(self.columns, self.request, own)
        for known in roles.qi.values():
            require_file(None if known.hierarchy is None else Path(str(known.hierarchy)))
        encoding = self.reading.text_encoding
        return with_trees(
            roles, lambda path: None if path is None else read_hierarchy(path, encoding=encoding)
        )

    def _read(self, source: str, fewest: int, seed: int) -> FactTable:
        from setveil.cli.files import say_notes
        from setveil.rows.facts.tables import read_table_of_facts, sentence_of_table
        from setveil.rows.tables.read import flat_notes, sentence, warnings_of

        roles = self.roles()
        table = read_table_of_facts(
            source, roles, self.request, self.how, fewest=fewest, most=self.words.most_facts, seed=seed,
        )  # fmt: skip
        said = sentence_of_table(table, sentence(table, roles))
        say(f"Reading {_named(source)}: {said}.")
        facts = table.facts
        say_notes(facts.origin)
        for note in (*facts.notes, *warnings_of(table)):
            say(f"Warning: {note}")
        for note in flat_notes(table):
            say(f"Note: {note}")
        if facts.most is not None:
            _say_fewer(facts.most, seed, facts.left_out, facts.n_occurrences + facts.left_out)
        return table


def _named(source: str) -> str:
    return "standard input" if source == "-" else source


def _say_fewer(most: int, seed: int, left_out: int, occurrences: int) -> None:
    """Say how many occurrences were suppressed, so that no row has more facts."""
    fewer = f"{left_out:,} of {count(occurrences, 'occurrence')}"
    say(f"At most {count(most, 'fact')} of a row, drawn by seed {seed}: {fewer} omitted.")


def facts_reader(
    facts: Words,
    columns: Columns,
    reading: Reading,
    hierarchies: Sequence[str] | None,
    promise: dict[str, Any],
    engine: str,
    model: str | None = None,
    *,
    alone: bool = True,
) -> FactsReader | None:
    """Settle how facts are read; None where the rows hold none.

    Unless they are read `alone`, there may be columns that say what someone may know of a person.
    """
    if not facts.wanted(columns):
        if facts.explicit_options == ["--date-format"] and columns.age:
            from setveil.cli.files import command_without

            raise RequestError(
                "--date-format is about dates of facts (--when), and not about ages.",
                hint="Omit it: ages are also computed of the numbers of days of SAS and spreadsheets"
                + command_without("date_format"),
            )
        if facts.explicit_options:
            raise RequestError(
                f"{', '.join(facts.explicit_options)}: nothing says that the rows contain facts.",
                hint="Name dates or amounts, or the codes with their m: --when date:month, --set code:m=2.",
            )
        return None
    if alone:
        facts.require_alone(columns)
    request = facts.as_request(columns)
    if engine != MEMORY:
        raise RequestError("Facts are read in memory.", hint="Omit --engine.")
    if facts.most_facts is not None and facts.most_facts < 1:
        raise RequestError(f"--most-facts must be an integer of at least 1, got {facts.most_facts}.")
    reader = PersonsReader if columns.qi else FactsReader
    return reader(columns, reading, hierarchies, facts, request, _with_m(promise, request, model))


def _with_m(promise: dict[str, Any], request: FactsRequest, model: str | None) -> dict[str, Any]:
    """Add the m that was said with columns of codes to a guarantee."""
    m = request.m
    if model == MIXED and m is not None:
        m = _with_known({name: n for name, n in request.sets.items() if n is not None}, promise["m"])
        promise = {**promise, "m": None}
    said = ",".join(f"{name}={number}" for name, number in m.items()) if isinstance(m, dict) else m
    if m is not None and promise["m"] not in (None, said, str(said)):
        own = " ".join(f"--set {name}:m={number}" for name, number in request.sets.items())
        raise RequestError(f"m is given twice: --m {promise['m']} and {own}.", hint="Give it once.")
    return promise if m is None else {**promise, "m": str(said)}


def _with_known(sets: Mapping[str, int], m: Any) -> dict[str, int]:
    """Say how many quasi-identifiers someone may know, in addition to this many facts of each column."""
    text = str(m or "")
    if not text.isdigit() or int(text) < 1:
        raise RequestError(
            f"--m must say how many quasi-identifiers someone may know in addition to the facts, got {m}.",
            hint="Such as --m 2 --set code:m=2.",
        )
    if QI in sets:
        raise RequestError(
            f"A column of codes is called {QI}, which means the quasi-identifiers here.",
            hint="Name it otherwise in the header of the file.",
        )
    return {QI: int(text), **sets}


def facts_of(
    source: Any, facts: Words, columns: Columns, reading: Reading, fewest: int = 0
) -> RowsOfFacts | None:
    """Read facts from a raw file that is looked at; None where its rows hold none."""
    reader = facts_reader(facts, columns, reading, None, {"m": None}, MEMORY)
    if reader is None:
        return None
    data: RowsOfFacts = reader.read(source, fewest=fewest)[0]
    return data
