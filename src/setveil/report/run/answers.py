"""The part of a run's page about what the data still answer: counts, itemsets, frequencies."""

from __future__ import annotations

from setveil.base.wording import are, count
from setveil.report import accuracy, words
from setveil.report.drawing import blocks
from setveil.report.record import Errors, Frequency, Record
from setveil.report.run.kinds import kind_of
from setveil.report.run.names import shown

_FAR = 0.5  # relative error from which on a count is no answer


def answers(report: Record) -> blocks.Section | None:
    """Show what the release still answers as a section; nothing where it was not measured."""
    parts = [_counts(report), _itemsets(report), _frequencies(report)]
    return blocks.fold("Remaining usefulness", _inside(report, any(parts[1:2]), any(parts[2:])), *parts)


def _inside(report: Record, itemsets: bool, frequencies: bool) -> str:
    parts = [f"{what}: {value}" for value, what in [accuracy.query_error_short(report)] if value]
    parts += ["frequent itemsets"] if itemsets else []
    parts += [f"how often {words.unit(report)}s occur"] if frequencies else []
    listed = ", ".join(["which counts can be read off", *parts])
    return f"{listed[0].upper()}{listed[1:]}."


def _counts(report: Record) -> str:
    """Say how well counts can be read from the release."""
    kind = kind_of(report)
    lines = kind.countable(report)
    found = report.get("answers", {}).get("are")
    if found and found["queries"]:
        instead = kind.instead(report) if found["median"] >= _FAR else ""
        title = accuracy.queries_title(report["answers"])
        lines.append((title, f"{query_errors(found)} {instead}".strip()))
    pairs = accuracy.pairs(report.get("answers", {}).get("pairs"))
    lines += [pairs] if pairs else []
    return blocks.points(lines) if lines else ""


def query_errors(found: Errors) -> str:
    """Say how far the estimated answers to random queries are off, in one sentence."""
    alone = found.get("from_rows")
    how = "from the release" if alone is None else "with the published counts"
    without = f" From rows alone they are {accuracy.spread(alone)}." if alone else ""
    queries = (
        f"{count(found['queries'], 'set')} drawn from all that some row contains, most of them rare"
        if found.get("size", 2) > 1
        else f"{count(found['queries'], 'item')} drawn at random"
    )
    return f"estimated {how} they are {accuracy.spread(found)}.{without} Measured on {queries}."


def _itemsets(report: Record) -> str:
    found = report.get("answers", {}).get("itemsets")
    if not found or not found["frequent"]:
        return ""
    lines = [
        (
            count(line["length"], "item"),
            [
                count(line["frequent"]),
                count(line["kept"]),
                words.percent(line["kept"], line["frequent"]),
            ],
            line["kept"] / line["frequent"] if line["frequent"] else 0.0,
        )
        for line in found["by_length"]
    ]
    longest = f" of at most {count(found['max_length'], 'item')}" if found["max_length"] else ""
    exact = (
        "Each of these is in exactly as many rows as before."
        if found["supports_unchanged"]
        else "But not in as many rows as before: some of their items have broader labels elsewhere."
    )
    number = (
        f"{count(found['kept'])} ({words.percent(found['kept'], found['frequent'])}) {are(found['kept'])}"
        if found["kept"]
        else "none is"
    )
    kept = (
        f"Of {count(found['frequent'], 'set')}{longest} found in at least "
        f"{count(found['threshold'], 'row')} of the original, {number} still there under the items' "
        "own names."
    )
    return blocks.subsection(
        "Frequent itemsets",
        blocks.paragraph(f"{kept} {exact if found['kept'] else ''}".strip()),
        blocks.table(
            ("Length", "In the original", "Kept", "Share", ""), lines, "34% 17% 13% 15% 21%", blocks.UNCHANGED
        ),
    )


def _frequencies(report: Record) -> str:
    lines = report.get("frequencies")
    if not lines:
        return ""
    off = report["utility"].get("item_support_error")
    about = (
        "A reader takes these numbers from the published counts."
        if off and off.get("from_rows")
        else "A reader who knows only a broader label spreads its rows evenly over the items it represents."
    )
    about = words.spoken(report, f"{about} {accuracy.single_items(off)}".strip())
    most = max(max(line["rows"], line["estimate"]) for line in lines) or 1
    table = blocks.grid(
        (words.spoken(report, "Item"), "Rows in the original", "Rows a reader expects", "Published as"),
        [
            [
                shown(report, line["item"]),
                blocks.gauge(count(line["rows"]), line["rows"] / most, *blocks.BEFORE),
                blocks.gauge(count(round(line["estimate"])), line["estimate"] / most, *blocks.AFTER),
                _published_as(report, line),
            ]
            for line in lines
        ],
        "27% 23% 23% 27%",
    )
    note = f"The {count(len(lines), f'most frequent {words.unit(report)}')}. Bars: relative to the most rows."
    return blocks.subsection(
        words.spoken(report, "How often items occur"),
        blocks.paragraph(about),
        table,
        blocks.paragraph(note, "small"),
    )


def _published_as(report: Record, line: Frequency) -> str:
    if line["published"] is None:
        return "suppressed"
    if line["published"] == line["item"]:
        return "itself"
    items = line["items"] or 0
    of = f'<div class="small">{count(items, words.unit(report))}</div>' if items > 1 else ""
    return f"{shown(report, str(line['published']))}{of}"
