"""The steps of a search, from its trace: as lines of text, and as one self-contained page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setveil.base.wording import count
from setveil.report.drawing import blocks
from setveil.report.drawing.trees import lattice, tree

MOST_STEPS = 100  # of a page
_COSTS = ("cost", "gain", "score", "f", "common")

Step = Mapping[str, Any]


def trace_text(first: Mapping[str, Any], steps: Sequence[Step], show: int) -> str:
    """Describe a trace in words: a line for each of the first steps."""
    lines = [f"{first['algorithm']}, {first['guarantee']}: {count(len(steps), 'step')}"]
    lines += [f"{step['step']:>4}  {sentence(step)}" for step in steps[:show]]
    if len(steps) > show:
        lines.append(f"      and {len(steps) - show:,} more (--show)")
    return "\n".join(lines)


def sentence(step: Step) -> str:
    """Describe a step in a sentence: what is violated, and what was chosen at which cost."""
    parts = [step["phase"]] if "phase" in step else []
    if "cut" in step:
        parts.append(f"cut {_set(step['cut'])}")
    if step.get("suppressed"):
        parts.append(f"without {_set(step['suppressed'])}")
    if "row" in step:
        parts.append(f"row {step['row']} {_set(step['items'])}" if "items" in step else f"row {step['row']}")
    elif "rows" in step:
        parts.append(count(step["rows"], "row"))
    if "moles" in step:
        parts.append(count(step["moles"], "minimal mole"))
    if violated := step.get("violated"):
        parts.append(f"violated {_violated(violated)}")
    if "support" in step:
        parts.append(f"support {step['support']}")
    if "cost" in step and step["cost"] is not None:
        parts.append(f"cost {_number(step['cost'])}")
    if "valid" in step:
        parts.append("valid" if step["valid"] else "not valid")
    chosen = _chosen(step)
    return "; ".join([*parts, f"chosen: {chosen}"])


def _chosen(step: Step) -> str:
    chosen = step["chosen"]
    if not chosen:
        return "nothing"
    cost = next((_price(one) for one in step["candidates"] if _same(one, chosen)), "")
    if isinstance(chosen, list) and isinstance(chosen[0], int):
        return f"rows {_any(chosen)}"
    text = _any(chosen)
    return text if not cost or cost in text else f"{text} ({cost})"


def _same(candidate: Mapping[str, Any], chosen: Any) -> bool:
    """Return whether a candidate is what was chosen."""
    if isinstance(chosen, Mapping):
        return all(candidate.get(key) == value for key, value in chosen.items())
    if "row" in candidate:
        return candidate["row"] in chosen
    return chosen in [value for key, value in candidate.items() if key not in _COSTS]


def _price(candidate: Mapping[str, Any]) -> str:
    return next((f"{key} {_number(candidate[key])}" for key in _COSTS if key in candidate), "")


def _violated(found: Sequence[Any]) -> str:
    if isinstance(found[0], str):
        return _set(found)
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ", ".join(map(_set, found[:3])) + more


def _set(labels: Sequence[Any]) -> str:
    return "{" + ", ".join(map(str, labels)) + "}"


def _any(value: Any) -> str:
    if isinstance(value, list) and value and not isinstance(value[0], str):
        join = " + " if isinstance(value[0], list) else "; " if isinstance(value[0], Mapping) else ", "
        return join.join(map(_any, value))
    if isinstance(value, list):
        return _set(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        shown = {key: one for key, one in value.items() if not isinstance(one, bool)}
        return ", ".join(f"{key.replace('_', ' ')} {_any(one)}" for key, one in shown.items())
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def trace_html(first: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Make the internal page of a trace: each step with its candidates and, for cuts, a drawing."""
    title = f"The search of {first['algorithm']}"
    shown = steps[:MOST_STEPS]
    note = f"Only the first {MOST_STEPS} steps are drawn." if len(steps) > MOST_STEPS else ""
    cuts = _cuts(first["parents"], shown)
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="of">{html.escape(first["guarantee"])}, {count(len(steps), "step")}</p>',
        blocks.paragraph("This page describes original data. Do not share it."),
        blocks.paragraph(note),
        _lattice(shown),
        *(_step(first["parents"], step, cut) for step, cut in zip(shown, cuts, strict=True)),
    ]
    return blocks.page(title, "\n".join(part for part in parts if part))


def _cuts(parents: Mapping[str, str | None], steps: Sequence[Step]) -> Iterator[Sequence[str]]:
    """List the cut before each step, where a step does not name it: the leaves, then what was chosen."""
    inner = set(parents.values())
    cut = [node for node in parents if node not in inner]
    for step in steps:
        yield step.get("cut", cut)
        chosen = step["chosen"]
        if isinstance(chosen, list) and all(isinstance(one, str) for one in chosen):
            cut = [*(node for node in cut if not _under(node, chosen, parents)), *chosen]


def _under(node: str, nodes: Sequence[str], parents: Mapping[str, str | None]) -> bool:
    above: str | None = node
    while above is not None:
        if above in nodes:
            return True
        above = parents.get(above)
    return False


def _lattice(steps: Sequence[Step]) -> str:
    """Draw the cuts of a search that looks at whole cuts."""
    if not steps or any("valid" not in step for step in steps):
        return ""
    cuts = [step["cut"] for step in steps]
    best = steps[-1]["chosen"]
    drawing = lattice(
        cuts,
        [[one["cut"] for one in step["candidates"]] for step in steps],
        [step["valid"] for step in steps],
        next((at for at, cut in enumerate(cuts) if sorted(cut) == sorted(best or [])), -1),
    )
    words = "The cuts that were examined, finer ones below. Filled: valid. Orange ring: the chosen cut."
    return blocks.figure(drawing, words) if drawing else ""


def _step(parents: Mapping[str, str | None], step: Step, cut: Sequence[str]) -> str:
    drawing = ""
    if parents and ("cut" in step or isinstance(step["chosen"], list)):
        violated = step.get("violated") or []
        flat = [one for entry in violated for one in ([entry] if isinstance(entry, str) else entry)]
        chosen = step["chosen"] or []
        drawing = tree(
            parents, cut, flat, [chosen] if isinstance(chosen, str) else chosen, step.get("suppressed") or []
        )
    words = (
        "Blue: the cut before this step. Dark: suppressed. Red ring: violated. Orange ring: the chosen nodes."
    )
    return blocks.section(
        f"Step {step['step']}",
        blocks.paragraph(sentence(step)),
        blocks.figure(drawing, words) if drawing else "",
        _candidates(step),
    )


def _candidates(step: Step) -> str:
    """Lay out the candidates with their costs; the chosen one is bold."""
    found = step["candidates"]
    if not found:
        return ""
    keys = list(dict.fromkeys(key for one in found for key in one if key != "chosen"))
    lines = []
    for one in found:
        cells = [html.escape(_any(one.get(key, ""))) for key in keys]
        bold = bool(step["chosen"]) and _same(one, step["chosen"])
        lines.append([f"<b>{cell}</b>" if bold else cell for cell in cells])
    if len(keys) == 1:
        keys, lines = [*keys, ""], [[*line, ""] for line in lines]
    names = [key.replace("_", " ").capitalize() for key in keys]
    more = step.get("more_candidates")
    rest = blocks.paragraph(f"and {more:,} more" if more else "", "small")
    return blocks.grid(names, lines, " ".join([f"{100 // len(keys)}%"] * len(keys))) + rest
