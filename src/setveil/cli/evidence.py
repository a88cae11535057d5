"""The command ``evidence``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.help import ABOUT, ANSWER, ATTACKER, OUTPUT
from setveil.cli.options import Force, argument, choice, flag, option
from setveil.cli.session import Answer


def evidence(
    progress: Any,
    run: str = argument("RUN", "Describe this folder of a run."),
    out: Path = option(OUTPUT, "Write this page (.html). Never share it.", "FILE", "-o", default=...),
    attack: Path | None = option(
        ATTACKER, "Include the output of `setveil attack --json`.", "FILE", "--attack"
    ),
    fraction: str | None = option(
        ATTACKER, "Estimate how often a match is right in this share of a population.",
        "SHARE",
    ),
    frame: str = choice(
        ABOUT, "Use the headings of the European Union, the United States, or all", "frame",
        ("eu", "us", "all"), default="all",
    ),
    answers: Path | None = option(
        ABOUT, "Read answers to questions: a TOML file of question = \"text\".", "FILE"
    ),
    strict: bool = flag(ANSWER, "End with exit code 3 while a question is open."),
    force: Force = False,
) -> Answer:  # fmt: skip
    """Write the compliance record of a release.

    Covers ISO/IEC 27559, WP216, EMA Policy 0070, HIPAA's expert determination and NIST SP 800-188. Questions
    that only people can answer stay open. The page does not claim conformity.

    $ setveil evidence release --out evidence.html
    $ setveil evidence release --frame eu --attack attack.json --answers ours.toml -o file.html
    """
    from setveil.base.wording import are, count
    from setveil.commands.evidence import evidence as evidence_of
    from setveil.runs.options.decode import require_file

    for path in (attack, answers):
        require_file(path)
    progress("writing")
    found = evidence_of(
        run, out=out, attack=attack, fraction=fraction, frame=frame, answers=answers, force=force
    )
    left = found["open"]
    text = f"{out}: {count(len(found['sections']), 'section')}; every question is answered."
    if left:
        lines = "\n".join(f"  {entry['field']:<14} {entry['question']}" for entry in left)
        text = (
            f"{out}: {count(len(found['sections']), 'section')}; {count(len(left), 'question')} "
            f"{are(len(left))} open:\n{lines}"
        )
    return Answer(found, text, code=3 if strict and left else 0)
