"""The record of an exploration, as its reports take it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from setveil.base.values.numbers import as_json
from setveil.base.values.per_column import PerColumn
from setveil.base.version import __version__
from setveil.judges.guarantees.km_rho import PUBLIC
from setveil.methods import algorithms
from setveil.report.explore.cells import Explored
from setveil.work.studies.explore.cells import Cell, proven_losses
from setveil.work.studies.explore.promises import Promise, front, lower_envelope
from setveil.work.studies.explore.rows import Exploration
from setveil.work.studies.machine import machine


def record(
    found: Exploration,
    *,
    inputs: Sequence[str] | None,
    reading: Sequence[str] = (),
    hierarchy: Path | None = None,
    own: Sequence[str] = (),
    sensitive: str = "",
    seed: int = 0,
) -> Explored:
    """Write an exploration in JSON types for reports, with the command that makes each release.

    Arguments are as given: `inputs` are files (None: no command can name the rows), `reading` and `own` the
    words of options. `cells` are by m, then by k (several rho: the greatest first): `status` of the cell's
    own search, and with `loss` (None: no release satisfies it) the best release: `made_for` which guarantee,
    `own_loss` of this guarantee's own, `lower_bound`, `proven` (None if the algorithm proves nothing),
    `at_most` (only a bound: the search was not finished), `command`; with rho also `gap`, the share of the
    loss that may be too much, and `front`, whether every stronger guarantee loses more.
    """
    cells = {cell.promise: cell for cell in found.cells}
    losses = {promise: cell.loss for promise, cell in cells.items() if cell.loss is not None}
    taken = lower_envelope(cells, losses)
    bounds = proven_losses(cells)
    proves = found.algorithm == "exact" and found.proves
    ahead = set(front({promise: losses[other] for promise, other in taken.items()}))
    command = _commands(found, inputs, reading, hierarchy, own, sensitive, seed)
    lines = []
    for promise, cell in cells.items():
        best = cells.get(taken.get(promise, (0, 0)))
        line: dict[str, Any] = {
            **_named(promise),
            "status": cell.status,
            "error": cell.error,
            "seconds": round(cell.seconds, 3),
        }
        if best is None or best.loss is None:
            line |= {"loss": None, "made_for": None, "command": None}
        else:
            proven = best.loss <= bounds[promise] if proves else None
            line |= _of_best(cell, best, bounds[promise], proven, is_ahead=promise in ahead)
            line["command"] = command(_named(best.promise))
        lines.append(line)
    letters = {"k": "K", "m": "M", **({} if found.secrets is None else {"rho": "RHO"})}
    written = {
        "objective": found.objective,
        **({"weighted": True} if found.weighted else {}),
        **({} if found.share is None else {"share": str(found.share)}),
        **({"parts": list(found.parts), "fact_loss": found.fact_loss} if found.parts else {}),
        "algorithm": found.algorithm,
        "k": sorted({cell.k for cell in found.cells}),
        "m": [_plain(m) for m in sorted({cell.m for cell in found.cells})],
        **_sensitive(found),
        **found.size,
        "command": command(letters),
        "hierarchy": None if hierarchy is None else str(hierarchy),
        "inputs": list(inputs or ()),
        "cells": lines,
        "stopped": found.stopped,
        "seconds": round(found.seconds, 3),
        "made_on": machine(),
        "setveil": __version__,
    }
    return cast("Explored", written)


def _plain(m: float) -> int | str:
    if isinstance(m, PerColumn):
        return ",".join(f"{name}={number}" for name, number in m.each.items())
    return "inf" if m == math.inf else int(m)


def _named(promise: Promise) -> dict[str, Any]:
    """Write a guarantee as JSON types."""
    k, m, *rho = promise
    return {"k": k, "m": _plain(m), **({"rho": as_json(rho[0])} if rho else {})}


def _of_best(cell: Cell, best: Cell, bound: float, proven: bool | None, *, is_ahead: bool) -> dict[str, Any]:
    """Say what is known of the best release that satisfies the guarantee of a cell."""
    loss: Any = best.loss  # there is one
    lower = min(bound, loss)
    return {
        "loss": loss,
        "made_for": _named(best.promise),
        "own_loss": cell.loss,
        "lower_bound": lower,
        "proven": proven,
        "at_most": cell.status != "done" or proven is False or cell.cut_short,
        **({} if cell.rho is None else _beside(loss, lower, is_ahead)),
        **best.found,
        **cell.lent,
    }


def _beside(loss: float, lower: float, is_ahead: bool) -> dict[str, Any]:
    """Say how far a loss may be from the least, and whether every stronger guarantee loses more."""
    return {"gap": (loss - lower) / loss if loss else 0.0, "front": is_ahead}


def _sensitive(found: Exploration) -> dict[str, Any]:
    """Write the values of rho, the greatest first, and what is sensitive."""
    if found.secrets is None:
        return {}
    rhos = sorted({cell.rho for cell in found.cells if cell.rho is not None}, reverse=True)
    return {
        "rho": [as_json(rho) for rho in rhos],
        "sensitive": list(found.secrets.items),
        "knows": found.secrets.knows,
    }


def _commands(
    found: Exploration,
    inputs: Sequence[str] | None,
    reading: Sequence[str],
    hierarchy: Path | None,
    own: Sequence[str],
    sensitive: str,
    seed: int,
) -> Callable[[Mapping[str, object]], str | None]:
    """Return what writes the command that makes a release for a guarantee; None if no file holds the rows."""
    if inputs is None:
        return lambda _: None
    return lambda promise: _command(found, promise, inputs, reading, hierarchy, own, sensitive, seed)


def _command(
    found: Exploration,
    promise: Mapping[str, object],
    inputs: Sequence[str],
    reading: Sequence[str],
    hierarchy: Path | None,
    own: Sequence[str],
    sensitive: str,
    seed: int,
) -> str:
    """Write the command that makes a release; DIR is the folder that it writes."""
    files = [f"./{one}" if one.startswith("-") else one for one in inputs]
    words = ["setveil", "anonymize", *files, *reading, "--algorithm", found.algorithm, *own]
    if hierarchy is not None and "hierarchy" in algorithms.load(found.algorithm).info.uses:
        words += ["--hierarchy", str(hierarchy)]
    words += ["-k", str(promise["k"]), "-m", str(promise["m"])]
    if found.secrets is not None:
        words += ["--rho", str(promise["rho"]), "--sensitive", sensitive]
        words += ["--knows", found.secrets.knows] if found.secrets.knows != PUBLIC else []
    words += ["--seed", str(seed)] if seed else []
    return shlex.join([*words, "--out", "DIR"])
