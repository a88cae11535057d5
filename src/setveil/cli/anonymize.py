"""The command ``anonymize``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.base.compiling import expect
from setveil.base.errors import RequestError
from setveil.base.threads import threads
from setveil.base.tracing import require_internal, traced
from setveil.base.values.declared import options_of
from setveil.base.values.kinds import Items
from setveil.cli.bundles import Own, Promise, Reading, source_of
from setveil.cli.config import is_typed, options_in_use
from setveil.cli.engines import MEMORY, PARTS, SPARK, MakingEngine
from setveil.cli.facts import Facts, facts_reader
from setveil.cli.help import ALGORITHM, GENERAL, OUTPUT, PROMISE
from setveil.cli.options import (
    HierarchyFiles,
    Input,
    algorithm_or_file,
    choice,
    flag,
    integer,
    option,
)
from setveil.cli.publishing import Published, Publishing, Telling
from setveil.cli.readers import ItemsReader, reader_like
from setveil.cli.session import Answer, say
from setveil.cli.tables import Columns
from setveil.judges.guarantees import Guarantee, Model, model_named, names
from setveil.methods import algorithms as registry
from setveil.runs.options.classes import engine_refused, require_classes
from setveil.runs.options.decode import Inputs, decode, decode_parameters, require_file, require_parameters
from setveil.runs.options.guarantees import WATCHED, make_guarantee, require_options, require_values
from setveil.runs.options.models import require_watched, settled_model

if TYPE_CHECKING:
    from setveil.report.record import Record
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

GLOBAL = "forest"  # the algorithm of --global
CLASSES = "classes"  # that of --classes


def _chosen(
    model: str | None, algorithm: str | None, everywhere: bool, promise: dict[str, Any], own: dict[str, Any]
) -> tuple[str, str]:
    """Settle the algorithm and the model: what was named, or what suits what was given."""
    if own.get(CLASSES) is not None or algorithm == CLASSES:
        if everywhere:
            raise RequestError("--global is for tables, and --classes for rows of items.")
        model = model or settled_model(promise)
        require_classes(algorithm, model)
        return CLASSES, model
    if everywhere:
        if algorithm not in (None, GLOBAL):
            raise RequestError(f"--global chooses the algorithm {GLOBAL}, and --algorithm {algorithm}.")
        algorithm = GLOBAL
    if algorithm is None:
        model = model or settled_model(promise)
        return model_named(model).algorithm, model
    if model is not None:
        registry.require_gives(algorithm, model, "--global" if everywhere else "")
    return algorithm, model or settled_model(promise, registry.load(algorithm).info.guarantees)


def anonymize(
    progress: Any,
    context: click.Context,
    input: Input = None,  # noqa: A002
    *,
    model: str | None = choice(
        PROMISE,
        "Choose the guarantee (default: as the options describe it)",
        "privacy model",
        names,
        brief="Choose another guarantee: see setveil algorithms.",
    ),
    promise: Promise,
    algorithm: str | None = algorithm_or_file(
        "Choose the algorithm (default: exact, or the first choice of --model)",
        brief="Choose the algorithm (default: exact).",
    ),
    global_recoding: bool = flag(
        ALGORITHM,
        "Give every label of a table the same meaning in all rows.",
        "--global",
        brief=None,
        of=(GLOBAL,),
    ),
    hierarchy_files: HierarchyFiles = None,
    bound: bool = flag(
        ALGORITHM, "Also compute how far the release is from the optimum, within --time-limit.", brief=None
    ),
    own: Own,
    columns: Columns,
    facts: Facts,
    reading: Reading,
    engine: MakingEngine = MEMORY,
    sample: int | None = integer(
        GENERAL,
        "Read only N rows, drawn by --seed: for a first try on large data.",
        1,
        brief="Try with N rows, drawn at random.",
    ),
    publishing: Publishing,
    plot_band: Path | None = option(
        OUTPUT,
        "Draw rows and items before and after reordering (.png, .svg).",
        "FILE",
        brief=None,
        of=("cahd",),
    ),
    trace: Path | None = option(
        OUTPUT, "Write the steps of the search as JSON lines. Never share them.", "FILE", brief=None
    ),
    telling: Telling,
) -> Answer:
    """Make a release that satisfies a guarantee, verify it and write it.

    $ setveil anonymize baskets.csv -H products.csv --k 5 --m 2 --out release
    $ setveil anonymize ward.csv --model kkm -k5 -m2 --qi age,sex --set dx -o ward
    $ setveil anonymize log.csv --id-column id --set dx:m=2 --when on:day -k5 -o f
    $ setveil anonymize baskets.csv -k 5 -m 2 -H products.csv -a aa --out greedy
    $ setveil anonymize baskets.csv -k 5 -m 2 -H tree.csv --classes -o classes
    $ setveil anonymize --config release/internal/report.json --out again
    """
    from setveil.cli.files import require_free
    from setveil.cli.outcome import outcome
    from setveil.report.words import only_one_of
    from setveil.runs.request import require_traced

    command, options = options_in_use(context)
    algorithm = algorithm and registry.named(algorithm, trusted=is_typed(context, "algorithm"))
    facts_too = facts_reader(facts, columns, reading, hierarchy_files, promise, engine, model, alone=False)
    promise = promise if facts_too is None else facts_too.promise
    if engine == SPARK and dict(own).get(CLASSES) is not None:
        raise RequestError(engine_refused(engine), hint="Omit --engine.")
    if trace is not None:
        require_internal(trace, publishing.out)
        require_free(trace, publishing.force)
    if engine == SPARK:
        from setveil.cli import spark as on_spark

        record: dict[str, Any] = {"command": command, "options": options, "about": telling.fields()}
        spark_report: Any = on_spark.anonymize(
            input, model, promise, algorithm, options, own, hierarchy_files or [], reading,
            publishing.seed, publishing.out, force=publishing.force, counts=publishing.counts,
            details=not publishing.no_details, external=publishing.external,
            list_members=publishing.list_members, progress=progress,
            record={key: value for key, value in record.items() if value},
        )  # fmt: skip
        return Answer(spark_report, on_spark.summary(spark_report, publishing.out))
    name, promised = _chosen(model, algorithm, global_recoding, promise, dict(own))
    if name == CLASSES and engine != MEMORY:
        raise RequestError(engine_refused(engine), hint="Omit --engine.")
    kind = model_named(promised).release
    reader = facts_too or reader_like(kind, columns, reading, hierarchy_files)
    request = _ReleaseRequest(
        promised, promise, name, dict(own), bound, reader, sample, publishing, plot_band, trace
    )
    guarantee = request.require_possible()
    if trace is not None:
        require_traced(name, registry.load(name), facts=reader.has_facts)
    expect(threads, f"anonymize {name}")
    source = source_of(input, reading)
    require_file(None if reader.plain_hierarchy is None else Path(reader.plain_hierarchy))
    named = telling.names(reading.text_encoding)
    publishing.require_possible()
    if plot_band is not None:
        from setveil.cli.bandplot import require_drawable

        require_drawable(plot_band, name, force=publishing.force)
    record = {
        "command": command, "options": options, "sample": None, "about": telling.fields(), "names": None
    }  # fmt: skip
    if engine == PARTS:
        report = _in_parts(request, source, record, named, progress)
    else:
        report = _in_memory(request, guarantee, source, record, named, progress)
    taken = ""
    if "sample" in report:
        part = report["sample"]
        taken = f"A SAMPLE: {part['rows']:,} of {part['of']:,} rows, drawn by seed {part['seed']}.\n\n"
    words = f"{taken}{outcome(report, publishing.out)}"
    return Answer(report, words, aside=only_one_of(report))


@dataclass(frozen=True)
class _ReleaseRequest:
    """What a release is to be: the guarantee, the algorithm with its own options, and how rows are read."""

    promised: str
    promise: dict[str, Any]
    algorithm: str
    own: dict[str, Any]
    bound: bool
    reader: ItemsReader
    sample: int | None
    publishing: Published
    plot_band: Path | None
    trace: Path | None

    @property
    def model(self) -> Model:
        return model_named(self.promised)

    @property
    def watching(self) -> bool:
        """Whether sensitive items are only looked at."""
        return self.promise.get(WATCHED) is not None and WATCHED not in self.model.options

    @property
    def texts(self) -> dict[str, Any]:
        """The options of the algorithm; where it has none, a time limit is that of --bound."""
        limited = "time_limit" in options_of(registry.load(self.algorithm).Parameters)
        return self.own if limited or not self.bound else {**self.own, "time_limit": None}

    def require_possible(self) -> Guarantee | None:
        """Refuse what cannot be, as far as that takes no data; the guarantee, None if it depends on them."""
        from setveil.releases.published import kind_named
        from setveil.runs.folder import require_shareable

        encoding = self.reader.reading.text_encoding
        self.reader.require_promised(self.promised, self.publishing.output_format)
        require_options(self.promised, self.promise)
        guarantee = require_values(self.promised, self.promise, encoding)
        registry.require_absence(self.algorithm, self.promise.get("absent") or 0)
        if self.watching:
            require_watched(self.model, details=not self.publishing.no_details)
        kind = kind_named(self.model.release).info
        require_shareable(kind, external=self.publishing.external)
        only = kind.written
        if only and self.publishing.output_format is not None:
            raise RequestError(f"--output-format: {only}.")
        require_parameters(self.algorithm, registry.load(self.algorithm).Parameters, self.texts, encoding)
        if self.sample is not None and self.texts.get("certificate"):
            raise RequestError(
                "--certificate proves a release of a whole file, and --sample takes some of its rows.",
                hint="Omit one of them, or write the sample to a file of its own first.",
            )
        return guarantee


def _of_large_data(request: _ReleaseRequest) -> str:
    from setveil.cli.in_parts import way_out

    return f"{way_out(request.promised, request.algorithm)} --sample N takes some of them."


def _in_parts(
    request: _ReleaseRequest, source: Any, record: dict[str, Any], named: dict[str, str], progress: Any
) -> Record:
    """Make the release a piece of the rows at a time."""
    from setveil.cli import in_parts

    publishing = request.publishing
    unused = {
        "--bound": request.bound, "--sample": request.sample, "--output-format": publishing.output_format,
        "--watch": request.watching, "--names": named, "--checker": publishing.checker,
        "--trace": request.trace, "--absent": request.promise.get("absent"),
        "--suppress-below": publishing.suppress_below,
    }  # fmt: skip
    return in_parts.anonymize(
        source, request.reader.reading, (request.promised, request.promise),
        (request.algorithm, request.texts),
        request.reader.plain_hierarchy, publishing.out, unused, seed=publishing.seed, force=publishing.force,
        counts=publishing.counts, details=not publishing.no_details, external=publishing.external,
        list_members=publishing.list_members, progress=progress,
            record={key: value for key, value in record.items() if value},
    )  # fmt: skip


def _in_memory(
    request: _ReleaseRequest,
    guarantee: Guarantee | None,
    source: Any,
    record: dict[str, Any],
    named: dict[str, str],
    progress: Any,
) -> Record:
    """Read rows, or a table, make the release and write it."""
    from setveil.report.words import clip
    from setveil.runs.run import anonymize as run_anonymize

    publishing, seed = request.publishing, request.publishing.seed
    module = registry.load(request.algorithm)
    progress("reading")
    how, publishes = request.reader.to_publish(
        source,
        lambda: _of_large_data(request),
    )
    k = str(request.promise.get("k") or "")
    everything, tree = request.reader.read(source, fewest=int(k) if k.isdecimal() else 0, seed=seed, how=how)
    if tree is None and "hierarchy" in module.info.needs_for(request.promised):
        say("No --hierarchy: items that often occur together are grouped (co-occurrence, fan-out 5).")
    _tell_alone(request, everything, tree)
    data = everything
    if request.sample is not None:
        from setveil.runs.options.inputs import draw_rows

        data = draw_rows(everything, request.sample, seed)
    drawn = {} if data is everything else {"rows": data.n_rows, "of": everything.n_rows, "seed": seed}
    inputs = Inputs(data, how.text_encoding, tree, seed, drawn_from=everything if drawn else None)
    if guarantee is None:
        guarantee = make_guarantee(request.promised, request.promise, inputs)
    watched: tuple[str, ...] = ()
    if request.watching:
        text = request.promise[WATCHED]
        watched = decode(WATCHED, Items(), text, inputs, {})
        say(f"{clip(text, 60)}: only looked at; --rho bounds what is learned of them.")
    with traced(request.trace) as trace:
        release = run_anonymize(
            data, guarantee, hierarchy=tree, algorithm=request.algorithm, seed=seed,
            details=not publishing.no_details, counts=publishing.counts, watched=watched,
            list_members=publishing.list_members, suppress_below=publishing.suppress_below,
            bound=request.own.get("time_limit") or True if request.bound else False, trace=trace,
            progress=progress, **request.reader.generalizing,
            **decode_parameters(module.Parameters, request.texts, inputs),
        )  # fmt: skip
    for warning in release.details.get("warnings", ()):
        say(f"Warning: {warning}")
    if request.plot_band is not None:
        from setveil.cli.bandplot import draw

        progress("drawing")
        draw(request.plot_band, data, guarantee, progress)
    names = {code: name for code, name in named.items() if code in data.vocabulary.ids}
    progress("writing")
    return publishing.write(release, data, publishes, {**record, "sample": drawn, "names": names})


def _tell_alone(request: _ReleaseRequest, data: Transactions, tree: Hierarchy | None) -> None:
    """Say how many items are in no group, and what groups codes."""
    if tree is None:
        return
    from setveil.rows.hierarchy.alone import alone_note, likely_lengths

    k = request.promise.get("k")
    data = data if data.facts is None else data.facts.codes_alone()
    supports = data.supports().tolist()
    note = alone_note(tree, data.vocabulary.labels, supports, k)
    if not note:
        return
    lengths = ",".join(map(str, likely_lengths(data.vocabulary.labels)))
    name = getattr(data, "set_name", "")
    build = f"`setveil hierarchy build --by prefix --lengths {lengths}`"
    groups = shlex.join(["--hierarchy", f"{name}=prefix:{lengths}"]) if name else build
    say(f"Note: {note}" + (f" {groups} groups codes by how they begin." if lengths else ""))
