"""Several releases about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

from setveil.base.errors import RequestError
from setveil.commands.arguments import Listener, TreeLike, heard, integer, path_of, tree_of
from setveil.commands.series_rows import people_in
from setveil.commands.series_verdict import (
    KNOWN,
    PRESENCE,
    SeriesRecord,
    counts_out,
    one_of,
    verdict_of,
    verified,
)
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.report.record import Record
from setveil.report.series import list_text, plan_text, risk_text
from setveil.work.series.add import add_new, add_together
from setveil.work.series.earlier import add_published
from setveil.work.series.ids import codes_of
from setveil.work.series.leaving import drop, forget
from setveil.work.series.ledger import (
    IDS,
    KINDS,
    Entry,
    Ledger,
    changing,
    create,
    open_ledger,
    require_free_name,
)
from setveil.work.series.people import People
from setveil.work.series.plan import plan, plan_together
from setveil.work.series.risk import risk
from setveil.work.series.state import published_state
from setveil.work.series.trees import fitting
from setveil.work.series.ways import HOLD_BACK, SEARCHES, SearchSettings


class Series:
    """Several releases about the same people, with one guarantee over all of them (see docs/series.md).

    Made by `create` or `open`. The folder is the ledger, which never leaves the house.

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> series = sv.Series.create("visits", k=2, m=1)
    >>> first = {"ann": ["tea"], "bob": ["tea", "milk"], "cid": ["milk"]}
    >>> report = series.add(first, name="q1", out="q1", hierarchy=tree)
    >>> second = {"ann": ["tea"], "bob": ["tea"], "eva": ["tea"], "fay": ["tea"]}
    >>> report = series.add(second, name="q2", out="q2", hierarchy=tree)
    >>> series.verify()["holds"], [release.name for release in series.releases]
    (True, ['q1', 'q2'])
    """

    def __init__(self, ledger: Ledger, key: Path | None = None) -> None:
        self._folder, self._key = ledger.folder, key
        self.warnings: tuple[str, ...] = ()  # of the last call of `add`, `plan` or their like

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        k: int,
        m: int = 2,
        kind: str = "periods",
        known: str = "histories",
        presence: str = "implied",
        ids: str = "keyed",
        key: str | PathLike[str] | None = None,
        seed: int = 0,
    ) -> Series:
        """Begin a series: a ledger without releases, and the key that its codes are made by.

        Parameters
        ----------
        path : path
            The folder of the ledger, which does not exist.
        k, m : int
            What all releases together guarantee: at least k people fit whatever m items are known.
        kind : {"periods", "register"}
            Whether a release holds what came since the last one, or everyone and everything so far.
        known : {"histories", "facts"}
            What one known item is: all releases in which a person has it, or one of them.
        presence : {"implied", "known", "ignored"}
            Whether a known item tells that she is in its releases, or that is known without an item, or
            neither.
        ids : {"keyed", "plain"}
            Whether the ledger holds codes in place of ids.
        key : path, optional
            The file of the key; by default next to the ledger. One that exists is used.
        seed : int
            Each release is shuffled by a seed of its own, from this one on.
        """
        promise = SeriesAnonymity(k, m, one_of("known", known, KNOWN), one_of("presence", presence, PRESENCE))
        one_of("kind", kind, KINDS)
        one_of("ids", ids, IDS)
        file = None if key is None else path_of("The key", key)
        ledger = create(
            path_of("The series", path), promise, kind=kind, ids=ids, key_file=file,
            seed=integer("seed", seed, 0),
        )  # fmt: skip
        return cls(ledger, file)

    @classmethod
    def open(cls, path: str | PathLike[str], *, key: str | PathLike[str] | None = None) -> Series:
        """Open a series that was begun before.

        Parameters
        ----------
        key : path, optional
            The file of the key, where it lies elsewhere than when the series began.
        """
        return cls(open_ledger(path_of("The series", path)), None if key is None else path_of("The key", key))

    @property
    def ledger(self) -> Ledger:
        """The series as it is on disk now."""
        return open_ledger(self._folder)

    @property
    def releases(self) -> tuple[Entry, ...]:
        """The releases: each with `name`, `run` (its folder), `date`, `people`, `held_back`, `counts`."""
        return self.ledger.releases

    def add(
        self,
        data: object,
        *,
        name: str,
        out: str | PathLike[str] | None = None,
        hierarchy: TreeLike = None,
        published: str | PathLike[str] | None = None,
        hold_back: str | None = None,
        labels_of: str | None = None,
        algorithm: str = "exact",
        time_limit: float | None = None,
        refine: bool = True,
        bound: bool = False,
        ways: bool = False,
        counts: bool | int = True,
        merge: bool = False,
        details: bool = False,
        writing: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
        progress: Listener = None,
        **reading: Any,
    ) -> dict[str, Any]:
        """Publish the next release, or record one that is out.

        Parameters
        ----------
        data : path, list of paths, data frame, or mapping of id to items
            One period, or in a register everyone so far.
        name : str
            What to call the release.
        out : path
            The folder of the run, which does not exist. It is written with the ledger, or neither.
        hierarchy : Hierarchy, path, dict or data frame, optional
            What items may be generalized to; by default the file that the last release had. What is out under
            the name of a group must still be in it.
        published : path, optional
            The folder of a run that is already out, of these data: it is recorded, with what it exposes.
        hold_back : {"needed", "found", "returners", "none"}, optional
            Whose rows stay out: whom any labels would let be found (the default), whom the best labels of the
            new rows by themselves would, everyone who was in an earlier release, or nobody.
        labels_of : str, optional
            The name of a release whose labels to begin with; they are only coarsened.
        algorithm : {"exact", "greedy"}
            The least loss, proven; or one for large data.
        time_limit : float, optional
            Seconds after which the best labels so far are taken.
        refine, bound : bool
            For greedy: make labels finer again if the guarantee still holds, and bound how much less other
            labels may lose.
        ways : bool
            Also find what the other ways would have cost, for the report; it takes as long as `plan`.
        counts : bool or int
            As for `setveil.anonymize`. Never next to a release of a register after the first.
        merge : bool
            Of a register: the data are what came since, and are added to what the ledger has.
        details : bool
            As for `setveil.anonymize`.
        writing, record : mapping, optional
            Arguments of `VerifiedRelease.write`, and additional content of the report.
        progress : callable or Progress, optional
            Hears how far it is.
        **reading
            How files are read, as for `setveil.read`: `id_column`, `item_column`, ...

        Returns
        -------
        dict
            The report, as written to internal/report.json; with `published` the verdict on the series.

        Raises
        ------
        InfeasibleError
            If nobody may be withheld and someone must be.
        DataError
            If ids are written otherwise than before, someone or something is missing from a register, or
            what was published is not what it was.
        RequestError
            If an argument is not acceptable, or the rows have no ids.
        """
        listening = heard(progress)
        if hold_back is not None:
            one_of("hold_back", hold_back, HOLD_BACK)
        how = _how(algorithm, time_limit, refine, bound)
        with changing(self._folder) as ledger:
            require_free_name(ledger, name)
            new = self._people(ledger, data, reading, merge=merge)
            if published is not None:
                if hierarchy is not None or out is not None or hold_back is not None:
                    raise RequestError(
                        "A release that is out has its labels, its rows and its folder.",
                        hint="Omit --hierarchy, --out and --hold-back.",
                    )
                run = path_of("The run", published)
                changed, verdict = add_published(ledger, name, run, new, listening)
                return verdict_of(changed, verdict)
            if out is None:
                raise RequestError("Say where the release goes.", hint="--out FOLDER.")
            tree, (new,) = fitting(ledger, tree_of(hierarchy), [new])
            changed, report = add_new(
                ledger, name, new, tree, path_of("The folder to write", out),
                hold_back=hold_back, labels_of=labels_of, how=how, priced=ways, counts=counts,
                details=details, writing=writing, record=record, progress=listening,
            )  # fmt: skip
            self._warn(counts_out(changed) if changed.entry(name).counts else "")
        return cast("dict[str, Any]", report)

    def add_together(
        self,
        data: Sequence[object],
        *,
        names: Sequence[str],
        out: Sequence[str | PathLike[str]],
        hierarchy: TreeLike = None,
        weights: Sequence[int] | None = None,
        time_limit: float | None = None,
        counts: bool | int = True,
        details: bool = False,
        writing: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
        progress: Listener = None,
        **reading: Any,
    ) -> list[Record]:
        """Publish several releases, none of which is out, under labels that are chosen together.

        Parameters
        ----------
        data, names, out : sequences of the same length
            The rows, the name and the folder of each release; the series has none yet.
        weights : sequence of int, optional
            How much an occurrence of each release counts.
        hierarchy, time_limit, counts, details, writing, record, progress, **reading
            As for `add`.
        """
        listening = heard(progress)
        with changing(self._folder) as ledger:
            _require_none(ledger)
            several = [self._people(ledger, one, reading) for one in data]
            tree, several = fitting(ledger, tree_of(hierarchy), several)
            outs = [path_of("The folder to write", place) for place in out]
            changed, reports = add_together(
                ledger, several, list(names), outs, tree, weights=weights, time_limit=time_limit,
                counts=counts, writing=writing, record=record, details=details, progress=listening,
            )  # fmt: skip
            self._warn(counts_out(changed))
        return reports

    def plan(
        self,
        data: object,
        *,
        hierarchy: TreeLike = None,
        algorithm: str = "exact",
        time_limit: float | None = None,
        refine: bool = True,
        bound: bool = False,
        progress: Listener = None,
        **reading: Any,
    ) -> SeriesRecord:
        """Price every way to publish new rows next: a register, a period, people withheld. Writes nothing.

        Parameters
        ----------
        data, hierarchy, algorithm, time_limit, refine, bound, progress, **reading
            As for `add`.

        Returns
        -------
        dict
            `people`, `returning`, and `ways`: each with `way`, `lm`, `left_out`, `held_back`, `names_kept`,
            `exposed_before`, `unique_before`, `proven`, `gap` and `seconds`; or `why` it cannot be.
        """
        ledger = self.ledger
        how = _how(algorithm, time_limit, refine, bound)
        new = self._people(ledger, data, reading)
        tree, (new,) = fitting(ledger, tree_of(hierarchy), [new])
        found = plan(ledger, new, tree, how=how, progress=heard(progress))
        return SeriesRecord(found, plan_text(found))

    def plan_together(
        self,
        data: Sequence[object],
        *,
        names: Sequence[str] | None = None,
        hierarchy: TreeLike = None,
        weights: Sequence[int] | None = None,
        time_limit: float | None = None,
        progress: Listener = None,
        **reading: Any,
    ) -> SeriesRecord:
        """Price several releases whose labels are chosen together, none of which is out. Writes nothing.

        Parameters
        ----------
        data, names, hierarchy, weights, time_limit, progress, **reading
            As for `add_together`.
        """
        ledger = self.ledger
        _require_none(ledger)
        several = [self._people(ledger, one, reading) for one in data]
        called = list(names or (str(at + 1) for at in range(len(several))))
        tree, several = fitting(ledger, tree_of(hierarchy), several)
        found = plan_together(
            ledger, several, called, tree, weights=weights, time_limit=time_limit, progress=heard(progress)
        )  # fmt: skip
        return SeriesRecord(found, plan_text(found))

    def verify(
        self,
        *,
        k: int | None = None,
        m: int | None = None,
        known: str | None = None,
        presence: str | None = None,
        show: int = 5,
        counts_are_out: bool = False,
        progress: Listener = None,
    ) -> SeriesRecord:
        """Check the guarantee of all releases together, from the published files and the ledger.

        Parameters
        ----------
        k, m, known, presence : optional
            Another guarantee than that of the series.
        show : int
            For how many people to say what exposes them.
        counts_are_out : bool
            For a register: counts next to a release are published, and the guarantee is checked only for
            attackers who do not know that items are never removed.

        Returns
        -------
        dict
            True where the guarantee holds; `exposed`, `unique`, `violations`, ...
        """
        return verified(
            self.ledger, {}, k=k, m=m, known=known, presence=presence, show=show,
            counts_are_out=counts_are_out, progress=heard(progress),
        )  # fmt: skip

    def risk(self, *, progress: Listener = None) -> SeriesRecord:
        """Count people below 2, 5 and 10 for who knows up to three items, by each release and by all, linked.

        Returns
        -------
        dict
            `thresholds`, and `risk`: a list, by `release` (None: all), `view` (items, labels) and `m`.
        """
        ledger = self.ledger
        found = risk(published_state(ledger), ledger.promise, heard(progress))
        return SeriesRecord(found, risk_text(found))

    def forget(self, id: str) -> int:  # noqa: A002
        """Remove what a person had from the ledger; published rows stay, and others may hide behind them.

        The person is no longer checked. No code says which published rows were this person's.

        Returns
        -------
        int
            The number of releases that the person was in.
        """
        with changing(self._folder) as ledger:
            (person,) = codes_of([str(id)], ledger.code(self._key))
            return forget(ledger, person)[1]

    def drop(self, name: str, *, not_shared: bool = False) -> None:
        """Remove the last release of the series, if nobody has received it.

        Parameters
        ----------
        not_shared : bool
            Says so. What was shared never leaves the series.
        """
        with changing(self._folder) as ledger:
            drop(ledger, name, not_shared=not_shared)

    def told(self) -> SeriesRecord:
        """Say what the series guarantees and which releases it has."""
        ledger = self.ledger
        s = ledger.settings
        found = {
            "series": str(ledger.folder), "k": s.k, "m": s.m, "kind": s.kind, "known": s.known,
            "presence": s.presence, "ids": s.ids, "forgotten": s.forgotten,
            "releases": [
                {
                    "name": one.name, "date": one.date, "people": one.people, "held_back": one.held_back,
                    "k": one.k, "m": one.m, "counts": one.counts, "exposed": one.exposed, "way": one.way,
                    "run": one.run,
                }
                for one in ledger.releases
            ],
        }  # fmt: skip
        return SeriesRecord(found, list_text(found))

    def _people(
        self, ledger: Ledger, data: object, reading: Mapping[str, Any], *, merge: bool = False
    ) -> People:
        new = people_in(ledger, data, reading, self._key, merge=merge)
        self.warnings = ()
        self._warn(new.warning)
        return new

    def _warn(self, warning: str | None) -> None:
        if warning:
            self.warnings += (warning,)

    def __repr__(self) -> str:
        return list_text(self.told())


def _require_none(ledger: Ledger) -> None:
    if ledger.releases:
        raise RequestError(
            f"{ledger.folder} has releases: what is out cannot be planned any more.",
            hint="Releases are chosen together before the first is out.",
        )


def _how(algorithm: str, time_limit: float | None, refine: bool, bound: bool) -> SearchSettings:
    """Take how labels are searched for."""
    one_of("algorithm", algorithm, SEARCHES)
    if algorithm == "exact" and (bound or not refine):
        option = "--bound" if bound else "--no-refine"
        raise RequestError(
            f"{option} is of the greedy search: exact proves how good its labels are.",
            hint=f"Omit {option}, or choose --algorithm greedy.",
        )
    return SearchSettings(algorithm, time_limit, refine, bound)
