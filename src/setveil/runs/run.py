"""One run, from data to a verified release: anonymize, verify, measure, record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, as_option, described, faces, listed
from setveil.base.notebook import card
from setveil.base.progress import Progress, listener, silent
from setveil.base.staging import scratch_folder
from setveil.base.tracing import Trace
from setveil.judges.guarantees import Guarantee, Model, absent_items, least_rows, model_named, models
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.utility import Case, measured
from setveil.judges.utility.are import counts_estimator
from setveil.releases.published import Release, publish
from setveil.releases.published.counts import Counts
from setveil.report.record import Record
from setveil.report.run.summary import facts, summary
from setveil.rows.data.framed import Framed
from setveil.rows.data.layout import Layout
from setveil.rows.data.personal import Personal
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.generalizing import USUAL, Generalizing
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.runs.check import check
from setveil.runs.checks import require_facts
from setveil.runs.details import answers, risks
from setveil.runs.folder import PAGE, counts, write_folder
from setveil.runs.options.models import require_watched
from setveil.runs.rare import rare_names, require_common, without_rare
from setveil.runs.request import RunRequest, make_run_request, require_traced
from setveil.runs.steps import AlgorithmResult, Timing, made_at, released_at, timed

if TYPE_CHECKING:
    import polars as pl

    from setveil.rows.facts.facts import Facts


@dataclass(frozen=True, eq=False)
class VerifiedRelease(Framed):
    """A release whose guarantee was re-checked from the published rows; others are never handed over.

    Attributes
    ----------
    release : Release
        What is published, how it was made and which row is whose.
    published, recoding, row_map, counts, details
        Those of the release.
    verdict : Verdict
        What the verifier found.
    rare_names : tuple of str
        For rows in chunks: items published under their own names that fewer than k rows contain, and that
        neither a given hierarchy nor the guarantee lists.
    utility : dict
        The information loss (see `setveil.measure`).
    report : dict
        The record of the run, as written to report.json.
    personal : Personal
        Values of the input that belong to one person each, as hashes: `write` compares all files with them.

    Examples
    --------
    >>> import setveil as sv
    >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
    >>> sorted(release.published.rows()), release.verdict.holds
    ([('milk',), ('milk', 'tea'), ('tea',)], True)
    """

    release: Release
    verdict: Verdict
    utility: dict[str, Any]
    report: Record
    layout: Layout
    personal: Personal
    rare_names: tuple[str, ...] = ()  # items that few rows contain, and that are published as themselves

    @property
    def published(self) -> Transactions:
        """Rows of items to share, in an order that tells nothing of the input's."""
        return self.release.published

    @property
    def recoding(self) -> Any:
        """What each item, or each occurrence of one, became, or the group of each row. Stays inside."""
        return self.release.recoding

    @property
    def row_map(self) -> NDArray[np.int64]:
        """The published row of each input row: int64 (n_rows,). Stays inside."""
        return self.release.row_map

    @property
    def counts(self) -> Counts | None:
        """Supports of items that are published next to the rows; None if none are."""
        return self.release.counts

    @property
    def details(self) -> dict[str, Any]:
        """What the algorithm has to say of its run."""
        return self.release.details

    def write(
        self,
        out: str | PathLike[str],
        *,
        force: bool = False,
        format: str | None = None,  # noqa: A002
        external: bool = False,
        checker: bool = False,
        list_members: bool = False,
        rare_names: bool = False,
        record: Mapping[str, Any] = MappingProxyType({}),
    ) -> Record:
        """Write the run's folder: `published` may be shared, `internal` is internal.

        Parameters
        ----------
        out : path
            A folder that does not exist or is empty. It appears complete or not at all.
        force : bool
            Replace a folder that an earlier run wrote.
        format : str, optional
            Format of the published file; by default that of the input. Generalized labels are no integers,
            so FIMI becomes basket where there are any.
        external : bool
            Also write published/report.html, a report without anything that is internal.
        checker : bool
            Also put check.py and check.html next to the data, for recipients (docs/howto/check_a_release.md).
        list_members : bool
            List all items of each label in about.json, however few rows contain them (docs/hierarchies.md).
        rare_names : bool
            Publish items under their own names that fewer than k rows contain. It is needed if there are any.
        record : mapping
            Additional content of the report, as JSON types: `command`, `options`, `sample`, `about`,
            `names`.

        Returns
        -------
        dict
            The report, as written to internal/report.json.

        Raises
        ------
        OutputError
            If the folder exists or cannot be written.
        PersonalDataError
            If the published files would contain person IDs, e-mail addresses, telephone numbers, IP
            addresses, card numbers or exact addresses of the input.
        RequestError
            If a format is named for rows in groups, the checker does not support this release, or an argument
            is of a wrong type.

        Examples
        --------
        >>> import setveil as sv
        >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
        >>> release.write("release")["published"]["file"]
        'data.csv'
        """
        if not isinstance(out, str | PathLike):
            raise RequestError(f"The folder to write must be a path, got {described(out)}.")
        if format is not None and not isinstance(format, str):
            raise RequestError(f"format must be the name of a format, got {described(format)}.")
        if self.release.info.rare_on_request:
            require_common(self.rare_names, {**self.report, **record}, allowed=rare_names)
        release, layout = self.release, self.release.layout(self.layout, format)
        if list_members:
            release = release.with_all_members()
        report = cast("Record", {**self.report, **record})
        return write_folder(
            release, report, layout, Path(out), self.personal, force=force, external=external,
            checker=checker,
        )  # fmt: skip

    def report_html(self, *, external: bool = False) -> str:
        """Make the report page of the run, as `write` does.

        Parameters
        ----------
        external : bool
            Make the page that may be shared with the published rows instead: nothing in it is internal.

        Returns
        -------
        str
            A page that loads nothing. Risk and answers are in it if `anonymize` was called with
            ``details=True``.

        Examples
        --------
        >>> import setveil as sv
        >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
        >>> release.report_html(external=True)[:15]
        '<!DOCTYPE html>'
        """
        with scratch_folder() as place:
            folder = place / "release"
            self.write(folder, external=external)
            page = folder / ("published" if external else "internal") / PAGE
            return page.read_text(encoding="utf-8")

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame of all that is published of each row.

        Parameters
        ----------
        long : bool
            One line per row and item, instead of one per row with a list of its items.

        Returns
        -------
        polars.DataFrame
            Of single rows ``items``; of a table all published columns, texts, null where there is no value,
            and the list of items; of rows in groups ``group``, ``items`` and ``sensitive``, what the group
            holds of sensitive items: a list of ``item`` and ``rows``.

        Examples
        --------
        >>> import setveil as sv
        >>> sv.anonymize([["tea", "milk"], ["tea"], ["tea"]], k=2, m=2).to_polars()["items"].to_list()
        [['tea'], ['tea'], ['tea']]
        """
        exposed: Framed = self.release.exposed()
        return exposed.to_polars(long=long)

    def _shown(self) -> Record:
        return {**self.report, "published": counts(self.published)}

    def __repr__(self) -> str:
        return summary(self._shown())

    def _repr_html_(self) -> str:
        return card("Verified release", facts(self._shown()).items())


def anonymize(
    data: Transactions,
    guarantee: Guarantee,
    *,
    hierarchy: Hierarchy | None = None,
    algorithm: Any = None,
    seed: int = 0,
    bound: bool | float = False,
    counts: bool | int = True,
    details: bool = True,
    watched: Collection[str] = (),
    list_members: bool = False,
    suppress_below: int | None = None,
    generalizing: Generalizing = USUAL,
    trace: Trace | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> VerifiedRelease:
    """Make a release that satisfies a guarantee, and verify it (see `setveil.anonymize`).

    `watched`: sensitive items that the guarantee does not cover. `generalizing`: how facts are generalized.
    `trace`: gets the steps of the search. `algorithm`: a name, whose parameters may follow, or an object of
    them.
    """
    if not isinstance(bound, Real) or bound < 0:
        raise RequestError(
            f"bound must be True, False or a positive number of seconds, got {described(bound)}."
        )
    request = make_run_request(
        guarantee, algorithm, parameters, seed=seed, counts=counts, details=details, watched=tuple(watched),
        list_members=list_members,
    )  # fmt: skip
    if bound:
        from setveil.runs.distance import require_known_optimum

        require_known_optimum(request.algorithm, request.info, guarantee.model)
    if watched:
        require_watched(model_named(guarantee.model), details=details)
    progress = listener(progress)
    personal = data.personal  # of what was read, whatever becomes of the rows here
    timing: Timing = {"read": data.origin.seconds} if data.origin else {}
    require_facts(guarantee, has_facts=data.only_facts)
    if data.has_facts:
        from setveil.rows.facts.settling import settled
        from setveil.runs.orders import require_possible

        require_possible(request)
        data = settled(data, request.guarantee.k)
        request = replace(request, least=_not_counted(counts)) if data.is_table else request
    require_form(data, guarantee)
    if data.set_names:
        request = replace(request, guarantee=guarantee.for_columns(data.set_names))
    if generalizing != USUAL and not data.has_facts:
        raise RequestError("The data contain no facts, which alone have orders and losses by parts.")
    if trace is not None:
        require_traced(request.algorithm, request.module, facts=data.has_facts)
    data, note = (data, "") if suppress_below is None else without_rare(data, suppress_below)
    place = _Memory(data, bound, generalizing, trace)
    made = made_at(place, request, hierarchy, timing, progress)
    if note:
        made.details["warnings"] = [*made.details.get("warnings", ()), note]
    release, verdict, report = released_at(place, request, made, timing, progress)
    layout = data.origin.layout if data.origin else Layout("basket")
    rare = rare_names(data, release, made.tree, request)
    if rare:
        report["rare_names"] = {"least": least_rows(guarantee), "items": len(rare)}
    return VerifiedRelease(release, verdict, report["utility"], report, layout, personal, rare)


def _not_counted(counts: bool | int) -> int:
    """Publish no counts of facts in tables, and refuse a least count that was asked for."""
    if not isinstance(counts, bool):
        counts_min = as_option("counts-min")
        raise RequestError(f"{counts_min}: facts in tables are not counted.", hint="Omit it.")
    return 0


@dataclass
class _Memory:
    """Rows in memory (see `setveil.runs.steps.Place`), and how far to look for the least loss."""

    data: Transactions
    bound: bool | float
    generalizing: Generalizing
    trace: Trace | None = None
    engine: str = ""
    writes: bool = False
    codes: Sequence[Hierarchy] = ()  # of each column of codes, where the data are facts

    def prepare(
        self, request: RunRequest, tree: Hierarchy | None, timing: Timing, progress: Progress
    ) -> Hierarchy | None:
        """Take the hierarchy given, or make one; None for an algorithm that has no use for it."""
        request.guarantee.require_feasible(self.data)
        if "hierarchy" not in request.info.uses:
            return None
        facts = self.data.facts
        if facts is not None and facts.n_items:
            return self._of_codes(request, facts, tree, timing, progress)
        if tree is not None or "hierarchy" not in request.info.needs_for(request.guarantee.model):
            if tree is not None:
                from setveil.rows.hierarchy.fit import fit_rows

                tree, self.data = fit_rows(tree, self.data)
            return tree
        progress("grouping items that often occur together")
        with timed(timing, "hierarchy"):
            if self.data.n_items:
                from setveil.rows.hierarchy.build import by_cooccurrence

                return by_cooccurrence(self.data, common=least_rows(request.guarantee))
            nothing = Hierarchy({"*": None})  # for rows without any item
            nothing.origin = HierarchyOrigin("co-occurrence")
            return nothing

    def _of_codes(
        self, request: RunRequest, data: Facts, tree: Hierarchy | None, timing: Timing, progress: Progress
    ) -> Hierarchy:
        """Take the hierarchies of the codes, or make them; those of several columns side by side."""
        from setveil.rows.hierarchy.columns import joined
        from setveil.runs.orders import trees_of

        if tree is None:
            progress("grouping codes that often occur together")
        with timed(timing, "hierarchy"):
            trees = trees_of(data, tree, least_rows(request.guarantee))
            self.codes = list(trees.values())
            made = joined(trees) if len(trees) > 1 else next(iter(trees.values()))
        made.origin = made.origin or (tree.origin if tree is not None else None)
        return made

    def anonymize(
        self, request: RunRequest, tree: Hierarchy | None, progress: Progress
    ) -> tuple[Any, dict[str, Any]]:
        """Run the algorithm."""
        data: Any = self.data
        if data.is_table:
            from setveil.rows.tables.ends import with_cells

            data = with_cells(data, request.guarantee.k)
        if data.has_facts and tree is not None:
            from setveil.runs.orders import anonymize_facts, items_of

            codes = self.codes or [tree]  # of rows without facts
            recoding, details = anonymize_facts(data, codes, request, self.generalizing, progress)
            items_of(recoding).tree.origin = tree.origin
            return recoding, details
        watched: dict[str, Any] = {}
        if self.trace is not None:
            self.trace.begin(
                algorithm=request.algorithm, guarantee=request.guarantee.phrase, parents=_parents(tree)
            )
            watched = {"trace": self.trace}
        found: tuple[Any, dict[str, Any]] = request.module.anonymize(
            data, tree, request.guarantee, request.settings, progress, **watched
        )
        return found

    def publish(self, request: RunRequest, made: AlgorithmResult, progress: Progress) -> Release:
        """Put the rows in an order that tells nothing."""
        recoding = made.recoding.shared_by(least_rows(request.guarantee))
        release = publish(self.data, recoding, request.seed, made.details, request.least)
        return release.without_sure_counts() if absent_items(request.guarantee) else release

    def verify(self, request: RunRequest, release: Release, progress: Progress) -> Verdict:
        """Check what is going to be written."""
        return checked(self.data, release, request.guarantee, progress)

    def look(
        self, request: RunRequest, made: AlgorithmResult, release: Release, timing: Timing, progress: Progress
    ) -> dict[str, Any]:
        """Find the information loss, what is still answered, the risk, and the distance to the optimum."""
        found = looked_at(
            self.data,
            release,
            request.guarantee,
            timing,
            progress,
            details=request.details,
            watched=request.watched,
        )
        if self.bound and found["optimality"] is None:
            from setveil.runs.distance import distance

            progress("finding the optimum")
            with timed(timing, "bound"):
                found["optimality"] = distance(
                    found["utility"], request.info, request.settings, self.data, made.tree, request.guarantee,
                    None if isinstance(self.bound, bool) else self.bound, progress,
                )  # fmt: skip
        return found


def _parents(tree: Hierarchy | None) -> dict[str, str | None]:
    """Name the parent of each node, None for the root."""
    if tree is None:
        return {}
    return {
        label: None if above < 0 else tree.labels[above]
        for label, above in zip(tree.labels, tree.parent.tolist(), strict=True)
    }


def checked(
    data: Transactions, release: Release, guarantee: Guarantee, progress: Progress, **more: Any
) -> Verdict:
    """Check what is going to be published, with what else the model's verifier must know."""
    known: dict[str, Callable[[], Any]] = {"image": release.image, "original": lambda: data}
    more |= {name: known[name]() for name in model_named(guarantee.model).knows}
    about = release.meaning()
    if (before := release.before()) is not None:
        more["before"] = before
    return check(release.exposed(), guarantee, release.counts, about, **more, progress=progress)


def looked_at(
    data: Transactions,
    release: Release,
    guarantee: Guarantee,
    timing: dict[str, float],
    progress: Progress,
    *,
    details: bool,
    watched: Collection[str] = (),
) -> dict[str, Any]:
    """Find what the record of a run says of a release: what was lost, and with `details` use and risk."""
    progress("measuring")
    with timed(timing, "measure"):
        case = Case(data, **release.measurable(), progress=progress)
        found: dict[str, Any] = {"utility": measured(case), "estimator": case.once(counts_estimator)}
    if details and data.has_facts:
        with timed(timing, "risk"):
            found["risk"] = risks(data, release, guarantee, watched, progress)
    elif details:
        with timed(timing, "answers"):
            found["answers"] = answers(data, release, case, progress)
        with timed(timing, "risk"):
            # Of rows in chunks nobody can count those that fit; rows that were drawn are nobody's.
            if release.exposed().unfindable is None:
                found["risk"] = risks(data, release, guarantee, watched, progress)
    return found | {"watched": list(watched), "optimality": release.details.get("optimality")}


def require_form(data: Transactions, guarantee: Guarantee) -> None:
    """Refuse a table where a guarantee is about rows of items, and rows of items where it is about tables."""
    model, columns = model_named(guarantee.model), data.column_names

    def suits(one: Model) -> bool:
        """Whether a guarantee is about such data."""
        return (one.release == "tables") == (columns is not None)

    if suits(model):
        return
    suited = [one.name for one in models().values() if suits(one)]
    if columns is not None:
        raise RequestError(
            f"{model.title} is about rows of items, and the data are a table: its columns "
            f"{listed(columns)} would be omitted.",
            hint=f"Choose a guarantee for tables: {', '.join(suited)}.",
        )
    raise RequestError(
        f"{model.title} is about tables, and the data are rows of items without further columns.",
        hint="Say which columns someone may know and which contains the items: "
        f"{faces('--qi and --set', 'setveil.read_table')}. Without such columns choose one of "
        f"{', '.join(suited)}.",
    )
