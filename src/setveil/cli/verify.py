"""The command ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli import in_parts
from setveil.cli import spark as on_spark
from setveil.cli.engines import MEMORY, SPARK, CheckingEngine
from setveil.cli.options import (
    PROMISE,
    READING,
    PublishedPromise,
    ReadHierarchy,
    Reading,
    Show,
    argument,
    choice,
    option,
)
from setveil.cli.session import Answer, say
from setveil.cli.tables import PublishedColumns, read_published, require_tables
from setveil.errors import DataError, RequestError, listed, shorten
from setveil.guarantees import Model, model_named, models
from setveil.guarantees.km import KmAnonymity
from setveil.options.columns import Columns as Words
from setveil.options.decode import Given
from setveil.options.guarantees import make_guarantee, require_options, require_values
from setveil.options.models import bounds_inference, settled_model
from setveil.options.reading import Reading as ReadingOptions
from setveil.wording import count

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.published.table_files import PublishedTable


def verify(
    progress: Any,
    file: str = argument("FILE", "A file of rows, a run's folder, or - ."),
    model: str | None = choice(
        PROMISE,
        "The privacy model (default: km-anonymity; with --rho km-rho, or rho-uncertainty).",
        "privacy model",
        models,
    ),
    original: str | None = option(
        READING, "Groups: the file they were made from; no row may be missing.", "FILE"
    ),
    recoding: Path | None = option(
        READING, "Constraints: csv of item,published; not needed for the folder of a run.", "FILE"
    ),
    read_as: str = choice(
        PROMISE,
        "Of k^m-anonymity: labels as items, or as what they cover.",
        "reading",
        ("label", "cover"),
        "--reading",
        default="label",
    ),
    hierarchy_file: ReadHierarchy = None,
    with_: list[Path] | None = option(
        READING, "Another run of the same series: check both together (repeatable).", "DIR", "--with"
    ),
    show: Show = 10,
    *,
    promise: PublishedPromise,
    columns: PublishedColumns,
    reading: Reading,
    engine: CheckingEngine = MEMORY,
) -> Answer:
    """Check a promise from what is published alone; exit code 0 if it holds, 1 if not.

    $ setveil verify release --k 5 --m 2
    $ setveil verify theirs.csv --model k-anonymity --k 5
    $ setveil verify theirs.csv --model kkm -k 5 -m 2 --qi age,sex --set codes
    $ setveil verify q1 --with q2
    """
    if with_:
        return _together([Path(file), *with_], model, promise, show, progress)
    showing = max(show, 1)
    if engine != MEMORY:
        if original or recoding or hierarchy_file or read_as != "label" or columns.given:
            raise RequestError(
                f"With --engine {engine} there is no --original, --recoding, --reading, --hierarchy or --qi.",
                hint="k^m-anonymity is checked from the labels of the rows alone.",
            )
        check = on_spark.verify if engine == SPARK else in_parts.verify
        verdict = check(file, model, promise, reading, showing, progress)
        return _told(verdict.as_dict(), verdict.phrase, show)
    phrase, verdict, table = _checked(
        file, model or settled_model(promise), promise, (original, recoding, hierarchy_file), read_as,
        columns, reading, {"show": showing, "progress": progress},
    )  # fmt: skip
    found = verdict.as_dict()
    if table is None:
        return _told(found, phrase, show)
    found["quasi_identifiers"] = [column.name for column in table.columns]
    return _told(found, phrase, show, _columns_looked_at(table))


def _together(
    runs: list[Path], model: str | None, promise: dict[str, Any], show: int, progress: Any
) -> Answer:
    """Check runs of one series together."""
    from setveil.commands.series import verify_together

    given = [
        name for name, value in promise.items() if value is not None and name not in {"k", "m", "privacy"}
    ]
    if model not in (None, "km-anonymity") or given:
        raise RequestError(
            "Several releases are verified for the promise of their series: k and m.",
            hint="Leave out --model" + "".join(f", --{name.replace('_', '-')}" for name in given) + ".",
        )
    try:
        k, m = (None if promise[name] is None else int(promise[name]) for name in ("k", "m"))
    except ValueError:
        raise RequestError("k and m of a series are whole numbers.") from None
    found = verify_together(runs, k=k, m=m, show=show, progress=progress)
    return Answer(found, repr(found), 0 if found else 1)


def _checked(
    file: str,
    name: str,
    promise: dict[str, Any],
    beside: tuple[str | None, Path | None, Path | None],
    read_as: str,
    columns: Words,
    reading: ReadingOptions,
    more: dict[str, Any],
) -> tuple[str, Any, PublishedTable | None]:
    """Check the promise of a model: in words, the verdict, and the table that was looked at, if any.

    Parameters
    ----------
    beside : (original, recoding, hierarchy)
        Files that a verifier may need; None: not given.
    more : dict
        What every verifier takes.
    """
    from setveil.cli.files import load_image, read_rows
    from setveil.commands.refusals import require_useful
    from setveil.hierarchy.io import read_hierarchy
    from setveil.options.decode import require_file
    from setveil.published.about import named_beside
    from setveil.published.group_files import as_groups, require_in_groups
    from setveil.published.shared import counts_beside
    from setveil.published.table_files import PublishedTable
    from setveil.runs.check import check, require_reading

    original, recoding, hierarchy_file = beside
    if promise["privacy"] == "pgen":
        raise RequestError("pgen reads the original.", hint="Write its itemsets first: setveil policy pgen.")
    model, encoding = model_named(name), reading.text_encoding
    require_useful(model, original=original, recoding=recoding)
    require_reading(read_as, name, hierarchy=hierarchy_file is not None)
    require_file(hierarchy_file)
    require_options(name, promise, published=True)
    require_values(name, promise, encoding)
    require_tables(columns, name, model.release == "tables")
    secrets = _secrets_beside(file, model, promise)
    more["progress"]("reading")
    published = _published(file, model, columns, reading)
    rows: Any = published
    if not isinstance(published, PublishedTable):
        groups = as_groups(published)
        rows = groups.qid
    image = None
    if "original" in model.knows:
        more["original"] = None if original is None else read_rows(original, reading)
    if "image" in model.knows and (recoding is not None or promise["privacy"] != "all"):
        image = load_image(file, rows, recoding, encoding)
        more["image"] = {x: x for x in rows.vocabulary.labels} if image is None else image
    # Where the original may be known, or the model leaves sensitive items out, the published rows need
    # not hold the items that are named.
    lacking = "original" in model.knows or bounds_inference(model) or bool(secrets)
    given = Given(rows, encoding, image=image, named_here=not lacking)
    try:
        guarantee = make_guarantee(name, promise | secrets, given)
    except DataError as error:
        if "image" in model.knows and image is None:
            error.hint = "If items were published under other labels, name the --recoding file."
        raise
    if "original" in model.knows:
        require_in_groups(guarantee.secrets, "--sensitive", groups, more["original"])
    for itemset in getattr(guarantee, "itemsets", None) or ():
        for item in itemset:
            more["image"].setdefault(item, None)  # the labels tell of no item that was suppressed
    if bounds_inference(model) and not secrets:
        _tell_missing(guarantee.secrets, promise["sensitive"], rows, named_beside(file, "sensitive"))
    if hierarchy_file is not None:
        more["cover"] = read_hierarchy(hierarchy_file, encoding=encoding)
    verdict = check(published, guarantee, *counts_beside(file), **more)
    phrase = verdict.phrase if hierarchy_file is not None else guarantee.phrase
    return phrase, verdict, published if isinstance(published, PublishedTable) else None


def _published(file: str, model: Model, columns: Words, reading: ReadingOptions) -> Any:
    """Read what is published."""
    from setveil.cli.files import read_release, require_room
    from setveil.published import kind_for
    from setveil.published.about import published_file

    kind = kind_for(file, model.release)
    if model.name == KmAnonymity.model and file != "-":
        require_room(str(published_file(Path(file))), lambda: "--engine parts reads them a piece at a time.")
    if columns.given or (model.release == "tables" and not kind.holds(Path(file))):
        return read_published(file, columns, reading)
    return kind.read(file, read_release, **reading.given())


def _told(found: dict[str, Any], phrase: str, show: int, more: str = "") -> Answer:
    """Answer with the verdict and its exit code."""
    from setveil.report.verdict import verdict_text

    text = verdict_text(found, phrase, show)
    short = {**found, "first": found["first"][:show]}
    return Answer(short, f"{text}\n{more}" if more else text, code=0 if found["holds"] else 1)


def _secrets_beside(file: str, model: Model, promise: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Take sensitive items that were not given from the about.json of a release of rows."""
    from setveil.published.about import named_beside

    found = {}
    for key, known in model.options.items() if model.release == "rows" else ():
        if not known.secret or known.drawn_with is not None or promise[key] is not None:
            continue
        labels = named_beside(file, key)
        if labels is not None:
            found[key] = labels
        elif known.needed:
            raise RequestError(
                f"{model.name} needs --{key}.",
                hint="A file of items, or a list with commas. The about.json beside a release that promises "
                f"{model.name} names them.",
            )
    return found


def _tell_missing(
    labels: tuple[str, ...], text: str, rows: Transactions, promised: tuple[str, ...] | None
) -> None:
    """Say which sensitive items no row shows and no about.json names: nothing is checked of them."""
    from setveil.options.inputs import require_known

    missing = [x for x in labels if x not in rows.vocabulary.ids and x not in (promised or ())]
    if len(missing) == len(labels) and not Path(text).is_file():
        require_known(labels, text, rows, hint="Is it a file that does not exist?" if "," not in text else "")
    if missing:
        say(
            f"{shorten(text)}: {count(len(missing), 'item')} in no row, of which nothing is learned under "
            f"{'its' if len(missing) == 1 else 'their'} own name: {listed(missing)}."
        )


def _columns_looked_at(table: Any) -> str:
    """Say which columns were taken as quasi-identifiers, and which the promise says nothing of."""
    known = ", ".join(column.name for column in table.columns)
    others = [*(column.name for column in table.kept), *table.ignored]
    rest = f"; the promise says nothing of {', '.join(others)}" if others else ""
    return f"quasi-identifiers: {known}; items: {table.set_name}{rest}"
