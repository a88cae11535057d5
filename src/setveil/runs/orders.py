"""Which part of facts is dropped first: plain orders and lines, each with a product tree, and the best."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from setveil.base.errors import InfeasibleError, RequestError, as_option, faces
from setveil.base.progress import Progress
from setveil.base.values.per_column import labelled
from setveil.judges.guarantees import FEWEST, absent_items
from setveil.judges.utility.lm import lm
from setveil.releases.published.recoding import AnyBoxes
from setveil.releases.recipients import not_of_facts
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.facts import Facts
from setveil.rows.facts.generalizing import LINES, Generalizing, order_name
from setveil.rows.facts.tables import FactTable
from setveil.rows.hierarchy.boxes import BoxTree, forest, line_at, product_tree
from setveil.rows.hierarchy.build import by_cooccurrence
from setveil.rows.hierarchy.columns import parted
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs._timelines import timelines
from setveil.runs.fact_parts import part_label, parts_kept
from setveil.runs.request import RunRequest

_USUAL = 300.0  # seconds of a search that has a limit, where none is given
ALGORITHMS = ("aa", "da", "exact", "hghs", "mhghs")
OF_TABLES = ("kkm", "mixed-km")  # guarantees of what is known of a person besides facts
TABLE_ALGORITHMS = ("forest", "rt")
_ABLE = {"km-anonymity": ALGORITHMS, **dict.fromkeys(OF_TABLES, TABLE_ALGORITHMS)}  # by the guarantee


def require_possible(request: RunRequest) -> None:
    """Refuse guarantees about facts that are not known, and algorithms that make no cut of a tree."""
    able = _ABLE.get(request.guarantee.model)
    if able is None:
        raise RequestError(
            f"Facts are released under k^m-anonymity, and with what is known of a person under "
            f"{' or '.join(OF_TABLES)}, not under {request.guarantee.model}.",
            hint="--k and --m set the first; omit options of another, such as --algorithm or --rho.",
        )
    if getattr(request.settings, "certificate", False):
        raise not_of_facts()
    if absent_items(request.guarantee):
        raise RequestError(
            "No guarantee covers absent facts: a box is about where a fact lies, and not about "
            "whether there is one.",
            hint=f"Omit {faces('--absent', 'absent')}.",
        )
    if request.guarantee.of_codes:
        _require_for_codes(request)
    if request.algorithm not in able:
        raise RequestError(
            f"{request.algorithm} makes no cut of a hierarchy that facts could be published by; there are "
            f"{', '.join(able)}.",
            hint="Omit --algorithm.",
        )
    if getattr(request.guarantee, "sensitive", ()):
        raise RequestError(
            "How often a sensitive value may be in a class is guaranteed of tables of items, not of facts.",
            hint="Omit --sensitive.",
        )


def _require_for_codes(request: RunRequest) -> None:
    """Refuse what the search for boxes does not know where whole codes are hidden."""
    if request.algorithm != "exact":
        raise RequestError(
            f"Whole codes are hidden by exact, not by {request.algorithm}.",
            hint=f"Omit --algorithm, or {faces('--known', 'known')}.",
        )
    usual = type(request.settings)()
    ours = {"suppress", "objective", "time_limit"}
    odd = [
        one.name
        for one in fields(request.settings)
        if one.name not in ours and getattr(request.settings, one.name) != getattr(usual, one.name)
    ]
    if not request.settings.suppress:
        odd.append("no-suppress")
    if request.settings.objective not in (None, "lm"):
        odd.append("objective")
    if odd:
        raise RequestError(
            f"If whole codes are hidden, LM is kept low and anything may be suppressed: there is no "
            f"{', '.join(map(as_option, odd))}.",
            hint=f"Omit it, or {faces('--known', 'known')}.",
        )


def trees_of(data: Facts, hierarchy: Hierarchy | None, least: int = FEWEST) -> dict[str, Hierarchy]:
    """Find the hierarchy of each column of codes, and make those that are not given.

    `hierarchy`: of the codes, or of some of several columns (see `setveil.rows.hierarchy.columns.joined`).
    `least`: names of codes in fewer rows decide nothing about a computed hierarchy.
    """
    names = [column.name for column in data.columns]
    if len(names) == 1:
        tree = None if hierarchy is None else fitted(hierarchy, data.columns[0].codes)
        return {names[0]: tree or by_cooccurrence(data.codes_alone(), common=least)}
    found = {} if hierarchy is None else parted(hierarchy, names)
    codes = {column.name: column.codes for column in data.columns}
    found = {name: fitted(tree, codes[name]) for name, tree in found.items()}
    missing = [name for name in names if name not in found]
    for name in missing:
        alone = data.of_column(names.index(name)).codes_alone()
        if not alone.n_items:  # of a sample: any tree of the codes will do
            alone = Transactions.from_rows([data.columns[names.index(name)].codes])
        found[name] = by_cooccurrence(alone, common=least)
    return {name: found[name] for name in names}


def anonymize_facts(
    data: Facts | FactTable,
    codes: Sequence[Hierarchy],
    request: RunRequest,
    how: Generalizing,
    progress: Progress,
) -> tuple[Any, dict[str, Any]]:
    """Run the algorithm on the product tree of each plain order, and return the result of least loss.

    Each column has a tree of its own (`codes`), and they are cut together. Then each column by itself is
    tried at other depths. With `how.lines` another depth is tried in each branch of the codes' trees, and
    improvements stay, until there are none or time is up. Of equal results the one that keeps attributes
    longest counts. `facts` in the details: what remains of the parts, and the orders.
    """
    search = _LineSearch(data, codes, request, how, progress)
    search.try_orders()
    facts = search.facts
    varied = any(column.attributes for column in facts.columns)
    if len(facts.columns) > 1 and varied and how.order in (None, ""):
        search.try_columns()
    if how.lines and varied:
        search.try_branches()
    best = search.best
    parts: list[dict[str, str]] = []
    for column, space in zip(facts.columns, search.spaces, strict=True):
        parts.append({"name": column.name, "kind": "codes"})
        parts += [{**one.as_dict(), "name": part_label(one.name, space)} for one in column.attributes]
    said = {"parts": parts, "loss": how.loss, "order": best.name, **parts_kept(facts, best.items)}
    if facts.most is not None:
        said |= {"most_facts": facts.most, "facts_left_out": facts.left_out}
    branches = {"branches": search.branches()} if best.name == LINES else {}
    details = _as_suppressed(best.recoding, best.details, request)
    periods = timelines(facts, best.items)
    return best.recoding, {
        **details,
        "facts": {**said, "orders": search.tried, **branches, "timeline": periods},
    }


def items_of(made: Any) -> AnyBoxes:
    """Return what became of the facts, in what an algorithm made of rows or of a table."""
    return cast("AnyBoxes", made.item_recoding)


def _as_suppressed(recoding: Any, details: dict[str, Any], request: RunRequest) -> dict[str, Any]:
    """List what is omitted where a cut is the node above all columns; refuse it where nothing may be."""
    several = recoding.labels_from == "boxes" and recoding.uniform and recoding.tree.n_columns > 1
    if not several or len(recoding.published) or not recoding.image.size:
        return details
    if not _leaves_out(request):
        raise InfeasibleError(
            f"{request.guarantee.phrase} cannot be met by {request.algorithm} if so little may be "
            "suppressed: few rows contain items of several columns, and no label represents items of two.",
            hint="--algorithm exact suppresses items that are too rare.",
        )
    return {**details, "suppressed": list(recoding.items.labels)}


def _leaves_out(request: RunRequest) -> bool:
    """Whether an algorithm may leave items out."""
    suppresses = getattr(request.settings, "suppress", request.algorithm in ("hghs", "mhghs"))
    return bool(suppresses) and getattr(request.settings, "max_suppressed", None) is None


Lines = tuple[frozenset[int], ...]  # of each column the line of its codes' tree


@dataclass(frozen=True)
class _Made:
    """What the algorithm made of lines."""

    loss: float
    recoding: Any  # of the facts, or what an algorithm for tables makes
    details: dict[str, Any]
    name: str  # of the order
    lines: Lines

    @property
    def items(self) -> AnyBoxes:
        """What became of the facts."""
        return items_of(self.recoding)


class _LineSearch:
    """The search for the lines that lose the least."""

    def __init__(
        self,
        data: Facts | FactTable,
        codes: Sequence[Hierarchy],
        request: RunRequest,
        how: Generalizing,
        progress: Progress,
    ) -> None:
        self.data, self.codes, self.request, self.how, self.progress = data, codes, request, how, progress
        self.facts = data.facts
        self.spaces, self.depths = how.spaces(self.facts, codes), how.depths(self.facts, codes)
        self.height = max(tree.height for tree in codes)
        self.limited = any(f.name == "time_limit" for f in fields(request.settings))
        self.deadline = time.monotonic() + (getattr(request.settings, "time_limit", None) or _USUAL)
        self.tried: list[dict[str, Any]] = []
        self.found: _Made | None = None
        self.seen: list[BoxTree] = []

    @property
    def best(self) -> _Made:
        """The best so far; there is one once orders were tried."""
        assert self.found is not None  # noqa: S101
        return self.found

    @property
    def _more(self) -> int:
        """How many searches follow the plain orders, each of which may take as long as they do."""
        return int(self.how.lines) + int(len(self.codes) > 1 and len(self.depths) > 1)

    def _left(self) -> float:
        return max(self.deadline - time.monotonic(), 1.0)

    def _is_over(self) -> bool:
        return time.monotonic() > self.deadline or self.progress.stop_requested()

    def try_orders(self) -> None:
        """Try the plain orders, each in its share of the time."""
        failed: InfeasibleError | None = None
        for at, depth in enumerate(self.depths):
            lines = tuple(frozenset(line_at(tree, min(depth, tree.height))) for tree in self.codes)
            left = self._left() / (1 + self._more)
            try:
                self._try(lines, order_name(depth, self.height), left / (len(self.depths) - at))
            except InfeasibleError as error:
                failed = error
        if self.found is None and failed is not None:
            raise failed

    def _try(self, lines: Lines, name: str, seconds: float) -> None:
        """Run the algorithm for an order, and note what came of it."""
        start = time.monotonic()
        made = self._make(lines, name, seconds)
        if made is None:
            return
        optimality = made.details.get("optimality") or {}
        self.tried.append(
            {
                "order": name,
                "loss": made.loss,
                "lm": lm(self.facts, made.items),
                "kept": parts_kept(self.facts, made.items)["kept"],
                **{key: optimality[key] for key in ("proven", "gap") if key in optimality},
                "seconds": round(time.monotonic() - start, 2),
            }
        )

    def try_columns(self) -> None:
        """Try each column by itself at each depth, while that brings anything and there is time."""
        depth_of = [min(self._depth_of_best(), tree.height) for tree in self.codes]
        better = True
        while better:
            better = False
            for at, tree in enumerate(self.codes):
                for depth in range(tree.height + 1):
                    if self._is_over():
                        return
                    trial = [*depth_of[:at], depth, *depth_of[at + 1 :]]
                    before = self.best.loss
                    with suppress(InfeasibleError):
                        share = self._left() / (1 + self.how.lines) / (1 + tree.height - depth)
                        self._try(self._plain(trial), self._named(trial), share)
                    if self.best.loss < before:
                        depth_of, better = trial, True

    def _depth_of_best(self) -> int:
        """Return the depth of the best plain order."""
        return next(depth for depth in self.depths if order_name(depth, self.height) == self.best.name)

    def _plain(self, depths: Sequence[int]) -> Lines:
        return tuple(frozenset(line_at(tree, depth)) for tree, depth in zip(self.codes, depths, strict=True))

    def _named(self, depths: Sequence[int]) -> str:
        """Name an order of columns: ``code 1, drug last``."""
        return ", ".join(
            f"{column.name} {order_name(depth, tree.height)}"
            for column, tree, depth in zip(self.facts.columns, self.codes, depths, strict=True)
        )

    def try_branches(self) -> None:
        """Try the line at each depth within each branch, while that brings anything and there is time."""
        better = True
        while better:
            better = False
            for at, codes in enumerate(self.codes):
                for branch in codes.children(codes.root):
                    for depth in range(1, codes.height + 1):
                        if self._is_over():
                            return
                        lines = self._moved(at, branch, depth)
                        before = self.best.loss
                        with suppress(InfeasibleError):
                            self._make(lines, LINES, self._left())
                        better |= self.best.loss < before

    def _moved(self, at: int, branch: int, depth: int) -> Lines:
        """Move the best line of a column to a depth within a branch."""
        codes, best = self.codes[at], self.best.lines
        line = best[at]
        if codes.root in line:
            line = frozenset(codes.children(codes.root))
        inside = np.zeros(codes.n_nodes, bool)
        inside[[v for v in range(codes.n_nodes) if codes.covers(branch, v)]] = True
        kept = {v for v in line if not inside[v]}
        moved = frozenset(kept | set(np.flatnonzero(inside & (codes.depth == depth)).tolist()))
        return (*best[:at], moved, *best[at + 1 :])

    def _make(self, lines: Lines, name: str, seconds: float) -> _Made | None:
        """Run the algorithm on the tree of lines and remember what is better; None: the tree was tried."""
        tree = forest([product_tree(space, line) for space, line in zip(self.spaces, lines, strict=True)])
        if tree in self.seen:
            return None
        self.seen.append(tree)
        self.progress(f"anonymizing ({self.request.algorithm}), order {name}")
        settings = self.request.settings
        if self.limited and (len(self.depths) > 1 or self.how.lines):
            settings = replace(settings, time_limit=seconds)
        guarantee = self.request.guarantee
        if guarantee.of_codes:
            from setveil.methods.histories.codes import anonymize as anonymize_codes  # which loads the solver

            recoding, details = anonymize_codes(
                self.facts, tree, guarantee, time_limit=settings.time_limit or self._left(),
                progress=self.progress,
            )  # fmt: skip
        else:
            recoding, details = self.request.module.anonymize(
                self.data, tree, guarantee, settings, self.progress
            )
        made = _Made(loss_of(self.facts, recoding, details), recoding, details, name, lines)
        if self.found is None or made.loss < self.found.loss:
            self.found = made
        return made

    def branches(self) -> list[dict[str, Any]]:
        """Say for each branch of the codes' trees at which depths of it attributes are dropped."""
        found = []
        for codes, space, line in zip(self.codes, self.spaces, self.best.lines, strict=True):
            for branch in codes.children(codes.root):
                label = codes.labels[branch]
                label = labelled(space.column, label) if space.column else label
                depths = sorted({int(codes.depth[v]) for v in line if codes.covers(branch, v)})
                found.append({"label": label, "depths": depths})
        return found


def loss_of(data: Facts, recoding: Any, details: Mapping[str, Any]) -> float:
    """Say what a release loses by what the algorithm minimizes, else by what boxes lose."""
    chosen = [one["f"] for one in details.get("frontier", ()) if one["chosen"]]
    if chosen:
        return float(chosen[0])
    if "optimality" in details:
        return float(details["optimality"]["loss"])
    tree = recoding.tree
    cost = np.append(tree.lost[recoding.nodes], tree.most_lost)
    _, label, rows = recoding.tally(data)
    return float(Fraction(int((cost[label] * rows).sum()), max(tree.most_lost * int(rows.sum()), 1)))
