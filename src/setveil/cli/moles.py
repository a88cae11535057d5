"""The command ``moles``."""

from __future__ import annotations

from typing import Annotated, Any

from setveil.cli.bundles import Bundle, Reading, model_options, source_of
from setveil.cli.help import ANSWER
from setveil.cli.options import Input, integer
from setveil.cli.session import Answer
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee, require_options, require_values


def moles(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    promise: Annotated[dict[str, Any], Bundle(lambda: model_options("coherence"))],
    reading: Reading,
    show: int = integer(ANSWER, "List at most N.", 0, default=20),
) -> Answer:
    """List the smallest sets of items that identify people.

    Sets that reveal a sensitive item are listed, too.

    $ setveil moles visits.csv --private HIV,hepatitis --h 0.5 --k 5 --p 3
    """
    from setveil.cli.files import read_rows
    from setveil.commands.moles import moles as list_moles

    require_options("coherence", promise)
    require_values("coherence", promise, reading.text_encoding)
    source = source_of(input, reading)
    progress("reading")
    data = read_rows(source, reading)
    guarantee: Any = make_guarantee("coherence", promise, Inputs(data, reading.text_encoding))
    found = list_moles(data, guarantee, progress=progress)
    entries, largest = found["first"], found["largest"]
    shown = {**found, "first": entries[:show], "largest": largest[:show]}
    return Answer(shown, _in_words(guarantee, entries, largest, show))


def _in_words(guarantee: Any, entries: list[Any], largest: list[Any], show: int) -> str:
    from setveil.base.wording import count
    from setveil.report.models import words_for
    from setveil.report.words import clip

    words = words_for(guarantee.as_dict())
    sizes: dict[int, int] = {}
    for entry in entries:
        sizes[len(entry["itemset"])] = sizes.get(len(entry["itemset"]), 0) + 1
    lines = [f"{count(len(entries), 'minimal mole')} for {guarantee.phrase}"]
    lines += [f"  of {count(size, 'item')}: {count(number)}" for size, number in sizes.items()]
    lines += [f"  {clip(words.violation(entry), 120)}" for entry in entries[:show]]
    if len(entries) > show:
        lines.append(f"  and {count(len(entries) - show)} more (--show)")
    lines.append(f"{count(len(largest), 'maximal set')} of items that are no mole alone")
    lines += [f"  {clip(', '.join(entry['itemset']), 120)}" for entry in largest[:show]]
    if len(largest) > show:
        lines.append(f"  and {count(len(largest) - show)} more (--show)")
    return "\n".join(lines)
