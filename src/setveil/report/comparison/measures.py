"""The numbers of a run that a study's report draws and lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from setveil.report.comparison.table import Row, distinct
from setveil.report.words import LM_MEANING, NCP_MEANING

Scale = Literal["linear", "log", "spread"]  # spread: logarithmic, but with zero, where values differ much


@dataclass(frozen=True)
class Measure:
    """A number of each run that can be drawn.

    Attributes
    ----------
    stem : str
        Beginning of a file name.
    axis : str
        Its name on an axis, short.
    about : str
        What it is, for a caption.
    of : callable
        Its value for a run; None where the run has none.
    scale : {"linear", "log", "spread"}
        How it is drawn.
    percent : bool
        Whether it is a share.
    """

    stem: str
    axis: str
    about: str
    of: Callable[[Row], float | None]
    scale: Scale = "linear"
    percent: bool = False


def _column(name: str) -> Callable[[Row], float | None]:
    return lambda row: row.get(name)


def _share(part: str, whole: str) -> Callable[[Row], float | None]:
    def of(row: Row) -> float | None:
        above, below = row.get(part), row.get(whole)
        return above / below if above is not None and below else None

    return of


LM = Measure("loss_lm", "loss (LM)", f"Loss (LM): {LM_MEANING}. Less is better.", _column("lm"))
NCP = Measure("loss_ncp", "loss (NCP)", f"Loss (NCP): {NCP_MEANING}. Less is better.", _column("ncp"))
ARE_MEAN = Measure(
    "are_mean",
    "mean error (ARE)",
    "Mean relative error of random COUNT queries (ARE); 1: off by as much as the true count. Less is better.",
    _column("are_mean"),
    "spread",
)
ARE_MEDIAN = Measure(
    "are_median",
    "median error (ARE)",
    "Median relative error of random COUNT queries; 1: off by as much as the true count. Less is better.",
    _column("are_median"),
    "spread",
)
ITEMSETS = Measure(
    "itemsets_kept",
    "itemsets kept",
    "Share of the original's frequent itemsets all of whose items are published under their own names. More "
    "is better.",
    _share("itemsets_kept", "itemsets_frequent"),
    percent=True,
)
KL = Measure(
    "kl",
    "KL divergence",
    "Mean KL divergence of what a reader estimates from the true distribution of a sensitive item. Less is "
    "better.",
    _column("kl_mean"),
)
SECONDS = Measure(
    "seconds",
    "seconds",
    "Seconds to anonymize, without reading, checking and measuring.",
    _column("seconds_anonymize"),
    "log",
)
MEMORY = Measure(
    "memory", "peak memory (MB)", "Most memory that a run held, in MB.", _column("peak_memory_mb")
)


def rows_at_risk(size: int) -> Measure:
    """Share of the rows that someone who knows the best so many items narrows down to fewer than 5."""
    return Measure(
        "risk_rows",
        "rows at risk",
        f"Rows at risk: share of the rows that someone who knows {_items(size)} of a person narrows "
        "down to fewer than 5. Less is better.",
        _share("risk_below_5", "rows"),
        "spread",
        percent=True,
    )


def chance(size: int) -> Measure:
    """Chance of someone who knows the best so many items to pick the right row."""
    return Measure(
        "risk_chance",
        "chance to pick the right row",
        f"Chance of someone who knows {_items(size)} of a person to pick the right row; mean over all "
        "rows. Less is better.",
        _column("risk_probability"),
        "log",
        percent=True,
    )


def _items(size: int) -> str:
    return f"the {size} most revealing items" if size > 1 else "the most revealing item"


def known_items(rows: Sequence[Row]) -> int | None:
    """How many items the attacker knows in most runs of a table; None where no risk was measured."""
    sizes = [row["risk_m"] for row in rows if row.get("risk_m") is not None]
    return max(distinct(sizes), key=lambda size: (sizes.count(size), size)) if sizes else None
