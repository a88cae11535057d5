"""The report of a study: which method loses least, at which risk, and what each costs."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from setveil.base.wording import count
from setveil.judges.utility import compared, measures
from setveil.report import glossary, words
from setveil.report.compare.columns import SAMPLE
from setveil.report.compare.gallery import MORE, SECTIONS, Figure, FigureNumbers, draw
from setveil.report.compare.html_tables import (
    at_setting,
    best_table,
    coverage_table,
    failures_table,
    grid,
    middle_setting,
    pairs_table,
    standings_table,
    values_text,
)
from setveil.report.compare.releases import Fronts, fronts_of, loss_of, standings_of
from setveil.report.compare.repeated import (
    METHOD,
    are_drawn,
    beyond_chance,
    repetitions,
    spread_notes,
)
from setveil.report.compare.table import (
    Family,
    Row,
    clean,
    distinct,
    families,
    parameters,
    public,
    setting_text,
)
from setveil.report.compare.words import (
    all_caveats,
    dominance_sentences,
    dominance_short,
    equal_promise,
    headline,
    missing_counts,
    proven,
)
from setveil.report.compare.yardstick import is_noisy, yardstick
from setveil.report.drawing import blocks


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Draw all figures that a table of results can fill, as SVG by file stem.

    `rows`: one per run, with the columns of results.csv, None for missing values. Figures show each measure
    against each number that was varied, and loss against risk; methods by colour, shape and dashes. Several
    kinds of guarantees give figures for each kind. Columns may be missing. Figures are at most 840 pixels,
    and the same table gives the same bytes.

    >>> row = {"data": "shop", "method": "aa", "model": "km-anonymity", "m": 2, "status": "done"}
    >>> list(figures([{**row, "k": 2, "lm": 0.1}, {**row, "k": 5, "lm": 0.2}]))
    ['loss_lm-k']
    """
    kinds = families(clean(rows))
    return {
        figure.stem: figure.drawing.as_svg()
        for family in kinds
        for figure in draw(family, _suffix(family, kinds))
    }


def comparison_html(
    study: dict[str, Any],
    rows: Sequence[Row],
    *,
    external: bool = False,
) -> str:
    """Make the self-contained page that compares the runs of a study; nothing in it runs.

    `study`: `name`; optional `description`, `seeds`, `time_limit` (seconds per run), `memory_limit` (MB per
    run), `file_sha256`, `versions`, `command` (the line that made it), `jobs` (runs at the same time).
    `rows`: as for `figures`. An external page omits what is internal: the command, hashes, paths and other
    texts among the parameters, seeds, messages of runs without a release, the risk of the originals and their
    numbers of occurrences. It needs `naming_items`, the parameters of algorithms and of measuring that name
    items.
    """
    rows = clean(rows)
    if external:  # what noise costs in use must stay inside
        rows = public([row for row in rows if not is_noisy(row)], study["naming_items"])
    kinds = families(rows)
    name = str(study.get("name") or "Comparison")
    done = sum(row["status"] == "done" for row in rows)
    runs = count(len(rows), "run")
    made = f"{runs}, {'all with a release' if done == len(rows) else f'{done:,} with a release'}"
    about = f"{count(len({row['data'] for row in rows}), 'data set')}, {_methods(rows)}, {made}"
    numbering = FigureNumbers()
    galleries = [(family, draw(family, _suffix(family, kinds))) for family in kinds]
    parts = [
        f"<h1>{html.escape(name)}: methods compared</h1>",
        blocks.paragraph(about, "of"),
        blocks.paragraph(str(study.get("description") or "")),
        _answer(kinds),
        *(blocks.unfolded(part) for part in _shown(galleries, kinds, numbering)),
        yardstick(kinds),
        blocks.folded(
            [
                _keep_in_mind(kinds, external),
                _compared(rows, kinds, external),
                *(
                    part
                    for place, (family, drawn) in enumerate(galleries)
                    for part in _family(family, kinds, drawn, numbering, whole=place > 0)
                ),
                _without_release(rows, external),
                _made(study, rows, external),
                _to_cite(str(study.get("bibtex") or "")),
                _how_to_read(kinds),
                *(_more_figures(family, kinds, drawn, numbering) for family, drawn in galleries),
            ]
        ),
    ]
    return blocks.page(f"{name}: methods compared", "\n".join(part for part in parts if part))


_COARSE = (
    "Figures that compare a release with its original are coarse on purpose: shares to steps of at least 100 "
    "occurrences of the original, errors to one digit. Small data, and releases that limit the chance of a "
    "sensitive item (rho), have no such figures. Methods may differ by less than a step."
)
_DOMINATES = (
    "One method dominates another if for every release of the other it has one that is no worse in loss and "
    "in risk, and better in one of the two."
)


def _suffix(family: Family, kinds: Sequence[Family]) -> str:
    return f"-{family.name}" if len(kinds) > 1 else ""


def _methods(rows: Sequence[Row]) -> str:
    return count(len({row["method"] for row in rows}), "method")


def _title(text: str, family: Family, kinds: Sequence[Family]) -> str:
    """Make a heading, with the family where there are several."""
    return html.escape(f"{text}: {family.title}" if len(kinds) > 1 else text)


def _answer(kinds: Sequence[Family]) -> str:
    """Say first which method loses least, and which dominates."""
    lines, notes = [], []
    for family in kinds:
        loss = loss_of(family)
        fronts = fronts_of(family)[:1]
        found = standings_of(family, loss) if loss else {}
        for data in family.data:
            sentences = [equal_promise(found[data], loss, drawn=are_drawn(family.done))] if loss else []
            sentences += [dominance_short(front, data) for front in fronts if data in front.releases]
            sentences += [beyond_chance(family, loss, data)] if loss else []
            text = " ".join(part for part in sentences if part)
            name = f"{data}, {family.title}:" if len(kinds) > 1 else f"{data}:"
            lines += [(html.escape(name), html.escape(text, quote=False))] if text else []
        notes.append(proven(family))
        notes += [words.ONE_OF_THEM] if "classes" in {row.get("algorithm") for row in family.done} else []
        notes += [_DOMINATES] if "dominate" in " ".join(text for _, text in lines) else []
    shown = "\n".join(blocks.paragraph(note, "small") for note in distinct(notes) if note)
    listed = blocks.points(lines) if lines else ""
    return f'<div class="verdict"><strong>{html.escape(headline(kinds))}</strong>\n{listed}\n{shown}</div>'


def _keep_in_mind(kinds: Sequence[Family], external: bool) -> blocks.Section | None:
    notes = [*all_caveats(kinds), *([_COARSE] if external else [])]
    listed = "\n".join(f"<li>{html.escape(note, quote=False)}</li>" for note in notes)
    inside = f"{count(len(notes), 'note')} on what can be compared, and how."
    return blocks.fold("Keep in mind", inside, f"<ul>\n{listed}\n</ul>") if notes else None


def _compared(rows: Sequence[Row], kinds: Sequence[Family], external: bool) -> blocks.Section | None:
    """List data sets, methods and parameters."""
    data = []
    for name in distinct(row["data"] for row in rows):
        sized = [row for row in rows if row["data"] == name and row.get("rows") is not None]
        sizes = []
        if sized:
            first = sized[0]
            sizes = [count(first["rows"], "row")]
            if not external:
                sizes.append(count(first.get("items") or 0, "item"))
                if first.get("occurrences") is not None:
                    sizes.append(count(first["occurrences"], "occurrence"))
            if first.get(SAMPLE) is not None:
                sizes[0] = f"first draw: {sizes[0]}"
        data.append(blocks.data(name) + (f" ({', '.join(sizes)})" if sizes else ""))
    methods = []
    for family in kinds:
        for model, title in zip(distinct(row["model"] for row in family.rows), family.models, strict=True):
            names = distinct(row["method"] for row in family.rows if row["model"] == model)
            of = f": {html.escape(title)}" if title else ""
            methods.append(", ".join(map(blocks.data, names)) + of)
    shown = [
        html.escape(values_text(name, values)) + glossary.term_button(name)
        for name, values in parameters(rows).items()
    ]
    return blocks.fold(
        "Data and methods",
        "Data sets with their sizes, methods, parameters with their values.",
        blocks.facts(
            [
                ("Data", "<br>".join(data)),
                ("Methods", "<br>".join(methods)),
                ("Parameters", "<br>".join(shown)),
            ]
        ),
    )


def _shown(
    galleries: Sequence[tuple[Family, Sequence[Figure]]], kinds: Sequence[Family], numbering: FigureNumbers
) -> list[blocks.Section | None]:
    """Choose what is shown unfolded: one picture and one table, of the first family."""
    if not galleries:
        return []
    family, drawn = galleries[0]
    fronts = fronts_of(family, _suffix(family, kinds))
    stem = fronts[0].stem if fronts else drawn[0].section if drawn else ""
    picture = numbering.show_all([figure for figure in drawn if figure.section == stem][:1])
    title = "Loss against risk" if fronts else stem
    return [blocks.fold(_title(title, family, kinds), "", picture), _at_equal_promise(family, kinds)]


def _family(
    family: Family, kinds: Sequence[Family], drawn: Sequence[Figure], numbering: FigureNumbers, *, whole: bool
) -> list[blocks.Section | None]:
    """Make the sections of a family; `whole`: with those that are shown unfolded of the first one."""
    parts = [_at_equal_promise(family, kinds)] if whole else []
    parts.append(_by_chance(family, kinds))
    all_fronts = fronts_of(family, _suffix(family, kinds))
    for place, fronts in enumerate(all_fronts):
        pictures = [figure for figure in drawn if figure.section == fronts.stem]
        picture = numbering.show_all(pictures if whole or place else pictures[1:])
        title = "Loss against rows at risk" if place else "Who dominates, and the best releases"
        inside = (
            "The same picture for another measure of risk."
            if place
            else ("Which method dominates which, and the Pareto-optimal releases.")
        )
        texts = [_front_text(fronts, data, tables=not place) for data in fronts.releases]
        parts.append(blocks.fold(_title(title, family, kinds), inside, picture, *texts))
    parts.append(_at_one_setting(family, kinds))
    first = not whole and not all_fronts  # its first figure is shown unfolded
    for section in SECTIONS.values():
        figures = [figure for figure in drawn if figure.section == section]
        if first and figures:
            figures, first = figures[1:], False
        if figures:
            named = ", ".join(distinct(figure.measure for figure in figures))
            shown = numbering.show_all(figures)
            parts.append(
                blocks.fold(
                    _title(section, family, kinds),
                    f"{count(len(figures), 'figure')}: {html.escape(named)}.",
                    shown,
                )
            )
    return parts


def _more_figures(
    family: Family, kinds: Sequence[Family], drawn: Sequence[Figure], numbering: FigureNumbers
) -> blocks.Section | None:
    inside = [figure for figure in drawn if figure.section == MORE]
    if not inside:
        return None
    named = html.escape(", ".join(distinct(figure.measure for figure in inside)))
    text = f"{count(len(inside), 'figure')}: {named}."
    return blocks.fold(_title(MORE, family, kinds), text, numbering.show_all(inside))


def _at_equal_promise(family: Family, kinds: Sequence[Family]) -> blocks.Section | None:
    loss = loss_of(family)
    found = standings_of(family, loss) if loss else {}
    found = {data: of for data, of in found.items() if any(standing.compared for standing in of)}
    if loss is None or not found:
        return None
    text = (
        "At how many of the guarantees (model and all parameters) that it shares with another method did a "
        "method lose least? Shared: ties (to nine digits). Second line: mean excess over the smallest "
        f"{loss.axis}."
    )
    took_part = {standing.method for of in found.values() for standing in of if standing.compared}
    methods = [method for method in family.methods if method in took_part]
    return blocks.fold(
        _title("Least loss at equal guarantee", family, kinds),
        "At how many guarantees each method lost least.",
        blocks.paragraph(text),
        standings_table(found, methods),
    )


def _by_chance(family: Family, kinds: Sequence[Family]) -> blocks.Section | None:
    """Show what repetitions say of the differences between methods."""
    loss = loss_of(family)
    return blocks.fold(
        _title("Differences beyond chance", family, kinds),
        "What repetitions say of each two methods.",
        pairs_table(family, loss) if loss else "",
    )


def _front_text(fronts: Fronts, data: str, *, tables: bool) -> str:
    """Say who dominates on a data set, and list the Pareto-optimal releases."""
    sentences = "\n".join(blocks.paragraph(line) for line in dominance_sentences(fronts, data))
    if not tables:
        return sentences
    parts = [sentences]
    if len(fronts.points(data)) > 1:
        text = (
            "Of the releases of the method in the column (by number), for how many does the method in the "
            "row have one that is no worse in loss and risk?"
        )
        parts += [blocks.paragraph(text, "small"), coverage_table(fronts, data)]
    parts += [
        blocks.paragraph(
            "Pareto-optimal releases (no other is as good in both numbers and better in one):", "small"
        ),
        best_table(fronts, data),
    ]
    return blocks.subsection(blocks.data(data), *parts)


def _at_one_setting(family: Family, kinds: Sequence[Family]) -> blocks.Section | None:
    chosen = middle_setting(family)
    if chosen is None:
        return None
    names, setting = chosen
    where = setting_text(names, setting)
    text = f"All methods at {where}" if where else "All methods"
    if where:
        text += ", the most central setting at which most of them made a release"
    text += "".join(f"; {sentence}" for sentence in spread_notes(family.done))
    if any(row.get(name) is None for row in family.rows for name in names):
        text += "; those without one of these parameters are shown at the others"
    text += "."
    tables = [
        blocks.subsection(blocks.data(data), at_setting(family, data, names, setting)) for data in family.data
    ]
    inside = f"All measures of all methods{f' at {html.escape(where)}' if where else ''}, as a table."
    return blocks.fold(_title("At one setting", family, kinds), inside, blocks.paragraph(text), *tables)


def _without_release(rows: Sequence[Row], external: bool) -> blocks.Section | None:
    failed = sum(row["status"] != "done" for row in rows)
    if not failed:
        return None
    inside = f"{count(failed, 'run')} that made no release{'' if external else ', and why'}."
    if external:
        lines = [
            [blocks.data(data), blocks.data(method), str(runs)] for data, method, runs in missing_counts(rows)
        ]
        table = grid(["Data", "Method", "Runs"], lines, [1, 1, 1], texts=2)
        return blocks.fold("Runs without a release", inside, table)
    return blocks.fold("Runs without a release", inside, failures_table(rows))


def _made(study: dict[str, Any], rows: Sequence[Row], external: bool) -> blocks.Section | None:
    """Say what is needed to repeat the study."""
    versions = dict(study.get("versions") or {})
    made_with = distinct(str(row["setveil"]) for row in rows if row.get("setveil"))
    shown = [f"setveil {version}" for version in made_with if "setveil" not in versions]
    shown += [f"{name} {version}" for name, version in versions.items()]
    time_limit, memory_limit = study.get("time_limit"), study.get("memory_limit")
    limits = [
        *([f"{time_limit:g} seconds"] if time_limit else []),
        *([f"{memory_limit:g} MB"] if memory_limit else []),
    ]
    machines = distinct(str(row["machine"]) for row in rows if row.get("machine"))
    jobs = study.get("jobs")
    at_once = f"; up to {count(jobs, 'run')} at the same time" if jobs else ""
    lines = [
        ("Study", blocks.data(str(study.get("name") or ""))),
        ("Command", "" if external else blocks.code(str(study.get("command") or ""))),
        ("Machine", html.escape(f"{'; '.join(machines)}{at_once}") if machines else ""),
        ("Versions", html.escape(", ".join(shown))),
        ("Repetitions", html.escape(_repetitions(rows))),
        ("Limits of a run", ", ".join(limits) or "none"),
    ]
    if not external:
        seeds = study.get("seeds") or distinct(row["seed"] for row in rows if row.get("seed") is not None)
        seeds = seeds if isinstance(seeds, list | tuple) else [seeds]
        hashes = [
            f"{blocks.data(data)}: {blocks.code(str(sha))}"
            for data, sha in distinct((row["data"], row.get("data_sha256")) for row in rows)
            if sha
        ]
        lines += [
            ("Seeds", html.escape(", ".join(map(str, seeds)))),
            ("Study file SHA-256", blocks.code(str(study.get("file_sha256") or ""))),
            ("Data SHA-256", "<br>".join(hashes)),
            ("All runs", "results.csv and results.parquet, next to this report"),
        ]
    inside = f"{'Machine' if external else 'Command, machine'}, versions, repetitions, limits."
    return blocks.fold("Provenance", inside, blocks.facts(lines))


def _to_cite(bibtex: str) -> blocks.Section | None:
    """List the works that a paper about this study cites."""
    works = count(len(re.findall(r"^@", bibtex, re.MULTILINE)), "work")
    shown = f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{html.escape(bibtex)}</pre>'
    inside = f"BibTeX of {works}: setveil and the methods compared."
    return blocks.fold("To cite", inside, shown if bibtex else "")


def _repetitions(rows: Sequence[Row]) -> str:
    """Say how often a setting was run; the same seed makes the same release, but not the same seconds."""
    seeds = len({row.get("seed") for row in rows})
    if seeds < 2:
        return "none: each run was done once. Its release can be made again exactly; its seconds vary."
    return f"{' '.join(repetitions(rows))} {METHOD}"


def _how_to_read(kinds: Sequence[Family]) -> blocks.Section | None:
    lines = [
        ("Method:", "an algorithm, with those of its own parameters that differ from their defaults."),
        (
            "Guarantee:",
            "a privacy model with its parameters. Every release was checked for it from the published rows.",
        ),
        ("Dominates:", _DOMINATES),
        ("Pareto-optimal:", "a release is if no other is as good in loss and in risk, and better in one."),
        (
            "Loss and risk",
            f"can be compared on the same data set only{_same_hierarchy(kinds)}.",
        ),
    ]
    lines += [
        (one.axis[:1].upper() + one.axis[1:], one.reading)
        for one in compared()
        if one.reading and _holds(kinds, one.column)
    ]
    inside = "The terms, and how to read the figures."
    return blocks.fold("Explanations", inside, blocks.points(lines))


def _same_hierarchy(kinds: Sequence[Family]) -> str:
    """Name the losses of a table that depend on how many items exist."""
    titles = {column.name: one.title for one in measures() if one.domain for column in one.in_table()}
    found = [titles[one.column] for one in compared() if one.column in titles and _holds(kinds, one.column)]
    return f", {words.and_list(found)} only with the same hierarchy" if found else ""


def _holds(kinds: Sequence[Family], column: str) -> bool:
    return any(column in row for family in kinds for row in family.rows)
