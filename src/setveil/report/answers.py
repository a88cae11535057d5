"""Answers to queries in words: how many rows of the original are thought to hold some items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from setveil.base.wording import count
from setveil.report.words import and_list, clip

Answer = dict[str, Any]  # itemset, estimate, least, greatest

_SPOKEN = 3  # answers that are sentences; more are a table
_WIDEST = 60

_HOW = {
    "maximum entropy": "Estimates: of maximum entropy, from the published rows and counts.",
    "uniform": "There are no published counts: from rows alone, all non-empty sets of the items "
    "of a label equally likely.",
    "noisy": "Estimates from counts with noise; items of different blocks independent of each other. An item "
    "that is published in no block counts as none.",
    "chunks": "Estimates: chunks of a cluster independent of each other, items of a term chunk in one row.",
}
_PARTS = (
    "Rows with some fact of a part are not counted: counts of facts do not say which are in the same row."
)
_BOUNDS = "No original of this release has fewer rows than the least number, or more than the greatest."


def answers_text(
    found: Sequence[Answer], method: str, labels: Collection[str] = (), unit: str = "item"
) -> str:
    """Write answers: a few as sentences, more as a table.

    `method`: "maximum entropy" or "uniform". `labels`: names in itemsets that represent several items or
    facts. `unit`: "item" or "fact".
    """
    if not found:
        return "No itemset is expected in any row."
    if method == "noisy":
        lines = _table(("rows", "items"), [_fields(answer) for answer in found])
        return "\n".join([*lines, _HOW[method]])
    if len(found) <= _SPOKEN:
        lines = [_sentence(answer, labels, unit) for answer in found]
    else:
        lines = _table(
            ("rows", "at least", "at most", f"{unit}s"),
            [_fields(answer, count(answer["least"]), count(answer["greatest"])) for answer in found],
        )
    why = (
        [_PARTS] if unit == "fact" and _open([one for one in found if {*one["itemset"]} & {*labels}]) else []
    )
    groups = {name: items for answer in found for name, items in answer.get("groups", {}).items()}
    listed = [
        f"{name}: one of {count(len(items), 'listed code')}, {clip(', '.join(items), _WIDEST)}."
        for name, items in groups.items()
    ]
    names = dict.fromkeys(name for answer in found for name in answer.get("unlisted", ()))
    listed += [f"Not listed, so rare or no {unit}s: {clip(', '.join(names), _WIDEST)}."] if names else []
    return "\n".join([*lines, *listed, _HOW[method], *why, *([_BOUNDS] if _open(found) else [])])


def rules_text(found: Sequence[dict[str, Any]]) -> str:
    """Write rules as a table."""
    if not found:
        return "No rule is expected in any row."
    return "\n".join(
        _table(
            ("rows", "confidence", "lift", "rule"),
            [
                (
                    _rows(rule["support"]),
                    f"{100 * rule['confidence']:.0f}%",
                    f"{rule['lift']:.2f}",
                    clip(f"{', '.join(rule['given'])} -> {rule['then']}", _WIDEST),
                )
                for rule in found
            ],
        )
    )


def _fields(answer: Answer, *bounds: str) -> tuple[str, ...]:
    return (_rows(answer["estimate"]), *bounds, clip(", ".join(answer["itemset"]), _WIDEST))


def _open(found: Sequence[Answer]) -> bool:
    return any(answer["least"] < answer["greatest"] for answer in found)


def _sentence(answer: Answer, labels: Collection[str], unit: str) -> str:
    a = "an" if unit == "item" else "a"
    names = [f"{a} {unit} of {name}" if name in labels else name for name in answer["itemset"]]
    what = and_list(names)
    least, greatest, estimate = answer["least"], answer["greatest"], answer["estimate"]
    if least == greatest:
        return (
            f"Exactly {count(least, 'row')} {_contain(least)} {what}."
            if least
            else f"No row contains {what}."
        )
    between = f"at least {count(least)}, at most {count(greatest)}"
    if estimate < 1:
        return f"Less than one row is expected to contain {what}: {between}."
    rounded = round(estimate)
    return f"About {count(rounded, 'row')} {_contain(rounded)} {what}: {between}."


def _contain(rows: int) -> str:
    return "contains" if rows == 1 else "contain"


def _rows(estimate: float) -> str:
    """Write an estimate; those of less than ten rows with one digit behind the point."""
    return count(round(estimate)) if estimate >= 10 or estimate == round(estimate) else f"{estimate:.1f}"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Write columns, numbers to the right and the last to the left."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return [
        "  ".join([*(field.rjust(width) for field, width in zip(line[:-1], widths, strict=False)), line[-1]])
        for line in (head, *lines)
    ]
