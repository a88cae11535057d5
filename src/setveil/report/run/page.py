"""A report as one self-contained HTML page."""

from __future__ import annotations

import html
import json

from setveil.base.wording import are, count
from setveil.judges.guarantees import Facts
from setveil.report import accuracy, glossary, words
from setveil.report.drawing import blocks
from setveil.report.models import words_for
from setveil.report.record import File, HierarchyEntry, Record
from setveil.report.run.answers import answers
from setveil.report.run.applied import applied
from setveil.report.run.choice import choice, usable
from setveil.report.run.columns import columns
from setveil.report.run.counts import counts_section
from setveil.report.run.exposure import (
    chances,
    entry_of,
    exposure,
    identifying,
    sides,
    still_found,
    telling_size,
)
from setveil.report.run.folder import published_files
from setveil.report.run.frontier import frontier
from setveil.report.run.kinds import kind_of
from setveil.report.run.losses import losses
from setveil.report.run.series import series_section
from setveil.report.run.statement import headline, how_to_read, not_covered, stated, versions

_MOST_COLUMNS = 40
_LONG = 8  # a parameter of more entries is told by their number


def report_html(report: Record, *, external: bool = False) -> str:
    """Render a report as one HTML page that loads and runs nothing and repeats byte for byte.

    The usual page reveals much of the original: never share it. An `external` page has only what the
    published rows show themselves, and coarse figures of the loss (docs/report.md).
    """
    if external:
        from setveil.report.run.external import external_html

        return external_html(report)
    sections = [
        headline(
            "Release report",
            f"{blocks.data(words.source(report))}{_sample(report)}, {_method(report)}",
            report,
        ),
        stated(report),
        _glance(report),
        blocks.beside(still_found(report), _folders(report)),
        usable(report),
        blocks.folded(
            [
                applied(report),
                series_section(report),
                choice(report),
                not_covered(report),
                _read(report),
                _made(report),
            ],
            [
                exposure(report),
                counts_section(report),
                *kind_of(report).sections(report),
                losses(report),
                *columns(report),
                frontier(report),
                answers(report),
                how_to_read(report, kind_of(report).shown(report)),
            ],
        ),
        _decision(report),
    ]
    page = "\n".join(section for section in sections if section)
    return words.of_events(report, blocks.page(f"Release report: {words.source(report)}", page))


def _method(report: Record) -> str:
    return html.escape(report["algorithm"]["title"])


def _glance(report: Record) -> str:
    """Show the few numbers that weigh most: risk, loss, use."""
    tiles = []
    m = telling_size(report)
    if m is not None:
        before, after = sides(report)
        then, now = (entry_of(side, m, "best") for side in (before, after) if side)
        if before and then and now:
            unique, left = (round(entry["rows_below"]["2"]) for entry in (then, now))
            of = f"{count(unique)} of {count(before['rows'], 'row')}"
            items = identifying(m, report)
            tiles.append(
                (
                    f"{of} \u2192 {count(left)}",
                    f"{are(left)} unique by the {items}, before and after",
                )
            )
        learned = [chances(side).get(m) for side in (before, after) if side]
        if all(learned):
            number = " \u2192 ".join(chance for chance in learned if chance)
            known = count(m, "item")
            tiles.append((number, f"chance of learning a private item from {known}, before and after"))
    whole = report["input"]["occurrences"]
    if shares := kind_of(report).shares(report):
        (_, name, kept), *others = shares
        rest = ", ".join(f"{words.percent(number, whole)} {name}" for _, name, number in others if number)
        text = f"of all occurrences{glossary.ask('occurrence')} {name}{'; ' if rest else ''}{rest}"
        tiles.append((words.percent(kept, whole), text))
    utility = report["utility"]
    if "relational_loss" in utility:
        both = [words.measure(utility[name]) for name in ("relational_loss", "transaction_loss")]
        tiles.append((" and ".join(both), f"loss of the columns (R) and of the items (T){glossary.ask('R')}"))
    found = report.get("answers", {})
    itemsets, error = found.get("itemsets"), accuracy.query_error_tile(report)
    if itemsets and itemsets["frequent"]:
        number = f"{count(itemsets['kept'])} of {count(itemsets['frequent'])}"
        what = f"frequent itemsets{glossary.ask('itemset')} still there under the items' own names"
        tiles.append((number, what))
    if error:
        figure, meaning = error
        tiles.append((figure, meaning.replace(accuracy.QUERY_ERROR, glossary.named(accuracy.QUERY_ERROR), 1)))
    return blocks.tiles(tiles)


def _read(report: Record) -> blocks.Section | None:
    """Say what the input was read as, and what was not read; nothing where the record does not tell."""
    read = report["input"].get("read")
    if not read:
        return None
    separator, delimiter, files = read["separator"] or "", read.get("delimiter") or "", read["files"]
    more = len(files) > 1 or any(entry.get("compression") for entry in files)
    return blocks.fold(
        "Input",
        f"{html.escape(words.read_as(report))}.",
        blocks.facts(
            [
                ("Read as", html.escape(words.read_as(report))),
                ("Column of row ids", blocks.data(read["id_column"]) if read["id_column"] else ""),
                (
                    "Columns of codes" if "facts" in report else "Columns of items",
                    _columns(read["item_columns"]),
                ),
                ("Ignored columns", _columns(read["ignored_columns"])),
                ("Separator", html.escape(_SEPARATORS.get(separator, separator))),
                ("Between items of a cell", html.escape(_SEPARATORS.get(delimiter, delimiter))),
                ("Encoding", html.escape(read["encoding"] or "")),
                ("Query", blocks.code(read.get("query") or "")),
                ("Files", "<br>".join(map(_file, files)) if more else ""),
            ]
        ),
    )


_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "space"}


def _columns(names: list[str]) -> str:
    return blocks.data(words.listed(names, _MOST_COLUMNS)) if names else ""


def _file(entry: File) -> str:
    compression = entry.get("compression")
    packed = f" ({html.escape(compression)})" if compression else ""
    parts = (f"{blocks.data(entry['path'])}{packed}", blocks.code(entry["sha256"] or ""))
    return " ".join(part for part in parts if part)


def _folders(report: Record) -> str:
    *files, about = published_files(report)
    file = ", ".join(map(blocks.data, files))
    share = (
        ("May be shared:", f"the folder <code>published/</code> ({file} and {about}), nothing else.")
        if report["guarantee"]["holds"]
        else ("Nothing may be shared:", "the guarantee does not hold.")
    )
    content = "which published row came from which input row"
    if report.get("engine") == "parts":  # where no such file is kept
        content = "what became of each item"
    inside = (
        f"the folder <code>internal/</code>. It says {content}, and this report is in it: its hash can "
        "confirm a guess of the input."
    )
    points = [share, ("Internal, do not share:", inside)]
    if others := words.only_one_of(report):
        points.insert(1, ("Only one:", html.escape(others)))
    return blocks.section("Files to share", blocks.points(points))


def _decision(report: Record) -> str:
    """Leave room to decide and to sign."""
    answers = ["The release must not be shared."]
    if report["guarantee"]["holds"]:
        answers.insert(0, "The folder <code>published/</code> may be shared.")
    boxes = "\n".join(f'<p><span class="box"></span>{answer}</p>' for answer in answers)
    blanks = "\n".join(f'<div class="blank">{name}</div>' for name in ("Name", "Date", "Signature"))
    return blocks.section(
        "Decision", f'<div class="decision">\n{boxes}\n<div class="blanks">\n{blanks}\n</div>\n</div>'
    )


def _sample(report: Record) -> str:
    """Say that only some rows were taken, where that is so."""
    part = report.get("sample")
    if not part:
        return ""
    return f", <strong>a sample of {count(part['rows'])} of {count(part['of'])} rows</strong>"


def _made(report: Record) -> blocks.Section | None:
    before, tree, algorithm = report["input"], report["hierarchy"], report["algorithm"]
    guarantee: Facts = report["guarantee"]
    contents = (
        f"{count(before['rows'], 'row')} ({count(before['empty_rows'])} empty), "
        f"{count(before['items'], words.unit(report))}, {count(before['occurrences'], 'occurrence')}, "
        f"format {html.escape(before['format'] or 'none')}"
    )
    named = {name: guarantee[name] for name in words_for(guarantee).parameters if name in guarantee}
    parameters = {**named, **algorithm["parameters"], "seed": report["seed"]}
    written = [
        blocks.code(f"{name} = {_value(value)}") for name, value in parameters.items() if value is not None
    ]
    return blocks.fold(
        "Provenance",
        "Input and hierarchy with their hashes, the command, parameters, versions.",
        blocks.facts(
            [
                ("Input", blocks.data(words.source(report))),
                ("Input SHA-256", blocks.code(before["sha256"] or "")),
                ("Command", blocks.code(report.get("command") or "")),
                ("Contents", contents),
                *(_hierarchy(tree) if tree else []),
                ("Privacy model", html.escape(guarantee["model"])),
                ("Algorithm", f"{html.escape(algorithm['title'])}, {blocks.code(algorithm['name'])}"),
                ("Parameters", ", ".join(written)),
                ("Reference", html.escape(algorithm["reference"])),
                ("Made with", versions(report)),
            ]
        ),
    )


def _hierarchy(tree: HierarchyEntry) -> list[tuple[str, str]]:
    source = (
        blocks.data(tree["path"]) if tree["path"] else f"made from the data: {html.escape(tree['source'])}"
    )
    size = f"{count(tree['leaves'], 'leaf', 'leaves')}, height {tree['height']}"
    return [("Hierarchy", f"{source}, {size}"), ("Hierarchy SHA-256", blocks.code(tree["sha256"] or ""))]


def _value(value: object) -> str:
    if isinstance(value, list | dict) and len(value) > _LONG:
        return f"{count(len(value))} entries"
    return words.clip(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 300)
