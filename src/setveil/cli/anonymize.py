"""The command ``anonymize``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date as calendar_date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from setveil import algorithms as registry
from setveil.cli import in_parts
from setveil.cli import spark as on_spark
from setveil.cli.config import given_options
from setveil.cli.engines import MEMORY, PARTS, SPARK, MakingEngine
from setveil.cli.options import (
    ABOUT,
    ALGORITHM,
    GENERAL,
    OUTPUT,
    PROMISE,
    External,
    ForceRun,
    HierarchyFiles,
    Input,
    Json,
    NoDetails,
    Out,
    OutputFormat,
    Own,
    Promise,
    Reading,
    Seed,
    choice,
    flag,
    integer,
    option,
    source_of,
)
from setveil.cli.session import answer, answer_json, run, say
from setveil.cli.tables import Columns, read_table, require_tables, split_hierarchies
from setveil.errors import MissingItemsError, RequestError
from setveil.guarantees import model_named, models
from setveil.options.decode import Given, decode, decode_parameters, require_file, require_parameters
from setveil.options.guarantees import WATCHED, make_guarantee, require_options, require_values
from setveil.options.models import require_watched, settled_model
from setveil.values.declared import options_of
from setveil.values.kinds import Items

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions

EXAMPLES = """Examples:

$ setveil anonymize baskets.csv --k 5 --m 2 --out release

$ setveil anonymize baskets.csv -k 5 -m 2 -H products.csv -a aa --out release

$ setveil anonymize ward.csv --model kkm -k5 -m2 --qi age,sex --set dx -o out

$ setveil anonymize --config release/internal/report.json --out again

With `-a NAME --help` only the options of that algorithm are shown."""


GLOBAL = "forest"  # the algorithm of --global


def _day(text: str) -> str:
    """Read a date, or today's."""
    if text == "today":
        return calendar_date.today().isoformat()
    try:
        return calendar_date.fromisoformat(text).isoformat()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date such as 2026-01-31, nor today.") from None


def _shown(about: dict[str, str | None]) -> dict[str, Any]:
    """Take what the report is to say of the release from the options."""
    told = {key: text for key, text in about.items() if text is not None}
    return {"about": told} if told else {}


def _chosen(
    model: str | None, algorithm: str | None, everywhere: bool, promise: dict[str, Any]
) -> tuple[str, str]:
    """Settle the algorithm and the model: what was named, or what suits what was given."""
    if everywhere:
        if algorithm not in (None, GLOBAL):
            raise RequestError(f"--global chooses the algorithm {GLOBAL}, and --algorithm {algorithm}.")
        algorithm = GLOBAL
    if algorithm is None:
        model = model or settled_model(promise)
        return model_named(model).algorithm, model
    gives = registry.load(algorithm).info.guarantees
    if model is not None and model not in gives:
        raise RequestError(
            f"{'--global' if everywhere else algorithm} does not give {model} but {', '.join(gives)}.",
            hint=f"Use {', '.join(registry.giving(model))}.",
        )
    return algorithm, model or settled_model(promise, gives)


def anonymize(
    context: typer.Context,
    input: Input = None,  # noqa: A002
    *,
    model: str | None = choice(
        PROMISE, "What is promised (default: what the options describe).", "privacy model", models
    ),
    promise: Promise,
    algorithm: str | None = choice(
        ALGORITHM,
        "How the promise is kept (default: exact, or the first choice of --model).",
        "algorithm",
        registry.names,
        "-a",
    ),
    global_recoding: bool = flag(
        ALGORITHM, "Tables: every label means the same in all rows (algorithm forest).", "--global"
    ),
    hierarchy_files: HierarchyFiles = None,
    bound: bool = flag(ALGORITHM, "Also find how far the release is from the optimum, within --time-limit."),
    own: Own,
    columns: Columns,
    reading: Reading,
    engine: MakingEngine = MEMORY,
    sample: int | None = integer(
        GENERAL, "Take only N rows, drawn by --seed: for a first try on large data.", 1
    ),
    out: Out,
    output_format: OutputFormat = None,
    seed: Seed = 0,
    external: External = False,
    no_counts: bool = flag(OUTPUT, "Do not share in how many rows each item was (counts.csv)."),
    counts_min: int | None = integer(
        OUTPUT, "Fewest rows that a shared count may speak of, at least k (default: k).", 2
    ),
    no_details: NoDetails = False,
    plot_band: Path | None = option(
        OUTPUT, "cahd: draw rows and items before and after reordering (.png, .svg).", "FILE"
    ),
    force: ForceRun = False,
    purpose: str | None = option(ABOUT, "What the release is for.", "TEXT"),
    recipient: str | None = option(ABOUT, "Who gets it.", "TEXT"),
    responsible: str | None = option(ABOUT, "Who answers for it.", "TEXT"),
    date: str | None = option(
        ABOUT,
        "Of the release, such as 2026-01-31; none is shown if none is given.",
        "DATE|today",
        parser=_day,
    ),
    names_file: Path | None = option(
        ABOUT, "Names to show beside codes: lines of code,name.", "FILE", "--names"
    ),
    json: Json = False,
) -> None:
    """Make a release that keeps the promise, verify it and write it."""
    command, options = given_options(context)
    if engine == SPARK:
        report: Any = run(
            lambda progress: on_spark.anonymize(
                input, model, promise, algorithm, options, own, hierarchy_files or [], reading, seed, out,
                force=force, progress=progress,
            )
        )  # fmt: skip
        answer_json(report) if json else answer(on_spark.told(report, out))
        return
    about = {"purpose": purpose, "recipient": recipient, "responsible": responsible, "date": date}

    def make_release(progress: Any) -> Any:
        from setveil.cli.files import extension_hint, read_rows, require_room, split_format, warn_of_formulas
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.inputs import draw_rows, load_names
        from setveil.published import kind_named
        from setveil.report.words import clip
        from setveil.runs.folder import require_writable
        from setveil.runs.run import anonymize as run_anonymize

        encoding = reading.text_encoding
        name, promised = _chosen(model, algorithm, global_recoding, promise)
        module = registry.load(name)
        info = module.info
        described = model_named(promised)
        of_tables = described.release == "tables"
        require_tables(columns, promised, of_tables)
        require_options(promised, promise)
        require_values(promised, promise, encoding)
        watching = promise[WATCHED] is not None and WATCHED not in described.options
        if watching:
            require_watched(described, details=not no_details)
        texts, limit = dict(own), own.get("time_limit")
        if bound and "time_limit" not in options_of(module.Parameters):
            texts["time_limit"] = None  # it is the bound's
        require_parameters(name, module.Parameters, texts, encoding)
        only = kind_named(described.release).info.written
        if only and output_format is not None:
            raise RequestError(f"--output-format: {only}.")
        source = source_of(input, reading)
        hierarchy_file, _ = split_hierarchies(hierarchy_files or (), of_tables)
        require_file(None if hierarchy_file is None else Path(hierarchy_file))
        named = {} if names_file is None else load_names(names_file, encoding)
        require_writable(out, force=force)
        if no_counts and counts_min is not None:
            raise RequestError(
                "--no-counts and --counts-min contradict each other.", hint="Give one of them."
            )
        counted = not no_counts if counts_min is None else counts_min
        if plot_band is not None:
            from setveil.cli.bandplot import draw, require_drawable

            require_drawable(plot_band, name, force=force)
        if engine == PARTS:
            unused = {
                "--bound": bound, "--sample": sample, "--output-format": output_format,
                "--watch": watching, "--names": names_file,
            }  # fmt: skip
            record = {"command": command, "options": options} | _shown(about)
            return in_parts.anonymize(
                source, reading, (promised, promise), (name, texts), hierarchy_file, out, unused,
                seed=seed, force=force, counts=counted, details=not no_details, external=external,
                record=record, progress=progress,
            )  # fmt: skip
        progress("reading")
        how, publishes = reading, None
        everything: Transactions
        if of_tables:
            everything, tree = read_table(source, columns, reading, hierarchy_files or ())
        else:
            tree = None
            if hierarchy_file is not None:
                tree = read_hierarchy(hierarchy_file, encoding=encoding)
            reads, publishes = split_format(source, reading.format)
            how = replace(reading, format=reads)
            require_room(source, lambda: f"{in_parts.way_out(promised, name)} --sample N takes some of them.")
            everything = read_rows(source, how)
        if tree is None and "hierarchy" in info.needs_for(promised):
            say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
        data = everything if sample is None else draw_rows(everything, sample, seed)
        drawn = {} if data is everything else {"rows": data.n_rows, "of": everything.n_rows, "seed": seed}
        given = Given(data, encoding, tree, seed, drawn_from=everything if drawn else None)
        guarantee = make_guarantee(promised, promise, given)
        watched: tuple[str, ...] = ()
        if watching:
            watched = decode(WATCHED, Items(), promise[WATCHED], given, {})
            say(f"{clip(promise[WATCHED], 60)}: only looked at; --rho bounds what is learned of them.")
        parameters = decode_parameters(module.Parameters, texts, given)
        try:
            release = run_anonymize(
                data, guarantee, hierarchy=tree, algorithm=name, seed=seed, details=not no_details,
                bound=limit or True if bound else False, counts=counted, watched=watched, progress=progress,
                **parameters,
            )  # fmt: skip
        except MissingItemsError as error:
            if of_tables:
                error.hint = "Add them to the hierarchy of the items: lines of item;parent;...;root."
            else:
                error.hint = extension_hint(source, Path(hierarchy_file or "HIERARCHY"), how)
            raise
        for warning in release.details.get("warnings", ()):
            say(f"Warning: {warning}")
        if plot_band is not None:
            progress("drawing")
            draw(plot_band, data, guarantee, progress)
        record = {
            "command": command,
            "options": options,
            "sample": drawn,
            **_shown(about),
            "names": {code: name for code, name in named.items() if code in data.vocabulary.ids},
        }
        progress("writing")
        report = release.write(
            out, force=force, format=output_format or publishes, external=external,
            record={key: value for key, value in record.items() if value},
        )  # fmt: skip
        warn_of_formulas(release, data, report)
        return report

    report = run(make_release)
    if json:
        answer_json(report)
        return
    from setveil.report.run.summary import summary

    taken = ""
    if "sample" in report:
        part = report["sample"]
        taken = f"A SAMPLE: {part['rows']:,} of {part['of']:,} rows, drawn by seed {part['seed']}.\n\n"
    answer(f"{taken}{summary(report)}\nFolder     {out}")
