"""The command ``reconstruct``, and what ``measure`` says of the draws that it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.cli.bundles import source_of
from setveil.cli.help import OUTPUT
from setveil.cli.options import Force, argument, choice, integer, option
from setveil.cli.session import Answer
from setveil.rows.data.layout import FORMATS
from setveil.runs.options.reading import Reading


def reconstruct(
    progress: Any,
    release: str = argument("RELEASE", "Read this run's folder with counts, or its published/."),
    out: Path = option(OUTPUT, "Write to this folder.", "FOLDER", "-o", default=...),
    draws: int = integer(OUTPUT, "Draw this many times.", 1, default=5),
    seed: int = integer(OUTPUT, "Start with this seed; later draws use the following ones.", 0, default=0),
    mix: int = integer(OUTPUT, "Mix this many steps per occurrence.", 0, default=10),
    format: str | None = choice(  # noqa: A002
        OUTPUT, "Write this format, if not that of the release", "format", FORMATS
    ),
    force: Force = False,
) -> Answer:
    """Generate synthetic rows of items from a release, for other tools.

    Recoding a draw gives the release again. Listed items have exactly their counts in every draw.

    $ setveil reconstruct release --out draws
    $ setveil reconstruct release --draws 20 --seed 1 --out more
    """
    from setveil.cli.files import read_release
    from setveil.commands.reconstruct import personal_of, require_drawn_of_nobody
    from setveil.judges.reconstruction.draws import draws_of, require_place, source_at, write_draws
    from setveil.report.pooled import drawn_text

    require_place(out, force=force)
    progress("reading")
    source = source_at(Path(release), read_release)
    terms = source.terms(seed, mix).written_as(format)
    require_drawn_of_nobody(source.items, personal_of(release), str(out))
    made = draws_of(source, draws, terms, progress)
    about = write_draws(made, draws, source.items, terms, out, force=force)
    return Answer(about, drawn_text(about, source.listed, str(out)))


def measure_draws(
    original: list[str],
    release: str,
    reading: Reading,
    queries: Mapping[str, Any],
    itemsets: tuple[int | None, int | None],
    rules: tuple[Any, Any, int | None],
    progress: Any,
) -> Any:
    """Measure a folder of draws; return what is answered as JSON, and the same in words.

    `queries`: number, size, support, path and seed of COUNT queries, or None; `itemsets`: the support of
    frequent itemsets, and their greatest length; `rules`: least support and confidence, and greatest length.
    """
    from setveil.cli.files import read_release, read_rows
    from setveil.commands.measure import rules_in, wanted_rules
    from setveil.judges.reconstruction.draws import read_draws
    from setveil.judges.utility.pooled import LONGEST, pooled_errors, usual_number
    from setveil.report.pooled import pooled_text
    from setveil.runs.options.decode import require_file
    from setveil.runs.options.inputs import load_queries

    terms = dict(queries)
    path = terms.pop("path")
    require_file(path)
    progress("reading")
    draws = list(read_draws(Path(release), read_release))
    before = read_rows(source_of(original, reading), reading)
    if path is None and terms["support"] is None and terms["number"] is None:
        terms["number"] = usual_number(before, terms["size"])
    terms["size"] = terms["size"] or 2
    wanted = load_queries(before, path, reading.text_encoding, **terms, progress=progress)
    threshold, longest = itemsets
    found = pooled_errors(
        before, draws, wanted, threshold=threshold, longest=longest or LONGEST, progress=progress
    )
    rule_terms = wanted_rules(before.n_rows, *rules)
    if rule_terms is not None:
        found["rules"] = {"read": "draws", **rules_in(before, draws, rule_terms, progress)}
    return found, pooled_text(found)
