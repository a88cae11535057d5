"""The sections of the officer's file: their headings, what the record says, and what only people can say.

A *fact* names the place in the record that it is from, so that it can be looked up. A *field* is a question
that stays open until somebody answers it; none has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from setveil.guarantees import absent_items
from setveil.report import words
from setveil.report.attack import FAILED
from setveil.report.models import check, title, words_for
from setveil.report.record import Attack, Record
from setveil.report.run.kinds import promised
from setveil.wording import count

EU, US, ALL = "eu", "us", "all"
FRAMES = (EU, US, ALL)
EMA_THRESHOLD = 0.09
# Where no known items leave fewer than k published rows, unless they leave none.
AMONG_K_ROWS = {"km-anonymity", "km-rho", "k-anonymity", "kkm", "mixed-km"}


@dataclass(frozen=True)
class Fact:
    """A figure or a word of the record."""

    what: str
    text: str  # as it is shown
    value: Any  # as the record has it
    source: str  # where: a path in report.json, or a command


@dataclass(frozen=True)
class Field:
    """A question that only people can answer."""

    name: str
    question: str


@dataclass(frozen=True)
class Sources:
    """What sections are made from."""

    record: Record
    attack: Mapping[str, Any] | None  # what `setveil attack --json` printed
    population: Mapping[str, Any] | None  # `fraction` and `entries` by m
    files: Mapping[str, str]  # SHA-256 of what is published
    certificate: Mapping[str, int] | None = None  # `loss` and `bound` of one that was made after the run


@dataclass(frozen=True)
class Section:
    """A section of a frame."""

    frame: str
    number: str
    heading: str
    facts: Callable[[Sources], list[Fact]]
    fields: tuple[Field, ...] = ()
    note: Callable[[Sources], str] | None = None  # what is met in part, or not at all


def sections(frame: str) -> list[Section]:
    """List the sections of a frame: ISO/IEC 27559 and those of the European Union, of the United States."""
    others = {EU: (*_WP216, *_EMA), US: (*_HIPAA, *_NIST), ALL: (*_WP216, *_EMA, *_HIPAA, *_NIST)}[frame]
    return [*_ISO, *others]


# --- facts


def _promise(told: Sources) -> list[Fact]:
    guarantee = told.record["guarantee"]
    facts = [Fact("Promise", promised(told.record), guarantee["model"], "guarantee.model")]
    return facts + [
        Fact(name, str(guarantee.get(name)), guarantee.get(name), f"guarantee.{name}")
        for name in words_for(guarantee).parameters
        if isinstance(guarantee.get(name), int | float | str)
    ]


def _verdict(told: Sources) -> list[Fact]:
    guarantee = told.record["guarantee"]
    facts = [Fact("Verified", check(guarantee), guarantee["holds"], "guarantee.holds")]
    k = guarantee.get("greatest_k") if guarantee["model"] in AMONG_K_ROWS else None
    if k is not None:
        facts.append(Fact("Fewest rows of a known set", f"{k:,}", k, "guarantee.greatest_k"))
    return facts


def _chances(told: Sources) -> list[Fact]:
    facts = []
    for at, entry in enumerate(_risks(told.record, "after")):
        where, known = f"risk.after.risk.{at}", f"{count(entry['m'], 'item')} known"
        if entry["choice"] == "best" and entry.get("fewest"):
            fewest = int(entry.get("fewest") or 1)
            facts.append(
                Fact(f"Greatest chance (prosecutor), {known}", f"1 in {fewest:,}", fewest, f"{where}.fewest")
            )
        elif entry["choice"] == "random":
            mean = words.percent(entry["probability"])
            facts.append(
                Fact(f"Mean chance (marketer), {known}", mean, entry["probability"], f"{where}.probability")
            )
    if told.record["guarantee"]["model"] not in AMONG_K_ROWS:
        return facts or [Fact("Risk", "not measured for this promise", None, "")]
    return facts or [_missing("Risk", "setveil anonymize without --no-details measures it")]


def _population(told: Sources) -> list[Fact]:
    if told.population is None:
        return [_missing("Worth of a match to a stranger", "setveil evidence --fraction SHARE estimates it")]
    source = "setveil risk --fraction"
    share = told.population["fraction"]
    facts = [Fact("Share of the population", words.percent(share), share, source)]
    for entry in told.population["entries"]:
        what = f"A stranger's only match is right, {count(entry['m'], 'item')} known (estimate)"
        text = "no m items fit a single row"
        if entry["estimate"] is not None:
            low, high = (words.percent(end) for end in entry["interval"])
            text = f"{words.percent(entry['estimate'])} ({low} to {high})"
        facts.append(Fact(what, text, entry["estimate"], source))
    return facts


def _before_and_after(told: Sources) -> list[Fact]:
    facts = []
    for side, name in (("before", "in the original"), ("after", "in the release")):
        for at, entry in enumerate(_risks(told.record, side)):
            if entry["choice"] == "best" and "2" in entry["rows_below"]:
                rows = entry["rows_below"]["2"]
                known = f"{count(entry['m'], 'item')} known"
                number = f"{'' if entry['exact'] else 'about '}{count(round(rows))}"
                facts.append(
                    Fact(
                        f"Rows found alone {name}, {known}",
                        number,
                        rows,
                        f"risk.{side}.risk.{at}.rows_below.2",
                    )
                )
    if told.record["guarantee"]["model"] not in AMONG_K_ROWS:
        return facts or [Fact("Risk", "not measured for this promise", None, "")]
    return facts or [_missing("Risk", "setveil anonymize without --no-details measures it")]


def _attacks(told: Sources, *kinds: str) -> list[Fact]:
    if told.attack is None:
        return [_missing("Attacks", "setveil attack --json, then setveil evidence --attack FILE")]
    facts = []
    for at, entry in enumerate(told.attack["attacks"]):
        if kinds and entry["kind"] not in kinds:
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
            Fact(
                f"{entry['kind'].capitalize()}, {known} known", text, train["successes"],
                f"attack: attacks.{at}.train.successes",
            )
        )  # fmt: skip
    return facts


def _release(told: Sources) -> list[Fact]:
    record = told.record
    utility: Mapping[str, Any] = record["utility"]
    facts = [
        Fact("Method", record["algorithm"]["title"], record["algorithm"]["title"], "algorithm.title"),
        Fact("Recoding", record["recoding"], record["recoding"], "recoding"),
    ]
    for name, what in (("lm", "Loss (LM)"), ("ncp", "Loss (NCP)")):
        if isinstance(utility.get(name), float):
            facts.append(Fact(what, words.measure(utility[name]), utility[name], f"utility.{name}"))
    for name, what in (
        ("unchanged_occurrences", "Occurrences unchanged"),
        ("generalized_occurrences", "Occurrences generalized"),
        ("suppressed_occurrences", "Occurrences left out"),
    ):
        if name in utility:
            facts.append(Fact(what, f"{utility[name]:,}", utility[name], f"utility.{name}"))
    found = record.get("optimality")
    if found and "proven" in found:
        text = "yes" if found["proven"] else "no"
        facts.append(Fact("The least loss of its model, proven", text, found["proven"], "optimality.proven"))
    certificate: Any = record.get("certificate") or told.certificate
    if isinstance(certificate, Mapping) and "bound" in certificate:
        source = "certificate." if "certificate" in record else "internal/certificate.json: "
        for key, what in (("loss", "loss of the release"), ("bound", "none of its model loses less than")):
            number = certificate[key]
            facts.append(Fact(f"Certificate, in its units: {what}", f"{number:,}", number, f"{source}{key}"))
    return facts


def _made(told: Sources) -> list[Fact]:
    record, facts = told.record, []
    facts.append(Fact("setveil", record["setveil"], record["setveil"], "setveil"))
    for name, version in sorted((record.get("versions") or {}).items()):
        facts.append(Fact(name, version, version, f"versions.{name}"))
    for key, what in (("input", "Original"), ("hierarchy", "Hierarchy")):
        part: Any = record.get(key)
        if part and part.get("sha256"):
            facts.append(Fact(f"{what}, SHA-256", part["sha256"], part["sha256"], f"{key}.sha256"))
    facts += [Fact(f"{name}, SHA-256", digest, digest, "sha256sum") for name, digest in told.files.items()]
    if "command" in record:
        facts.append(Fact("Command", record["command"], record["command"], "command"))
    facts.append(Fact("Seed", str(record["seed"]), record["seed"], "seed"))
    said: Mapping[str, Any] = record.get("about") or {}
    facts += [Fact(name.capitalize(), str(said[name]), said[name], f"about.{name}") for name in said]
    return facts


def _rows(told: Sources) -> list[Fact]:
    record = told.record
    facts = [
        Fact("Rows of the original", f"{record['input']['rows']:,}", record["input"]["rows"], "input.rows")
    ]
    published = record.get("published")
    if published:
        facts.append(Fact("Rows published", f"{published['rows']:,}", published["rows"], "published.rows"))
    if "sample" in record:
        of = record["sample"]["of"]
        facts.append(Fact("Drawn from rows", f"{of:,}", of, "sample.of"))
    return facts


def _missing(what: str, command: str) -> Fact:
    return Fact(what, f"not measured: {command}", None, "")


def _risks(record: Record, side: str) -> list[Attack]:
    risk: Any = record.get("risk")
    return risk[side]["risk"] if risk else []


# --- notes


def _uncovered(told: Sources) -> str:
    lines = words_for(told.record["guarantee"]).not_covered(told.record["guarantee"])
    named = [title for title, _ in lines]
    return " ".join(
        [
            "Not covered by the promise:",
            *named,
            "What else is known from the row, what a person does not have, and other files about the same "
            "people.",
        ]
    )


def _absence(told: Sources) -> str:
    if absent_items(told.record["guarantee"]):
        return (
            "The promise is also about one item that a person is known not to have; these figures are not. "
            "Knowledge of two such items, or that nothing of a label's kind is there, is in neither. With "
            "more than one release about the same people, neither holds for all of them together."
        )
    return (
        "Knowledge of what a person does not have is not in these figures, nor in the promise. With more "
        "than one release about the same people, neither holds for all of them together."
    )


def _tested(told: Sources) -> str:
    return FAILED.replace("`", "")


def _strangers(told: Sources) -> str:
    return (
        "An estimate is no promise. It assumes a simple random sample of known share; a hospital's patients "
        "are no random sample of a town."
    )


def _singling_out(told: Sources) -> str:
    return _bounded(told, "sets of up to {m} published labels single out nobody; with more, somebody may be")


def _linkability(told: Sources) -> str:
    return _bounded(
        told,
        "two halves of a person, of up to {m} items each, are linked with a chance of at most 1/{k}. That is "
        "said of this release alone, not of linking it with other data",
    )


def _bounded(told: Sources, text: str) -> str:
    guarantee = told.record["guarantee"]
    if "k" not in guarantee or guarantee["model"] not in {"km-anonymity", "km-rho", "k-anonymity"}:
        return f"{title(guarantee)} does not bound this by itself; see what is promised above."
    m = guarantee.get("m", "inf")
    return "Met in part: " + text.format(m="any number of" if m == "inf" else m, k=guarantee["k"]) + "."


def _inference(told: Sources) -> str:
    guarantee = told.record["guarantee"]
    if guarantee.get("rho") is not None:
        return (
            f"Met in part: of the sensitive items that were named, published rows tell with a chance of "
            f"at most {guarantee['rho']}. Inference of other items is not bounded."
        )
    name = "k^m-anonymity" if guarantee["model"] == "km-anonymity" else title(guarantee)
    return f"Not met: {name} does not bound inference."


def _ema_note(told: Sources) -> str:
    guarantee = told.record["guarantee"]
    k = guarantee.get("greatest_k") if guarantee["model"] in AMONG_K_ROWS else None
    beside = f" In this release it is 1/{k:,} = {1 / k:.4f} within the promise." if k else ""
    return (
        f"The policy's guidance names a greatest risk of {EMA_THRESHOLD} per record where data are made "
        f"public.{beside} It is about all that may identify somebody, the release about its items."
    )


def _hipaa_note(told: Sources) -> str:
    return (
        "Whether the risk is very small must be determined by somebody with knowledge and experience; "
        "nothing here determines it."
    )


def _limits(told: Sources) -> str:
    return f"{_uncovered(told)} {_tested(told)}"


def _both(*parts: Callable[[Sources], list[Fact]]) -> Callable[[Sources], list[Fact]]:
    return lambda told: [fact for part in parts for fact in part(told)]


def _by(*kinds: str) -> Callable[[Sources], list[Fact]]:
    return lambda told: _attacks(told, *kinds)


_ISO_NAME, _WP_NAME, _NIST_NAME = "ISO/IEC 27559", "WP216", "NIST SP 800-188"
_ISO = (
    Section(
        _ISO_NAME, "6.2", "Threat modelling", _promise,
        (
            Field("attackers", "Who might try to identify somebody in these rows, and why?"),
            Field("other_data", "Which other data may they have?"),
        ),
    ),
    Section(
        _ISO_NAME, "7.3.2", "Maximum or average risk", _chances,
        (Field("threshold", "Which risk is acceptable, the greatest or the mean, and why?"),),
    ),
    Section(
        _ISO_NAME, "7.3.3", "Population or sample", _both(_rows, _population),
        (Field("population", "Of which population are the rows, what share, and how were they drawn?"),),
        _strangers,
    ),
    Section(
        _ISO_NAME, "7.3.4", "Privacy models", _both(_promise, _verdict),
        (Field("parameters", "Why these parameters of the promise, and not stronger ones?"),), _uncovered,
    ),
    Section(_ISO_NAME, "8.2.2", "Quantifying identifiability", _before_and_after, (), _absence),
    Section(
        _ISO_NAME, "8.2.3", "Adversarial testing", _by(),
        (Field("attacked_by", "Who attacked the release, with which means, and what was found?"),), _tested,
    ),
    Section(
        _ISO_NAME, "8.3", "Mitigation", _release,
        (
            Field("contract", "Which contract or licence binds the recipients?"),
            Field("access", "Who gets access, where, and for how long?"),
        ),
    ),
    Section(
        _ISO_NAME, "9", "Governance", _made,
        (
            Field("owner", "Who is responsible for the release?"),
            Field("review", "When is it reviewed, and what would change the decision?"),
            Field("incident", "What is done if somebody is identified?"),
        ),
    ),
)  # fmt: skip
_WP216 = (
    Section(
        _WP_NAME, "", "Singling out", _by("singling out"),
        (Field("singling_out", "Is singling out reasonably likely here? Your judgement, and why."),),
        _singling_out,
    ),
    Section(
        _WP_NAME, "", "Linkability", _by("linkability"),
        (Field("linkability", "Is linking records reasonably likely here? Your judgement, and why."),),
        _linkability,
    ),
    Section(
        _WP_NAME, "", "Inference", _by("inference"),
        (Field("inference", "Is inference about somebody reasonably likely here? Your judgement, and why."),),
        _inference,
    ),
)  # fmt: skip
_EMA = (
    Section(
        "EMA Policy 0070", "", "Method, and quantified risk", _both(_release, _verdict, _chances),
        (Field("utility_for", "For whom, and for which analyses, are the data useful enough?"),), _ema_note,
    ),
)  # fmt: skip
_HIPAA = (
    Section(
        "HIPAA 164.514(b)(1)", "", "Expert determination: methods and results",
        _both(_promise, _verdict, _release, _chances),
        (
            Field("expert", "Who determined it: name, knowledge and experience?"),
            Field("very_small", "Is the risk very small that a recipient identifies somebody, and why?"),
        ),
        _hipaa_note,
    ),
)  # fmt: skip
_NIST = (
    Section(
        _NIST_NAME, "", "Parameters, files, tests and limits", _both(_promise, _verdict, _made, _by()),
        (
            Field("decision", "What was decided about the release, and on which grounds?"),
            Field("board", "Which disclosure review board approved it, and when?"),
        ),
        _limits,
    ),
)  # fmt: skip
