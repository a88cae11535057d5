"""The command ``explore``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from setveil import algorithms as registry
from setveil.cli.engines import MEMORY
from setveil.cli.facts import Facts, facts_asked, read_facts
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
from setveil.cli.session import Answer, say
from setveil.cli.tables import Columns, TableShare, items_tree, read_either
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
    from setveil.commands.explore import explored, require_plain, suited
    from setveil.options.inputs import load_labels
    from setveil.report.explore.page import explored_html
    from setveil.report.explore.text import explored_text
    from setveil.staging import write_page
    from setveil.studies.explore.record import record
    from setveil.studies.explore.rows import SensitiveItems
    from setveil.studies.explore.tables import SEARCH
    from setveil.utility.relational import SHARE

    of_facts = facts_asked(facts, columns, reading, {"m": m}, MEMORY)
    named, of_table = secret["sensitive"], bool(columns.given) and of_facts is None
    if of_facts is not None:
        require_plain(rho)
    promises = _promises(k, m, rho, secret, algorithm, None if of_facts is None else of_facts.asked.m)
    require_page(out, "explored.html", force)
    bare = {CLASSES: True} if own.get(CLASSES) == BARE else {}
    words, usual = as_words({**own, **bare}), algorithm == _DEFAULT
    of_algorithm = words[0] if words else "" if usual else f"--algorithm {algorithm}"
    weight = suited(of_table=of_table, rho=rho, share=share, named=of_algorithm)
    encoding = reading.text_encoding
    if not of_table:
        module = registry.load(algorithm)
        require_parameters(algorithm, module.Parameters, own, encoding)
    source = source_of(input, reading)
    if of_facts is None:
        hierarchy_file = items_tree(hierarchy_files, of_table=of_table)
        require_file(hierarchy_file)
        progress("reading")
        data, tree = read_either(source, columns, reading, hierarchy_files, of_table=of_table)
    else:
        hierarchy_file, tree = None, of_facts.tree(hierarchy_files or (), encoding)
        progress("reading")
        data = read_facts(source, of_facts, {"k": None}, seed)
    if tree is None:
        say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
    parameters = secrets = None
    how = {} if of_facts is None else {"generalizing": of_facts.generalizing}
    if not of_table:
        given = Given(data, encoding, tree, seed)
        parameters = module.Parameters(**decode_parameters(module.Parameters, own, given))
    if named is not None:
        secrets = SensitiveItems(load_labels(named, data, encoding), secret["knows"] or PUBLIC)
    found = explored(
        data, promises, secrets=secrets, hierarchy=tree, algorithm=parameters, share=weight,
        known=known, time_budget=deadline.left, seed=seed, progress=progress, **how,
    )  # fmt: skip
    words_of_reading = reading.arguments()
    if of_table:
        words = ["--search", SEARCH, *([] if weight == SHARE else ["--share", str(weight)])]
    if of_table or of_facts is not None:
        words_of_reading += columns.arguments(hierarchy_files or ()) + facts.arguments()
    content = record(
        found, inputs=[source] if isinstance(source, str) else list(source), reading=words_of_reading,
        hierarchy=hierarchy_file, own=words, sensitive=named or "", seed=seed,
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
