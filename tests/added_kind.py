"""A trivial kind of release, counts of items and nothing else: the files that add it to the package."""

KIND = '''
"""Counts of items, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from setveil.rows.data.transactions import Transactions
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.layout import Layout
from setveil.releases.published import KindInfo, Made, MadeRelease
from setveil.releases.published.json_files import DATA_FILE, JsonReading, data_file, holds_model, write_pieces


@dataclass(frozen=True)
class ItemCounts(Exposed):
    """The rows of each item, and how many rows there are."""

    n_rows: int
    supports: Mapping[str, int]

    kind: ClassVar[str] = "item_counts"

    def shows(self, other: object) -> bool:
        return self == other

    def to_polars(self, *, long: bool = False) -> Any:
        import polars as pl

        return pl.DataFrame({"item": list(self.supports), "rows": list(self.supports.values())})


@dataclass(frozen=True)
class Counted:
    """That items were counted."""

    kind: ClassVar[str] = "item-counts"


@dataclass(frozen=True)
class MadeCounts(Made):
    """What the algorithm returns."""

    release: ClassVar[str] = "item_counts"

    supports: Mapping[str, int]


info = KindInfo(
    title="counts of items",
    shown=ItemCounts,
    recodings=(Counted.kind,),
    means="item_counts",
    asks=(),
    format="item-counts",
    written="counts of items are always published as data.json",
)


@dataclass(frozen=True)
class CountsRelease(MadeRelease):
    """Counts of items (see `setveil.releases.published.Release`)."""

    shown: ItemCounts
    details: dict[str, Any] = field(default_factory=dict)

    info: ClassVar[KindInfo] = info
    recoding: ClassVar[Counted] = Counted()

    @property
    def published(self) -> Transactions:
        return Transactions.from_rows([])

    @property
    def row_map(self) -> Any:
        return np.full(self.shown.n_rows, -1)

    def exposed(self) -> ItemCounts:
        return self.shown

    def image(self) -> Mapping[str, str | None]:
        return {item: item for item in self.shown.supports}

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        return {info.means: "data.json"}

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        content = {"model": "item-counts", "rows": self.shown.n_rows, "items": dict(self.shown.supports)}
        write_pieces(folder, {DATA_FILE: [json.dumps(content).encode()]})
        return DATA_FILE, {"format": info.format}


def publish(data: Transactions, made: MadeCounts, seed: int, details: dict[str, Any] | None = None) -> Any:
    return CountsRelease(ItemCounts(data.n_rows, made.supports), details or {})


def holds(path: Path) -> bool:
    return holds_model(path, info.format, "item-counts")


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> ItemCounts:
    content = JsonReading(str(data_file(path, info, "count-items")), "See docs.").content()
    return ItemCounts(content["rows"], content["items"])


def measurable(path: str, exposed: ItemCounts, _original: Transactions, _tree: object) -> dict[str, Any]:
    return {"kind": Counted.kind, "published": Transactions.from_rows([])}
'''

ALGORITHM = '''
"""Count items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.methods.algorithms import AlgorithmInfo
from setveil.base.progress import Progress, silent

info = AlgorithmInfo(
    title="Counting of items",
    guarantees=("counted",),
    needs=(),
    summary="Publishes counts of items, and nothing else.",
    reference="none, doi:10.0000/none",
)


@dataclass(frozen=True)
class Parameters:
    """No parameters."""


def anonymize(
    data: Any,
    hierarchy: Any,
    guarantee: Any,
    parameters: Parameters = Parameters(),
    progress: Progress = silent,
) -> Any:
    """Count the items of enough rows."""
    from setveil.releases.published.item_counts import MadeCounts

    rows = zip(data.vocabulary.labels, data.supports().tolist(), strict=True)
    return MadeCounts({item: n for item, n in rows if n >= guarantee.fewest}), {}
'''

MODEL = '''
"""Every count is of many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from setveil.judges.guarantees import Guarantee, Model, Words
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer


@dataclass(frozen=True)
class ManyRows(Guarantee):
    """Every count is of at least `fewest` rows."""

    fewest: int
    model: ClassVar[str] = "counted"

    @property
    def phrase(self) -> str:
        return f"counts of {self.fewest} rows"

    def require_feasible(self, data: Any) -> None:
        """Refuse nothing."""

    def as_dict(self) -> dict[str, Any]:
        return {"model": self.model, "fewest": self.fewest}


model = Model(
    name="counted",
    title="counts of many rows",
    make=ManyRows,
    options={"fewest": Option(Integer(1), "Fewest rows of a count.", needed=True)},
    algorithm="count-items",
    words=Words(
        parameters=("fewest",),
        promise=lambda g: f"Every count is of at least {g['fewest']} rows.",
        fulfilled=lambda g: f"the least count is {g['least']}",
        broken=lambda g: f"{g['violations']} counts of too few rows",
        not_covered=lambda g: [],
        reading=lambda g: [("fewest:", "how many rows a count must be of.")],
        violation=lambda entry: f"{entry['itemset'][0]} in {entry['support']} rows",
        beyond=lambda g: [],
        shareable=("least",),
        recounted=False,
    ),
    family="counted",
    axes={"fewest": "fewest rows of a count"},
    example={"fewest": 2},
    release="item_counts",
)
'''

VERIFIER = '''
"""Is every count of many rows?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.judges.guarantees.verify import Verdict
from setveil.base.progress import Progress, silent


@dataclass(frozen=True)
class CountedVerdict(Verdict):
    guarantee: Any
    first: tuple[tuple[str, int], ...]
    least: int | None

    @property
    def holds(self) -> bool:
        return not self.first

    @property
    def violations(self) -> int:
        return len(self.first)

    def found(self) -> dict[str, Any]:
        return {"least": self.least}

    def listed(self) -> list[dict[str, Any]]:
        return [{"itemset": [item], "support": n} for item, n in self.first]

    __repr__ = Verdict.__repr__


def verify_counted(published: Any, guarantee: Any, *, show: int = 10, progress: Progress = silent) -> Any:
    few = tuple((item, n) for item, n in published.supports.items() if n < guarantee.fewest)
    return CountedVerdict(guarantee, few, min(published.supports.values(), default=None))
'''

WORDS = '''
"""Counts of items in words."""

from __future__ import annotations

from setveil.report.run.kinds import ReportKind


class ItemCounts(ReportKind):
    """Counts of items."""

    recoding = "item-counts"
    term = ("Count:", "how many rows contain an item.")


KINDS = (ItemCounts(),)
'''

FILES = {
    "releases/published/item_counts.py": KIND,
    "methods/algorithms/count_items.py": ALGORITHM,
    "judges/guarantees/counted.py": MODEL,
    "judges/guarantees/verify/counted.py": VERIFIER,
    "report/run/kinds/item_counts.py": WORDS,
}
