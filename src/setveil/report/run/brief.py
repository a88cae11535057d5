"""A run in four lines: whether the guarantee holds, what is kept, whether more could be, what to share."""

from __future__ import annotations

import textwrap
from collections.abc import Collection

from setveil.base.wording import count
from setveil.report import words
from setveil.report.models import check, rechecked
from setveil.report.record import Record
from setveil.report.run.applied import applied_facts
from setveil.report.run.frontier import instead, setting
from setveil.report.run.kinds import kind_of, promised
from setveil.report.run.series import series_facts
from setveil.report.run.summary import rare_names

LITTLE = 0.1  # of the item occurrences, or of the detail of a column
_WIDTH = 88
_LABEL = 9


def brief(report: Record, folder: object) -> str:
    """Summarize a run, written to `folder`, in four lines of at most 88 columns, each with its label."""
    lines = {
        "Holds": _holds(report),
        "Kept": _kept(report),
        "Best": _best(report),
        "Share": _share(report, folder),
    }
    return "\n".join(
        textwrap.fill(
            text, _WIDTH, initial_indent=f"{label:{_LABEL}}", subsequent_indent=" " * _LABEL,
            break_long_words=False, break_on_hyphens=False,
        )
        for label, text in lines.items()
    )  # fmt: skip


def little_left(report: Record) -> list[str]:
    """Name the items, columns and parts of facts that keep less than a tenth of their detail."""
    shares: dict[str, float] = {}
    if "facts" in report:
        shares |= report["facts"]["kept"]
    elif (of_items := kind_of(report).unchanged(report)) is not None:
        shares[words.items_word(report)] = of_items
    shares |= {name: 1 - loss for name, loss in report["utility"].get("column_losses", {}).items()}
    return [name for name, left in shares.items() if left < LITTLE]


def _holds(report: Record) -> str:
    """State the guarantee and its check, and what else it holds for or does not."""
    guarantee = report["guarantee"]
    if not guarantee["holds"]:
        return f"NO. {promised(report)} {check(guarantee)}"
    together = [
        *(text for label, text in applied_facts(report).items() if label in ("Together", "People")),
        *(text for label, text in series_facts(report).items() if label == "Series"),
    ]
    return " ".join(filter(None, (promised(report), rechecked(guarantee), *together)))


def _kept(report: Record) -> str:
    """Say what is left, and if that is little."""
    gone, repaired = little_left(report), applied_facts(report).get("Repaired")
    withheld = report["series"]["held_back"] if "series" in report else 0
    said = [
        kind_of(report).kept(report),
        f"Repaired: {repaired}" if repaired else "",
        f"{count(withheld, 'person is', 'people are')} withheld." if withheld else "",
        f"Little detail is left in {words.and_list([words.clip(name, 30) for name in gone])}."
        if gone
        else "",
    ]
    return " ".join(filter(None, said))


def _best(report: Record) -> str:
    """State what is known about the smallest loss, and for a table the other balances."""
    proof = report.get("optimality")
    if kind_of(report).unchanged(report) == 1 and not any(_losses(report)):
        return "Nothing is lost."
    usual = proof and (proof["objective"], proof["model"]) == ("lm", "cut with suppression")
    if proof and usual and not proof["gap"] and not proof.get("weighted") and not proof.get("limited"):
        what = "with this tree of boxes" if "facts" in report else "with this hierarchy"
        known = f"No release {what} loses less (proven)."
    else:
        known = words.optimality(report) or "Nothing is proven: another release may lose less."
    others = [
        f"{gain} with {setting(entry)} ({words.percent(entry['suppressed_share'])} suppressed)"
        for gain, entry in instead(report)
    ]
    balance = f" Another balance: {'; '.join(others)}." if others else ""
    return known + balance


def _losses(report: Record) -> Collection[float]:
    return report["utility"].get("column_losses", {}).values()


def _share(report: Record, folder: object) -> str:
    """Say which folder may be shared, and what to mind."""
    if not report["guarantee"]["holds"]:
        return "Nothing: the guarantee does not hold."
    minded = [
        words.ONE_OF_THEM if "classes" in report else "",
        words.only_one_of(report),
        rare_names(report),
    ]
    return " ".join(filter(None, (f"{folder}/published    Never share {folder}/internal.", *minded)))
