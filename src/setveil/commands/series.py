"""Several releases about the same people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

from setveil.commands.given import Listener, TreeLike, heard, integer, is_path, path_of, tree_of
from setveil.data.columns import Wanted
from setveil.data.frames import read_frame
from setveil.data.io import read_with_ids
from setveil.data.transactions import Transactions
from setveil.errors import DataError, RequestError, described
from setveil.guarantees.series import SeriesAnonymity
from setveil.guarantees.verify.series import verify_series
from setveil.hierarchy.tree import Hierarchy
from setveil.options.reading import Reading
from setveil.progress import Progress
from setveil.report.record import Record
from setveil.report.series import list_text, plan_text, risk_text, verdict_text
from setveil.series.add import Chosen, add_new, allowed_counts, publish_way
from setveil.series.earlier import add_published
from setveil.series.ids import codes_of
from setveil.series.ledger import (
    IDS,
    INSIDE,
    KINDS,
    Entry,
    Ledger,
    changing,
    create,
    drop,
    forget,
    open_ledger,
    require_free_name,
)
from setveil.series.people import People, merged, people_of
from setveil.series.plan import PLANNED, plan, plan_together, together
from setveil.series.risk import risk
from setveil.series.state import published_state, told
from setveil.series.ways import HOLD_BACK, SEARCHES

KNOWN, PRESENCE = ("histories", "facts"), ("implied", "known", "ignored")
OUT = (
    "counts.csv lies beside a release of a register, and is out: the promise holds for those only who do not "
)
STAYS = f"{OUT}know what stays (docs/series.md)."


class Told(dict[str, Any]):
    """What a series was asked, as JSON types, that shows itself in words."""

    def __init__(self, content: Mapping[str, Any], words: str) -> None:
        super().__init__(content)
        self._words = words

    def __repr__(self) -> str:
        return self._words

    def __bool__(self) -> bool:
        return bool(self.get("holds", True))


def one_of(name: str, value: object, words: Sequence[str]) -> Any:
    """Take one of some words."""
    if value not in words:
        raise RequestError(f"{name} must be one of {', '.join(words)}, got {described(value)}.")
    return value


class Series:
    """Several releases about the same people, with one promise over all of them (see docs/series.md).

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
        self.warnings: tuple[str, ...] = ()  # of the last call of `add` or `plan`

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
            What all releases together promise: at least k people fit whatever m items are known.
        kind : {"periods", "register"}
            Whether a release holds what came since the last one, or everybody and everything so far.
        known : {"histories", "facts"}
            What one known item is: all releases in which a person has it, or one of them.
        presence : {"implied", "known", "ignored"}
            Whether a known item tells that she is in its releases, or that is known without an item, or
            neither.
        ids : {"keyed", "plain"}
            Whether the ledger holds codes in place of ids.
        key : path, optional
            The file of the key; by default beside the ledger. One that exists is used.
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
            One period, or in a register everybody so far.
        name : str
            What to call the release.
        out : path
            The folder of the run, which does not exist. It is written with the ledger, or neither.
        hierarchy : Hierarchy, path, dict or data frame
            What items may be generalized to.
        published : path, optional
            The folder of a run that is already out, of these data: it is recorded, with what it exposes.
        hold_back : {"needed", "found", "returners", "none"}, optional
            Whose rows stay out: whom any labels would let be found (the default), whom the best labels of the
            new rows by themselves would, everybody who was in an earlier release, or nobody.
        labels_of : str, optional
            The name of a release whose labels to begin with; they are only coarsened.
        algorithm : {"exact", "greedy"}
            The least loss, proven; or one for large data.
        time_limit : float, optional
            Seconds after which the best labels so far are taken.
        counts : bool or int
            As for `setveil.anonymize`. Never beside a release of a register after the first.
        merge : bool
            Of a register: the data are what came since, and are added to what the ledger has.
        details : bool
            As for `setveil.anonymize`.
        writing, record : mapping, optional
            Arguments of `VerifiedRelease.write`, and what the report is to say besides.
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
            If nobody may be held back and somebody must be.
        DataError
            If ids are written otherwise than before, somebody or something is missing from a register, or
            what was published is not what it was.
        RequestError
            If an argument is not acceptable, or the rows have no ids.
        """
        listening = heard(progress)
        if hold_back is not None:
            one_of("hold_back", hold_back, HOLD_BACK)
        one_of("algorithm", algorithm, SEARCHES)
        with changing(self._folder) as ledger:
            require_free_name(ledger, name)
            new = self._people(ledger, data, reading, merge=merge)
            if published is not None:
                if hierarchy is not None or out is not None or hold_back is not None:
                    raise RequestError(
                        "A release that is out has its labels, its rows and its folder.",
                        hint="Leave out --hierarchy, --out and --hold-back.",
                    )
                run = path_of("The run", published)
                changed, verdict = add_published(ledger, name, run, new, listening)
                return self._verdict(changed, verdict)
            if out is None:
                raise RequestError("Say where the release goes.", hint="--out FOLDER.")
            _, report = add_new(
                ledger, name, new, required_tree(hierarchy), path_of("The folder to write", out),
                hold_back=hold_back, labels_of=labels_of, algorithm=algorithm, time_limit=time_limit,
                counts=counts, details=details, writing=writing, record=record, progress=listening,
            )  # fmt: skip
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
        if not len(data) == len(names) == len(out):
            raise RequestError(
                f"Given are {len(data)} releases, {len(names)} names and {len(out)} folders, expected as "
                "many of each."
            )
        tree = required_tree(hierarchy)
        reports = []
        with changing(self._folder) as begun:
            ledger = begun
            _require_none(ledger)
            several = [self._people(ledger, one, dict(reading)) for one in data]
            ways = together(ledger, several, tree, weights=weights, time_limit=time_limit, progress=listening)
            chosen = Chosen(PLANNED, "exact", None, time_limit)
            for name, way, place in zip(names, ways, out, strict=True):
                require_free_name(ledger, name)
                ledger, report = publish_way(
                    ledger, name, way, tree, path_of("The folder to write", place), chosen, {},
                    counts=allowed_counts(ledger, counts), writing=writing or {}, record=record or {},
                    details=details,
                    progress=listening,
                )  # fmt: skip
                reports.append(report)
        return reports

    def plan(
        self,
        data: object,
        *,
        hierarchy: TreeLike = None,
        algorithm: str = "exact",
        time_limit: float | None = None,
        progress: Listener = None,
        **reading: Any,
    ) -> Told:
        """Price every way to publish new rows next: a register, a period, people held back. Writes nothing.

        Parameters
        ----------
        data, hierarchy, algorithm, time_limit, progress, **reading
            As for `add`.

        Returns
        -------
        dict
            `people`, `returning`, and `ways`: each with `way`, `lm`, `left_out`, `held_back`, `names_kept`,
            `exposed_before`, `unique_before`, `proven`, `gap` and `seconds`; or `why` it cannot be.
        """
        ledger = self.ledger
        one_of("algorithm", algorithm, SEARCHES)
        new = self._people(ledger, data, reading)
        found = plan(
            ledger, new, required_tree(hierarchy), algorithm=algorithm, time_limit=time_limit,
            progress=heard(progress),
        )  # fmt: skip
        return Told(found, plan_text(found))

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
    ) -> Told:
        """Price several releases whose labels are chosen together, none of which is out. Writes nothing.

        Parameters
        ----------
        data, names, hierarchy, weights, time_limit, progress, **reading
            As for `add_together`.
        """
        ledger = self.ledger
        _require_none(ledger)
        several = [self._people(ledger, one, dict(reading)) for one in data]
        called = list(names or (str(at + 1) for at in range(len(several))))
        found = plan_together(
            ledger, several, called, required_tree(hierarchy), weights=weights, time_limit=time_limit,
            progress=heard(progress),
        )  # fmt: skip
        return Told(found, plan_text(found))

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
    ) -> Told:
        """Check the promise of all releases together, from the published files and the ledger.

        Parameters
        ----------
        k, m, known, presence : optional
            Another promise than that of the series.
        show : int
            For how many people to say what exposes them.
        counts_are_out : bool
            Of a register: counts beside a release are out, and the promise is asked for those who do not know
            what stays.

        Returns
        -------
        dict
            True where the promise holds; `exposed`, `unique`, `violations`, ...
        """
        return self._verified(
            {}, k=k, m=m, known=known, presence=presence, show=show, counts_are_out=counts_are_out,
            progress=heard(progress),
        )  # fmt: skip

    def _verified(self, runs: Mapping[str, Path], *, progress: Progress, **asked: Any) -> Told:
        ledger = self.ledger
        own = ledger.promise
        promise = SeriesAnonymity(
            own.k if asked["k"] is None else asked["k"],
            own.m if asked["m"] is None else asked["m"],
            one_of("known", asked["known"] or own.known, KNOWN),
            one_of("presence", asked["presence"] or own.presence, PRESENCE),
        )
        progress("reading the series")
        state = published_state(ledger, runs)
        progress("verifying the series")
        verdict = verify_series(
            state.series, promise, show=integer("show", asked["show"], 0), progress=progress
        )
        return self._verdict(ledger, told(verdict, state), counts_are_out=asked["counts_are_out"])

    def _verdict(self, ledger: Ledger, found: dict[str, Any], *, counts_are_out: bool = False) -> Told:
        warnings = []
        beside = [entry.name for entry in ledger.releases if entry.counts]
        if ledger.settings.kind == "register" and beside and len(ledger.releases) > 1:
            warnings.append(f"{', '.join(beside)}: {STAYS}")
            found["holds"] = found["holds"] and counts_are_out
        if ledger.settings.forgotten:
            warnings.append(f"{ledger.settings.forgotten:,} forgotten: no longer checked.")
        found["warnings"] = warnings
        return Told(found, verdict_text(found))

    def risk(self, *, progress: Listener = None) -> Told:
        """Count people below 2, 5 and 10 for who knows up to three items, by each release and by all, linked.

        Returns
        -------
        dict
            `thresholds`, and `risk`: a list, by `release` (None: all), `view` (items, labels) and `m`.
        """
        ledger = self.ledger
        found = risk(published_state(ledger), ledger.promise, heard(progress))
        return Told(found, risk_text(found))

    def forget(self, id: str) -> int:  # noqa: A002
        """Remove what a person had from the ledger; her rows are out, and others may hide behind them.

        She herself is no longer checked.

        Returns
        -------
        int
            In how many releases she was.
        """
        with changing(self._folder) as ledger:
            (person,) = codes_of([str(id)], ledger.code(self._key))
            return forget(ledger, person)[1]

    def drop(self, name: str, *, not_shared: bool = False) -> None:
        """Take the last release out of the series, if nobody was given it.

        Parameters
        ----------
        not_shared : bool
            Says so. What was handed out never leaves the series.
        """
        with changing(self._folder) as ledger:
            drop(ledger, name, not_shared=not_shared)

    def told(self) -> Told:
        """Say what the series promises and which releases it has."""
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
        return Told(found, list_text(found))

    def _people(
        self, ledger: Ledger, data: object, reading: dict[str, Any], *, merge: bool = False
    ) -> People:
        rows, ids = rows_with_ids(data, reading)
        new = people_of(ledger, rows, ids, ledger.code(self._key))
        self.warnings = (new.warning,) if new.warning else ()
        if merge:
            if ledger.settings.kind != "register":
                raise RequestError("--merge is for registers.", hint="A period goes out by itself.")
            return merged(ledger, new)
        return new

    def __repr__(self) -> str:
        return list_text(self.told())


def verify_together(
    runs: Sequence[str | PathLike[str]], *, show: int = 5, progress: Listener = None, **asked: Any
) -> Told:
    """Check several releases of one series, by the folders of their runs.

    Parameters
    ----------
    runs : sequence of paths
        At least two.
    k, m, known, presence, show, counts_are_out, progress
        As for `Series.verify`.
    """
    found = [(path_of("A run", run), series_inside(Path(run))) for run in runs]
    series = {told["series"] for _, told in found if told}
    if len(series) != 1 or not all(told for _, told in found):
        raise RequestError(
            "These are not releases of one series: rows of two files cannot be put together without ids.",
            hint="`setveil series add --published RUN` records a release that is out, with the ids of its "
            "people.",
        )
    named = {told["release"]: run for run, told in found if told}
    if len(named) < len(found) or len(found) < 2:
        raise RequestError(
            "These are not two different releases of the series.",
            hint="Name the folders of two or more, such as q1 --with q2.",
        )
    one = Series.open(series.pop())
    for name in named:
        one.ledger.entry(name)
    defaults = dict.fromkeys(("k", "m", "known", "presence")) | {"counts_are_out": False}
    return one._verified(named, progress=heard(progress), **defaults | {"show": show} | asked)


def series_inside(run: Path) -> dict[str, str] | None:
    """Read which series a run's folder is of; None if of none."""
    if not run.exists():
        raise DataError(f"There is no {run}.", hint="Name the folders of runs, with their internal/.")
    path = run / "internal" / INSIDE
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {"series": str(told["series"]), "release": str(told["release"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not what setveil wrote: {error}.") from None


def _require_none(ledger: Ledger) -> None:
    if ledger.releases:
        raise RequestError(
            f"{ledger.folder} has releases: what is out cannot be planned any more.",
            hint="Releases are chosen together before the first is out.",
        )


def required_tree(hierarchy: TreeLike) -> Hierarchy:
    """Take a hierarchy, which must be given."""
    tree = tree_of(hierarchy)
    if tree is None:
        raise RequestError("A series needs a hierarchy of the items.", hint="--hierarchy FILE.")
    return tree


def rows_with_ids(data: object, reading: Mapping[str, Any]) -> tuple[Transactions, Sequence[str] | None]:
    """Take rows and the id of each from whatever holds them."""
    unknown = [name for name in reading if name not in Reading.__dataclass_fields__]
    if unknown:
        raise RequestError(f"There is no argument {unknown[0]}.", hint="How data are read: see setveil.read.")
    if isinstance(data, Mapping):
        return Transactions.from_rows(list(data.values())), [str(one) for one in data]
    several = isinstance(data, list | tuple) and data and all(map(is_path, data))
    if data is None or is_path(data) or several:
        return read_with_ids(cast("Any", data), **reading)
    if (
        isinstance(data, Iterable)
        and not hasattr(data, "__arrow_c_stream__")
        and not hasattr(data, "columns")
    ):
        raise DataError(
            "Rows of a series must say whose they are.",
            hint="Such as {'patient 1': ['tea', 'milk']}, a file or a data frame with a column of ids.",
        )
    wanted = Wanted(*(reading.get(name) for name in ("id_column", "item_column", "item_columns")))
    part = read_frame(data, wanted, first_is_id=True)
    return Transactions.from_codes(part.indptr, part.codes, part.labels), part.ids
