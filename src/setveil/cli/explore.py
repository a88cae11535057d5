"""The command ``explore``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from setveil import algorithms as registry
from setveil.cli.engines import MEMORY
from setveil.cli.facts import Facts, facts_reader
from setveil.cli.help import ALGORITHM, ATTACKER, GENERAL, PROMISE
from setveil.cli.options import (
    Bundle,
    Force,
    HierarchyFiles,
    Input,
    Page,
    QuerySeed,
    Reading,
    choice,
    integer,
    model_options,
    number,
    option,
    own_options,
    source_of,
)
from setveil.cli.readers import reader_of
from setveil.cli.session import Answer, say
from setveil.cli.tables import Columns, TableShare
from setveil.deadline import Deadline
from setveil.guarantees.km_rho import PUBLIC
from setveil.options.classes import NAME as CLASSES
from setveil.options.decode import Given, decode_parameters, require_file, require_parameters
from setveil.values.declared import as_words, options_of
from setveil.values.kinds import BARE
from setveil.values.numbers import parse_integer, parse_number

_DEFAULT = "exact"


def _those_giving() -> list[str]:
    """List those whose recoding is one for all rows, or one for each class."""
    return [*registry.giving("km-anonymity", "global"), *registry.giving("km-anonymity", CLASSES)]


def _own() -> list[inspect.Parameter]:
    """List the options of the algorithms that are explored."""
    names = {name for one in _those_giving() for name in options_of(registry.load(one).Parameters)}
    return [option for option in own_options() if option.name in names]


def _secret() -> list[inspect.Parameter]:
    return model_options("km-rho", "sensitive", "knows")


def explore(
    progress: Any,
    input: Input = None,  # noqa: A002
    k: str | None = option(
        PROMISE, "Try these k (default: 2,3,5,10,11,20,50).",
        "N,N,...", "-k",
    ),
    m: str | None = option(
        PROMISE, "Try these m, up to inf (default: 1,2,3).",
        "N,N,...", "-m",
    ),
    rho: str | None = option(
        PROMISE, "Try these rho, such as 0.5,1/10.",
        "NUMBER,NUMBER,...",
    ),
    hierarchy_files: HierarchyFiles = None,
    algorithm: str = choice(
        ALGORITHM, "Choose the algorithm", "algorithm", _those_giving, "-a", default=_DEFAULT,
        brief="Choose the algorithm (default: exact).",
    ),
    share: TableShare = None,
    known: int | None = integer(
        ATTACKER, "Count rows unique by N items (default: m + 1).", 1
    ),
    time_budget: float = number(
        GENERAL, "Stop after this time.", 1, "SECONDS", default=50
    ),
    seed: QuerySeed = 0,
    out: Page = None,
    force: Force = False,
    *,
    own: Annotated[dict[str, Any], Bundle(_own)],
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
    if own.get(CLASSES) is not None and algorithm == _DEFAULT:
        algorithm = CLASSES
    from setveil.cli.files import require_page
    from setveil.commands.explore import ExploreSettings, explorer_of
    from setveil.options.inputs import load_labels
    from setveil.report.explore.page import explored_html
    from setveil.report.explore.text import explored_text
    from setveil.staging import write_page
    from setveil.studies.explore.record import record
    from setveil.studies.explore.rows import SensitiveItems

    reader = facts_reader(facts, columns, reading, hierarchy_files, {"m": m}, MEMORY) or reader_of(
        columns, reading, hierarchy_files
    )
    explorer, named = explorer_of(reader.kind), secret["sensitive"]
    explorer.require_covered(rho)
    promises = _promises(k, m, rho, secret, algorithm, reader.m)
    require_page(out, "explored.html", force)
    bare = {CLASSES: True} if own.get(CLASSES) == BARE else {}
    words, usual = as_words({**own, **bare}), algorithm == _DEFAULT
    of_algorithm = words[0] if words else "" if usual else f"--algorithm {algorithm}"
    weight = explorer.weight(share, rho, of_algorithm)
    encoding = reading.text_encoding
    if explorer.takes_algorithm:
        module = registry.load(algorithm)
        require_parameters(algorithm, module.Parameters, own, encoding)
    source = source_of(input, reading)
    require_file(reader.hierarchy_file)
    progress("reading")
    data, tree = reader.read(source, None, seed)
    if tree is None:
        say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
    parameters = secrets = None
    if explorer.takes_algorithm:
        given = Given(data, encoding, tree, seed)
        parameters = module.Parameters(**decode_parameters(module.Parameters, own, given))
    if named is not None:
        secrets = SensitiveItems(load_labels(named, data, encoding), secret["knows"] or PUBLIC)
    found = explorer.explore(
        data, promises, ExploreSettings(parameters, weight, secrets, **reader.generalizing), hierarchy=tree,
        known=known, time_budget=deadline.left, seed=seed, progress=progress,
    )  # fmt: skip
    content = record(
        found, inputs=[source] if isinstance(source, str) else list(source), reading=reader.arguments(),
        hierarchy=reader.hierarchy_file, own=explorer.arguments(words, weight), sensitive=named or "",
        seed=seed,
    )  # fmt: skip
    if out is not None:
        progress("writing the page")
        write_page(out, explored_html(content))
    text = explored_text(content)
    return Answer(content, text if out is None else f"{text}\n\nPage       {out}")


def _promises(
    k: str | None, m: str | None, rho: str | None, secret: dict[str, Any], algorithm: str, own: Any
) -> Any:
    """List the promises whose price is asked for; `own`: the m that was said with columns of codes."""
    from setveil.commands.explore import promised
    from setveil.studies.explore.rows import WITH_RHO, require_algorithm
    from setveil.values.per_column import PerColumn

    ks, ms = _values("k", k, parse_integer), _values("m", m, parse_number)
    if own is not None:
        ms = [PerColumn(own) if isinstance(own, dict) else own]
    promises = promised(ks, ms, None if rho is None else _parts(rho), secret["sensitive"], secret["knows"])
    if rho is not None:
        require_algorithm(algorithm, WITH_RHO)
    return promises


def _values(name: str, text: str | None, parse: Callable[[str, str], Any]) -> list[Any] | None:
    """Read numbers with commas between them."""
    return None if text is None else [parse(name, part) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
