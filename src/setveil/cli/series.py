"""The commands ``series init``, ``plan``, ``add``, ``verify``, ``risk``, ``list``, ``forget``, ``drop``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click

from setveil.base.errors import RequestError
from setveil.base.wording import count
from setveil.cli.bundles import Reading, bundled, source_of
from setveil.cli.command import require_options
from setveil.cli.help import ALGORITHM, ANSWER, OUTPUT, PROMISE, READING
from setveil.cli.options import (
    Force,
    HierarchyFile,
    Input,
    NoDetails,
    OutputFormat,
    Page,
    Seed,
    argument,
    choice,
    flag,
    integer,
    number,
    option,
)
from setveil.cli.session import Answer, say
from setveil.runs.options.reading import Reading as ReadingOptions

if TYPE_CHECKING:
    from setveil.commands.series import Series
    from setveil.report.record import Record

HELP = "Publish several releases about the same people."

_KINDS, _IDS = ("periods", "register"), ("keyed", "plain")
_KNOWN, _PRESENCE = ("histories", "facts"), ("implied", "known", "ignored")
_HOLD_BACK, _SEARCHES = ("needed", "found", "returners", "none"), ("exact", "greedy")

Folder = Annotated[Path, argument("SERIES", "Use this folder of the series' ledger. Do not share it.")]
Key = Annotated[
    Path | None,
    option(READING, "Read the key here (default: where `series init` wrote it).", "FILE", "--key"),
]
Algorithm = Annotated[
    str, choice(ALGORITHM, "Choose how labels are found", "search", _SEARCHES, "--algorithm", "-a")
]
Refine = Annotated[
    bool,
    option(
        ALGORITHM, "Make labels finer again if the guarantee still holds.", None,
        "--refine/--no-refine", default=True, brief=None,
    ),
]  # fmt: skip
Bound = Annotated[bool, flag(ALGORITHM, "Also compute the distance from the optimum.", brief=None)]
TimeLimit = Annotated[
    float | None, number(ALGORITHM, "Stop after this time with the best so far.", 0, "SECONDS")
]
Together = Annotated[bool, flag(ALGORITHM, "Publish each file as a release, with labels chosen together.")]
Weights = Annotated[str | None, option(ALGORITHM, "Weight the releases of --together: 1,2.", "N,...")]
Known = Annotated[
    str | None,
    choice(PROMISE, "Assume a known item is known in all releases, or one", "kind of knowledge", _KNOWN),
]
Presence = Annotated[
    str | None,
    choice(PROMISE, "Assume how the releases of a person are known",
           "presence", _PRESENCE),
]  # fmt: skip


def init(
    progress: Any,
    series: Folder,
    k: int = integer(PROMISE, "Hide everyone among at least N people.", 2, "-k", default=...),
    m: int = integer(PROMISE, "Protect against anyone who knows N items.", 1, "-m", default=2),
    kind: str = choice(
        PROMISE,
        "Publish only new data in each release, or all so far",
        "kind",
        _KINDS,
        default="periods",
    ),
    known: Known = None,
    presence: Presence = None,
    ids: str = choice(
        READING, "Keep codes or IDs in the ledger", "kind of ids", _IDS, default="keyed", brief=None
    ),
    key: Path | None = option(READING, "Write the key to this file (default: SERIES.key).", "FILE"),
    seed: Seed = 0,
) -> str:
    """Begin a series, with a ledger of published people and a key.

    Never share these files: the ledger contains the data.

    $ setveil series init visits --k 5 --m 2
    """
    from setveil.commands.series import Series

    made = Series.create(
        series, k=k, m=m, kind=kind, known=known or _KNOWN[0], presence=presence or _PRESENCE[0], ids=ids,
        key=key, seed=seed,
    )  # fmt: skip
    where = key or f"{series}.key"
    beside = f" Its key is {where}: keep it, and keep it apart." if made.ledger.settings.key else ""
    return f"{series} begins a series: k = {k}, m = {m}, {kind}.{beside}"


@dataclass(frozen=True)
class LabelSearch:
    """Options on the search for the labels of the next release."""

    weights: Weights = None
    algorithm: Algorithm = "exact"
    time_limit: TimeLimit = None
    refine: Refine = True
    bound: Bound = False


@dataclass(frozen=True)
class Writing:
    """Options on what is written of the next release."""

    no_counts: bool = flag(OUTPUT, "Publish no counts of items (counts.csv).", brief=None)
    list_members: bool = flag(
        OUTPUT, "List all items of each label in about.json, also rare ones.", brief=None
    )
    no_details: NoDetails = False
    output_format: OutputFormat = None
    external: bool = flag(OUTPUT, "Also write a report that may be shared.")

    def arguments(self) -> dict[str, Any]:
        """Return what `Series.add` is given."""
        how = {"format": self.output_format, "external": self.external, "list_members": self.list_members}
        return {"counts": not self.no_counts, "details": not self.no_details, "writing": how}


def plan(
    progress: Any,
    series: Folder,
    input: Input = None,  # noqa: A002
    *,
    hierarchy_file: HierarchyFile = None,
    together: Together = False,
    names: str | None = option(OUTPUT, "Name the releases of --together: q1,q2.", "NAMES", brief=None),
    search: Annotated[LabelSearch, bundled(LabelSearch)],
    out: Page = None,
    force: Force = False,
    key: Key = None,
    reading: Reading,
) -> Answer:
    """Show the cost of each way to publish the next release.

    $ setveil series plan visits q2.csv --id-column patient --item-column code -H tree.csv
    $ setveil series plan visits --together q1.csv q2.csv --id-column patient --item-column code -H tree.csv
    """
    from setveil.base.staging import write_page
    from setveil.cli.files import require_page
    from setveil.report.ways import plan_html

    require_page(out, "plan.html", force)
    one = _opened(series, key)
    how = {"hierarchy": hierarchy_file, "time_limit": search.time_limit, "progress": progress}
    how |= reading.explicit_options()
    progress("reading")
    if together:
        called = None if names is None else names.split(",")
        found = one.plan_together([*(input or ())], names=called, weights=_weights(search.weights), **how)
    else:
        how |= {"algorithm": search.algorithm, "refine": search.refine, "bound": search.bound}
        found = one.plan(source_of(input, reading, "DATA"), **how)
    _say_warnings(one)
    if out is not None:
        progress("writing the page")
        write_page(out, plan_html(found))
    return Answer(found, repr(found) if out is None else f"{found!r}\n\nPage       {out}")


def add(
    progress: Any,
    context: click.Context,
    series: Folder,
    input: Input = None,  # noqa: A002
    *,
    name: str | None = option(OUTPUT, "Name the release, such as 2026-q2.", "NAME"),
    out: str | None = option(OUTPUT, "Write published/ and internal/ to this folder.", "FOLDER", "-o"),
    published: Path | None = option(
        READING, "Record this run of these data, which is published already.", "RUN"
    ),
    hierarchy_file: HierarchyFile = None,
    hold_back: str | None = choice(
        ALGORITHM, "Withhold these rows (default: only as required)", "answer", _HOLD_BACK, brief=None
    ),
    labels_of: str | None = option(
        ALGORITHM, "Begin with the labels of an earlier release.", "NAME", brief=None
    ),
    together: Together = False,
    names: str | None = option(OUTPUT, "Name the releases of --together: q1,q2.", "NAMES", brief=None),
    search: Annotated[LabelSearch, bundled(LabelSearch)],
    ways: bool = flag(OUTPUT, "Report the cost of other ways (as slow as `series plan`).", brief=None),
    merge: bool = flag(READING, "Add these data to a register's ledger.", brief=None),
    writing: Annotated[Writing, bundled(Writing)],
    key: Key = None,
    reading: Reading,
) -> Answer:
    """Publish the next release, verified together with all earlier ones.

    The folder of the run and the ledger are both written, or neither is.

    $ setveil series add visits q1.csv --name q1 -o q1 -H tree.csv --id-column patient --item-column code
    $ setveil series add visits q2.csv --name q2 --published q2 --id-column patient --item-column code
    """
    from setveil.cli.config import options_in_use
    from setveil.cli.outcome import outcome
    from setveil.report.words import only_one_of

    one = _opened(series, key)
    command, options = options_in_use(context)
    how: dict[str, Any] = {
        "hierarchy": hierarchy_file, "time_limit": search.time_limit, "progress": progress,
        "record": {"command": command, "options": options}, **writing.arguments(),
    }  # fmt: skip
    require_options(context, *(("names", "out") if together else ("name",) if published else ("name", "out")))
    progress("reading")
    if together:
        called, places = str(names).split(","), str(out).split(",")
        how |= {"weights": _weights(search.weights), **reading.explicit_options()}
        return _added_together(one, [*(input or ())], called, places, how)
    data = source_of(input, reading, "DATA")
    if published is not None:
        how = {"progress": progress, "hierarchy": hierarchy_file}
    with _hinting(one, [*(input or ())], reading, str(out)):
        found = one.add(
            data, name=str(name), out=out, published=published, hold_back=hold_back, labels_of=labels_of,
            algorithm=search.algorithm, refine=search.refine, bound=search.bound, ways=ways, merge=merge,
            **how, **reading.explicit_options(),
        )  # fmt: skip
    _say_warnings(one)
    if published is not None:
        return Answer(dict(found), repr(found))
    words = outcome(cast("Record", found), str(out))
    return Answer(found, words, aside=only_one_of(found))


def _say_warnings(series: Series) -> None:
    for warning in series.warnings:
        say(f"Warning: {warning}")


@contextmanager
def _hinting(series: Series, files: Sequence[str], reading: ReadingOptions, out: str) -> Iterator[None]:
    """Say in errors of a first release which options find its hierarchy or its IDs."""
    from setveil.cli.files import by_itself, first_hierarchy
    from setveil.work.series.people import NoIdsError
    from setveil.work.series.trees import NoHierarchyError

    try:
        yield
    except NoHierarchyError as error:
        error.hint = first_hierarchy([*files], reading)
        raise
    except NoIdsError as error:
        error.hint = by_itself([*files], reading, series.ledger.settings, out)
        raise


def _added_together(
    series: Any, files: Sequence[str], names: Sequence[str], places: Sequence[str], how: Mapping[str, Any]
) -> Answer:
    """Publish each file as a release, with labels chosen together."""
    from setveil.cli.outcome import outcome

    reports = series.add_together(files, names=names, out=places, **how)
    _say_warnings(series)
    return Answer(reports, "\n\n".join(map(outcome, reports, places)))


def verify(
    progress: Any,
    series: Folder,
    k: int | None = integer(PROMISE, "Check another k than the series has.", 2, "-k"),
    m: int | None = integer(PROMISE, "Check another m than the series has.", 1, "-m"),
    known: Known = None,
    presence: Presence = None,
    counts_are_out: bool = flag(
        PROMISE, "Assume published counts, and an attacker who knows no totals.", brief=None
    ),
    show: int = integer(ANSWER, "Explain the exposure of at most N people.", 0, default=5),
) -> Answer:
    """Check the guarantee of all releases together.

    Reads the published files and the ledger. Exit code 1: the guarantee does not hold.

    $ setveil series verify visits
    $ setveil series verify visits --known facts --json
    """
    found = _opened(series, None).verify(
        k=k, m=m, known=known, presence=presence, show=show, counts_are_out=counts_are_out, progress=progress
    )
    return Answer(dict(found), repr(found), 0 if found else 1)  # json takes what is not true for empty


def risk(progress: Any, series: Folder) -> Answer:
    """Count people who are unique by up to three known items.

    Counts them in each release, and in all releases, linked.

    $ setveil series risk visits
    """
    found = _opened(series, None).risk(progress=progress)
    return Answer(found, repr(found))


def list(progress: Any, series: Folder) -> Answer:  # noqa: A001  (the command's name)
    """List the releases of a series.

    $ setveil series list visits
    """
    found = _opened(series, None).told()
    return Answer(found, repr(found))


def forget(
    progress: Any,
    series: Folder,
    person: str = argument("ID", "Remove this person ID, or - (standard input)."),
    key: Key = None,
) -> str:
    """Remove a person from the ledger.

    Published rows remain; the person is no longer checked.

    Use - to read the ID from standard input, so that the shell's history does not contain it.

    $ setveil series forget visits - < person.txt
    """
    from setveil.report.series import forgotten_words

    opened = _opened(series, key)
    return forgotten_words(opened.forget(_typed_id() if person == "-" else person))


def _typed_id() -> str:
    """Read a person's ID, a line of standard input."""
    if sys.stdin is not None and sys.stdin.isatty():
        say("The person's ID, then Enter:")
        lines = [sys.stdin.readline()]
    else:
        content = b"" if sys.stdin is None else sys.stdin.buffer.read()
        lines = content.decode("utf-8-sig", "replace").splitlines()
    found = [line.strip() for line in lines if line.strip()]
    if len(found) != 1:
        raise RequestError(
            f"Standard input has {count(len(found), 'line')}, expected one: the ID of a person.",
            hint="Write it into a file: setveil series forget SERIES - < FILE.",
        )
    return found[0]


def drop(
    progress: Any,
    series: Folder,
    name: str = argument("NAME", "Remove this release, which must be the last."),
    not_shared: bool = flag(OUTPUT, "Confirm that nobody has received it."),
) -> str:
    """Remove the last release, if nobody has received it.

    $ setveil series drop visits q2 --not-shared
    """
    from setveil.report.series import dropped_words

    one = _opened(series, None)
    run = next((entry.run for entry in one.releases if entry.name == name), "")
    one.drop(name, not_shared=not_shared)
    return dropped_words(name, run)


def _opened(series: Path, key: Path | None) -> Series:
    from setveil.commands.series import Series

    return Series.open(series, key=key)


def _weights(text: str | None) -> Any:
    """Read weights between commas."""
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise RequestError("--weights takes whole numbers between commas.", hint="Such as --weights 1,2.")
    return [int(part) for part in parts]


COMMANDS = (init, plan, add, verify, risk, list, forget, drop)
