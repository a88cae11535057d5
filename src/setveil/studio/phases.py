"""Phases of commands in plain words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setveil.studio.jobs import Job

_WORDS = (
    (r"starting", "Starting"),
    (r"reading.*", "Reading the data"),
    (r"grouping items that often occur together", "Grouping items that often occur together"),
    (r"anonymizing.*|looking for releases to begin with", "Looking for a good release"),
    (r"(refining|coarsening) the .*", "Improving it"),
    (r"finding the optimum|proving, round (\d+)", "Looking for less loss, and proving where there is none"),
    (r"reading the series", "Reading what was published"),
    (r"comparing with what was published", "Comparing with what was published"),
    (r"finding (?:the best )?labels.*", "Looking for labels that fit those already published"),
    (r"verifying the series", "Checking the promise of all releases together"),
    (r"verifying.*|counting violations.*", "Checking the promise in the rows to be published"),
    (r"(k=.*) \((\d+ of [\d,]+)\).*", r"Computing promise \2"),
    (
        r"measuring.*|answering queries|counting itemsets|counting rules|drawing queries",
        "Measuring the loss",
    ),
    (r"items that single out rows.*", "Counting who could still be found"),
    (r"writing.*", "Writing the folder"),
    (r"([\d,]+) of ([\d,]+) runs.*", r"\1 of \2 runs are done"),
)


def job_state(job: Job) -> dict[str, Any]:
    """Say how a job stands, with its phase in words."""
    return {**job.as_dict(), "words": in_words(job.phase)}


def in_words(phase: str) -> str:
    """Say what a phase is.

    >>> in_words("verifying itemsets of size 2"), in_words("merging clusters"), in_words("")
    ('Checking the promise in the rows to be published', 'Merging clusters', '')
    >>> in_words("k=5, m=4 (27 of 28): verifying itemsets of size 2")
    'Computing promise 27 of 28'
    >>> in_words("k=5, m=4 (1 of 1): verifying itemsets of size 2")
    'Checking the promise in the rows to be published'
    """
    alone = re.fullmatch(r"k=.* \(1 of 1\): (.*)", phase)
    if alone:
        return in_words(alone[1])
    for pattern, words in _WORDS:
        found = re.fullmatch(pattern, phase)
        if found:
            return found.expand(words)
    return phase[:1].upper() + phase[1:]
