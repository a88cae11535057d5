"""Rows in chunks: every item under its own name, but not which items are in the same row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.base.wording import count
from setveil.judges.utility import Utility
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run.kinds import (
    USABLE,
    Labels,
    Points,
    ReportKind,
    SharedRecord,
    Shares,
    Use,
    by_error,
    listed_numbers,
)
from setveil.report.run.names import shown

_MOST = 20  # inferences that the page names


class Chunks(ReportKind):
    """Rows in chunks."""

    recoding = "disassociated"
    published = "chunks.csv", "clusters.csv"
    term = (
        "Cluster and chunk:",
        "rows that are published together; and some of their items, with the items of each row among "
        "them, but not which row. A <b>term chunk</b> only names items.",
    )

    row_heads = ("Cluster", "of its rows have, by itself")

    def row_cells(self, after: Mapping[str, Any]) -> list[str]:
        cluster = "none" if after["group"] is None else after["group"]
        return [f"{cluster} ({count(after['size'], 'row')})", listed_numbers(after["shared"])]

    def instead_of_items(self, after: Mapping[str, Any] | None) -> str:
        return super().instead_of_items(after) or "in chunks of its cluster"

    def loss(self, report: Record) -> str:
        found, whole = report["chunks"], report["input"]["occurrences"]
        inside = found["record_occurrences"] + found["shared_occurrences"]
        dropped = (
            f" {count(found['left_out'], 'occurrence')} of sensitive items are suppressed."
            if found["left_out"]
            else ""
        )
        return (
            f"{count(inside)} of {count(whole, 'item occurrence')} ({words.percent(inside, whole)}) "
            "are shown in "
            "chunks, under the items' own names; of the others only the clusters are published. "
            f"Which chunks belong to one row is hidden throughout.{dropped}"
        )

    def kept(self, report: Record) -> str:
        found, whole = report["chunks"], report["input"]["occurrences"]
        inside, items = found["record_occurrences"] + found["shared_occurrences"], words.items_word(report)
        if not whole:
            return f"There are no {items}."
        dropped = found["left_out"]
        suppressed = f" {words.percent(dropped, whole)} are suppressed." if dropped else ""
        return (
            f"{words.percent(inside, whole)} of {items} are in chunks under their own labels. Of the others "
            f"only the clusters are published. Rows are hidden throughout.{suppressed}"
        )

    def shares(self, report: Record) -> Shares:
        found = report["chunks"]
        inside = found["record_occurrences"] + found["shared_occurrences"]
        rest = report["input"]["occurrences"] - inside
        return [
            (blocks.UNCHANGED, "shown in chunks", inside),
            (blocks.GENERALIZED, "in term chunks only, without a number, or suppressed", rest),
        ]

    def items(self, report: Record) -> str:
        found = report["chunks"]
        return (
            f"{count(found['record_items'])} in a record chunk of some cluster, "
            f"{count(found['shared_items'])} "
            f"in shared chunks only, {count(found['term_items'])} in term chunks only."
        )

    def item_tiles(self, report: Record) -> Points:
        found = report["chunks"]
        return [
            (count(found["record_items"]), "items in a record chunk of some cluster"),
            (count(found["shared_items"]), "items in shared chunks only"),
            (count(found["term_items"]), "items in term chunks only"),
        ]

    def countable(self, report: Record) -> Points:
        return [
            (
                "Single items:",
                "exact where no term chunk names them; a term chunk says that some rows of its cluster have "
                "them, at least one.",
            ),
            (
                "Items together:",
                "exact where they are in one chunk; else estimated, as if chunks did not depend on "
                "each other.",
            ),
        ]

    def uses(self, report: Record) -> list[Use]:
        """Say what the release can be used for, as far as it was measured."""
        found: list[Use] = [(USABLE, "which items there are, under their own names")]
        answers = report.get("answers", {})
        are, pairs = answers.get("are"), answers.get("pairs")
        if pairs and pairs["error"] is not None:
            found.append((by_error(pairs["error"]), "counts of frequent pairs of items"))
        if are and are["queries"]:
            found.append((by_error(are["median"]), "counts of any pair of items"))
        return found

    def instead(self, _report: Record) -> str:
        return "Count frequent pairs and single items, or draw rows with <code>setveil reconstruct</code>."

    def contents(self, record: SharedRecord) -> Points:
        names = count(record["published"]["items"])
        return [
            ("Different items", f"{names}, all under their own names"),
            (
                "Clusters",
                f"{count(record['guarantee']['clusters'])}, whose sizes are in <code>clusters.csv</code>",
            ),
        ]

    def countable_outside(self, _record: SharedRecord) -> Points:
        text = "in the chunks under their own names; which chunks belong to one row is hidden."
        return [("Items:", text)]

    def measured(self, utility: Utility, _labels: Labels, _rows: dict[str, int]) -> list[str]:
        return [f"shown in chunks        {count(utility['shown_occurrences'], 'occurrence')}"]

    def summarized(self, report: Record) -> dict[str, str]:
        found = report["chunks"]
        lines = {
            "Clusters": f"{count(found['clusters'])} of {count(found['smallest'])} to "
            f"{count(found['largest'], 'row')}, median {found['median']:g}; "
            f"{count(found['record_chunks'], 'record chunk')}, {count(found['shared_chunks'])} shared."
        }
        return {**lines, "Inferred": _inferred_words(report)}

    def sections(self, report: Record) -> list[blocks.Section | None]:
        return [_clusters(report), _holes(report)]


def _inferred_words(report: Record) -> str:
    """Say what can be inferred at most."""
    guarantee = report["guarantee"]
    certain = guarantee.get("certain", 0)
    known = (
        f"{count(certain)} times all rows of a cluster have an item, which is certain for who knows "
        "the cluster."
        if certain
        else "no item is in all rows of a cluster."
    )
    if "sensitive" not in guarantee:
        return f"nothing is named as sensitive, so that nothing bounds what is inferred: {known}"
    found = guarantee["greatest_confidence"]
    if found is None:
        return "no sensitive item is published."
    above = guarantee["inferences"]
    limit = guarantee.get("rho") or 0.2
    more = f"; {count(above, 'set')} of known items {'gives' if above == 1 else 'give'} more than {limit}"
    return f"a sensitive item with a chance of {found['confidence']:.3g} at most{more if above else ''}."


def _clusters(report: Record) -> blocks.Section | None:
    """Show the clusters by size, and items and occurrences by place."""
    found = report["chunks"]
    if not found["clusters"]:
        return None
    sizes = [
        (
            f"{count(one['least'])} to {count(one['most'])} rows",
            [count(one["clusters"]), words.percent(one["clusters"], found["clusters"])],
            one["clusters"] / found["clusters"],
        )
        for one in found["sizes"]
    ]
    inside = found["record_occurrences"] + found["shared_occurrences"]
    hidden = report["input"]["occurrences"] - inside - found["left_out"]
    places = [
        ["Record chunks", count(found["record_items"]), count(found["record_occurrences"])],
        ["Shared chunks", count(found["shared_items"]), count(found["shared_occurrences"])],
        ["Term chunks", count(found["term_items"]), f"{count(hidden)}, not told"],
    ]
    if found["left_out"]:
        places.append(["Suppressed", "", count(found["left_out"])])
    return blocks.fold(
        "Clusters and chunks",
        f"{count(found['clusters'], 'cluster')} by size, items and occurrences by place.",
        blocks.subsection(
            "Clusters by size",
            blocks.table(("Rows", "Clusters", "Share", ""), sizes, "34% 20% 15% 31%", blocks.UNCHANGED),
        ),
        blocks.subsection(
            "Items by place",
            blocks.paragraph("An item counts at the first of these places that it has in any cluster."),
            blocks.grid(("Place", "Items", "Occurrences"), places, "40% 25% 35%", numbers=True),
        ),
    )


def _holes(report: Record) -> blocks.Section | None:
    """Say what can be inferred, and by what; for inside only."""
    guarantee = report["guarantee"]
    named = guarantee.get("inferred", [])[:_MOST]
    lines = [
        f"{shown(report, one['item'])} in {count(one['sensitive_rows'])} of "
        f"{count(one['support'], 'row')} of "
        f"cluster {one['cluster']}"
        + (f", with {', '.join(shown(report, x) for x in one['itemset'])}" if one["itemset"] else "")
        for one in named
    ]
    more = guarantee.get("inferences", 0) - len(named)
    text = "; ".join(lines) + (f"; and {count(more)} more" if more > 0 else "")
    inferred = _inferred_words(report)
    return blocks.fold(
        "Inference",
        f"{inferred[0].upper()}{inferred[1:]}",
        blocks.paragraph(
            "The guarantee says that some data, from which the release may come, have k rows for "
            "every set of items someone "
            "knows. It does not say how likely these are. Items that all rows of a cluster contain are "
            "certain; and items "
            "of different chunks may be linked by someone who knows how chunks are made."
        ),
        f'<p class="names">{text}.</p>' if text else "",
    )


KINDS = (Chunks(),)
