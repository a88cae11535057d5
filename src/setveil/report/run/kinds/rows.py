"""Rows with items under broader labels, or suppressed: the same in every row, or (local) not."""

from __future__ import annotations

from typing import ClassVar

from setveil.base.wording import are, count
from setveil.judges.utility import Utility
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run.kinds import (
    ROUGHLY,
    UNUSABLE,
    USABLE,
    Labels,
    Points,
    ReportKind,
    SharedRecord,
    Shares,
    Use,
    by_error,
    by_share,
)

_WORST = 5  # labels


PARTS = "members.json", "parts.csv", "row_parts.csv"  # what each item became, and the members of labels


class RowsReport(ReportKind):
    """Every item has one label, or none."""

    recoding = "global"
    internal: ClassVar[tuple[str, ...]] = (*PARTS, "recoding.csv")
    term = (
        "Generalized:",
        "published under a broader label. Two items of a row that get the same name are published once. "
        "<b>Suppressed:</b> omitted from every row.",
    )

    def loss(self, report: Record) -> str:
        utility, occurrences = report["utility"], report["input"]["occurrences"]
        whole = count(occurrences, f"{words.unit(report)} occurrence")
        generalized, suppressed = utility["generalized_occurrences"], utility["suppressed_occurrences"]
        if not generalized and not suppressed:
            return f"Nothing: all {whole} are published as they were."
        if not generalized:
            return (
                f"{count(suppressed)} of {whole} "
                f"({words.percent(suppressed, occurrences)}) {are(suppressed)} suppressed; all others are "
                "published as they were."
            )
        broader = (
            f"{count(generalized)} of {whole} "
            f"({words.percent(generalized, occurrences)}) {are(generalized)} published under a broader label"
        )
        left_out = (
            f"{count(suppressed)} ({words.percent(suppressed, occurrences)}) {are(suppressed)} suppressed"
            if suppressed
            else "none is suppressed"
        )
        return f"{broader}; {left_out}."

    def kept(self, report: Record) -> str:
        """Say what became of the item occurrences, in the words of the data."""
        utility, whole, items = report["utility"], report["input"]["occurrences"], words.items_word(report)
        if utility["unchanged_occurrences"] == whole:
            return f"All {items} are unchanged." if whole else f"There are no {items}."
        parts = (
            (utility["generalized_occurrences"], "have a broader label"),
            (utility["suppressed_occurrences"], "are suppressed"),
        )
        others = [f"{words.percent(number, whole)} {became}" for number, became in parts if number]
        kept = words.percent(utility["unchanged_occurrences"], whole)
        return f"{', '.join([f'{kept} of {items} are unchanged', *others])}."

    def unchanged(self, report: Record) -> float | None:
        whole = report["input"]["occurrences"]
        return report["utility"]["unchanged_occurrences"] / whole if whole else None

    def shares(self, report: Record) -> Shares:
        utility = report["utility"]
        return [
            (blocks.UNCHANGED, "published unchanged", utility["unchanged_occurrences"]),
            (blocks.GENERALIZED, "under a broader label", utility["generalized_occurrences"]),
            (blocks.SUPPRESSED, "suppressed", utility["suppressed_occurrences"]),
        ]

    def items(self, report: Record) -> str:
        utility = report["utility"]
        kept = f"{count(utility['unchanged_items'])} of {count(report['input']['items'])}"
        return (
            f"{kept} unchanged, {count(utility['generalized_items'])} {self._changed(report)}, "
            f"{count(utility['suppressed_items'])} suppressed; "
            f"{count(utility['published_labels'], 'label')} published."
        )

    def item_tiles(self, report: Record) -> Points:
        utility, occurrences = report["utility"], report["published"]["occurrences"]
        return [
            (
                f"{count(utility['unchanged_items'])} of {count(report['input']['items'])}",
                f"{words.unit(report)}s unchanged; "
                f"{count(utility['generalized_items'])} {self._changed(report)}, "
                f"{count(utility['suppressed_items'])} suppressed",
            ),
            (
                count(utility["published_labels"]),
                f"different labels published, in {count(occurrences, 'occurrence')}",
            ),
        ]

    def _changed(self, _report: Record) -> str:
        return "generalized"

    def countable(self, report: Record) -> Points:
        """Say how well supports of labels can be read from the release."""
        off = report["utility"].get("label_support_error")
        if off is None:
            return []
        title = "Rows with a published label:"
        if not off["max"]:
            exact = "exact. Each label is in as many rows as contained any of the items that it represents."
            return [(title, self.spoken(exact))]
        return [(title, self._labels_off(off["mean"], off["max"]))]

    def _labels_off(self, mean: float, most: float) -> str:
        return f"off by {words.percent(mean)} on average, by {words.error(most)} at most."

    def uses(self, report: Record) -> list[Use]:
        """Say what the release can be used for, from the errors of counts and the itemsets kept."""
        utility, answers = report["utility"], report.get("answers", {})
        names = "published labels" if utility["generalized_items"] else "items that are published"
        found: list[Use] = []
        if off := utility.get("label_support_error"):
            exact = f"exact counts of {names}"
            found.append((USABLE, exact) if not off["max"] else (by_error(off["mean"]), f"counts of {names}"))
        found += self._single_items(report)
        are, itemsets = answers.get("are"), answers.get("itemsets")
        if are and are["queries"] and are.get("size") == 2:
            found.append((by_error(are["median"]), "counts of item pairs"))
        if itemsets and itemsets["frequent"]:
            kept = by_share(itemsets["kept"] / itemsets["frequent"])
            found.append((kept, "items that often occur together"))
        if left_out := utility["suppressed_items"]:
            counted = self.counts_whole and "counts" in report and report["counts"]["suppressed"]
            what = "combinations with " if counted else ""
            found.append((UNUSABLE, f"{what}the {count(left_out, words.unit(report))} suppressed"))
        return found

    def _single_items(self, report: Record) -> list[Use]:
        """Judge counts of single items: those that are next to the rows as such, others by their errors."""
        off, counts = report["utility"].get("item_support_error"), report.get("counts")
        unit = words.unit(report)
        if off is None:
            return []
        if not counts or not self.counts_whole or not counts["items"]:
            fit = by_error(off["median"])
            most = "at least half of the " if fit == UNUSABLE else ""
            return [(fit, f"counts of {most}single {unit}s of the original")]
        found: list[Use] = [
            (USABLE, f"exact counts of {count(counts['items'], f'single {unit}')} of the original")
        ]
        if counts["unlisted"]:
            # Those that are exact bring the median down, so that it makes none of the others good.
            fit = UNUSABLE if by_error(off["median"]) == UNUSABLE else ROUGHLY
            found.append((fit, f"counts of the {count(counts['unlisted'], f'other {unit}')}"))
        return found

    def measured(self, _utility: Utility, labels: Labels, rows: dict[str, int]) -> list[str]:
        """Say which labels have another support than their items had, and whether rows are missing."""
        lines = []
        wrong = [entry for entry in labels if entry["relative_error"] != 0]
        if wrong:
            wrong.sort(
                key=lambda entry: -(1.0 if entry["relative_error"] is None else entry["relative_error"])
            )
            lines.append(
                f"{count(len(wrong), 'published item')} with another support than in the original: "
                f"{self.supports_differ}. The worst:"
            )
            lines += [
                f"  {words.clip(entry['label'], 60)}: {count(entry['support'])}, "
                f"originally {count(entry['original_support'])}"
                for entry in wrong[:_WORST]
            ]
        elif rows["original"] == rows["release"]:
            said = "Every published item has exactly the support of the items it represents."
            lines.append(self.spoken(said))
        if rows["original"] != rows["release"]:
            lines.append("The numbers of rows differ (a long table cannot show empty rows).")
        return lines

    def instead(self, report: Record) -> str:
        """Say what to count where counts of the original items are far off."""
        if report["utility"].get("generalized_items"):
            return "Such counts cannot be read from the release; count published labels instead."
        return "Such counts cannot be read from the release if an item was suppressed."

    def contents(self, record: SharedRecord) -> Points:
        """Say what names are published."""
        broader = len(record["labels"])
        kinds = f"{count(broader)} of them broader than an item" if broader else "each that of an item"
        kinds = self.spoken(kinds)
        return [("Different labels", f"{count(record['published']['items'])}, {kinds}")]

    def countable_outside(self, record: SharedRecord) -> Points:
        """Say how well supports of labels can be read from the release."""
        if not record["exact_labels"]:
            return self._inexact_outside(record)
        exact = "exact. Each is in as many rows as contained any of the items that it represents."
        return [("Rows with a published label:", self.spoken(exact))]

    def _inexact_outside(self, _record: SharedRecord) -> Points:
        return []


class LocalRows(RowsReport):
    """An item may have a narrow label in some rows and a broad one in others."""

    recoding = "local"
    term = (
        "Generalized:",
        "published under a broader label from the hierarchy, perhaps another in other rows. Two items of a "
        "row that get the same label are published once. <b>Suppressed:</b> omitted from some rows or all.",
    )

    counts_whole = False
    supports_differ = "labels of different levels overlap"

    def overlap(self, report: Record) -> str:
        """Say what overlapping labels, or items suppressed in some rows only, cost anyone who counts."""
        off = report["utility"]["label_support_error"]["mean"]
        if not report.get("several_labels", 1):
            return (
                "Items are suppressed in some rows only. Rows with such an item are the fewest that may "
                f"contain it (over all items, on average {words.percent(off)} are missed)."
            )
        return (
            "Labels of different levels overlap: one item stands under a narrow label in some rows and under "
            "a broad one in others. Rows with a label are only the fewest that may contain its items (on "
            f"average {words.percent(off)} are missed), and supports of different labels cannot be added."
        )

    def _labels_off(self, mean: float, _most: float) -> str:
        return f"at least this many; on average {words.percent(mean)} of them are missed."

    def instead(self, _report: Record) -> str:
        """Say that nothing helps where counts of the original items are far off."""
        return "Such counts cannot be read from the release."

    def _changed(self, report: Record) -> str:
        hidden = report["algorithm"].get("hidden") or "classes" in report
        return "generalized or suppressed in some rows" if hidden else "generalized"

    def _inexact_outside(self, record: SharedRecord) -> Points:
        if not record["overlapping"]:
            fewest = "exact, or at least this many if an item was suppressed in some rows only."
            return [("Rows with a published label:", fewest)]
        fewest = (
            "at least this many. An item has a narrow label in some rows and under a broad one in "
            "others, so the rows of different names cannot be added."
        )
        return [("Rows with a published label:", fewest)]


KINDS = (RowsReport(), LocalRows())
