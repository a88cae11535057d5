"""Draw rows of items from a release and its counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from setveil.base.errors import RequestError, described
from setveil.base.notebook import card
from setveil.base.wording import count
from setveil.commands.arguments import (
    Listener,
    heard,
    integer,
    is_path,
    needs_its_files,
    path_of,
    published_rows,
    release_of,
)
from setveil.judges.reconstruction.draws import NOTE, DrawSource, Terms, draws_of, source_at, write_draws
from setveil.releases.published import Release, kind_named
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.group_files import PublishedGroups
from setveil.report.record import read_record
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.layout import Layout
from setveil.rows.data.personal import NOTHING, Personal
from setveil.rows.data.transactions import Transactions
from setveil.runs.last_check import require_items_of_nobody, require_no_forms
from setveil.runs.run import VerifiedRelease

Draw: TypeAlias = Any  # Transactions, or of a table a PublishedTable


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Rows of items that were drawn from a release: several draws, to be analysed one by one.

    Attributes
    ----------
    draws : tuple of Transactions, or of PublishedTable
        The draws: each has one row for each published row, in the same order. Of a table each has the
        published columns next to the items.
    terms : Terms
        Seed, steps of mixing, and how they are written.
    personal : Personal, optional
        What of the input must not be written; None: the input is not at hand, or was allowed.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"], ["tea", "milk"]]
    >>> drawn = sv.reconstruct(sv.anonymize(rows, sv.KmAnonymity(k=2, m=1)), draws=3)
    >>> len(drawn), drawn[0].n_rows
    (3, 5)
    """

    draws: tuple[Draw, ...]
    terms: Terms
    personal: Personal | None = field(default=None, repr=False)

    @property
    def rows(self) -> tuple[Transactions, ...]:
        """The items of each draw."""
        return tuple(draw.item_rows for draw in self.draws)

    def __len__(self) -> int:
        return len(self.draws)

    def __iter__(self) -> Iterator[Draw]:
        return iter(self.draws)

    def __getitem__(self, number: int) -> Draw:
        return self.draws[number]

    def write(
        self,
        out: str | PathLike[str],
        *,
        force: bool = False,
        format: str | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        """Write the draws, a file each, and an about.json that says what they are.

        Parameters
        ----------
        out : path
            A folder that does not exist or is empty. It appears complete or not at all.
        force : bool
            Replace a folder of draws.
        format : str, optional
            Format of the files; by default that of the release.

        Returns
        -------
        dict
            The about.json.

        Raises
        ------
        OutputError
            If the folder exists or cannot be written.
        PersonalDataError
            If items belong to one person each (see `require_drawn_of_nobody`).

        Examples
        --------
        >>> import setveil as sv
        >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
        >>> about = sv.reconstruct(release, draws=2).write("draws")
        >>> [entry["file"] for entry in about["reconstruction"]["draws"]]
        ['draw-1.csv', 'draw-2.csv']
        """
        if format is not None and not isinstance(format, str):
            raise RequestError(f"format must be the name of a format, got {described(format)}.")
        terms = self.terms.written_as(format)
        items = dict.fromkeys(item for rows in self.rows for item in rows.vocabulary.labels)
        require_drawn_of_nobody([*items], self.personal, str(out))
        return write_draws(self.rows, len(self), items, terms, path_of("out", out), force=force)

    def __repr__(self) -> str:
        return f"Reconstruction: {count(len(self), 'draw')}, each {self.draws[0]!r}. {NOTE}"

    def _repr_html_(self) -> str:
        seeds = range(self.terms.seed, self.terms.seed + len(self))
        lines = [(f"seed {seed}", repr(rows)) for seed, rows in zip(seeds, self, strict=True)]
        return card("Reconstruction", lines, NOTE)


def reconstruct(
    release: VerifiedRelease | Release | PublishedGroups | PublishedChunks | str | PathLike[str],
    *,
    draws: int = 5,
    seed: int = 0,
    mix: int = 10,
    progress: Listener = None,
) -> Reconstruction:
    """Draw rows of items at random from all that a release and its counts allow.

    Every draw has one row for each published row. Recoding it gives the release again, and every listed item
    is in exactly as many rows as counts.csv, or groups.csv, says. The rows are synthetic: none is anyone's,
    and they tell nothing that the release does not (see docs/reconstruct.md).

    Parameters
    ----------
    release : VerifiedRelease, Release, PublishedGroups, PublishedChunks, or path
        A release with counts of single rows or of a table, whose columns stay as they were published, one
        of rows in groups, whose sensitive items are dealt to rows of their group, or one of rows in chunks,
        whose parts are dealt to rows of their clusters; or its folder.
    draws : int
        How many times to draw. Analyse each, and take mean and standard deviation of the results.
    seed : int
        Of the first draw; the others have the seeds that follow. The same seed gives the same rows.
    mix : int
        Steps of mixing per occurrence, after which all possible draws should be about as likely; 0: none.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    Reconstruction
        The draws.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type.
    DataError
        If the release has no counts or is of another kind, or its files contradict each other.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 3 * [["tea", "milk"], ["tea"], ["coffee", "milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=4, m=2), hierarchy=drinks, counts=4)
    >>> drawn = sv.reconstruct(release, draws=2)
    >>> [dict(zip(draw.vocabulary.labels, draw.supports().tolist())) for draw in drawn]
    [{'coffee': 3, 'milk': 6, 'tea': 6}, {'coffee': 3, 'milk': 6, 'tea': 6}]
    """
    number = integer("draws", draws, 1)
    seed, mix = integer("seed", seed, 0), integer("mix", mix, 0)
    listening = heard(progress)
    source = _source(release)
    terms = source.terms(seed, mix)
    made = draws_of(source, number, terms, listening)
    table = source.table
    return Reconstruction(
        tuple(made) if table is None else tuple(replace(table, sets=rows) for rows in made),
        terms,
        personal_of(release),
    )


def require_drawn_of_nobody(items: Sequence[str], personal: Personal | None, where: str) -> None:
    """Raise if items of draws belong to one person in the input; without it, if they are written so."""
    if personal is None:
        require_no_forms(items, where)
    else:
        require_items_of_nobody(items, personal, where)


def personal_of(release: object) -> Personal | None:
    """Take what of the input must not be written; None: it is not at hand, or was allowed in the report."""
    if isinstance(release, VerifiedRelease):
        return release.personal
    if is_path(release):
        folder = Path(release)
        report = (folder.parent if folder.name == "published" else folder) / "internal" / "report.json"
        if report.is_file() and "not_ids" in read_record(report):
            return NOTHING
    return None


def _source(release: object) -> DrawSource:
    """Take what is published of a release, with its rows as a file of it has them."""
    if is_path(release):
        return source_at(Path(release), published_rows)
    made = release_of(release)
    if isinstance(release, Exposed) and not (info := kind_named(release.kind).info).by_labels:
        return DrawSource.of(info.drawn(release, None, {}, None))
    if made is None:
        raise needs_its_files(release)
    layout = release.layout if isinstance(release, VerifiedRelease) else Layout("basket")
    arranged = made.arranged(made.layout(layout, None))
    about = {**arranged.promised(), **arranged.meaning()}
    return DrawSource.of(
        made.info.drawn(arranged.exposed(), arranged.counts, about, made.layout(layout, None))
    )
