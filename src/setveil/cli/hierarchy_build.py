"""The command ``hierarchy build``: from the data, by a system of codes, or again below groups that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from setveil.base.errors import RequestError, listed
from setveil.cli.bundles import Reading, bundled, source_of
from setveil.cli.help import OUTPUT, TREE
from setveil.cli.options import Force, Input, choice, completing, flag, integer, number, option
from setveil.cli.session import Answer, say
from setveil.rows.hierarchy.systems.known import NAMES
from setveil.rows.hierarchy.systems.reading import ZEROS_ARE
from setveil.runs.options.reading import Reading as ReadingOptions

if TYPE_CHECKING:
    from setveil.rows.hierarchy.tree import Hierarchy

WRITTEN = "Write this file: .csv (ARX), .txt or .json (Amnesia)."
TreeOut = Annotated[Path, option(OUTPUT, WRITTEN, "FILE", "-o")]

_WAYS = ("co-occurrence", "balanced", "prefix", "prefixes", "ranges", "dates")
_OF_ITEMS = _WAYS[:4]
ORDERS = ("support", "number", "appearance", "random")  # as in setveil.rows.hierarchy._levels
_OBJECTIVES = ("lm", "entropy")
_BY = "Group items by shared rows, order or the beginning of codes; values by ranges or dates."


@dataclass(frozen=True)
class Ways:
    """Options on how items or values are grouped."""

    by: str | None = choice(
        TREE,
        f"{_BY[:-1]} (default: {_WAYS[0]})",
        "way",
        _WAYS,
        brief="Choose how items or values are grouped.",
    )
    fanout: int = integer(TREE, "Give each node this many children.", None, default=5)
    common: int = integer(TREE, "Place items of fewer rows last.", 0, default=5, brief=None)
    order: str | None = choice(TREE, "Order items by this (default: support).", "order", ORDERS, brief=None)
    seed: int | None = integer(TREE, "Draw a random order with this seed (default: 0).", 0, brief=None)
    at: str = option(
        TREE, "Cut codes at these characters: 250.83 to 250.", "CHARACTERS", default=".", brief=None
    )
    lengths: str | None = option(TREE, "Cut codes at these lengths instead, such as 1,3.", "N,...")
    widths: str | None = option(TREE, "Make ranges this wide, such as 5 or 5,10,20.", "NUMBER,...")
    periods: str | None = option(TREE, "Group dates by these (default: month,quarter,year).", "WORD,...")


@dataclass(frozen=True)
class CodeSystem:
    """Options on a classification whose codes are grouped."""

    system: str | None = option(
        TREE,
        f"Group the codes of a classification: {', '.join(NAMES)}.",
        "SYSTEM",
        shell_complete=completing(NAMES),
        brief="Group the codes of a classification: icd9, atc, ...",
    )
    names: Path | None = option(
        TREE,
        "Read the names of codes: lines of code,name.",
        "FILE",
    )
    zeros: str | None = choice(
        TREE, "Say whether codes still have their leading zeros", "way", ZEROS_ARE, brief=None
    )
    system_column: str | None = option(
        TREE, "Read 9 or 10 for each code from this column.", "COLUMN", brief=None
    )
    strict: bool = flag(TREE, "Stop if an item is not a code.", brief=None)


@dataclass(frozen=True)
class Regroup:
    """Options on groups that are made again within those that stay."""

    regroup: Path | None = option(
        TREE, "Group again what is below level --within of this hierarchy.", "FILE", brief=None
    )
    within: int | None = integer(
        TREE, "Keep groups to this level; 1 is below the root.", 0, metavar="LEVEL", brief=None
    )
    group: int | None = integer(TREE, "Put N members in a new group (default: 3 or 5).", 2, brief=None)
    learn_from: list[str] | None = option(
        TREE, "Learn new groups from these rows.", "FILE", "--from", brief=None
    )
    k: int | None = integer(TREE, "Find the best groups for this k (default: 5).", 2, brief=None)
    m: int | None = integer(TREE, "Find the best groups for this m (default: 2).", 1, brief=None)
    objective: str | None = choice(TREE, "Minimize this loss (default: lm)", "loss", _OBJECTIVES, brief=None)
    time_limit: float | None = number(
        TREE, "Stop after this time with the best (default: 600).", 0, "SECONDS", brief=None
    )


def build(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    column: str | None = option(TREE, "Group the values of this column, not items.", "COLUMN"),
    ways: Annotated[Ways, bundled(Ways)],
    codes: Annotated[CodeSystem, bundled(CodeSystem)],
    again: Annotated[Regroup, bundled(Regroup)],
    extend: Path | None = option(TREE, "Keep this hierarchy and add missing items.", "FILE"),
    reading: Reading,
    out: TreeOut,
    force: Force = False,
) -> Answer:
    """Build a hierarchy from the data, or add missing items.

    $ setveil hierarchy build baskets.csv --out groups.csv
    $ setveil hierarchy build icd.csv --by prefix --lengths 1,3 --out codes.csv
    $ setveil hierarchy build icd.csv --system icd9 --out chapters.csv
    $ setveil hierarchy build ward.csv --column zip --by prefix -o zip.csv
    $ setveil hierarchy build baskets.csv --regroup products.csv --within 1 --out new.csv
    $ setveil hierarchy build more.csv --extend products.csv --out all.csv
    """
    from setveil.cli.files import require_free
    from setveil.rows.hierarchy.io import write_hierarchy
    from setveil.runs.options.decode import require_file

    require_free(out, force)
    source, cuts = source_of(input, reading), _lengths(ways.lengths)
    require_file(extend)
    require_file(codes.names)
    _require_one_way(column, ways, codes, again, extend)
    if codes.system is not None:
        built = _by_system(source, codes.system, column, reading, progress, codes)
    elif again.regroup is not None:
        built = _regrouped(source, again.regroup, codes.names, reading, progress, again)
    elif column is not None:
        built = _of_column(source, column, ways, reading, progress)
    else:
        built = _of_items(source, ways, cuts, extend, reading, progress)
    write_hierarchy(built.tree, out)
    words = "\n".join([f"{out}: {built.lines[0]}", *built.lines[1:]])
    tree = built.tree
    found = {
        "file": str(out),
        "leaves": tree.n_leaves,
        "inner_nodes": tree.n_nodes - tree.n_leaves,
        "height": tree.height,
        **built.found,
    }
    return Answer(found, lambda: say(words), aside=words)


class _Built(NamedTuple):
    tree: Hierarchy
    lines: Sequence[str]  # what is said of it
    found: Mapping[str, Any] = {}  # further entries of the JSON


def _require_one_way(
    column: str | None, ways: Ways, codes: CodeSystem, again: Regroup, extend: Path | None
) -> None:
    """Refuse options of other ways to build than the one that is asked for."""
    others = {
        "by": ways.by, "lengths": ways.lengths, "widths": ways.widths, "periods": ways.periods,
        "extend": extend,
    }  # fmt: skip
    if codes.system is None:
        of_system = {
            "zeros": codes.zeros, "system-column": codes.system_column, "strict": codes.strict or None
        }  # fmt: skip
        _refuse(of_system, "is of --system", "Name one: --system icd9.")
    if again.regroup is None:
        of_regroup = {
            "within": again.within, "group": again.group, "from": again.learn_from, "k": again.k,
            "m": again.m, "objective": again.objective, "time-limit": again.time_limit,
        }  # fmt: skip
        _refuse(of_regroup, "is of --regroup", "Name a hierarchy: --regroup products.csv.")
    if codes.system is not None:
        _refuse({**others, "regroup": again.regroup}, "does not go with --system")
    elif again.regroup is not None:
        _refuse({**others, "column": column}, "does not go with --regroup")
    else:
        _refuse({"names": codes.names}, "is of --system and --regroup", "Name one of them.")
        _require_way(column, ways, extend)


def _require_way(column: str | None, ways: Ways, extend: Path | None) -> None:
    """Refuse options that do not go with how items, or the values of a column, are grouped."""
    if ways.by != "balanced":
        _refuse({"order": ways.order}, "is of --by balanced", "Add it: --by balanced.")
    if ways.order != "random":
        _refuse({"seed": ways.seed}, "is of --order random", "Add it: --by balanced --order random.")
    if column is not None and extend is not None:
        raise RequestError("--extend adds items, and --column is about the values of a column.")
    if column is None and (
        ways.by not in (None, *_OF_ITEMS) or ways.widths is not None or ways.periods is not None
    ):
        raise RequestError(
            "Items are no numbers and no dates: ranges and dates are built of a column.",
            hint="Name it: --column age.",
        )


def _of_items(
    source: Any,
    ways: Ways,
    cuts: list[int],
    extend: Path | None,
    reading: ReadingOptions,
    progress: Any,
) -> _Built:
    """Group items by shared rows, order or the beginning of codes, or add those that a hierarchy lacks."""
    from setveil.base.wording import count
    from setveil.cli.files import read_rows
    from setveil.rows.hierarchy import build as builders
    from setveil.rows.hierarchy.io import read_hierarchy

    progress("reading")
    data = read_rows(source, reading)
    progress("building the hierarchy")
    if extend is not None:
        tree = builders.extend(read_hierarchy(extend, encoding=reading.text_encoding), data)
    elif ways.by == "balanced":
        order, seed = ways.order or ORDERS[0], ways.seed or 0
        tree = builders.balanced(data, ways.fanout, common=ways.common, order=order, seed=seed)
    elif ways.by in ("prefix", "prefixes"):
        tree = builders.by_prefix(data, at=ways.at, lengths=cuts)
    else:
        tree = builders.by_cooccurrence(data, ways.fanout, common=ways.common)
    nodes = tree.n_nodes - tree.n_leaves
    said = f"{tree.n_leaves:,} items, {nodes:,} inner nodes, height {tree.height}."
    if tree.added:
        said += (
            f" {count(len(tree.added), 'item')} of the rows {'is' if len(tree.added) == 1 else 'are'} listed "
            "below your groups now, and published files may name what a hierarchy lists."
        )
    return _Built(tree, [said])


def _refuse(options: Mapping[str, object], why: str, hint: str = "Omit it.") -> None:
    name = next((name for name, value in options.items() if value is not None), None)
    if name is not None:
        raise RequestError(f"--{name} {why}.", hint=hint)


def _by_system(
    source: Any,
    system: str,
    column: str | None,
    reading: ReadingOptions,
    progress: Any,
    how: CodeSystem,
) -> _Built:
    """Build the hierarchy of a system of codes, and say what was changed and what is no code."""
    from setveil.cli.files import read_rows, say_spellings
    from setveil.rows.data.set_fields import DELIMITER
    from setveil.rows.data.spelling import NONE
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.build import by_system
    from setveil.rows.hierarchy.systems.known import systems_of
    from setveil.rows.hierarchy.systems.reading import in_words
    from setveil.rows.tables.how import How
    from setveil.rows.tables.systems import systems_said
    from setveil.runs.options.inputs import load_names

    systems_of(system)
    names = None if how.names is None else load_names(how.names, reading.text_encoding)
    progress("reading")
    one_spelling = reading.normalize != NONE
    if column is None:
        data = read_rows(source, reading, spellings=False)
    else:
        fields = _values(source, column, reading)  # each with one code, or as a table has several
        sign = reading.delimiter or DELIMITER
        data = Transactions.from_rows(filter(None, map(str.strip, f.split(sign))) for f in fields)
        one_spelling = one_spelling and data.longest > 1  # else values of a column that is no set of codes
        if reading.normalize is not None:
            data = data.with_normal_labels(reading.normalize)
    said = None
    if how.system_column is not None:
        named = How(
            reading.format, reading.encoding, reading.separator, reading.delimiter, **reading.written()
        )
        said = systems_said(source, system, reading.item_column, how.system_column, named)
    progress("building the hierarchy")
    tree, read = by_system(
        data, system, names=names, zeros=cast("Any", how.zeros), strict=how.strict, said=said,
        one_spelling=one_spelling,
    )  # fmt: skip
    if column is None and not read.spelled:
        say_spellings(data)
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    said_of = in_words(read, supports if column is None else None)
    return _Built(tree, [f"{size_of(tree)}, height {tree.height}.", *said_of])


def _regrouped(
    source: Any,
    file: Path,
    names: Path | None,
    reading: ReadingOptions,
    progress: Any,
    how: Regroup,
) -> _Built:
    """Group again what is below some groups of a hierarchy, and say what was gained."""
    from setveil.cli.files import read_rows, say_spellings
    from setveil.rows.hierarchy.fit import fit_rows
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.options.decode import require_file
    from setveil.runs.options.inputs import load_names
    from setveil.work.studies.regroup import USUAL, regroup

    require_file(file)
    if how.within is None:
        raise RequestError("--regroup needs --within.", hint="--within 1 keeps the groups below the root.")
    called = None if names is None else load_names(names, reading.text_encoding)
    progress("reading")
    tree = read_hierarchy(file, encoding=reading.text_encoding)
    tree, rows = fit_rows(tree, read_rows(source, reading, spellings=False))
    say_spellings(rows)
    tree.locate(rows.vocabulary)
    if how.learn_from:
        rows = read_rows(how.learn_from, reading).with_spellings_of(tree.labels[: tree.n_leaves])

    def options_of(*names: str) -> dict[str, Any]:
        return {name: getattr(how, name) for name in names if getattr(how, name) is not None}

    found = regroup(
        rows, tree, how.within, replace(USUAL, **options_of("k", "m")), group=how.group, names=called,
        progress=progress, **options_of("objective", "time_limit"),
    )  # fmt: skip
    lines = [f"{size_of(found.tree)}, height {found.tree.height}.", *found.in_words()]
    return _Built(found.tree, lines, {"regrouped": found.as_dict()})


def _levels(by: str | None, lengths: str | None, widths: str | None, periods: str | None) -> Any:
    """Say how the hierarchy of a column is built: as --by says, or what was given for it."""
    from setveil.rows.tables.levels import WAYS, levels_in

    steps_of = {"prefix": lengths, "ranges": widths, "dates": periods}
    named = [way for way, steps in steps_of.items() if steps is not None]
    way = "prefix" if by == "prefixes" else by or next(iter(named), None)
    if way not in WAYS:
        raise RequestError(
            f"A column has no hierarchy by {way}." if way else "Nothing says how the column is grouped.",
            hint=f"Say --by {listed(WAYS, 3)}".replace("'", "") + ".",
        )
    wrong = next((one for one in named if one != way), None)
    if wrong:
        option = {"prefix": "--lengths", "ranges": "--widths", "dates": "--periods"}[wrong]
        raise RequestError(f"{option} is of --by {wrong}, got --by {way}.")
    return levels_in(f"{way}:{steps_of[way] or ''}")


def _of_column(source: Any, name: str, ways: Ways, reading: ReadingOptions, progress: Any) -> _Built:
    """Build the hierarchy of the values of a column, and say what each level keeps."""
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.levels import in_words

    levels = _levels(ways.by, ways.lengths, ways.widths, ways.periods)
    progress("reading")
    values = _values(source, name, reading)
    parents = levels.parents_of(name, values)
    return _Built(Hierarchy(parents), [f"{in_words(parents, values)}."])


def _values(source: Any, name: str, reading: ReadingOptions) -> list[str]:
    from setveil.rows.tables.how import How
    from setveil.rows.tables.opened import column_values

    if not isinstance(source, str):
        raise RequestError("A column is read from one file.", hint="Put the files together.")
    how = How(reading.format, reading.encoding, reading.separator, **reading.written())
    return column_values(source, name, how)


def size_of(tree: Any) -> str:
    """Say how many items and inner nodes a tree has."""
    from setveil.base.wording import count

    return f"{count(tree.n_leaves, 'item')}, {count(tree.n_nodes - tree.n_leaves, 'inner node')}"


def _lengths(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise RequestError(
            f"--lengths must be integers separated by commas, e.g. 1,3, got {text!r}."
        ) from None
