"""The command ``moles``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from setveil.cli.options import Bundle, Input, Json, Reading, model_options
from setveil.cli.session import answer, answer_json, run
from setveil.options.decode import Given
from setveil.options.guarantees import make_guarantee, require_options


def moles(
    input: Input,  # noqa: A002
    show: Annotated[int, typer.Option("--show", min=0, help="How many to list.")] = 20,
    *,
    promise: Annotated[dict[str, Any], Bundle(lambda: model_options("coherence"))],
    reading: Reading,
    json: Json = False,
) -> None:
    """List what betrays people: the smallest sets of public items that find few rows or tell a secret."""

    def find_moles(progress: Any) -> Any:
        from setveil.cli.files import read_rows
        from setveil.functions.moles import moles as list_moles

        require_options("coherence", promise)
        progress("reading")
        data = read_rows(input, reading)
        guarantee: Any = make_guarantee("coherence", promise, Given(data, reading.text_encoding))
        return guarantee, list_moles(data, guarantee, progress=progress)

    guarantee, found = run(find_moles)
    entries, largest = found["first"], found["largest"]
    if json:
        answer_json({**found, "first": entries[:show], "largest": largest[:show]})
        return
    from setveil.report.models import words_for
    from setveil.report.words import clip
    from setveil.wording import count

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
    answer("\n".join(lines))
