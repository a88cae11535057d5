"""The command ``verify``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.wording import count
from setveil.cli import in_parts
from setveil.cli import spark as on_spark
from setveil.cli.bundles import PublishedPromise, Reading, bundled
from setveil.cli.engines import MEMORY, SPARK, CheckingEngine
from setveil.cli.help import PROMISE, READING
from setveil.cli.options import ReadHierarchy, Show, argument, choice, flag, integer, option
from setveil.cli.session import Answer, say
from setveil.cli.tables import PublishedColumns, read_published, require_no_columns
from setveil.judges.guarantees import ABSENCES, Model, model_named, models
from setveil.judges.guarantees.km import CODES, FACTS, KmAnonymity
from setveil.runs.options.columns import Columns as Words
from setveil.runs.options.columns import names_in
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee, require_options, require_values
from setveil.runs.options.models import settled_model
from setveil.runs.options.reading import Reading as ReadingOptions

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.data.transactions import Transactions


_SQL = f"{PROMISE}: in a database"


@dataclass(frozen=True)
class DatabaseQuery:
    """Options on a query that checks the guarantee in a database."""

    sql: bool = flag(_SQL, "Print a query for DuckDB and Postgres that lists violations.")
    table_name: str | None = option(
        _SQL, "Name the table of the query (default: published).", "NAME", "--table", brief=None
    )
    layout: str | None = choice(
        _SQL,
        "Describe the table: a line per item, or per row (default: long)",
        "layout",
        ("long", "list"),
        brief=None,
    )


@dataclass(frozen=True)
class AttackerKnows:
    """Options on what an attacker knows of labels, facts and absent items."""

    read_as: str = choice(
        PROMISE,
        "Count labels as items, or as what they cover",
        "reading",
        ("label", "cover"),
        "--reading",
        default="label",
        brief=None,
    )
    absent: int | None = integer(
        PROMISE, "Assume up to N absent items are known, too: 1 or 2.", 1, brief=None
    )
    known: str | None = choice(
        PROMISE,
        "Assume known facts, or codes with everything about them",
        "known",
        (FACTS, CODES),
        brief=None,
    )
    absence: str | None = choice(
        PROMISE, "Choose what an absent item excludes", "absence", ABSENCES, brief=None
    )


@dataclass(frozen=True)
class OtherFiles:
    """Options on files that are read next to the published one."""

    original: str | None = option(
        READING, "Read the file that groups or facts were made from.", "FILE", brief=None
    )
    recoding: Path | None = option(
        READING, "Read what labels represent: csv of item,published.", "FILE", brief=None
    )
    hierarchy_file: ReadHierarchy = None


def verify(
    progress: Any,
    file: str | None = argument("FILE", "Check this file of rows, run's folder, or -.", default=None),
    model: str | None = choice(
        PROMISE,
        "Choose the guarantee (default: as the options or about.json describe it)",
        "privacy model",
        models,
        brief="Choose the guarantee (default: in about.json).",
    ),
    *,
    files: Annotated[OtherFiles, bundled(OtherFiles)],
    attacker: Annotated[AttackerKnows, bundled(AttackerKnows)],
    database: Annotated[DatabaseQuery, bundled(DatabaseQuery)],
    with_: list[Path] | None = option(
        READING, "Check together with this run of the series (repeatable).", "DIR", "--with"
    ),
    show: Show = 10,
    promise: PublishedPromise,
    columns: PublishedColumns,
    reading: Reading,
    engine: CheckingEngine = MEMORY,
) -> Answer:
    """Check a guarantee using only the published files.

    Exit code 1: the guarantee does not hold.

    $ setveil verify release
    $ setveil verify theirs.csv --k 5 --m 2
    $ setveil verify theirs.csv --model k-anonymity --k 5
    $ setveil verify table.csv --model kkm -k 5 -m 2 --qi age,sex --set codes
    $ setveil verify --sql --k 5 --m 2 --table shop.baskets
    $ setveil verify q1 --with q2
    """
    beside: dict[str, Any] = {
        "--original": files.original, "--recoding": files.recoding, "--hierarchy": files.hierarchy_file,
        "--reading": attacker.read_as if attacker.read_as != "label" else None,
        "--engine": engine if engine != MEMORY else None, "--absent": attacker.absent,
        "--absence": attacker.absence, "--known": attacker.known,
    }  # fmt: skip
    if database.sql:
        useless = {"FILE": file, **beside, "--with": with_ or None}
        query = _as_query(model, promise, columns, reading, database, useless)
        return Answer({"sql": query}, query)
    if file is None or database.table_name is not None or database.layout is not None:
        raise _without_sql(database)
    if with_:
        useless = beside | dict.fromkeys(
            [*columns.explicit_options, *(f"--{name}" for name in reading.explicit_options())], True
        )
        return _together([Path(file), *with_], model, promise, useless, show, progress)
    if model is None and not any(value not in (None, False) for value in promise.values()):
        model, promise, more = _promised_beside(file, promise)
        attacker = replace(attacker, absent=attacker.absent or more.get("absent"))
        if more.get("known") == CODES and attacker.known is None:
            say(
                "The guarantee also covers whole codes, which the published files do not show. --known codes "
                "checks it, next to the run's folder and its file."
            )
    if engine != MEMORY:
        useless = {name: value for name, value in beside.items() if name not in ("--engine", "--absence")}
        if any(useless.values()) or attacker.absent or columns.explicit_options:
            raise _from_labels_alone(engine)
        check = on_spark.verify if engine == SPARK else in_parts.verify
        verdict = check(file, model, promise, reading, max(show, 1), progress)
        return _verdict_answer(verdict.as_dict(), verdict.phrase, show)
    chosen = model_named(model or _settled(file, promise))
    return _answer(_CheckRequest(file, chosen, promise, files, attacker, columns, reading), show, progress)


def _without_sql(database: DatabaseQuery) -> RequestError:
    """Say what the request lacks, or has unnecessarily, if it is not for a query."""
    if database.table_name is not None or database.layout is not None:
        name = "--layout" if database.table_name is None else "--table"
        return RequestError(f"{name} goes with --sql only.", hint="Omit it.")
    return RequestError(
        "FILE is missing: a file of rows, a run's folder, or - for standard input.",
        hint="--sql needs none: it prints a query for a database.",
    )


def _from_labels_alone(engine: str) -> RequestError:
    """Say which options an engine other than memory does not have."""
    return RequestError(
        f"With --engine {engine} there is no --original, --recoding, --reading, --hierarchy, --qi, "
        "--absent or --known.",
        hint="k^m-anonymity is checked from the labels of the rows alone.",
    )


def _answer(request: _CheckRequest, show: int, progress: Any) -> Answer:
    """Check the guarantee in memory; for a table, also say what its columns show."""
    phrase, verdict, table = _checked(request, {"show": max(show, 1), "progress": progress})
    found = verdict.as_dict()
    if table is None:
        return _verdict_answer(found, phrase, show)
    from setveil.judges.guarantees.verify.diversity import diversities

    found["quasi_identifiers"] = [column.name for column in table.columns]
    kept = diversities(table)
    found["kept"] = [one.as_dict() for one in kept]
    return _verdict_answer(found, phrase, show, "\n".join([_columns_looked_at(table), *map(str, kept)]))


def _as_query(
    model: str | None,
    promise: dict[str, Any],
    columns: Words,
    reading: ReadingOptions,
    database: DatabaseQuery,
    useless: dict[str, Any],
) -> str:
    """Write the check as a query."""
    from setveil.commands.verify_sql import verify_sql

    values = {name: value for name, value in promise.items() if value is not None}
    known = {"id_column", "item_column"}
    useless |= {f"--{name}": value for name, value in values.items() if name not in {"k", "m", "privacy"}}
    useless |= {f"--{name}": True for name in reading.explicit_options() if name not in known}
    useless |= dict.fromkeys(set(columns.explicit_options) - {"--qi"}, True)
    name = next((name for name, value in useless.items() if value is not None), None)
    if name is not None:
        raise RequestError(
            f"{name.replace('_', '-')} does not apply to --sql, which reads nothing.", hint="Omit it."
        )
    promised = KmAnonymity.model if columns.qi is None else "kkm"
    if model not in (None, promised):
        raise RequestError(
            f"--sql writes queries for km-anonymity, and with --qi for kkm, not for {model}.",
            hint="`setveil verify` checks it from the files.",
        )
    if "k" not in values or "m" not in values:
        raise RequestError("--sql needs --k and --m.", hint="Such as --k 5 --m 2.")
    m = values["m"]
    return verify_sql(
        values["k"], int(m) if str(m).isdigit() else m, table=database.table_name or "published",
        id_column=reading.id_column, item_column=reading.item_column or "item",
        layout=database.layout or "long", qi=[] if columns.qi is None else names_in(columns.qi),
    )  # fmt: skip


def _promised_beside(
    file: str, promise: dict[str, Any]
) -> tuple[str | None, dict[str, Any], Mapping[str, Any]]:
    """Take the guarantee that the about.json next to a file speaks of, but for sensitive items, and say so.

    Last is what it says, of which absent items and whole codes are options of their own.
    """
    from setveil.releases.published.about import promise_beside
    from setveil.runs.options.decode import require_file

    require_file(Path(file))
    said = promise_beside(file)
    if said and said["model"] not in models():
        raise RequestError(
            f"{file} guarantees {shorten(said['model'])}, which setveil does not know.",
            hint="Name the program of this guarantee: --plugin FILE. --k, --m and --model ask for others.",
        )
    if not said:
        return None, promise, {}
    say(f"{file}: checking the guarantee in its about.json; --k, --m and --model set another one.")
    found = model_named(said["model"])
    values: dict[str, Any] = {}
    for key in said.keys() & found.options.keys() & promise.keys():
        value, option = said[key], found.options[key]
        if not option.secret:
            values[key] = value if isinstance(value, dict) else str(value)
        elif found.release != "rows":  # of rows they are looked up where they are needed
            values[key] = tuple(value)
        values |= dict([option.only_with] if option.only_with else [])
    return said["model"], promise | values, said


def _settled(file: str, promise: dict[str, Any]) -> str:
    """Name the model that is meant; what a file is may leave no choice."""
    from setveil.releases.published import blocks, chunks

    for kind in (chunks, blocks):
        if file != "-" and kind.holds(Path(file)):
            release = kind.__name__.rpartition(".")[2]
            return next(name for name, one in models().items() if one.release == release)
    return settled_model(promise)


def _together(
    runs: list[Path],
    model: str | None,
    promise: dict[str, Any],
    useless: dict[str, Any],
    show: int,
    progress: Any,
) -> Answer:
    """Check runs of one series together."""
    from setveil.commands.series_verdict import verify_together

    promised = {f"--{name}": value for name, value in promise.items() if name not in {"k", "m", "privacy"}}
    options = {"--model": None if model == KmAnonymity.model else model, **promised, **useless}
    useless_names = [name.replace("_", "-") for name, value in options.items() if value is not None]
    if useless_names:
        raise RequestError(
            "Several releases are verified for the guarantee of their series: k and m.",
            hint=f"Omit {', '.join(useless_names)}.",
        )
    try:
        k, m = (None if promise[name] is None else int(promise[name]) for name in ("k", "m"))
    except ValueError:
        raise RequestError(
            "k and m of a series are whole numbers. Only single releases have an m for each column of codes."
            if "=" in str(promise["m"])
            else "k and m of a series are whole numbers."
        ) from None
    found = verify_together(runs, k=k, m=m, show=show, progress=progress)
    return Answer(dict(found), repr(found), 0 if found else 1)


@dataclass(frozen=True)
class _CheckRequest:
    """A check of a published file: the guarantee, files that a verifier may need, and what else is known."""

    file: str
    model: Model
    promise: dict[str, Any]
    files: OtherFiles
    attacker: AttackerKnows
    columns: Words
    reading: ReadingOptions

    def require_possible(self) -> dict[str, tuple[str, ...]]:
        """Refuse what cannot be; return the sensitive items that the about.json next to the file names."""
        from setveil.commands.refusals import require_useful
        from setveil.runs.check import require_reading
        from setveil.runs.options.decode import require_file

        promise, model = self.promise, self.model
        if promise["privacy"] == "pgen":
            raise RequestError(
                "pgen reads the original.", hint="Write its itemsets first: setveil policy pgen."
            )
        original = None if self.attacker.known == CODES else self.files.original
        require_useful(model, original=original, recoding=self.files.recoding)
        require_reading(self.attacker.read_as, model.name, hierarchy=self.files.hierarchy_file is not None)
        require_file(self.files.hierarchy_file)
        require_options(model.name, promise, published=True)
        secrets = _secrets_beside(self.file, model, promise) if model.release == "chunks" else {}
        require_values(model.name, promise | secrets, self.reading.text_encoding)
        if model.release != "tables":
            require_no_columns(self.columns, model.name)
        return secrets or _secrets_beside(self.file, model, promise)

    def guarantee(self, published: Any, secrets: dict[str, tuple[str, ...]], more: dict[str, Any]) -> Any:
        """Make the guarantee for what is published; add to `more` what only some verifiers read."""
        from setveil.cli.files import load_image, read_rows
        from setveil.releases.published.about import named_beside
        from setveil.releases.published.group_files import as_groups, require_in_groups

        promise, model, encoding = self.promise, self.model, self.reading.text_encoding
        rows, image = published.named_rows, None
        if "original" in model.knows:
            more["original"] = (
                None if self.files.original is None else read_rows(self.files.original, self.reading)
            )
        if "image" in model.knows and (self.files.recoding is not None or promise["privacy"] != "all"):
            image = load_image(self.file, rows, self.files.recoding, encoding)
            more["image"] = {x: x for x in rows.vocabulary.labels} if image is None else image
        # Where the original may be known, or the model leaves sensitive items out, the published rows need
        # not hold the items that are named.
        lacking = "original" in model.knows or "rho" in model.options or bool(secrets)
        inputs = Inputs(rows, encoding, image=image, named_here=not lacking)
        try:
            guarantee = make_guarantee(model.name, promise | secrets, inputs)
        except DataError as error:
            if "image" in model.knows and image is None:
                error.hint = "If items were published under other labels, name the --recoding file."
            raise
        if "original" in model.knows:
            require_in_groups(guarantee.secrets, "--sensitive", as_groups(published), more["original"])
        for itemset in getattr(guarantee, "itemsets", None) or ():
            for item in itemset:
                more["image"].setdefault(item, None)  # the labels tell of no item that was suppressed
        if "rho" in model.options and guarantee.secrets and not secrets:
            _tell_missing(guarantee.secrets, promise["sensitive"], rows, named_beside(self.file, "sensitive"))
        return guarantee


def _checked(request: _CheckRequest, more: dict[str, Any]) -> tuple[str, Any, PublishedTable | None]:
    """Check a guarantee: in words, the verdict, and the table that was looked at, if any."""
    from setveil.commands.verify import absence_request
    from setveil.releases.published.shared import counts_beside
    from setveil.rows.data.sums import is_in_memory
    from setveil.rows.hierarchy.fit import fitted_to_labels
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.check import check
    from setveil.work.past.facts import facts_before

    secrets = request.require_possible()
    more["progress"]("reading")
    published = _published(request.file, request.model, request.columns, request.reading)
    guarantee = request.guarantee(published, secrets, more)
    covered = request.files.hierarchy_file is not None
    if request.files.hierarchy_file is not None:
        rows, tree = (
            published.named_rows,
            read_hierarchy(request.files.hierarchy_file, encoding=request.reading.text_encoding),
        )
        more["cover"] = fitted_to_labels(tree, rows.vocabulary.labels) if is_in_memory(rows) else tree
    more |= absence_request(request.attacker.absent, request.attacker.absence, guarantee, cover=covered)
    if request.attacker.known == CODES:
        guarantee = _of_codes(guarantee)
        more["before"] = facts_before(request.file, request.files.original)
    verdict = check(published, guarantee, *counts_beside(request.file), **more)
    phrase = verdict.phrase if covered or request.attacker.absent else guarantee.phrase
    return phrase, verdict, published if published.is_table else None


def _of_codes(guarantee: Any) -> Any:
    """Take the guarantee for someone who knows whole codes."""
    if guarantee.model != KmAnonymity.model:
        raise RequestError(
            f"--known codes is about k^m-anonymity of facts, not about {guarantee.phrase}.",
            hint="Omit it.",
        )
    return replace(guarantee, known=CODES)


def _published(file: str, model: Model, columns: Words, reading: ReadingOptions) -> Any:
    """Read what is published."""
    from setveil.cli.files import read_release, require_room
    from setveil.releases.published import kind_for, kind_named
    from setveil.releases.published.about import published_file

    kind = kind_named(model.release) if columns.explicit_options else kind_for(file, model.release)
    if model.name == KmAnonymity.model and file != "-":
        require_room(str(published_file(Path(file))), lambda: "--engine parts reads them a piece at a time.")
    if columns.explicit_options or (model.release == "tables" and not kind.holds(Path(file))):
        return read_published(file, columns, reading)
    return kind.read(file, read_release, **reading.explicit_options())


def _verdict_answer(found: dict[str, Any], phrase: str, show: int, more: str = "") -> Answer:
    """Answer with the verdict and its exit code."""
    from setveil.report.verdict import verdict_text

    text = verdict_text(found, phrase, show)
    short = {**found, "first": found["first"][:show]}
    return Answer(short, f"{text}\n{more}" if more else text, code=0 if found["holds"] else 1)


def _secrets_beside(file: str, model: Model, promise: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Take sensitive items that were not given from the about.json of a release of rows."""
    from setveil.releases.published.about import named_beside

    found = {}
    wanted = model.release == "rows" or promise["rho"] is not None or promise["unsafe"]
    for key, known in model.options.items() if wanted else ():
        if not known.secret or known.drawn_with is not None or promise[key] is not None:
            continue
        labels = named_beside(file, key)
        if labels is not None:
            found[key] = labels
        elif known.needed:
            raise RequestError(
                f"{model.name} needs --{key}.",
                hint="Give a file of items, or a list with commas. The about.json of a release with "
                f"{model.name} names them.",
            )
    return found


def _tell_missing(
    labels: tuple[str, ...], text: str, rows: Transactions, promised: tuple[str, ...] | None
) -> None:
    """Say which sensitive items no row shows and no about.json names: nothing is checked of them."""
    from setveil.runs.options.inputs import require_known

    missing = [x for x in labels if x not in rows.vocabulary.ids and x not in (promised or ())]
    if len(missing) == len(labels) and not Path(text).is_file():
        require_known(labels, text, rows, hint="Is it a file that does not exist?" if "," not in text else "")
    if missing:
        say(
            f"{shorten(text)}: {count(len(missing), 'item')} in no published row, so it is not checked: "
            f"{listed(missing)}."
        )


def _columns_looked_at(table: Any) -> str:
    """Say which columns were taken as quasi-identifiers, and which the guarantee says nothing of."""
    known = ", ".join(column.name for column in table.columns)
    others = [*(column.name for column in table.kept), *table.ignored]
    rest = f"; the guarantee does not cover {', '.join(others)}" if others else ""
    return f"quasi-identifiers: {known}; items: {table.set_name}{rest}"
