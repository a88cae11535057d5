"""Published data: one file per kind of release, found by runs and commands by its `info`, a `KindInfo`.

Such a module also has

- `publish(data, made, seed, details) -> Release`: the result of an algorithm, in an order that reveals
  nothing,
- `holds(path) -> bool`: whether a file or folder is a release of this kind,
- `read(path, read_rows, **reading)`: the published data there, as `Release.exposed` returns them,
- `measurable(path, exposed, original, tree)`: as `Release.measurable`, from these data.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, faces
from setveil.rows.data.exposed import Exposed, Refusal
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original, Sums
from setveil.rows.data.transactions import Transactions

if TYPE_CHECKING:
    from setveil.releases.published.counts import Counts
    from setveil.rows.hierarchy.tree import Hierarchy


NO_ESTIMATES = Refusal(
    "Nothing is estimated from such a release.", "Count in its files; `setveil verify` checks its guarantee."
)
NO_DRAWS = Refusal(
    "No rows are drawn from such a release.", "Count in its files; `setveil verify` checks its guarantee."
)


@dataclass(frozen=True)
class KindInfo:
    """The facts about a kind of release that runs and commands need."""

    title: str  # what is published, in words
    recodings: tuple[str, ...]  # values of `recoding` in about.json and report.json
    means: str  # the entry of about.json that says what the published file means
    asks: tuple[str, ...]  # settings of measures that apply to such releases
    rows_of_items: bool = False  # whether it is rows of items, which guarantees about single rows speak of
    # the `format` of about.json where there is no choice of one; "": any of the formats of rows
    format: str = ""
    written: str = ""  # how it is written where there is no choice, in words
    mapped_to: str = "published_row"  # what rows.csv says of each input row
    # whether a page that is shared may compare it with the original, in rounded figures
    compared_outside: bool = True
    fixed_items: bool = False  # whether the list of items is fixed beforehand, so that it reveals nothing
    rare_on_request: bool = False  # whether items that few rows contain are written only on request
    shown: type[Exposed] = Exposed  # the class of what is published
    # why no label can be split (`setveil why`), unless each item has one
    unsplit: str = "no item is published under a broader label"
    by_labels: bool = False  # whether items are published under labels that about.json explains
    short: str = "rows"  # the kind of release whose first guarantee k and m alone name
    # what queries are estimated from (`setveil.releases.published.shared.SharedSums`), and what rows are
    # drawn from; of what is published, the counts next to it, about.json or the meaning of labels, and the
    # layout, None: as about.json says
    shared_sums: Callable[[Any, Any, Mapping[str, Any], Layout | None], Any] = NO_ESTIMATES.raised
    drawn: Callable[[Any, Any, Mapping[str, Any], Layout | None], Any] = NO_DRAWS.raised

    def suits(self, other: KindInfo) -> bool:
        """Return whether a release of this kind can satisfy a guarantee about those of another."""
        return self is other or (self.rows_of_items and other.rows_of_items)


class Outcome(Protocol):
    """Published data and their provenance, for the record of a run, wherever the rows are."""

    @property
    def info(self) -> KindInfo:
        """The kind."""

    @property
    def published(self) -> Sums:
        """Rows of items to share; only labels that occur."""

    @property
    def recoding(self) -> Any:
        """The map of items, or rows: `Recoding`, `Grouping`, ... Internal: do not share."""

    @property
    def counts(self) -> Counts | None:
        """Supports of items that are published next to the rows; None if none are."""

    @property
    def details(self) -> dict[str, Any]:
        """The algorithm's details of its run (JSON types), e.g. the number of generalization steps."""

    @property
    def labelled(self) -> Any:
        """The recoding whose labels represent items; None where no label represents others than itself."""

    def measurable(self) -> dict[str, Any]:
        """Return the input of measures in addition to the original rows (see `utility.Case`)."""

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts about this kind of release that about.json may publish; `report` is unwritten."""

    def write_inside(self, folder: Path) -> None:
        """Write what else must be kept of how it was made, in addition to the map of the rows."""

    def meaning(self) -> dict[str, Any]:
        """Return the meaning of labels in the terms of about.json; empty if all represent themselves."""

    def with_listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Self:
        """Let about.json list only items that enough rows contain, unless the hierarchy lists them."""

    def with_others(self, members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return labels that may have members not in about.json, with the fewest rows of a listed member."""

    def label_sizes(self) -> dict[str, int]:
        """Return how many items each label may represent, those that do not occur included."""

    def recorded(self, data: Original) -> dict[str, Any]:
        """Return the parts of report.json that only this kind of release has."""

    @property
    def classes_published(self) -> int:
        """Number of classes that the rows are published in; 0: none."""


class Made:
    """An algorithm's request for publication. The defaults suit results that name no broader labels."""

    release: ClassVar[str]  # the file of `setveil.releases.published` that holds its kind of release
    # where labels are from: "nodes" of the hierarchy, "boxes" of facts, or "members" that they list; "": none
    labels_from: ClassVar[str] = ""
    # whether a bound that was proven for its loss holds for all releases
    bounds_all: ClassVar[bool] = True

    @property
    def item_recoding(self) -> Any:
        """The recoding of the items: for rows, the only one; for a table, next to that of columns."""
        return self

    def with_item_recoding(self, recoding: Any) -> Any:
        """Return it with another recoding of the items."""
        return recoding

    def ordered(
        self, _data: Sums, _tree: Hierarchy | None, _least: int, *, list_members: bool = False
    ) -> Self:
        """Order labels, or name them, such that items that must not be listed make no difference."""
        return self

    def shared_by(self, _least: int) -> Self:
        """Return it with the rows that must share a value at the end of a range, if it makes ranges."""
        return self

    def tree_of(self, tree: Hierarchy | None) -> Hierarchy | None:
        """Return the hierarchy that its labels are nodes of: by default that of the run."""
        return tree


class MadeRelease:
    """A release that was made here, by default without rows of people or labels that represent items."""

    info: ClassVar[KindInfo]

    @property
    def counts(self) -> Counts | None:
        """Supports that are published next to the rows; None: there are none."""
        return None

    @property
    def labelled(self) -> Any:
        """The recoding whose labels represent items; None: every label represents itself."""
        return None

    recoding: Any
    published: Any

    @property
    def classes_published(self) -> int:
        """Number of classes that the rows are published in; 0: none."""
        return 0

    def measurable(self) -> dict[str, Any]:
        """Return what measures are computed from (see `setveil.judges.utility.Case`)."""
        return {"kind": self.recoding.kind, "published": self.published}

    def meaning(self) -> dict[str, Any]:
        """Return the meaning of labels in the terms of about.json; empty if all represent themselves."""
        return {}

    def members(self) -> dict[str, list[str]]:
        """List all items of each broader label. Internal: about.json may list only some."""
        return {}

    def arranged(self, _layout: Layout) -> Self:
        """Return the release with its rows in the order of a file of this layout."""
        return self

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Refuse a format: there is only one."""
        if wanted is not None:
            raise RequestError(f"--output-format: {self.info.written}.", hint="Omit this option.")
        return own

    def write_inside(self, _folder: Path) -> None:
        """Write nothing: the map of the rows says everything."""

    def with_listing(self, _data: Sums, _tree: Hierarchy | None, _least: int) -> Self:
        """Let about.json list only items that enough rows contain, unless the hierarchy lists them."""
        return self

    def with_others(self, _members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the labels that may have members that about.json does not list: none."""
        return {}

    def label_sizes(self) -> dict[str, int]:
        """Return how many items each label may represent, by the recoding."""
        made = self.labelled
        if made is None:
            return {}
        return dict(zip(made.published.labels, made.member_counts.tolist(), strict=True))

    def with_all_members(self) -> Self:
        """Let about.json list all items of labels."""
        return self

    def without_sure_counts(self) -> Self:
        """Omit counts that would reveal that all rows of a broader label contain one of its items."""
        return self

    def recorded(self, _data: Original) -> dict[str, Any]:
        """Return the parts of report.json that only this kind of release has."""
        return {}

    def before(self) -> tuple[Any, Mapping[str, str | None]] | None:
        """Return the facts that it was made from, and the label of each; None: it is not made of facts."""
        return None

    def promised(self) -> dict[str, Any]:
        """Return the parts of about.json on which answers depend, the meaning of labels aside."""
        return {}


class Release(Outcome, Protocol):
    """Published data, their provenance, and the map of rows: common to all kinds of releases.

    Examples
    --------
    >>> import setveil as sv
    >>> verified = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
    >>> verified.release.info.title, verified.release.published.n_rows
    ('single rows', 3)
    """

    @property
    def published(self) -> Transactions:
        """Rows of items to share, in an order that reveals nothing; only labels that occur."""

    @property
    def row_map(self) -> NDArray[np.int64]:
        """The published row, or the cluster (-1: none), of each input row: int64 (n_rows,). Internal."""

    def exposed(self) -> Any:
        """Return all that is published (`Exposed`): what an attacker sees, and what the verifier reads."""

    def members(self) -> dict[str, list[str]]:
        """List all items of each broader label. Internal: about.json may list only some."""

    def with_all_members(self) -> Self:
        """Let about.json list all items of labels."""

    def before(self) -> tuple[Any, Mapping[str, str | None]] | None:
        """Return the facts that it was made from, and the label of each; None: it is not made of facts."""

    def promised(self) -> dict[str, Any]:
        """Return the parts of about.json on which answers depend, the meaning of labels aside."""

    def without_sure_counts(self) -> Self:
        """Omit counts that would reveal that all rows of a broader label contain one of its items."""

    def image(self) -> Mapping[str, str | None]:
        """Return the label that each item is published as; None: it is not."""

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Choose how rows are written: as the input was, or in the format wanted."""

    def arranged(self, layout: Layout) -> Release:
        """Return the release with its rows in the order in which a file of this layout has them."""

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write what may be shared; return the name of the file, and how it is to be read."""


@cache
def kinds() -> tuple[Any, ...]:
    """Import the module of each kind of release, that of rows in any format last."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [module for module in modules if hasattr(module, "info")]
    return tuple(sorted(found, key=lambda kind: not kind.info.format))


def kind_named(name: str) -> Any:
    """Find a kind of release by the name of its file, as a privacy model names the kind it is about."""
    return importlib.import_module(f"{__name__}.{name}")


def kind_for(path: str, model_release: str) -> Any:
    """Find the kind that a path is read as for a guarantee, by its about.json; DataError for another kind."""
    from setveil.releases.published.about import promise_beside

    wanted = kind_named(model_release)
    found = kind_at(path) if path != "-" else wanted
    if found.info.suits(wanted.info):
        return found
    if found.info.rows_of_items and not promise_beside(path):  # any file may hold rows
        return wanted
    raise of_another_kind(path, found, wanted)


def of_another_kind(path: str, found: Any, wanted: Any) -> DataError:
    """Say which kind of release there is in place of another."""
    return DataError(
        f"{path} contains {found.info.title}, not {wanted.info.title}.",
        hint=faces(f"`setveil verify {path}`", f"setveil.verify({path!r})") + " checks what it guarantees.",
    )


def kind_of_recoding(recoding: str) -> Any:
    """Find the kind of release by the entry `recoding` of about.json; None if there is none."""
    return next((kind for kind in _kinds_at_hand() if recoding in kind.info.recodings), None)


def _kinds_at_hand() -> Iterator[Any]:
    """List the kinds of releases that are imported already, and then all."""
    imported = [module for name, module in [*sys.modules.items()] if name.startswith(f"{__name__}.")]
    yield from (module for module in imported if hasattr(module, "info"))
    yield from kinds()


def kind_at(path: str) -> Any:
    """Find the kind of release that a file or a folder holds; any file may be one of rows."""
    return next(kind for kind in kinds() if kind.holds(Path(path)))


def publish(
    data: Transactions, made: Any, seed: int, details: dict[str, Any] | None = None, least: int = 0
) -> Release:
    """Put the result of an algorithm into an order that reveals nothing about the input's order.

    Supports of items of at least `least` rows are published next to single rows; 0: none.
    """
    kind = kind_named(made.release)
    release: Release = kind.publish(data, made, seed, details, **({"least": least} if least else {}))
    return release
