"""Write the compliance record of a release: facts, questions, and the standards that ask for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import (
    DataError,
    OutputError,
    RequestError,
    described,
    did_you_mean,
    shorten,
    unreadable,
)
from setveil.base.plain_json import read_json, read_toml
from setveil.base.staging import write_page
from setveil.commands.arguments import is_path, path_of, published_rows
from setveil.commands.refusals import of_single_rows
from setveil.commands.risk import share_of
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.attacker.population import CONFIDENCE, fraction_risk
from setveil.releases.published import kind_at
from setveil.releases.recipients import CERTIFICATE
from setveil.report.evidence.facts import EvidenceSources
from setveil.report.evidence.page import LONGEST, evidence_html, record_as_data
from setveil.report.evidence.questions import QUESTIONS, prefilled
from setveil.report.evidence.standards import ALL, FRAMES, StandardSection, sections
from setveil.report.record import Record, read_record
from setveil.rows.data.transactions import Transactions
from setveil.runs.run import VerifiedRelease


def evidence(
    run: str | PathLike[str] | VerifiedRelease,
    *,
    out: str | PathLike[str] | None = None,
    attack: str | PathLike[str] | Mapping[str, Any] | None = None,
    fraction: float | str | Fraction | None = None,
    frame: str = ALL,
    answers: str | PathLike[str] | Mapping[str, str] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Collect the facts about a release once, and cite them for each standard that asks for them.

    ISO/IEC 27559, WP216, EMA Policy 0070, HIPAA's expert determination and NIST SP 800-188. Questions that
    only people can answer stay open; the run's `responsible`, `recipient` and `review` answer three. Nothing
    claims conformity.

    Parameters
    ----------
    run : path or VerifiedRelease
        The folder of a run, or the result of `setveil.anonymize`.
    out : path, optional
        Also write a page (.html), which prints to A4. It is internal: never share it.
    attack : path or dict, optional
        The output of ``setveil attack --json``, or the result of `setveil.attack`.
    fraction : float, optional
        The share of a population in the rows, above 0 and at most 1. It adds an estimate of how often the
        only match is the right person.
    frame : {"all", "eu", "us"}
        Which standards are cited next to ISO/IEC 27559: all, or those of the European Union or the
        United States.
    answers : path or dict, optional
        A TOML file of ``field = "text"``, or a dict, with answers to questions.
    force : bool
        Replace the page.

    Returns
    -------
    dict
        `sections`, each with its `facts` (`what`, `text`, `value`, `source`: a path in report.json, or a
        command), `note` and `fields`; `limits`; `open`, the questions without an answer.

    Raises
    ------
    RequestError
        If an argument is out of range, or an answer is to no question.
    DataError
        If there is no record of a run, or a file cannot be read.
    OutputError
        If the page cannot be written there.

    Examples
    --------
    >>> import setveil as sv
    >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], k=2, m=1)
    >>> found = sv.evidence(release, frame="eu", answers={"owner": "The data office"})
    >>> found["sections"][0]["frame"], found["open"][0]["field"]
    ('ISO/IEC 27559', 'attackers')
    """
    place = None if out is None else page_place(path_of("out", out), force=force)
    sources, wanted, said = gathered(run, attack, fraction, frame, answers)
    if place is not None:
        write_page(place, evidence_html(sources, wanted, said))
    return record_as_data(sources, wanted, said)


def gathered(
    run: Any, attack: Any, fraction: Any, frame: str, answers: Any
) -> tuple[EvidenceSources, list[StandardSection], dict[str, str]]:
    """Collect everything that a page is made from: its sources, its sections, and the answers."""
    if frame not in FRAMES:
        raise RequestError(
            f"--frame must be eu, us or all, got {described(frame)}.", hint=did_you_mean(str(frame), FRAMES)
        )
    share = share_of(fraction)
    wanted = sections(frame)
    said = _answers(answers)
    files: dict[str, str] = {}
    certificate = None
    if isinstance(run, VerifiedRelease):
        record, rows = run.report, run.release.exposed()
    else:
        folder = path_of("run", run)
        record = _record(folder)
        files, certificate = _hashes(folder / "published"), _certificate(folder, record)
        rows = None if share is None else kind_at(str(folder)).read(str(folder), published_rows)
    population = None
    if share is not None:
        if type(rows) is not Transactions:
            raise of_single_rows("fraction")
        ms = sorted({entry["m"] for entry in _measured(record)} or {1, 2, 3})
        entries = fraction_risk(knowledge_of(rows, ()), share, ms)
        population = {"fraction": float(share), "confidence": CONFIDENCE, "entries": entries}
    return (
        EvidenceSources(record, _attack(attack), population, files, certificate),
        wanted,
        prefilled(record) | said,
    )


def page_place(out: Path, *, force: bool) -> Path:
    """Refuse a name that is not a page, a page that exists, and a place in a published folder."""
    if out.suffix.lower() not in {".html", ".htm"}:
        raise RequestError(f"--out must name a page such as evidence.html, got {out}.")
    if (out.absolute().parent / "about.json").is_file():
        raise OutputError(
            f"{out} is in a published folder, but the page contains figures of the original.",
            hint="Write it to the run's internal/.",
        )
    if out.exists() and (not force or out.is_dir()):
        raise OutputError(f"{out} exists already.", hint="Choose another name, or --force.")
    return out


def _record(folder: Path) -> Record:
    for place in (folder / "internal" / "report.json", folder / "report.json"):
        if place.is_file():
            return read_record(place)
    raise DataError(
        f"There is no internal/report.json in {folder}: nothing says how the release was made.",
        hint="Name the whole folder that `setveil anonymize` wrote, not its published/.",
    )


def _measured(record: Record) -> list[Any]:
    risk: Any = record.get("risk")
    return list(risk["after"]["risk"]) if risk else []


def _hashes(published: Path) -> dict[str, str]:
    """Hash what is published."""
    found = {}
    for path in sorted(published.rglob("*")) if published.is_dir() else ():
        if path.is_file():
            with path.open("rb") as file:
                found[path.relative_to(published).as_posix()] = hashlib.file_digest(
                    file, "sha256"
                ).hexdigest()
    return found


def _certificate(folder: Path, record: Record) -> dict[str, int] | None:
    """Read the certificate that `setveil certify` put next to the record, which says nothing of it."""
    file = folder / "internal" / CERTIFICATE
    if "certificate" in record or not file.is_file():
        return None
    try:
        found = read_json(file.read_bytes())
        figures = {key: found[key] for key in ("loss", "bound")}
        same = all(found[key] == record["guarantee"][key] for key in ("k", "m"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{file} cannot be read: {type(error).__name__}.", hint="Make it again: setveil certify RUN."
        ) from None
    if not same or not all(type(number) is int for number in figures.values()):
        raise DataError(f"{file} is no certificate of this run.", hint="Make it again: setveil certify RUN.")
    return figures


def _attack(attack: Any) -> Mapping[str, Any] | None:
    if attack is None:
        return None
    where = "The attacks"
    if is_path(attack):
        where = str(attack)
        try:
            attack = read_json(Path(attack).read_bytes())
        except (OSError, ValueError) as error:
            raise unreadable(where, "cannot be read", error) from None
    try:
        for entry in attack["attacks"]:
            sides = [entry[side][key] for side in ("train", "control") for key in ("attempts", "successes")]
            if not all(type(number) is int for number in sides) or not isinstance(entry["kind"], str):
                raise TypeError
            if entry["allowed"] is not None:
                float(entry["allowed"])
            if entry["m"] is not None and type(entry["m"]) is not int:
                raise TypeError
            if entry["leak"] not in (True, False, None):
                raise TypeError
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{where} is not what `setveil attack --json` prints.",
            hint="setveil attack ... --json > attack.json",
        ) from None
    found: Mapping[str, Any] = attack
    return found


def _answers(answers: Any) -> dict[str, str]:
    """Read the answers; answers to questions of other standards are accepted."""
    if answers is None:
        return {}
    where = "The answers"
    if is_path(answers):
        where = str(answers)
        try:
            answers = read_toml(Path(answers).read_bytes().decode("utf-8-sig"))
        except (OSError, ValueError) as error:
            raise unreadable(
                where, "cannot be read", error, 'Lines such as owner = "The data office".'
            ) from None
    if not isinstance(answers, Mapping):
        raise RequestError(f"The answers must be a file or a dict, got {described(answers)}.")
    known = list(QUESTIONS)
    for name, text in answers.items():
        if name not in known:
            raise RequestError(
                f"{where}: there is no question {shorten(str(name))}.",
                hint=did_you_mean(str(name), known, f"There are {', '.join(known)}."),
            )
        if not isinstance(text, str) or len(text) > LONGEST:
            raise RequestError(
                f"{where}: {name} must be a text of at most {LONGEST:,} characters, got "
                f"{shorten(json.dumps(text, default=str))}."
            )
    return {name: text.strip() for name, text in answers.items() if text.strip()}
