"""The picture of --plot-band."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.base.progress import Progress
from setveil.base.wording import count
from setveil.cli.files import require_free
from setveil.methods.algorithms.cahd._band_order import band_order, band_profile
from setveil.releases.published.groups import split
from setveil.report.drawing.band import draw_band, require_pillow
from setveil.rows.data.transactions import Transactions


def require_drawable(path: Path, algorithm: str, *, force: bool) -> None:
    """Refuse a picture that cannot be drawn, before any work is done."""
    if algorithm != "cahd":
        raise RequestError(f"--plot-band: {algorithm} puts rows in no order.", hint="It goes with cahd.")
    if path.suffix.lower() not in {".png", ".svg"}:
        raise RequestError(f"--plot-band draws .png or .svg files, got {path.name}.")
    require_free(path, force)
    require_pillow()


def draw(path: Path, data: Transactions, guarantee: Any, progress: Progress) -> None:
    """Draw the quasi-identifiers of the rows in the order of the input, and in band order."""
    rows, _, _ = split(data, guarantee.sensitive)
    squares = []
    for title, order in (
        ("As in the input", np.arange(data.n_rows)),
        ("In band order", band_order(*rows, data.n_items, progress)),
    ):
        profile = band_profile(*rows, data.n_items, order)
        squares.append((f"{title}: bandwidth {count(profile.bandwidth)}", profile.density))
    draw_band(squares, path)
