"""Try every kind of attack on people who are in the data and on others, and say what is a leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.attacker.attacks.chances import binomial_tail, fisher, wilson
from setveil.judges.attacker.attacks.kinds import (
    KINDS,
    AttackOutcome,
    inference,
    linkability,
    membership,
    rare_predicates,
    singling_out,
)
from setveil.judges.attacker.attacks.shown import AttackedPeople, ShownRows
from setveil.judges.attacker.sampling import random_words
from setveil.kernels.rows import Ints, frozen

EXPOSED = 20  # people who are named
_SAMPLE = 15  # what random words are for


@dataclass(frozen=True)
class Bound:
    """The bound of a guarantee for attacks: nobody who knows up to `m` items finds fewer than `k` rows."""

    k: int
    m: float  # may be infinite


def attack_rows(
    shown: ShownRows,
    train: AttackedPeople,
    control: AttackedPeople,
    *,
    bound: Bound | None,
    promised: bool,
    ms: Sequence[int],
    attacks: int,
    secret: NDArray[np.bool_],
    alpha: float | Fraction = Fraction(1, 100),
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Try attacks of each kind on people in the data (`train`) and others (`control`), see docs/risk.md.

    `bound` follows from k and m. If anything is guaranteed, a kind without a bound is not judged; otherwise
    train is compared with control. Each of at most `attacks` tries has another target; `secret` items (by
    default all unknown ones) are guessed. Rows that satisfy their guarantee are accused with a probability of
    at most `alpha`. Giomi and others, "A Unified Framework for Quantifying Privacy Risk in Synthetic Data",
    PETS 2023, doi:10.56553/popets-2023-0055
    """
    found: list[tuple[str, int | None, AttackOutcome, AttackOutcome]] = []
    full = train, control
    sides = tuple(side.without(secret) for side in full)
    alike = _alike(train, control, seed, whole=promised)
    compared = [shown.in_labels(side.some(who)) for side, who in zip(sides, alike, strict=True)]
    for m in ms:
        progress(f"attacks with {m} known item{'s' if m > 1 else ''}")
        predicates = rare_predicates(shown, m, attacks, seed)
        tried = [singling_out(*side, predicates) for side in zip(compared, alike, strict=True)]
        found.append((KINDS[0], m, tried[0], tried[1]))
        tried = [linkability(shown, side, m, attacks, seed, at) for at, side in enumerate(sides)]
        found.append((KINDS[1], m, tried[0], tried[1]))
        tried = [inference(shown, side, m, attacks, seed, at, secret) for at, side in enumerate(full)]
        found.append((KINDS[2], m, tried[0], tried[1]))
        tried = [membership(shown, side, m, attacks, seed, at) for at, side in enumerate(sides)]
        found.append((KINDS[3], m, tried[0], tried[1]))
    tried = [membership(shown, side, None, attacks, seed, at) for at, side in enumerate(sides)]
    found.append((KINDS[3], None, tried[0], tried[1]))

    allowed = [_allowed(kind, m, bound, shown.n_rows) for kind, m, *_ in found]
    judged = sum(q is not None for q in allowed) if promised else len(found)
    level = float(alpha) / max(judged, 1)
    entries = [_entry(*tried, q, level, promised=promised) for tried, q in zip(found, allowed, strict=True)]
    entries.sort(key=lambda entry: KINDS.index(entry["kind"]))
    return {
        "leak": any(entry["leak"] for entry in entries),
        "attacks": entries,
        "exposed": _exposed(found, train.number),
    }


def _alike(train: AttackedPeople, control: AttackedPeople, seed: int, *, whole: bool) -> tuple[Ints, Ints]:
    """Choose about equally many people of both sides; all of train where a guarantee is about all of them."""
    few = min(train.number, control.number)
    different = max(train.number, control.number) > 2 * few
    chosen = []
    for at, side in enumerate((train, control)):
        who = np.arange(side.number)
        if different and side.number > few and not (whole and at == 0):
            order = np.argsort(random_words(seed, at, _SAMPLE, (side.number,)), kind="stable")
            who = np.sort(order[:few])
        chosen.append(frozen(who, np.int64))
    return chosen[0], chosen[1]


def _allowed(kind: str, m: int | None, bound: Bound | None, n_rows: int) -> float | None:
    """Say how often an attack may succeed."""
    if bound is None or m is None or m > bound.m:
        return None
    if kind == "singling out":
        return 0.0
    # Fewer rows than k satisfy the guarantee if none has items: then any of them may be drawn twice.
    return 1 / max(min(bound.k, n_rows), 1) if kind == "linkability" else None


def _entry(
    kind: str,
    m: int | None,
    train: AttackOutcome,
    control: AttackOutcome,
    allowed: float | None,
    level: float,
    *,
    promised: bool,
) -> dict[str, Any]:
    """Say how often a kind of attack succeeded, and whether that is a leak."""
    rates = [_rate(side) for side in (train, control)]
    (t, (low, high)), (c, (c_low, c_high)) = [(side["rate"], side["interval"]) for side in rates]
    entry: dict[str, Any] = {
        "kind": kind, "m": m, "train": rates[0], "control": rates[1], "risk": None, "interval": None,
        "allowed": allowed, "p_value": None, "leak": None,
    }  # fmt: skip
    if kind == "membership" and t is not None and c is not None:  # its advantage
        entry["risk"], entry["interval"] = t - c, [low - c_high, high - c_low]
    elif t is not None and c is not None and c_high < 1:
        entry["risk"] = (t - c) / (1 - c)
        entry["interval"] = [(low - c_high) / (1 - c_high), (high - c_low) / (1 - c_low)]
    if allowed is not None:
        entry["p_value"] = binomial_tail(train.successes, train.attempts, allowed)
    elif not promised:
        entry["p_value"] = fisher(train.successes, train.attempts, control.successes, control.attempts)
    if entry["p_value"] is not None:
        entry["leak"] = entry["p_value"] < level
    return entry


def _rate(tried: AttackOutcome) -> dict[str, Any]:
    rate = tried.successes / tried.attempts if tried.attempts else None
    return {
        "attempts": tried.attempts, "successes": tried.successes, "rate": rate,
        "interval": list(wilson(tried.successes, tried.attempts)),
    }  # fmt: skip


def _exposed(
    found: Sequence[tuple[str, int | None, AttackOutcome, AttackOutcome]], people: int
) -> list[dict[str, Any]]:
    """Name the people in the data who were singled out or linked most often: number from 0, and how often."""
    hits: Ints = np.zeros(people, np.int64)
    for kind, _, train, _ in found:
        if kind in {"singling out", "linkability"}:
            np.add.at(hits, train.person[train.success & (train.person >= 0)], 1)
    order = np.argsort(-hits, kind="stable")[:EXPOSED]
    return [{"row": int(row), "attacks": int(hits[row])} for row in order.tolist() if hits[row]]
