"""The facts of a compliance record: figures and words of a run's record, each with its place there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setveil.base.wording import count
from setveil.report import words
from setveil.report.models import check, words_for
from setveil.report.record import Attack, Record
from setveil.report.run.kinds import promised

# The guarantees whose known sets are in k published rows or in none.
AMONG_K_ROWS = {"km-anonymity", "km-rho", "k-anonymity", "kkm", "mixed-km"}


@dataclass(frozen=True)
class EvidenceFact:
    """A figure or a word of the record."""

    what: str
    text: str  # as it is shown
    value: Any  # as the record has it
    source: str  # where: a path in report.json, or a command


@dataclass(frozen=True)
class EvidenceSources:
    """Everything that facts are read from."""

    record: Record
    attack: Mapping[str, Any] | None  # the output of `setveil attack --json`
    population: Mapping[str, Any] | None  # `fraction` and `entries` by m
    files: Mapping[str, str]  # SHA-256 of the published files
    certificate: Mapping[str, int] | None = None  # `loss` and `bound` of one that was made after the run


def promise(sources: EvidenceSources) -> list[EvidenceFact]:
    """Name the guarantee and its parameters."""
    guarantee = sources.record["guarantee"]
    facts = [EvidenceFact("Guarantee", promised(sources.record), guarantee["model"], "guarantee.model")]
    return facts + [
        EvidenceFact(name, str(guarantee.get(name)), guarantee.get(name), f"guarantee.{name}")
        for name in words_for(guarantee).parameters
        if isinstance(guarantee.get(name), int | float | str)
    ]


def verdict(sources: EvidenceSources) -> list[EvidenceFact]:
    """Say what was verified."""
    guarantee = sources.record["guarantee"]
    facts = [EvidenceFact("Verified", check(guarantee), guarantee["holds"], "guarantee.holds")]
    k = guarantee.get("greatest_k") if guarantee["model"] in AMONG_K_ROWS else None
    if k is not None:
        facts.append(EvidenceFact("Fewest rows of a known set", f"{k:,}", k, "guarantee.greatest_k"))
    return facts


def chances(sources: EvidenceSources) -> list[EvidenceFact]:
    """Report the chances of an attacker who knows m items."""
    facts = []
    for at, entry in enumerate(_risks(sources.record, "after")):
        where, known = f"risk.after.risk.{at}", f"{count(entry['m'], 'item')} known"
        if entry["choice"] == "best" and entry.get("fewest"):
            fewest = int(entry.get("fewest") or 1)
            facts.append(
                EvidenceFact(
                    f"Greatest chance (prosecutor), {known}", f"1 in {fewest:,}", fewest, f"{where}.fewest"
                )
            )
        elif entry["choice"] == "random":
            mean = words.percent(entry["probability"])
            facts.append(
                EvidenceFact(
                    f"Mean chance (marketer), {known}", mean, entry["probability"], f"{where}.probability"
                )
            )
    if sources.record["guarantee"]["model"] not in AMONG_K_ROWS:
        return facts or [EvidenceFact("Risk", "not measured for this guarantee", None, "")]
    return facts or [_missing("Risk", "setveil anonymize without --no-details measures it")]


def population(sources: EvidenceSources) -> list[EvidenceFact]:
    """Estimate the chances of an attacker who only knows the population."""
    if sources.population is None:
        return [_missing("Population", "setveil evidence --fraction SHARE estimates it")]
    source = "setveil risk --fraction"
    share = sources.population["fraction"]
    facts = [EvidenceFact("Share of the population", words.percent(share), share, source)]
    for entry in sources.population["entries"]:
        what = f"An attacker's only match is right, {count(entry['m'], 'item')} known (estimate)"
        text = "no m items fit a single row"
        if entry["estimate"] is not None:
            low, high = (words.percent(end) for end in entry["interval"])
            text = f"{words.percent(entry['estimate'])} ({low} to {high})"
        facts.append(EvidenceFact(what, text, entry["estimate"], source))
    return facts


def before_and_after(sources: EvidenceSources) -> list[EvidenceFact]:
    """Count unique rows in the original and in the release."""
    facts = []
    for side, name in (("before", "in the original"), ("after", "in the release")):
        for at, entry in enumerate(_risks(sources.record, side)):
            if entry["choice"] == "best" and "2" in entry["rows_below"]:
                rows = entry["rows_below"]["2"]
                known = f"{count(entry['m'], 'item')} known"
                number = f"{'' if entry['exact'] else 'about '}{count(round(rows))}"
                facts.append(
                    EvidenceFact(
                        f"Unique rows {name}, {known}",
                        number,
                        rows,
                        f"risk.{side}.risk.{at}.rows_below.2",
                    )
                )
    if sources.record["guarantee"]["model"] not in AMONG_K_ROWS:
        return facts or [EvidenceFact("Risk", "not measured for this guarantee", None, "")]
    return facts or [_missing("Risk", "setveil anonymize without --no-details measures it")]


def attacks(sources: EvidenceSources, kind: str = "") -> list[EvidenceFact]:
    """Report the attacks that were tried, of one kind or all."""
    if sources.attack is None:
        return [_missing("Attacks", "setveil attack --json, then setveil evidence --attack FILE")]
    facts = []
    for at, entry in enumerate(sources.attack["attacks"]):
        if kind and entry["kind"] != kind:
            continue
        train, control = entry["train"], entry["control"]
        verdict = {True: "LEAK", False: "no leak", None: "not judged"}[entry["leak"]]
        allowed = "" if entry["allowed"] is None else f", {words.percent(entry['allowed'])} allowed"
        known = "the whole row" if entry["m"] is None else count(entry["m"], "item")
        text = (
            f"{train['successes']:,} of {train['attempts']:,} succeed, {control['successes']:,} of "
            f"{control['attempts']:,} in control{allowed}: {verdict}"
        )
        facts.append(
            EvidenceFact(
                f"{entry['kind'].capitalize()}, {known} known", text, train["successes"],
                f"attack: attacks.{at}.train.successes",
            )
        )  # fmt: skip
    return facts


def release(sources: EvidenceSources) -> list[EvidenceFact]:
    """Say how the release was made and the information loss."""
    record = sources.record
    utility: Mapping[str, Any] = record["utility"]
    facts = [
        EvidenceFact("Method", record["algorithm"]["title"], record["algorithm"]["title"], "algorithm.title"),
        EvidenceFact("Recoding", record["recoding"], record["recoding"], "recoding"),
    ]
    for name, what in (("lm", "Loss (LM)"), ("ncp", "Loss (NCP)")):
        if isinstance(utility.get(name), float):
            facts.append(EvidenceFact(what, words.measure(utility[name]), utility[name], f"utility.{name}"))
    for name, what in (
        ("unchanged_occurrences", "Occurrences unchanged"),
        ("generalized_occurrences", "Occurrences generalized"),
        ("suppressed_occurrences", "Occurrences suppressed"),
    ):
        if name in utility:
            facts.append(EvidenceFact(what, f"{utility[name]:,}", utility[name], f"utility.{name}"))
    found = record.get("optimality")
    if found and "proven" in found:
        text = "yes" if found["proven"] else "no"
        facts.append(
            EvidenceFact("Least loss for this guarantee, proven", text, found["proven"], "optimality.proven")
        )
    certificate: Any = record.get("certificate") or sources.certificate
    if isinstance(certificate, Mapping) and "bound" in certificate:
        source = "certificate." if "certificate" in record else "internal/certificate.json: "
        for key, what in (
            ("loss", "loss of the release"),
            ("bound", "no release loses less than"),
        ):
            number = certificate[key]
            facts.append(
                EvidenceFact(f"Certificate, in its units: {what}", f"{number:,}", number, f"{source}{key}")
            )
    return facts


def provenance(sources: EvidenceSources) -> list[EvidenceFact]:
    """List versions, hashes, the command, and what was said of the release."""
    record, facts = sources.record, []
    facts.append(EvidenceFact("setveil", record["setveil"], record["setveil"], "setveil"))
    for name, version in sorted((record.get("versions") or {}).items()):
        facts.append(EvidenceFact(name, version, version, f"versions.{name}"))
    for key, what in (("input", "Original"), ("hierarchy", "Hierarchy")):
        part: Any = record.get(key)
        if part and part.get("sha256"):
            facts.append(EvidenceFact(f"{what}, SHA-256", part["sha256"], part["sha256"], f"{key}.sha256"))
    facts += [
        EvidenceFact(f"{name}, SHA-256", digest, digest, "sha256sum")
        for name, digest in sources.files.items()
    ]
    if "command" in record:
        facts.append(EvidenceFact("Command", record["command"], record["command"], "command"))
    facts.append(EvidenceFact("Seed", str(record["seed"]), record["seed"], "seed"))
    said: Mapping[str, Any] = record.get("about") or {}
    facts += [
        EvidenceFact(name.replace("_", " ").capitalize(), str(said[name]), said[name], f"about.{name}")
        for name in said
    ]
    return facts


def rows(sources: EvidenceSources) -> list[EvidenceFact]:
    """Count the rows."""
    record = sources.record
    facts = [
        EvidenceFact(
            "Rows of the original", f"{record['input']['rows']:,}", record["input"]["rows"], "input.rows"
        )
    ]
    published = record.get("published")
    if published:
        facts.append(
            EvidenceFact("Rows published", f"{published['rows']:,}", published["rows"], "published.rows")
        )
    if "sample" in record:
        of = record["sample"]["of"]
        facts.append(EvidenceFact("Drawn from rows", f"{of:,}", of, "sample.of"))
    return facts


def _missing(what: str, command: str) -> EvidenceFact:
    return EvidenceFact(what, f"not measured: {command}", None, "")


def _risks(record: Record, side: str) -> list[Attack]:
    risk: Any = record.get("risk")
    return risk[side]["risk"] if risk else []
