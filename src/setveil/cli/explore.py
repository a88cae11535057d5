"""The command ``explore``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from setveil.base.deadline import Deadline
from setveil.base.values.declared import as_words, options_of
from setveil.base.values.kinds import BARE
from setveil.base.values.numbers import parse_integer, parse_number
from setveil.cli.bundles import Bundle, Reading, bundled, model_options, own_options, source_of
from setveil.cli.engines import MEMORY
from setveil.cli.facts import Facts, facts_reader
from setveil.cli.help import ALGORITHM, ATTACKER, GENERAL, PROMISE
from setveil.cli.options import (
    Force,
    HierarchyFiles,
    Input,
    Page,
    Parameter,
    QuerySeed,
    choice,
    integer,
    number,
    option,
)
from setveil.cli.readers import reader_of
from setveil.cli.session import Answer, say
from setveil.cli.tables import Columns, TableShare
from setveil.judges.guarantees.km_rho import PUBLIC
from setveil.methods import algorithms as registry
from setveil.runs.options.classes import NAME as CLASSES
from setveil.runs.options.decode import Inputs, decode_parameters, require_file, require_parameters

_DEFAULT = "exact"


def _those_giving() -> list[str]:
    """List those whose recoding is one for all rows, or one for each class."""
    return [*registry.giving("km-anonymity", "global"), *registry.giving("km-anonymity", CLASSES)]


def _own() -> list[Parameter]:
    """List the options of the algorithms that are explored."""
    names = {name for one in _those_giving() for name in options_of(registry.load(one).Parameters)}
    return [option for option in own_options() if option.name in names]


def _secret() -> list[Parameter]:
    return model_options("km-rho", "sensitive", "knows")


@dataclass(frozen=True)
class Grid:
    """Options on the guarantees that are tried."""

    k: str | None = option(PROMISE, "Try these k (default: 2,3,5,10,11,20,50).", "N,N,...", "-k")
    m: str | None = option(PROMISE, "Try these m, up to inf (default: 1,2,3).", "N,N,...", "-m")
    rho: str | None = option(PROMISE, "Try these rho, such as 0.5,1/10.", "NUMBER,NUMBER,...")


def explore(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    grid: Annotated[Grid, bundled(Grid)],
    hierarchy_files: HierarchyFiles = None,
    algorithm: str = choice(
        ALGORITHM, "Choose the algorithm", "algorithm", _those_giving, "-a", default=_DEFAULT,
        brief="Choose the algorithm (default: exact).",
    ),
    share: TableShare = None,
    known: int | None = integer(ATTACKER, "Count rows unique by N items (default: m + 1).", 1),
    time_budget: float = number(GENERAL, "Stop after this time.", 1, "SECONDS", default=50),
    seed: QuerySeed = 0,
    out: Page = None,
    force: Force = False,
    own: Annotated[dict[str, Any], Bundle(_own, usual=list)],
    secret: Annotated[dict[str, Any], Bundle(_secret)],
    columns: Columns,
    facts: Facts,
    reading: Reading,
) -> Answer:  # fmt: skip
    """Show the cost of each k and m, without writing a release.

    The cost is loss, unchanged items, query errors and unique rows. With --rho and --sensitive it includes
    protection of sensitive items.

    $ setveil explore baskets.csv -H products.csv
    $ setveil explore baskets.csv --k 5,10,11 --m 1,2 --out explored.html
    $ setveil explore baskets.csv -H products.csv --k 5,10 --m 2 --classes
    $ setveil explore baskets.csv --sensitive secret.csv --rho 0.5,0.2,0.1
    $ setveil explore patients.csv --qi age,sex --set codes
    $ setveil explore log.csv --id-column id --set dx --when on:month
    """
    deadline = Deadline(time_budget)  # before what takes long to import
    from setveil.cli.files import require_page
    from setveil.commands.explore import ExploreSettings, explorer_of
    from setveil.work.studies.explore.record import record

    algorithm, words, of_algorithm = _chosen(algorithm, own)
    as_facts = facts_reader(facts, columns, reading, hierarchy_files, {"m": grid.m}, MEMORY)
    reader = as_facts or reader_of(columns, reading, hierarchy_files)
    explorer = explorer_of(reader.kind)
    explorer.require_covered(grid.rho)
    promises = _promises(grid, secret, algorithm, reader.m)
    require_page(out, "explored.html", force)
    weight = explorer.weight(share, grid.rho, of_algorithm)
    parameters = registry.load(algorithm).Parameters if explorer.takes_algorithm else None
    if parameters is not None:
        require_parameters(algorithm, parameters, own, reading.text_encoding)
    source = source_of(input, reading)
    require_file(reader.hierarchy_file)
    progress("reading")
    data, tree = reader.read(source, seed=seed)
    if tree is None:
        say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
    inputs = Inputs(data, reading.text_encoding, tree, seed)
    chosen = None if parameters is None else parameters(**decode_parameters(parameters, own, inputs))
    settings = ExploreSettings(chosen, weight, _secrets(secret, inputs), **reader.generalizing)
    found = explorer.explore(
        data, promises, settings, hierarchy=tree,
        known=known, time_budget=deadline.left, seed=seed, progress=progress,
    )  # fmt: skip
    content = record(
        found, inputs=[source] if isinstance(source, str) else list(source), reading=reader.arguments(),
        hierarchy=reader.hierarchy_file, own=explorer.arguments(words, weight),
        sensitive=secret["sensitive"] or "", seed=seed,
    )  # fmt: skip
    return _answer(content, out, progress)


def _chosen(algorithm: str, own: Mapping[str, Any]) -> tuple[str, list[str], str]:
    """Return the algorithm, its options in words, and the first that says which algorithm; "": none does."""
    if own.get(CLASSES) is not None and algorithm == _DEFAULT:
        algorithm = CLASSES
    bare = {CLASSES: True} if own.get(CLASSES) == BARE else {}
    words = as_words({**own, **bare})
    return (
        algorithm,
        words,
        words[0] if words else "" if algorithm == _DEFAULT else f"--algorithm {algorithm}",
    )


def _secrets(secret: Mapping[str, Any], inputs: Inputs) -> Any:
    """Read the sensitive items, and what is known of them; None: there are none."""
    from setveil.runs.options.inputs import load_labels
    from setveil.work.studies.explore.rows import SensitiveItems

    if secret["sensitive"] is None:
        return None
    items = load_labels(secret["sensitive"], inputs.data, inputs.encoding)
    return SensitiveItems(items, secret["knows"] or PUBLIC)


def _answer(content: Any, out: Path | None, progress: Any) -> Answer:
    """Answer in words, and on a page if there is to be one."""
    from setveil.base.staging import write_page
    from setveil.report.explore.page import explored_html
    from setveil.report.explore.text import explored_text

    text = explored_text(content)
    if out is None:
        return Answer(content, text)
    progress("writing the page")
    write_page(out, explored_html(content))
    return Answer(content, f"{text}\n\nPage       {out}")


def _promises(grid: Grid, secret: dict[str, Any], algorithm: str, own: Any) -> Any:
    """List the guarantees whose price is asked for; `own`: the m that was said with columns of codes."""
    from setveil.base.values.per_column import PerColumn
    from setveil.commands.explore import promised
    from setveil.work.studies.explore.rows import WITH_RHO, require_algorithm

    ks, ms = _values("k", grid.k, parse_integer), _values("m", grid.m, parse_number)
    rhos = None if grid.rho is None else _parts(grid.rho)
    if own is not None:
        ms = [PerColumn(own) if isinstance(own, dict) else own]
    promises = promised(ks, ms, rhos, secret["sensitive"], secret["knows"])
    if rhos is not None:
        require_algorithm(algorithm, WITH_RHO)
    return promises


def _values(name: str, text: str | None, parse: Callable[[str, str], Any]) -> list[Any] | None:
    """Read numbers with commas between them."""
    return None if text is None else [parse(name, part) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
