"""The command ``explore``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil import algorithms as registry
from setveil.cli.options import (
    ALGORITHM,
    ATTACKER,
    GENERAL,
    PROMISE,
    Bundle,
    Force,
    HierarchyFiles,
    Input,
    Json,
    Page,
    QuerySeed,
    Reading,
    integer,
    model_options,
    number,
    one_of,
    own_options,
    source_of,
)
from setveil.cli.session import answer, answer_json, run, say
from setveil.cli.tables import Columns, TableShare, read_table, share_of, split_hierarchies
from setveil.errors import MissingItemsError, RequestError
from setveil.guarantees.km_rho import PUBLIC
from setveil.options.decode import Given, decode_parameters, require_file, require_parameters
from setveil.values.declared import options_of

EXAMPLES = """Examples:

$ setveil explore baskets.csv -H products.csv

$ setveil explore baskets.csv --k 5,10,11 --m 1,2 --out explored.html

$ setveil explore baskets.csv --sensitive secret.csv --rho 0.5,0.2,0.1

$ setveil explore patients.csv --qi age,sex --set codes"""

_DEFAULT = "exact"


def _own(asked: Sequence[str]) -> list[inspect.Parameter]:
    """List the options of the algorithms that give k^m-anonymity by one recoding for all rows."""
    giving = registry.giving("km-anonymity", "global")
    names = {name for one in giving for name in options_of(registry.load(one).Parameters)}
    return [option for option in own_options(asked) if option.name in names]


def _secret(_asked: Sequence[str]) -> list[inspect.Parameter]:
    return model_options("km-rho", "sensitive", "knows")


def explore(
    input: Input = None,  # noqa: A002
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="N,N,...",
            rich_help_panel=PROMISE,
            help="Everyone hides among at least k rows: the values to try (default 2,3,5,10,11,20,50).",
        ),
    ] = None,
    m: Annotated[
        str | None,
        typer.Option(
            "--m",
            "-m",
            metavar="N,N,...",
            rich_help_panel=PROMISE,
            help="Items that an attacker may know: the values to try, 1, 2, ... or inf (default 1,2,3).",
        ),
    ] = None,
    rho: Annotated[
        str | None,
        typer.Option(
            "--rho",
            metavar="NUMBER,NUMBER,...",
            rich_help_panel=PROMISE,
            help="Greatest chance to be right about a sensitive item: the values to try, such as 0.5,1/10.",
        ),
    ] = None,
    hierarchy_files: HierarchyFiles = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            rich_help_panel=ALGORITHM,
            **one_of("algorithm", registry.giving("km-anonymity", "global"), "How the promises are kept."),
        ),
    ] = _DEFAULT,
    share: TableShare = None,
    known: Annotated[
        int | None,
        typer.Option(
            "--known",
            rich_help_panel=ATTACKER,
            help="Items by whom unique rows are counted (default: m + 1, one more than is promised).",
            **integer(1),
        ),
    ] = None,
    time_budget: Annotated[
        float,
        typer.Option(
            "--time-budget",
            rich_help_panel=GENERAL,
            help="For everything; each search of exact gets an even part of it.",
            **number(1, "SECONDS"),
        ),
    ] = 50,
    seed: QuerySeed = 0,
    out: Page = None,
    force: Force = False,
    *,
    own: Annotated[dict[str, Any], Bundle(_own)],
    secret: Annotated[dict[str, Any], Bundle(_secret)],
    columns: Columns,
    reading: Reading,
    json: Json = False,
) -> None:
    """Show what each k and m costs: loss, names kept, query errors, unique rows. No release is written.

    With --rho and --sensitive also what it costs that nothing sensitive is learned.
    """

    def look(progress: Any) -> Any:
        from setveil.cli.files import extension_hint, read_rows, require_free
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.inputs import load_labels
        from setveil.studies.explore import WITH_RHO, Secrets, require_algorithm
        from setveil.studies.explore import explore as explore_grid
        from setveil.studies.explored import record
        from setveil.studies.promises import KS, KS_RHO, MS, MS_RHO, require_grid, require_triples

        named = _require_together(rho, secret)
        ks = None if k is None else _values("k", k, infinite=False)
        ms = None if m is None else _values("m", m, infinite=True)
        promises: Any
        if rho is None:
            promises = require_grid(KS if ks is None else ks, MS if ms is None else ms)
        else:
            promises = require_triples(
                KS_RHO if ks is None else ks, MS_RHO if ms is None else ms, _parts(rho)
            )
            require_algorithm(algorithm, WITH_RHO)
        if out is not None:
            if out.suffix.lower() not in {".html", ".htm"}:
                raise RequestError(f"--out must name a page such as explored.html, got {out}.")
            require_free(out, force)
        if columns.given:
            if named is not None:
                raise RequestError(
                    "--rho and --sensitive do not apply to tables: nothing that is tried hides what the rows "
                    "of a class have in common.",
                    hint="`setveil anonymize --model kkm --sensitive ITEMS --h 50%` does.",
                )
            content = _of_table(
                input, columns, reading, hierarchy_files or (), promises, algorithm, _words(own), share,
                known=known, time_budget=time_budget, seed=seed, progress=progress,
            )  # fmt: skip
            return _paged(content, out, progress)
        share_of(share, of_tables=False)
        module = registry.load(algorithm)
        encoding = reading.text_encoding
        require_parameters(algorithm, module.Parameters, own, encoding)
        source = source_of(input, reading)
        plain, _ = split_hierarchies(hierarchy_files or (), of_tables=False)
        hierarchy_file = None if plain is None else Path(plain)
        require_file(hierarchy_file)
        progress("reading")
        tree = None if hierarchy_file is None else read_hierarchy(hierarchy_file, encoding=encoding)
        data = read_rows(source, reading)
        if tree is None:
            say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
        given = Given(data, encoding, tree, seed)
        parameters = module.Parameters(**decode_parameters(module.Parameters, own, given))
        secrets = None
        if named is not None:
            secrets = Secrets(load_labels(named, data, encoding), secret["knows"] or PUBLIC)
        try:
            found = explore_grid(
                data, promises, secrets=secrets, hierarchy=tree, algorithm=parameters, known=known,
                time_budget=time_budget, seed=seed, progress=progress,
            )  # fmt: skip
        except MissingItemsError as error:
            error.hint = extension_hint(source, hierarchy_file, reading)
            raise
        paths = [source] if isinstance(source, str) else list(source)
        content = record(
            found, inputs=paths, reading=reading.arguments(),
            hierarchy=hierarchy_file, own=_words(own), sensitive=named or "", seed=seed,
        )  # fmt: skip
        return _paged(content, out, progress)

    content = run(look)
    if json:
        answer_json(content)
        return
    from setveil.report.explored import explored_text

    answer(explored_text(content))
    if out is not None:
        answer(f"\nPage       {out}")


def _of_table(
    input: Any,  # noqa: A002
    columns: Any,
    reading: Any,
    hierarchies: Sequence[str],
    pairs: Any,
    algorithm: str,
    own: list[str],
    share: str | None,
    **how: Any,
) -> dict[str, Any]:
    """Explore a table."""
    from setveil.studies.candidates import SHARE
    from setveil.studies.explore_tables import SEARCH, explore_table
    from setveil.studies.explored import record

    if algorithm != _DEFAULT or own:
        wrong = own[0] if own else f"--algorithm {algorithm}"
        raise RequestError(
            f"{wrong} does not apply to tables: they are explored with rt, by --search {SEARCH}.",
            hint="--share says how much its columns count.",
        )
    part = share_of(share, of_tables=True)
    source = source_of(input, reading)
    how["progress"]("reading")
    table, tree = read_table(source, columns, reading, hierarchies)
    if tree is None:
        say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
    found = explore_table(table, pairs, hierarchy=tree, share=part, **how)
    words = ["--search", SEARCH, *([] if part == SHARE else ["--share", str(part)])]
    return record(
        found, inputs=[str(source)], reading=[*reading.arguments(), *columns.arguments(hierarchies)],
        own=words, seed=how["seed"],
    )  # fmt: skip


def _paged(content: dict[str, Any], out: Path | None, progress: Any) -> dict[str, Any]:
    """Write the page, where one is asked for."""
    if out is not None:
        from setveil.cli.files import write_page
        from setveil.report.explore_page import explored_html

        progress("writing the page")
        write_page(out, explored_html(content))
    return content


def _values(name: str, text: str, *, infinite: bool) -> list[int | float]:
    """Read numbers with commas between them."""
    from setveil.values.numbers import parse_integer, parse_number

    parse = parse_number if infinite else parse_integer
    return [parse(name, part) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _require_together(rho: str | None, secret: dict[str, Any]) -> str | None:
    """Take the sensitive items as they were given; refuse them without rho, and rho without them."""
    if rho is None:
        for name in ("sensitive", "knows"):
            if secret[name] is not None:
                raise RequestError(f"--{name} goes with --rho.", hint="Such as --rho 0.5,0.2,0.1.")
        return None
    if secret["sensitive"] is None:
        raise RequestError(
            "--rho needs --sensitive.", hint="It says how likely which items may become: --sensitive FILE."
        )
    return str(secret["sensitive"])


def _words(own: dict[str, Any]) -> list[str]:
    """Write the algorithm's own options as they were given."""
    words = []
    for name, value in own.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            words += [f"--{option}", str(value)]
    return words
