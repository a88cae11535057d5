"""A page about a release that may be shared with it: nothing that is internal.

`handed_out` selects and rounds the figures that may be published. The page uses nothing else, so it cannot
show other figures. docs/report.md gives the reason for each figure.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from setveil.base.wording import count
from setveil.judges.guarantees import Facts
from setveil.judges.utility import Measure, measures
from setveil.report import accuracy, words
from setveil.report.coarse import COMMON, MANY, OF_ITEMSETS, Range, coarse, exactly, near, one_digit
from setveil.report.drawing import blocks
from setveil.report.models import with_columns, words_for
from setveil.report.record import Label, Record
from setveil.report.run.counts import contents
from setveil.report.run.exposure import chances, identifying, sides
from setveil.report.run.kinds import SharedRecord, kind_of
from setveil.report.run.losses import labels
from setveil.report.run.series import series_shared
from setveil.report.run.statement import about, headline, how_to_read, not_covered, versions

# What a verifier finds in the published rows alone, besides the guarantee.
_FOUND = ("greatest_k", "smallest_degree", "groups", "clusters", "certain")
_PUBLISHED = ("file", "layout", "rows", "empty_rows", "items", "occurrences", "classes")
_SAID = ("purpose", "recipient")  # of what was said about the release: whom it was made for
_WORDS = ("ncp", "lm", "entropy", "entropy-max", "inf")  # values of parameters that name nothing


def handed_out(report: Record) -> SharedRecord:
    """Pick from a report what may be shared, and round what depends on the original.

    Parts named as in the report have what the published files reveal themselves: `setveil`, `versions`,
    `algorithm` (parameters that name no item), `guarantee`, `recoding`, `published`, `labels`, and `risk` of
    the published rows. `names` of those labels, and the purpose and the recipient of `about`, come from the
    publisher. `rounded` has the rest: texts and lengths of bars, in steps of at least 100 occurrences of the
    original. It is missing if there are too few occurrences, or if it would reveal how often sensitive items
    were suppressed.
    """
    guarantee: Facts = report["guarantee"]
    published: Mapping[str, object] = report["published"]
    algorithm = report["algorithm"]
    if not guarantee["holds"]:
        raise ValueError("The guarantee does not hold: there is no page to share.")
    names = report.get("names") or {}
    spoken = words_for(guarantee)
    keys = ("model", "holds", "rows_are", *spoken.parameters, *spoken.shareable, *_FOUND)
    out: SharedRecord = {
        "setveil": report["setveil"],
        "versions": report.get("versions") or {},
        "algorithm": {
            **{key: algorithm[key] for key in ("name", "title", "reference")},
            # how people were held back tells who is in the rows
            "parameters": {k: v for k, v in algorithm["parameters"].items() if _names_nothing(v)}
            if "series" not in report
            else {},
        },
        "guarantee": {key: guarantee[key] for key in keys if key in guarantee} | _learned(guarantee),
        "recoding": report["recoding"],
        "published": {key: published[key] for key in _PUBLISHED if key in published},
        "about": {key: value for key, value in (report.get("about") or {}).items() if key in _SAID},
        "names": {line["label"]: names[line["label"]] for line in report["labels"] if line["label"] in names},
        "labels": [_label(line) for line in report["labels"]],
        "exact_labels": _exact_labels(report),
        "overlapping": bool(report.get("several_labels", 1)),
        "counts": _counts(report),
        "risk": _remaining(report),
    }
    if "facts" in report:
        out["facts"] = report["facts"]["parts"]
    if "series" in report:
        out["series"] = {
            key: report["series"][key] for key in ("release", "of", "k", "m", "known", "presence")
        }
    rounded = None if "rho" in guarantee else _rounded(report)
    return {**out, "rounded": rounded} if rounded else out


def _label(line: Label) -> SharedRecord:
    """Keep the rows of a label, and the number of its items if about.json lists all of them."""
    entry = {"label": line["label"], "items": line["items"], "rows": line["rows"]}
    return {**entry, "items": None, "others": line["others"]} if "others" in line else entry


def _learned(guarantee: Facts) -> SharedRecord:
    """Keep how surely a sensitive item can be learned, but not which one and how."""
    if "greatest_confidence" not in guarantee:
        return {}
    found = guarantee["greatest_confidence"]
    return {"greatest_confidence": found and {"confidence": found["confidence"]}}


def _names_nothing(value: object) -> bool:
    """Return whether a parameter is a number or a word of ours, and so no item and no file."""
    if isinstance(value, str):
        return value in _WORDS or re.fullmatch(r"\d+([./]\d+)?", value, re.ASCII) is not None
    return isinstance(value, bool | int | float)


def _counts(report: Record) -> SharedRecord:
    """Keep what the file of counts shows itself."""
    counts = report.get("counts")
    keys = ("file", "least", "suppressed", "items", "lines", "totals")
    facts: Mapping[str, object] = counts or {}
    return {key: facts[key] for key in keys if key in facts} or None


def _exact_labels(report: Record) -> bool:
    off = report["utility"].get("label_support_error")
    return off is not None and not off["max"]


def _remaining(report: Record) -> SharedRecord:
    """Keep what anyone can count in the published rows: no itemset and no item is named."""
    _, after = sides(report)
    if not after:
        return None
    keys = ("m", "rows_below", "exact", "interval", "confidence")
    learned = {} if report.get("watched") else chances(after)  # about.json names no items that are watched
    best: list[Mapping[str, Any]] = [entry for entry in after["risk"] if entry["choice"] == "best"]
    return {
        "rows": after["rows"],
        "best": [{key: entry[key] for key in keys if key in entry} for entry in best],
        "chances": {entry["m"]: learned.get(entry["m"], "") for entry in best},
    }


def _rounded(report: Record) -> SharedRecord:
    """Round what compares the release with the original; None for data too small for that."""
    whole, utility = report["input"]["occurrences"], report["utility"]
    scale = coarse(whole)
    if scale is None:
        return None
    step = scale.step
    kind = kind_of(report)
    became = kind.shares(report)
    ranges = scale.shares([number for *_, number in became])
    found: SharedRecord = {
        "step": step,
        "shares": [(*what, *_share(share, step)) for (*what, _), share in zip(became, ranges, strict=True)],
        "measures": {
            one.name: _number(scale.loss(value) if one.of_occurrences else exactly(value), step)
            for one in kind.handed_out(report)
            if (value := one.value(utility)) is not None
        },
        "optimality": _optimality(report),
    }
    if "facts" in report and [part["kind"] for part in report["facts"]["parts"]].count("codes") == 1:
        # With several columns they are shares of one column each, which may have few facts.
        by_part = report["facts"]["kept"]
        found["kept"] = {name: _share(scale.share(part * whole), step)[0] for name, part in by_part.items()}
    answers = report.get("answers", {})
    are, itemsets = answers.get("are"), answers.get("itemsets")
    if are and are["queries"]:
        median = are["median"]  # beyond 1 it is told as a factor, which is one more
        half = one_digit(1 + median) - 1 if median > 1 else one_digit(median)
        found["are"] = {"mean": one_digit(are["mean"]), "median": half, "size": are.get("size")}
    if itemsets and itemsets["frequent"] >= MANY and itemsets["threshold"] >= COMMON:
        kept, _ = _share(exactly(itemsets["kept"] / itemsets["frequent"]), OF_ITEMSETS)
        found["itemsets"] = {
            "kept": kept,
            "exact": bool(itemsets["supports_unchanged"] and itemsets["kept"]),
            **{key: itemsets[key] for key in ("threshold", "max_length")},
        }
    return found


def _share(share: Range, step: float) -> tuple[str, float]:
    """Round a share: as a text, and as the length of a bar."""
    rounded = near(share, step)
    if share.true in (0, 1):
        return words.percent(share.true), rounded
    if share.high < step:
        return f"under {words.percent(step)}", rounded
    if share.low > 1 - step:
        return f"over {words.percent(1 - step)}", rounded
    return f"about {words.percent(round(rounded, 2))}", rounded


def _number(value: Range, step: float) -> str:
    if value.true in (0, 1):
        return f"{value.true:g}"
    if value.high < step:
        return f"under {step:g}"
    return f"over {1 - step:g}" if value.low > 1 - step else f"about {near(value, step):.2g}"


def _optimality(report: Record) -> str:
    found = report.get("optimality")
    if not found or (found["gap"] and not found["lower_bound"]):
        return ""
    smallest = words.smallest_in(report)
    if not found["gap"]:
        return f"Proven: the {smallest}."
    above = words.percent(one_digit(found["loss"] / found["lower_bound"] - 1))
    return f"{'About' if found['proven'] else 'At most about'} {above} above the {smallest}."


def external_html(report: Record) -> str:
    """Render the page that may be shared (see `setveil.report.run.page.report_html`)."""
    record = handed_out(report)
    file = f"{blocks.data(record['published']['file'])}, {html.escape(record['algorithm']['title'])}"
    sections = [
        headline("About this release", file, record),
        about(record),
        _contents(record),
        _lost(record),
        _found(record),
        blocks.folded(
            [
                _names(record),
                _answers(record),
                not_covered(record),
                _made(record),
                how_to_read(record, [one for one, _ in _measures(record)]),
            ]
        ),
    ]
    page = "\n".join(section for section in sections if section)
    return words.of_events(record, blocks.page("About this release", page))


def _contents(record: SharedRecord) -> str:
    published, broader = record["published"], len(record["labels"])
    rows, occurrences = published["rows"], published["occurrences"]
    said = kind_of(record).contents(record)
    order = "in an order that reveals nothing about the original order"
    empty = words.unseen(published) or f"{count(published['empty_rows'])} empty"
    shown = ("Rows", f"{count(rows)} ({empty}), {order}")
    average = ("Occurrences", f"{count(occurrences)}, {occurrences / max(rows, 1):,.1f} in a row on average")
    lines = [shown, *said[:1], average, *said[1:]] if rows else said
    reading = (
        "About",
        "<code>about.json</code> says how to read the files"
        + ("" if not broader else words.spoken(record, _MEANS) + _listed(record)),
    )
    counted = [("Counts", contents(record))] if record["counts"] else []
    series = series_shared(record)
    facts = blocks.facts([*lines, *counted, reading, *([series] if series else [])])
    return blocks.section("Contents", facts)


def _names(record: SharedRecord) -> blocks.Section | None:
    """List the published labels that represent several items."""
    number = count(len(record["labels"]), "label")
    return blocks.fold(
        "Broader labels",
        f"{number} that represent other {words.unit(record)}s.",
        labels(record, "about.json"),
    )


def _listed(record: SharedRecord) -> str:
    """Say which items are listed, if not all are."""
    least = next((line["others"] for line in record["labels"] if "others" in line), 0)
    return f" (only items that at least {count(least, 'row')} contained)" if least else ""


_MEANS = ", and lists the items that each broader label represents"


def _lost(record: SharedRecord) -> str:
    rounded = record.get("rounded")
    if not rounded:
        why = (
            "it would reveal how often sensitive items were suppressed."
            if "rho" in record["guarantee"]
            else "the data are too small to tell it safely."
        )
        return blocks.section("Information loss", blocks.paragraph(f"Not told: {why}"))
    shares = rounded["shares"]
    note = (
        f"Accurate to {words.percent(rounded['step'])}: figures that compare the release with the original "
        "are coarse on purpose."
    )
    losses = ", ".join(f"{one.title} {value}" for one, value in _measures(record))
    return blocks.section(
        "Information loss",
        blocks.paragraph("Of all occurrences of an item in a row of the original:"),
        blocks.bar([(length, color) for color, _, _, length in shares], 1),
        blocks.legend((color, f"{text} {name}", "") for color, name, text, _ in shares),
        blocks.paragraph(f"{losses}. {rounded['optimality']}".strip() if losses else ""),
        f"<p>{_kept(rounded['kept'])}</p>" if "kept" in rounded else "",
        blocks.paragraph(note, "small"),
    )


def _kept(rounded: Mapping[str, str]) -> str:
    """Say which share of facts keeps each of its parts."""
    parts = ", ".join(f"{share} keep {blocks.data(name)}" for name, share in rounded.items())
    return f"Of all facts of the original {parts} as it was."


def _measures(record: SharedRecord) -> list[tuple[Measure, str]]:
    """List what is published of the measures, with what each is."""
    rounded = record.get("rounded", {}).get("measures", {})
    return [(one, rounded[one.name]) for one in measures(record["recoding"]) if one.name in rounded]


def _answers(record: SharedRecord) -> blocks.Section | None:
    rounded = record.get("rounded", {})
    lines = kind_of(record).countable_outside(record)
    if "are" in rounded:
        are = rounded["are"]
        half = f"typically off by about {words.error(are['median'])}" if are["median"] else "typically exact"
        mean = f"the mean relative error (ARE) is about {words.percent(are['mean'])}"
        text = f"estimated from the release they are {half}; {mean}."
        lines.append((f"Counts of {accuracy.query_kind(are)} of the original:", text))
    if "itemsets" in rounded:
        found = rounded["itemsets"]
        longest = f" of at most {count(found['max_length'], 'item')}" if found["max_length"] else ""
        unchanged = ", each in exactly as many rows" if found["exact"] else ""
        lines.append(
            (
                "Frequent itemsets:",
                f"{found['kept']} of the sets{longest} that at least "
                f"{count(found['threshold'], 'row')} of the original contain are still there under the "
                f"items' own names{unchanged}.",
            )
        )
    inside = "Which counts of the original can be read from the release, and how accurately."
    return blocks.fold("Remaining usefulness", inside, blocks.points(lines)) if lines else None


def _found(record: SharedRecord) -> str:
    risk = record["risk"]
    if not risk or not risk["best"]:
        return ""
    thresholds = list(risk["best"][0]["rows_below"])
    heads = ["Known", *("unique" if t == "2" else f"among fewer than {t}" for t in thresholds)]
    private = any(risk["chances"].values())
    heads += ["chance of a private item"] * private
    lines = [
        [
            f"the {identifying(entry['m'], record)}",
            *(_cell(entry["rows_below"][t], risk["rows"]) for t in thresholds),
            *([risk["chances"][entry["m"]]] * private),
        ]
        for entry in risk["best"]
    ]
    known = with_columns(record["guarantee"], "the most identifying items", "all")
    sampled = "" if all(entry["exact"] for entry in risk["best"]) else " Some figures are estimated."
    return blocks.section(
        "People still at risk",
        blocks.paragraph(
            f"Rows that match someone if {known} are known, counted in the "
            f"published rows alone: anyone can repeat it.{sampled}{_CHANCE if private else ''}"
        ),
        blocks.grid(heads, lines, "28%" + " 18%" * (len(heads) - 1), numbers=True),
    )


_CHANCE = " Chance: the greatest probability with which they learn some sensitive item about someone."


def _cell(rows: float, whole: int) -> str:
    if rows < 1:
        return "less than one row" if rows else "no row"
    return f"{count(round(rows))} ({words.percent(rows, whole)})"


def _made(record: SharedRecord) -> blocks.Section | None:
    guarantee, algorithm = record["guarantee"], record["algorithm"]
    promised = {name: guarantee[name] for name in words_for(guarantee).parameters if name in guarantee}
    parameters = {name: value for name, value in promised.items() if _names_nothing(value)}
    parameters |= algorithm["parameters"]
    written = [
        blocks.code(f"{name} = {value if isinstance(value, str) else json.dumps(value)}")
        for name, value in parameters.items()
    ]
    return blocks.fold(
        "Provenance",
        "Privacy model, algorithm, parameters, versions.",
        blocks.facts(
            [
                ("Privacy model", html.escape(guarantee["model"])),
                ("Algorithm", f"{html.escape(algorithm['title'])}, {blocks.code(algorithm['name'])}"),
                ("Parameters", ", ".join(written)),
                ("Reference", html.escape(algorithm["reference"])),
                ("Made with", versions(record)),
            ]
        ),
    )
