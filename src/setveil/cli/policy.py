"""The commands ``policy pgen`` and ``policy check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from setveil.cli.bundles import Reading, source_of
from setveil.cli.help import OUTPUT, PROMISE
from setveil.cli.options import Force, Input, integer, option
from setveil.cli.session import Answer

HELP = "Make and check privacy and utility constraints."

SHOWN = 20  # problems

RowsK = Annotated[int, integer(PROMISE, "Protect itemsets in fewer than k rows.", 2, "-k")]


def pgen(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    k: RowsK,
    reading: Reading,
    out: Path = option(OUTPUT, "Write this file: one itemset per line, or .json.", "FILE", "-o", default=...),
    force: Force = False,
) -> str:
    """Write constraints that protect every part of every row.

    $ setveil policy pgen baskets.csv --k 5 --out privacy.txt
    """
    from setveil.base.wording import count
    from setveil.cli.files import read_rows, require_free
    from setveil.methods.constraints.io import write_privacy
    from setveil.methods.constraints.pgen import pgen as find

    require_free(out, force)
    source = source_of(input, reading)
    progress("reading")
    data = read_rows(source, reading)
    itemsets = find(data, k, progress)
    progress("writing")
    write_privacy(itemsets, out, data.origin.layout if data.origin else None)
    longest = max(map(len, itemsets), default=0)
    return f"{out}: {count(len(itemsets), 'itemset')}, the longest of {count(longest, 'item')}."


def check(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    k: RowsK = 2,
    privacy: Path | None = option(PROMISE, "Read privacy constraints: one itemset per line.", "FILE"),
    utility: Path | None = option(PROMISE, "Read utility constraints: one group of items per line.", "FILE"),
    reading: Reading,
) -> Answer:
    """Check constraints against the data before any run.

    Exit code 4 if a file cannot be used, 3 if a utility constraint cannot be met at this k.

    $ setveil policy check baskets.csv --k 5 --privacy privacy.txt
    """
    from setveil.cli.files import read_rows
    from setveil.methods.constraints.check import check_policy
    from setveil.methods.constraints.io import ConstraintsFile, parse_privacy, parse_utility
    from setveil.runs.options.decode import require_file

    source = source_of(input, reading)
    for path in (privacy, utility):
        require_file(path)
    progress("reading")
    data = read_rows(source, reading)
    known, layout = data.vocabulary.labels, data.origin.layout if data.origin else None
    encoding = reading.text_encoding
    sets = ConstraintsFile("")
    if privacy is not None:
        sets = parse_privacy(privacy, known, layout, encoding=encoding)
    groups = None if utility is None else parse_utility(utility, known, layout, encoding=encoding)
    found = check_policy(data, k, sets, groups, progress)
    code = 4 if found.problems else 3 if found.unreachable else 0
    return Answer(found.as_dict(), _text(found), code)


def _text(found: Any) -> str:
    from setveil.base.errors import listed
    from setveil.base.wording import count

    lines = [
        f"privacy constraints    {count(found.privacy)}, over {count(found.protected, 'item')}; "
        f"{count(found.satisfied)} satisfied by the data as they are (k = {found.k})",
        f"utility constraints    {count(found.utility)}"
        + ("" if found.utility else ": every merge is allowed"),
    ]
    if found.rest:
        lines.append(
            f"in no utility constraint: {count(len(found.rest), 'item')}, one more constraint together: "
            f"{listed(found.rest)}"
        )
    if found.unmentioned:
        lines.append(
            f"in no constraint at all: {count(len(found.unmentioned), 'item')}: {listed(found.unmentioned)}"
        )
    for one in found.unreachable:
        where = "" if one.line is None else f"line {one.line}: "
        together = f"{listed(one.items)} {'is' if len(one.items) == 1 else 'together are'}"
        lines.append(
            f"cannot be met: {where}{together} in {count(one.support, 'row')}, fewer than k = {found.k}"
        )
    lines += [f"{name}, {problem}" for name, problem in found.problems[:SHOWN]]
    if len(found.problems) > SHOWN:
        lines.append(f"and {len(found.problems) - SHOWN:,} more problems (--json lists all)")
    if found.fine:
        lines.append("No problems.")
    return "\n".join(lines)


COMMANDS = (pgen, check)
