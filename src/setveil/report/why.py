"""Why a label is not split, or an item suppressed, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.wording import are, count
from setveil.judges.utility import named as measure_named
from setveil.report.models import words_for
from setveil.report.words import about_facts, and_list, clip, measure

_NAME = 40  # characters of a name
_FEW = 5  # names in a sentence
_LINE = 120

Answer = Mapping[str, Any]


def why_text(answer: Answer, show: int = 10) -> str:
    """Say why a label is not split, or an item is suppressed or has no name of its own."""
    parts = ["\n".join(_headline(answer))]
    parts += ["\n".join(_attempt(answer, one, show)) for one in answer["tries"]]
    parts += [text for text in (_optimum(answer), _below(answer)) if text]
    return "\n\n".join(parts)


def named(names: Sequence[str]) -> str:
    """List the first of some names.

    >>> named(["tea"]), named(["tea", "rum"]), named(list("abcdefg"))
    ('tea', 'tea and rum', 'a, b, c, d, e and 2 more')
    """
    shown = [clip(name, _NAME) for name in names[:_FEW]]
    if len(names) > _FEW:
        return f"{', '.join(shown)} and {count(len(names) - _FEW)} more"
    return and_list(shown)


def change(objective: str, before: float, after: float) -> str:
    """Write a loss before and after, with as many digits as tell them apart.

    >>> change("lm", 0.01634, 0.01478), change("ncp", 0.0147220, 0.0147216), change("lm", 0.5, 0.5)
    ('LM 0.0163 → 0.0148', 'NCP 0.014722 → 0.0147216', 'LM 0.5, as before')
    """
    name = measure_named(objective).title
    if before == after:
        return f"{name} {measure(after)}, as before"
    first, second = measure(before), measure(after)
    for digits in range(4, 17):
        if first != second:
            break
        first, second = f"{before:.{digits}g}", f"{after:.{digits}g}"
    return f"{name} {first} → {second}"


def _headline(answer: Answer) -> list[str]:
    name = clip(answer["name"], _NAME)
    unit = answer["unit"]
    what = f"{count(answer['items'], unit)}, {_occurrences(answer['entries'])}"
    suppressed = answer["items_left_out"]
    without = f"; {count(suppressed, unit)} {are(suppressed)} suppressed" if suppressed else ""
    said = {
        "absent": f"{name} is in no row: there is nothing to publish.",
        "kept": f"{name} is published as itself, in {count(answer['rows'], 'row')}.",
        "split already": f"{name} ({what}) is split already, into {named(answer['published_as'])}{without}.",
        "split": f"{name} represents {what}, in {count(answer['rows'], 'row')}.",
        "free": f"{name} ({what}) is published as {_shown(answer['label'])}, which is in "
        f"{count(answer['rows'], 'row')}.",
        "back": f"{name} ({what}) is suppressed.",
    }
    return [said[answer["question"]]]


def _shown(name: str | None) -> str:
    return clip(str(name), _NAME)


def _occurrences(number: int) -> str:
    return count(number, "occurrence")


def _attempt(answer: Answer, one: Answer, show: int) -> list[str]:
    """Say what was tried, what it breaks, and what would mend it."""
    tried = _tried(answer, one)
    if one["holds"]:
        lost = f" {_lost(answer, one)}" if one["lost_names"] else ""
        return [f"{tried}, the guarantee would hold: {_change(answer, one)}.{lost}"]
    broken = words_for(answer["guarantee"]).broken(
        {**answer["guarantee"], "violations": one["violations"], "complete": one["complete"]}
    )
    broken = about_facts(broken) if answer["unit"] == "fact" else broken
    lines = [f"{tried}, the rows would contain {broken}{':' if show else '.'}"]
    for entry in one["first"][:show]:
        labels = ", ".join(clip(label, _NAME) for label in entry["itemset"])
        lines.append("  " + clip(f"{{{labels}}} in {count(entry['support'], 'row')}", _LINE))
    more = one["violations"] - min(show, len(one["first"]))
    if more and show:
        lines.append(f"  and {'' if one['complete'] else 'at least '}{count(more)} more")
    return lines + _remedies(answer, one)


def _tried(answer: Answer, one: Answer) -> str:
    name, parts = _shown(answer["name"]), one["parts"]
    others = [part for part in parts if part != answer["name"]]
    return {
        "children": f"Split{_along(one)} into {named(parts)}",
        "items": f"Split into {count(len(parts), answer['unit'])}",
        "free": f"Split into {named([answer['name'], *others])}" if others else f"Published as {name}",
        "apart": f"In a hierarchy with {name} next to {_shown(answer['label'])}, which keeps the others",
        "back": f"Published as {named(parts)}",
        "ancestor": f"Published as {named(parts)}",
    }[one["kind"]]


def _along(one: Answer) -> str:
    return f" along {one['along']}" if one.get("along") else ""


def _lost(answer: Answer, one: Answer) -> str:
    return f"But {count(one['lost_names'], answer['unit'])} would get a broader label."


def _change(answer: Answer, then: Answer) -> str:
    return change(answer["objective"], answer["loss"], then["loss"])


def _remedies(answer: Answer, one: Answer) -> list[str]:
    """Say what omitting, or moving, the cause would give and cost."""
    blamed, move = one["leave_out"], one["move"]
    lines = []
    if blamed is not None:
        lines += _leave_out(answer, one, blamed)
    elif one["kind"] in {"free", "back", "apart"}:
        lines.append(_no_help(answer, one))
    if move is not None:
        lines.append(_move(answer, one, move))
    return lines


def _leave_out(answer: Answer, one: Answer, blamed: Answer) -> list[str]:
    labels, items = blamed["labels"], blamed["items"]
    others = len(one["parts"]) - len(set(labels) & set(one["parts"]))
    several = f"{count(items, answer['unit'])}, " if items > 1 else ""
    leaving = f"Suppressing {named(labels)} ({several}{_occurrences(blamed['entries'])})"
    if not others:
        all_of = "Every part is a cause" if blamed["smallest"] else "Found greedily, every part is a cause"
        return [f"{all_of}: without them nothing of it is left ({_change(answer, blamed)})."]
    if answer["question"] == "split":
        if blamed["new_names"] == others:
            gain = f"leave {count(others, 'other')} unchanged"
        else:
            gain = f"publish {count(others, 'other')} separately" if others > 1 else "publish 1 other"
    elif answer["question"] == "free":
        gain = f"leave {_shown(answer['name'])} unchanged"
    else:
        gain = f"bring {_shown(answer['name'])} back"
    lost = f" {_lost(answer, blamed)}" if blamed["lost_names"] > items else ""
    lines = [f"{leaving} would {gain}: {_change(answer, blamed)}.{lost}"]
    if blamed["smallest"]:
        among = "the parts" if blamed["among"] == "parts" else "whole labels"
        lines.append(f"Among {among}, fewer {answer['unit']}s are not enough (proven).")
    else:
        lines.append(f"Perhaps fewer {answer['unit']}s would do: these were found greedily.")
    share = answer["max_suppressed"]
    if share is not None and blamed["left_out"] > float(share) * answer["occurrences"]:
        lines.append("That is more than the run was allowed to suppress (--max-suppressed).")
    return lines


def _no_help(answer: Answer, one: Answer) -> str:
    name, k = _shown(answer["name"]), answer["guarantee"]["k"]
    if answer["items"] == 1 and answer["entries"] < k:
        rows = count(answer["entries"], "row")
        return f"{name} is in {rows}, fewer than k = {k}: whatever else is suppressed, it stays too rare."
    others = f"others of {_shown(answer['label'])}" if one["kind"] == "free" else "others"
    return f"Suppressing {others} would not be enough: {name} is itself the cause."


def _move(answer: Answer, one: Answer, move: Answer) -> str:
    tried = count(move["tried"], "label")
    if not move["holds"]:
        return f"None of {tried} that were tried could include the cause."
    items = move["items"] if move["with"] != 1 else [*move["items"], move["to"]]
    where = _shown(move["to"]) if move["with"] > 1 else "one label of their own"
    kept = f" with {count(move['new_names'], 'item')} unchanged" if move["new_names"] else ""
    lost = f" {_lost(answer, move)}" if move["lost_names"] else ""
    return (
        f"In a hierarchy with {named(items)} under {where}, the guarantee would hold{kept}: "
        f"{_change(answer, move)}.{lost}"
    )


def _optimum(answer: Answer) -> str:
    """Relate the losses to what is proven of the run's."""
    tries = answer["tries"]
    losses = [one["loss"] for one in tries if one["holds"]]
    losses += [one["leave_out"]["loss"] for one in tries if one["leave_out"]]
    if not losses:
        return ""
    name = measure_named(answer["objective"]).title
    better = min(losses) < answer["loss"]
    reason = _not_least(answer)
    if not reason and answer["unit"] == "fact":
        if better:
            reason = "it is proven for one tree of boxes, and boxes can be split otherwise"
    elif not reason:
        return f"The run's {name} is proven to be the least with its hierarchy, so a change only adds loss."
    if better:
        return f"So the run did not find the least {name}: {reason}."
    return ""


def _not_least(answer: Answer) -> str:
    """Say why the loss of the run need not be the least of all cuts with suppression; empty: it is."""
    found = answer["optimality"]
    if not found or found["objective"] != answer["objective"]:
        return f"{answer['algorithm']} does not guarantee it"
    if found["weighted"]:
        return "it weighed items, which is not counted here"
    if found["limited"]:
        return "it had items to keep, or a limit on suppression"
    if "suppression" not in found["model"]:
        return "it was not allowed to suppress anything"
    return "" if not found["gap"] else "its optimum is not proven"


def _below(answer: Answer) -> str:
    text = "Keep this internal: it is computed from the original rows and reveals small counts."
    below = answer["below"]
    if below:
        text += f" In fewer than {count(answer['guarantee']['k'], 'row')}: {named(below)}."
    return text
