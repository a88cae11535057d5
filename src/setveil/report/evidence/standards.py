"""The sections of standards and laws: the facts and questions that answer each, and their limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from setveil.judges.guarantees import absent_items
from setveil.report.attack import FAILED
from setveil.report.evidence.facts import (
    AMONG_K_ROWS,
    EvidenceFact,
    EvidenceSources,
    attacks,
    before_and_after,
    chances,
    population,
    promise,
    provenance,
    release,
    rows,
    verdict,
)
from setveil.report.models import title, words_for

EU, US, ALL = "eu", "us", "all"
FRAMES = (EU, US, ALL)
EMA_THRESHOLD = 0.09
_Facts = Callable[[EvidenceSources], list[EvidenceFact]]

# The facts of a record, each once, by subject.
SUBJECTS: dict[str, tuple[_Facts, ...]] = {
    "Guarantee": (promise, verdict),
    "Risk": (chances, before_and_after, population),
    "Attacks": (attacks,),
    "Release": (rows, release),
    "Provenance": (provenance,),
}


@dataclass(frozen=True)
class StandardSection:
    """A section of a standard."""

    frame: str
    number: str
    heading: str
    parts: tuple[_Facts, ...]
    questions: tuple[str, ...] = ()
    note: Callable[[EvidenceSources], str] | None = None

    def facts(self, sources: EvidenceSources) -> list[EvidenceFact]:
        """Collect the facts that answer the section."""
        return [fact for part in self.parts for fact in part(sources)]


def sections(frame: str) -> list[StandardSection]:
    """List the sections of a frame: ISO/IEC 27559, with those of the European Union or the United States."""
    others = {EU: (*_WP216, *_EMA), US: (*_HIPAA, *_NIST), ALL: (*_WP216, *_EMA, *_HIPAA, *_NIST)}[frame]
    return [*_ISO, *others]


def questions_of(frame: str) -> set[str]:
    """Name the questions that the sections of a frame cite."""
    return {name for section in sections(frame) for name in section.questions}


# --- limits: what is met in part, or not at all


def uncovered(sources: EvidenceSources) -> str:
    """Say what the guarantee does not cover."""
    guarantee = sources.record["guarantee"]
    titles = [heading for heading, _ in words_for(guarantee).not_covered(guarantee)]
    return " ".join(
        ["The guarantee does not cover:", *titles, "Other data about the same people.", _absence(sources)]
    )


def _absence(sources: EvidenceSources) -> str:
    if absent_items(sources.record["guarantee"]):
        return (
            "The guarantee also covers an attacker who knows one item that a person does not have; the "
            "figures above do not."
        )
    return "Neither the guarantee nor the figures cover knowledge of items that a person does not have."


def tested(sources: EvidenceSources) -> str:
    """Say what a failed attack is worth."""
    return FAILED.replace("`", "")


def _sampled(sources: EvidenceSources) -> str:
    return "An estimate is no guarantee, and assumes a simple random sample."


def _bounded(sources: EvidenceSources, text: str) -> str:
    guarantee = sources.record["guarantee"]
    if "k" not in guarantee or guarantee["model"] not in {"km-anonymity", "km-rho", "k-anonymity"}:
        return f"{title(guarantee)} does not bound this."
    m = guarantee.get("m", "inf")
    return "Met in part: " + text.format(m="any number of" if m == "inf" else m, k=guarantee["k"]) + "."


def _inference(sources: EvidenceSources) -> str:
    guarantee = sources.record["guarantee"]
    if guarantee.get("rho") is not None:
        return (
            f"Met in part: published rows reveal the sensitive items with a probability of at most "
            f"{guarantee['rho']}. Inference of other items is not bounded."
        )
    name = "k^m-anonymity" if guarantee["model"] == "km-anonymity" else title(guarantee)
    return f"Not met: {name} does not bound inference."


def _ema(sources: EvidenceSources) -> str:
    guarantee = sources.record["guarantee"]
    k = guarantee.get("greatest_k") if guarantee["model"] in AMONG_K_ROWS else None
    here = f" Here it is 1/{k:,} = {1 / k:.4f} for published items." if k else ""
    return f"The guidance names a risk of at most {EMA_THRESHOLD} per record for public data.{here}"


_SINGLED = "no set of up to {m} published labels singles out a person"
_LINKED = (
    "two halves of a person's row, of up to {m} items each, are linked with a probability of at most 1/{k} "
    "within this release"
)

_WP, _NIST_NAME, _HIPAA_NAME = "WP216", "NIST SP 800-188", "HIPAA 164.514(b)(1)"
_iso = partial(StandardSection, "ISO/IEC 27559")
_ISO = (
    _iso("6.2", "Threat modelling", (promise,), ("attackers", "other_data")),
    _iso("7.3.2", "Maximum or average risk", (chances,), ("threshold",)),
    _iso("7.3.3", "Population or sample", (rows, population), ("population",), _sampled),
    _iso("7.3.4", "Privacy models", (promise, verdict), ("parameters",)),
    _iso("8.2.2", "Quantifying identifiability", (before_and_after,)),
    _iso("8.2.3", "Adversarial testing", (attacks,), ("attacked_by",)),
    _iso("8.3", "Mitigation", (release,), ("contract", "access")),
    _iso("9", "Governance", (provenance,), ("owner", "review", "incident")),
)
_WP216 = (
    StandardSection(
        _WP, "", "Singling out", (partial(attacks, kind="singling out"),), ("singling_out",),
        partial(_bounded, text=_SINGLED),
    ),
    StandardSection(
        _WP, "", "Linkability", (partial(attacks, kind="linkability"),), ("linkability",),
        partial(_bounded, text=_LINKED),
    ),
    StandardSection(_WP, "", "Inference", (partial(attacks, kind="inference"),), ("inference",), _inference),
)  # fmt: skip
_EMA = (
    StandardSection(
        "EMA Policy 0070",
        "",
        "Method, and quantified risk",
        (release, verdict, chances),
        ("utility_for",),
        _ema,
    ),
)  # fmt: skip
_HIPAA = (
    StandardSection(
        _HIPAA_NAME, "", "Expert determination: methods and results", (promise, verdict, release, chances),
        ("expert", "very_small"),
    ),
)  # fmt: skip
_NIST = (
    StandardSection(
        _NIST_NAME, "", "Parameters, files, tests and limits", (promise, verdict, provenance, attacks),
        ("decision", "board"),
    ),
)  # fmt: skip
