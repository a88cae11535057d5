"""Sentences about a study's table: the least loss, dominance, and reservations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setveil.base.wording import are, count
from setveil.judges.utility import Compared
from setveil.report.compare.fronts import Relation, Standing
from setveil.report.compare.measures import columns_known, known_items
from setveil.report.compare.releases import Fronts, loss_of, standings_of
from setveil.report.compare.repeated import repetitions
from setveil.report.compare.table import Family, Row, distinct
from setveil.report.words import and_list, percent

_MOST_LISTED = 3

STATUS = {
    "infeasible": "no release can satisfy the guarantee",
    "refused": "rejected: the request was not valid",
    "failed": "ended with an error",
    "timeout": "ran out of time",
    "memory": "ran out of memory",
    "killed": "was killed",
}


def headline(families: Sequence[Family]) -> str:
    """Say in a few words who loses least."""
    best: dict[str, list[str]] = {}  # methods, by data set
    kinds = set()
    for family in families:
        loss = loss_of(family)
        for data, found in standings_of(family, loss).items() if loss else ():
            if found and found[0].compared:
                best.setdefault(data, []).extend(_leaders(found))
                kinds.add(family.name)
    if not best:
        return "Nothing to compare: no two methods made a release with the same guarantee."
    answers = distinct(and_list(methods) for methods in best.values())
    if len(kinds) == 1 and len(answers) == 1:
        verb = "loses" if len(next(iter(best.values()))) == 1 else "lose"
        return f"At equal guarantee, {answers[0]} {verb} least on {_every(list(best))}."
    shown = "; ".join(f"{and_list(distinct(methods))} on {data}" for data, methods in best.items())
    return f"Least loss at equal guarantee: {shown}."


def _every(data: list[str]) -> str:
    if len(data) == 1:
        return data[0]
    return f"all {len(data)} data sets" if len(data) > 2 else and_list(data)


def _leaders(found: Sequence[Standing]) -> list[str]:
    """Methods that are least at as great a share of their guarantees as the first, and lose as little."""
    first = found[0]
    return [s.method for s in found if s.share == first.share and s.compared and s.excess == first.excess]


def equal_promise(found: Sequence[Standing], loss: Compared, *, drawn: bool = False) -> str:
    """Say how methods did with the same guarantee, on several draws if `drawn`; empty where none did."""
    unit = "draw" if drawn else "guarantee"
    compared = [standing for standing in found if standing.compared]
    if not compared:
        return ""
    leaders, first = _leaders(found), found[0]
    lose = "loses" if len(leaders) == 1 else "lose"
    if first.compared == 1:
        at = f"at the one {unit} compared" if first.least else f"at no {unit}"
    elif first.share == 1 and len(leaders) > 1:
        at = f"at all {unit}s at which they were compared"
    elif first.share == 1:
        at = f"at all {count(first.compared)} {unit}s compared"
    else:
        at = f"at {count(first.least)} of {count(first.compared)} {unit}s compared"
    rest = [standing for standing in compared if standing.method not in leaders][:_MOST_LISTED]
    parts = [
        f"{standing.method} loses {excess_text(standing.excess)} more on average"
        + (f" and ties at {count(standing.shared)} of {count(standing.compared)}" if standing.shared else "")
        for standing in rest
        if standing.excess is not None
    ]
    text = f"{and_list(leaders)} {lose} least ({_name(loss)}) {at}"
    return f"{text}; {'; '.join(parts)}." if parts else f"{text}."


def excess_text(value: float) -> str:
    """Write by how much a loss is above another.

    >>> excess_text(0.0), excess_text(0.00001), excess_text(0.08563), excess_text(1234.5)
    ('0', 'under 0.0001', '0.086', '1,234')
    """
    if value < 1e-4:
        return "under 0.0001" if value else "0"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _name(loss: Compared) -> str:
    """Short name of a loss: what is in brackets on its axis."""
    return loss.axis.partition("(")[2].rstrip(")") or loss.axis


@dataclass(frozen=True)
class Dominance:
    """Exact statements about the releases of the methods on a data set."""

    # methods each of which dominates each of the others: betters every release of theirs
    dominates: list[tuple[list[str], list[str]]]
    # a method that meets every release of another, but only equals some
    covers: list[tuple[str, str, Relation]]
    equal: list[list[str]]  # methods whose best releases are the same


def dominance(fronts: Fronts, data: str) -> Dominance:
    """Find which methods dominate others, for those that are not dominated themselves."""
    relations = fronts.relations(data)
    below = {b for (_, b), found in relations.items() if found.kind in {"dominates", "covers"}}
    top = [method for method in fronts.points(data) if method not in below]
    by_beaten: dict[tuple[str, ...], list[str]] = {}
    covers: list[tuple[str, str, Relation]] = []
    equal: list[list[str]] = []
    for method in top:
        kinds = {b: found for (a, b), found in relations.items() if a == method}
        beaten = tuple(b for b, found in kinds.items() if found.kind == "dominates")
        if beaten:
            by_beaten.setdefault(beaten, []).append(method)
        covers += [(method, b, found) for b, found in kinds.items() if found.kind == "covers"]
        same = [b for b, found in kinds.items() if found.kind == "equal"]
        if same and not any(method in group for group in equal):
            equal.append([method, *same])
    return Dominance([(methods, list(beaten)) for beaten, methods in by_beaten.items()], covers, equal)


def dominance_short(fronts: Fronts, data: str) -> str:
    """Say in a sentence which methods dominate others."""
    found = dominance(fronts, data)
    parts = [
        f"{and_list(methods)} {'dominates' if len(methods) == 1 else 'each dominate'} {and_list(beaten)}"
        for methods, beaten in sorted(found.dominates, key=lambda entry: -len(entry[1]))
    ]
    parts += [f"{a} meets or betters every release of {b}" for a, b, _ in found.covers]
    parts += [f"the best releases of {and_list(group)} are the same" for group in found.equal]
    if len(parts) > _MOST_LISTED:
        parts = [*parts[: _MOST_LISTED - 1], "more under Who dominates"]
    if not parts and len(fronts.points(data)) > 1:
        parts = ["no method dominates another"]
    return f"By loss and risk, {'; '.join(parts)}." if parts else ""


def dominance_sentences(fronts: Fronts, data: str) -> list[str]:
    """State which methods dominate others, spelled out."""
    found = dominance(fronts, data)
    no_worse = f"that loses no more and {_no_riskier(fronts)}"
    out = []
    for methods, beaten in found.dominates:
        by = methods[0] if len(methods) == 1 else f"each of {and_list(methods)}"
        out.append(
            f"On {data}, for every release of {and_list(beaten)} there is one of {by} {no_worse}, and is "
            "better in one of the two."
        )
    for a, b, how in found.covers:
        equalled = how.b_of - how.b_beaten
        comparison = (
            f"{count(how.b_beaten)} of {count(how.b_of)} {are(how.b_beaten)} bettered in one of the two, "
            f"{count(equalled)} only equalled."
            if how.b_beaten
            else "none is bettered."
        )
        out.append(f"On {data}, for every release of {b} there is one of {a} {no_worse}; {comparison}")
    out += [f"On {data}, the best releases of {and_list(group)} are equal in both." for group in found.equal]
    if not out and len(fronts.points(data)) > 1:
        out.append(f"On {data} no method dominates another.")
    return out


def _no_riskier(fronts: Fronts) -> str:
    if fronts.risk.stem == "risk_chance":
        return "leaves no greater chance to pick the right row"
    return "puts no more rows at risk"


def proven(family: Family) -> str:
    """Say how many releases are proven to lose least; empty where nothing was proven."""
    rows = [row for row in family.done if row.get("gap") is not None]
    if not rows:
        return ""
    best = sum(row["gap"] == 0 for row in rows)
    methods = and_list(distinct(row["method"] for row in rows))
    least = f"proven optimal for {'its' if best == 1 < len(rows) else 'their'} model"
    if any(row.get("objective") for row in rows):
        least += ", each by the loss that it minimizes"
    if best == len(rows) > 1:
        return f"All {count(best, 'release')} of {methods} are {least}."
    text = f"Of the {count(len(rows), 'release')} of {methods}, {count(best)} {are(best)} {least}"
    if best == len(rows):
        return f"{text}."
    worst = max(row["gap"] for row in rows)
    return f"{text}; the gap of the others is at most {percent(worst)}."


def all_caveats(families: Sequence[Family]) -> list[str]:
    """List what a reader must keep in mind; what does not hold for all models of a study names its own."""
    notes: dict[str, list[Family]] = {}
    for family in families:
        for note in caveats(family):
            notes.setdefault(note, []).append(family)
    out = []
    if len(families) > 1:
        out.append(
            "The models of this study guarantee different things: each has sections of its own, and methods "
            "are compared only with those of the same section."
        )
    for note, of in notes.items():
        named = "" if len(of) == len(families) else f"{and_list([family.title for family in of])}: "
        out.append(f"{named}{note}")
    return out


def caveats(family: Family) -> list[str]:
    """List what a reader must keep in mind when comparing the methods of a family."""
    out = []
    models = family.models
    if len(models) > 1:
        by_model = [
            f"{title}: {and_list(distinct(row['method'] for row in family.rows if row['model'] == model))}"
            for model, title in zip(distinct(row["model"] for row in family.rows), models, strict=True)
        ]
        out.append(
            f"The methods guarantee different things ({'; '.join(by_model)}). The same k does not mean the "
            "same protection: only methods of the same model are compared at equal guarantee; loss against "
            "measured risk compares all."
        )
    size = known_items(family.done)
    if size:
        what = "1 item" if size == 1 else f"{size} items"
        known = f"{columns_known(family.done)}{what}"
        text = f"Risk is that of an attacker who knows {known} of a person, whatever was guaranteed."
        sampled = sum(row.get("risk_exact") is False for row in family.done)
        if sampled:
            text += f" In {count(sampled, 'run')} it was estimated from a sample of the rows."
        out.append(text)
        apart = sum(row.get("risk_m") not in (None, size) for row in family.done)
        if apart:
            out.append(
                f"{count(apart, 'run')} with another number of known items {are(apart)} omitted from risks."
            )
    loss = loss_of(family)
    if loss and any(loss.of(row) is None for row in family.done):
        out.append(f"Releases without a value of {loss.axis} are not compared.")
    out += repetitions(family.done)
    failed = sum(row["status"] != "done" for row in family.rows)
    if failed:
        out.append(f"{count(failed, 'run')} made no release, and cannot win or lose any comparison.")
    return out


def missing_counts(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    """Count the runs without a release by data set and method."""
    pairs = [(row["data"], row["method"]) for row in rows if row["status"] != "done"]
    return [(data, method, pairs.count((data, method))) for data, method in distinct(pairs)]


def status_text(status: str) -> str:
    """Say how a run ended, in words."""
    return STATUS.get(status, status)
