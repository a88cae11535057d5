"""The command ``evidence``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import ABOUT, ANSWER, ATTACKER, OUTPUT, Force, argument, choice, flag, option
from setveil.cli.session import Answer


def evidence(
    progress: Any,
    run: str = argument("RUN", "The folder of a run."),
    out: Path = option(OUTPUT, "The page to write (.html), which stays inside.", "FILE", "-o", default=...),
    attack: Path | None = option(
        ATTACKER, "What `setveil attack --json` printed.", "FILE", "--attack"
    ),
    fraction: str | None = option(
        ATTACKER, "The share of a population that the rows are: also what a match is worth to a stranger.",
        "SHARE",
    ),
    frame: str = choice(
        ABOUT, "Whose headings: of the European Union, the United States, or all.", "frame",
        ("eu", "us", "all"), default="all",
    ),
    answers: Path | None = option(
        ABOUT, "Answers to open fields: a TOML file of field = \"text\".", "FILE"
    ),
    strict: bool = flag(ANSWER, "End with exit code 3 while a field is open."),
    force: Force = False,
) -> Answer:  # fmt: skip
    """Write one page about a release by the headings of standards and laws, filled from its record.

    ISO/IEC 27559, WP216, EMA Policy 0070, HIPAA's expert determination, NIST SP 800-188. What only people can
    say stays an open field; the page claims conformity with nothing.

    $ setveil evidence release --out evidence.html
    $ setveil evidence release --frame eu --attack attack.json --answers ours.toml -o file.html
    """
    from setveil.commands.evidence import evidence as evidence_of
    from setveil.options.decode import require_file
    from setveil.wording import are, count

    for path in (attack, answers):
        require_file(path)
    progress("writing")
    found = evidence_of(
        run, out=out, attack=attack, fraction=fraction, frame=frame, answers=answers, force=force
    )
    left = found["open"]
    text = f"{out}: {count(len(found['sections']), 'section')}; every field is filled in."
    if left:
        lines = "\n".join(f"  {entry['field']:<14} {entry['question']}" for entry in left)
        text = (
            f"{out}: {count(len(found['sections']), 'section')}; {count(len(left), 'field')} "
            f"{are(len(left))} open, for people to fill in:\n{lines}"
        )
    return Answer(found, text, code=3 if strict and left else 0)
