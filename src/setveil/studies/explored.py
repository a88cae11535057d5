"""The record of an exploration, as its reports take it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setveil import algorithms
from setveil.studies.explore import Exploration
from setveil.studies.machine import machine
from setveil.studies.promises import lower_bounds, lower_envelope
from setveil.version import __version__


def record(
    found: Exploration,
    *,
    inputs: Sequence[str] | None,
    reading: Sequence[str] = (),
    hierarchy: Path | None = None,
    own: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, Any]:
    """Write an exploration as its reports take it, with the command that makes each release.

    Parameters
    ----------
    found : Exploration
        From `setveil.studies.explore.explore`.
    inputs, reading, hierarchy, own, seed
        As they were given: files (None: no command can name the rows), the words of the options on how they
        are read, the hierarchy, the words of the algorithm's own options, the seed.

    Returns
    -------
    dict
        In JSON types. `cells`, by m, then by k: `status` of the promise's own search, and with `loss` (None:
        no release keeps the promise) what is known of the best release, `made_for` another promise or this
        one, `own_loss` of the release that was made for this promise, `lower_bound`, `proven` (None where the
        algorithm proves nothing), and its `command`.
    """
    cells = {cell.pair: cell for cell in found.cells}
    losses = {pair: cell.loss for pair, cell in cells.items() if cell.loss is not None}
    taken = lower_envelope(cells, losses)
    bounds = lower_bounds(cells, {pair: cells[pair].lower_bound for pair in losses})
    proves = found.algorithm == "exact"
    lines = []
    for pair, cell in cells.items():
        line: dict[str, Any] = {
            "k": cell.k,
            "m": _plain(cell.m),
            "status": cell.status,
            "error": cell.error,
            "seconds": round(cell.seconds, 3),
        }
        best = cells.get(taken.get(pair, (0, 0)))
        if best is None or best.loss is None:
            line |= {"loss": None, "made_for": None, "command": None}
        else:
            command = None
            if inputs is not None:
                command = _command(
                    found.algorithm, (best.k, _plain(best.m)), inputs, reading, hierarchy, own, seed
                )
            line |= {
                "loss": best.loss,
                "made_for": {"k": best.k, "m": _plain(best.m)},
                "own_loss": cell.loss,
                "lower_bound": min(bounds[pair], best.loss),
                "proven": best.loss <= bounds[pair] if proves else None,
                **best.found,
                "command": command,
            }
        lines.append(line)
    return {
        "objective": found.objective,
        **({} if found.share is None else {"share": str(found.share)}),
        "algorithm": found.algorithm,
        "k": sorted({pair[0] for pair in cells}),
        "m": [_plain(m) for m in sorted({pair[1] for pair in cells})],
        **found.size,
        "command": None
        if inputs is None
        else _command(found.algorithm, ("K", "M"), inputs, reading, hierarchy, own, seed),
        "hierarchy": None if hierarchy is None else str(hierarchy),
        "inputs": list(inputs or ()),
        "cells": lines,
        "stopped": found.stopped,
        "seconds": round(found.seconds, 3),
        "made_on": machine(),
        "setveil": __version__,
    }


def _plain(m: float) -> int | str:
    return "inf" if m == math.inf else int(m)


def _command(
    algorithm: str,
    promise: tuple[object, object],
    inputs: Sequence[str],
    reading: Sequence[str],
    hierarchy: Path | None,
    own: Sequence[str],
    seed: int,
) -> str:
    """Write the command that makes a release; DIR is the folder that it writes."""
    files = [f"./{one}" if one.startswith("-") else one for one in inputs]
    words = ["setveil", "anonymize", *files, *reading, "--algorithm", algorithm, *own]
    if hierarchy is not None and "hierarchy" in algorithms.load(algorithm).info.needs:
        words += ["--hierarchy", str(hierarchy)]
    words += ["-k", str(promise[0]), "-m", str(promise[1]), *(["--seed", str(seed)] if seed else [])]
    return shlex.join([*words, "--out", "DIR"])
