"""Why a value or an item of a table is published as it is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.base.wording import count
from setveil.report.models import words_for
from setveil.report.why import named
from setveil.report.words import clip, measure

_NAME = 40  # characters of a name
_LINE = 160

Answer = Mapping[str, Any]


def why_table_text(answer: Answer, show: int = 10) -> str:
    """Say why a value of a column, an item or a label of a table is published as it is."""
    parts = ["\n".join(_headline(answer))]
    parts += ["\n".join(_attempt(answer, one, show)) for one in answer["tries"]]
    parts += [text for text in (_weighed(answer),) if text]
    parts.append("Keep this internal: it is computed from the original rows and reveals small counts.")
    return "\n\n".join(parts)


def _short(name: object) -> str:
    return clip(str(name), _NAME)


def _headline(answer: Answer) -> list[str]:
    row = f"row {answer['row']:,}"
    labels = answer["class"]
    known = ", ".join(f"{_short(name)} {_short(label)}" for name, label in labels.items())
    class_rows = count(answer["class_rows"], "row")
    where = f"Its class has {class_rows}: {known}." if labels else ""
    if "column" in answer:
        column, value, label = (_short(answer[key]) or "no value" for key in ("column", "value", "label"))
        if answer["question"] == "kept":
            return [f"{column} of {row} is published as it is, {label}. {where}".strip()]
        rows = count(answer["rows"], "row")
        return [f"{column} of {row}, {value}, is published as {label}, like that of {rows}. {where}".strip()]
    name, rows = _short(answer["name"]), count(answer["rows"], "row")
    inside = f" of the class of {row}" if labels else ""
    became = {
        "kept": "is published as it is",
        "back": "is suppressed",
        "item": f"is published as {_short(answer['label'])}",
    }[answer["question"]]
    if answer["name"] == answer["label"] and answer["question"] == "item":
        became = "represents several items"
    lines = [f"{name} {became} in {rows}{inside}. {where}".strip()]
    if len(answer["places"]) > 1:
        parts = [
            f"{'suppressed' if one['label'] is None else 'as ' + _short(one['label'])} in "
            f"{count(one['rows'], 'row')} of {count(one['classes'], 'class', 'classes')}"
            for one in sorted(answer["places"], key=lambda one: (-one["rows"], str(one["label"])))
        ]
        lines.append(f"In all classes: {'; '.join(parts)}.")
    return lines


def _attempt(answer: Answer, one: Answer, show: int) -> list[str]:
    """Say what was tried, and what it breaks."""
    tried = _tried(answer, one)
    if one["holds"]:
        return [f"{tried}, the guarantee would hold: {_change(answer, one)}."]
    broken = words_for(answer["guarantee"]).broken(
        {**answer["guarantee"], "violations": one["violations"], "complete": one["complete"]}
    )
    lines = [f"{tried}, the rows would contain {broken}{':' if show else '.'}"]
    spoken = words_for(answer["guarantee"])
    lines += [f"  {clip(spoken.violation(entry), _LINE)}" for entry in one["first"][:show]]
    more = one["violations"] - min(show, len(one["first"]))
    if more and show:
        lines.append(f"  and {'' if one['complete'] else 'at least '}{count(more)} more")
    return lines


def _tried(answer: Answer, one: Answer) -> str:
    parts = one["parts"]
    if one["kind"] == "cut":
        sizes = [
            f"{_short(part) or 'no value'} ({size:,})" for part, size in zip(parts, one["sizes"], strict=True)
        ]
        more = f" and {count(len(sizes) - 6)} more" if len(sizes) > 6 else ""
        return f"Split into {', '.join(sizes[:6])}{more}, everything else as it is"
    others = [part for part in parts if part != answer["name"]]
    return {
        "free": f"Split into {named([answer['name'], *others])}",
        "children": f"Split into {named(parts)}",
        "back": f"Published as {_short(answer['name'])}",
        "ancestor": f"Published as {named(parts)}",
    }[one["kind"]]


def _change(answer: Answer, one: Answer) -> str:
    key, name = ("relational_loss", "R") if one["kind"] == "cut" else ("transaction_loss", "T")
    before, after = answer[key], one[key]
    first, second = measure(before), measure(after)
    if first == second and before != after:
        first, second = f"{before:.7g}", f"{after:.7g}"
    return f"{name} {first}, as before" if before == after else f"{name} {first} → {second}"


def _weighed(answer: Answer) -> str:
    """Say what columns and items have to do with each other."""
    broken = [one for one in answer["tries"] if not one["holds"]]
    if not broken:
        return ""
    share = answer["share"]
    weighed = f", with a --share of {share} for the columns" if share is not None else ""
    if "column" in answer:
        return (
            "To split it, items would have to be recoded again, more of them under broader labels "
            f"or suppressed: {answer['algorithm']} weighs one against the other{weighed}."
        )
    return (
        "Larger classes, with broader columns, or other suppressed items, might make room for it: "
        f"{answer['algorithm']} weighs one against the other{weighed}."
    )
