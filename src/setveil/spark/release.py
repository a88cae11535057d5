"""Make a verified release of rows that Spark holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from pyspark.sql import DataFrame

from setveil import algorithms
from setveil.algorithms import AlgorithmInfo
from setveil.algorithms._cut import Cut
from setveil.algorithms.aa import AA, find_cut
from setveil.commands.given import Listener, TreeLike, heard, is_path, tree_of
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, item_order
from setveil.engine.parts import Parts
from setveil.engine.spark import SparkRows, brought, coded, recoded, require_rows, require_workers
from setveil.engine.spark import survey as surveyed
from setveil.errors import GuaranteeError, OutputError, RequestError, described
from setveil.guarantees import Guarantee
from setveil.guarantees.km import KmAnonymity
from setveil.guarantees.verify.km_spark import ITEMS, MANIFEST, read_published, verify_km_spark
from setveil.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.kernels.rows import Ids, frozen, recode_rows, take_rows
from setveil.progress import Progress
from setveil.published.recoding import Recoding
from setveil.published.rows import RowsRelease
from setveil.report.record import VERSION, Record
from setveil.runs.folder import about_of, require_writable, write_json
from setveil.runs.run import named_algorithm, require_seed, settings_of
from setveil.spark.check import promised
from setveil.spark.frames import rows_of
from setveil.spark.publishing import publish
from setveil.staging import keep_private, private_folder, staged_folder
from setveil.utility.lm import lm
from setveil.utility.ncp import ncp
from setveil.version import __version__

ALGORITHMS = ("aa", "exact")
MOST_OCCURRENCES = 200_000_000  # of all rows, that algorithms on the driver take
DATA = "data.parquet"


@dataclass(frozen=True, eq=False)
class SparkRelease:
    """A release that is not written yet: how each item is to be published.

    It is verified as it is written: the files are read again and every set of labels counted, before the
    folder gets its name.

    Attributes
    ----------
    guarantee : KmAnonymity
        What is promised.
    recoding : Recoding
        What each item becomes. Stays inside.
    utility : dict
        `ncp` and `lm` (see `setveil.measure`).
    report : dict
        The record of the run so far, as `write` completes it.
    """

    guarantee: KmAnonymity
    recoding: Recoding
    utility: dict[str, float]
    report: dict[str, Any]
    _rows: DataFrame  # coded, by leaves
    _facts: Parts  # what is known of them on the driver
    _tasks: int
    _seed: int
    _progress: Progress

    def write(self, out: str | PathLike[str], *, force: bool = False) -> dict[str, Any]:
        """Publish the rows, verify the files, and write the folder; only its `published` may be shared.

        The rows are in the order of a run in memory with the same seed, in files of about a million rows.

        Parameters
        ----------
        out : path
            A folder that does not exist or is empty, where driver and workers can write. It appears complete
            or not at all.
        force : bool
            Replace a folder that an earlier run wrote.

        Returns
        -------
        dict
            The report, as written to internal/report.json.
        """
        place = _local(out)
        require_writable(place, force=force)
        recoding, progress = self.recoding, self._progress
        image = recoding.image
        shown = recoding.image_of(self._facts.vocabulary)
        used = np.bincount(shown[shown >= 0], minlength=len(recoding.published)) > 0
        renumbered = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)
        labels = tuple(label for label, u in zip(recoding.published.labels, used, strict=True) if u)
        total = self._facts.n_rows
        try:
            with staged_folder(place) as folder:
                published, internal = folder / "published", folder / "internal"
                (published / DATA).mkdir(parents=True)
                private_folder(internal)
                progress("publishing")
                rows = recoded(self._rows, frozen(renumbered[image], np.int32), self._tasks).persist()
                try:
                    files = publish(rows, labels, total, self._seed, published / DATA)
                finally:
                    rows.unpersist()
                manifest = {
                    "rows": total, "files": [entry | {"name": f"{DATA}/{entry['name']}"} for entry in files]
                }  # fmt: skip
                again = read_published(self._rows.sparkSession, published, manifest)
                verdict = verify_km_spark(again, self.guarantee, rows=total, progress=progress)
                if not verdict.holds:
                    raise GuaranteeError(
                        f"The release failed its check. {verdict!r} Nothing was written.",
                        hint="This is a defect of setveil; please report it with the parameters of the run.",
                    )
                layout = Layout("parquet", item_column=ITEMS)
                empty = again.where(f"size({ITEMS}) = 0").count()
                release = RowsRelease(
                    Transactions(
                        frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32), Vocabulary(labels)
                    ),
                    recoding, frozen(np.zeros(0), np.int64),
                )  # fmt: skip
                report = self.report | {
                    "guarantee": {
                        **self.guarantee.as_dict(),
                        "phrase": self.guarantee.phrase,
                        "holds": verdict.holds,
                        "violations": verdict.violations,
                        **verdict.found(),
                    },
                    "published": {
                        "file": DATA,
                        "layout": layout.options(),
                        "rows": total,
                        "empty_rows": empty,
                        "items": len(labels),
                        "files": files,
                    },
                }
                write_json(published / "about.json", about_of(release, cast("Record", report)))
                release.write_inside(internal)
                write_json(internal / "report.json", report)
                keep_private(internal)
                write_json(published / MANIFEST, manifest | {"verdict": verdict.as_dict()})
        except OSError as error:
            raise OutputError(
                f"The output folder {place} cannot be written: {error.strerror or error}. Nothing was left "
                "behind.",
                hint="It must be a folder that driver and workers share.",
            ) from error
        finally:
            self._rows.unpersist()
        return report

    def __repr__(self) -> str:
        lost = ", ".join(f"{name.upper()} {value:.4f}" for name, value in self.utility.items())
        rows = f"{self._facts.n_rows:,} rows on Spark"
        return f"Release of {rows}, {self.guarantee.phrase}, not written yet: {lost}"


def anonymize(
    frame: DataFrame,
    guarantee: Guarantee,
    *,
    hierarchy: TreeLike,
    items: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    algorithm: Any = "aa",
    seed: int = 0,
    progress: Listener = None,
    **parameters: Any,
) -> SparkRelease:
    """Find how rows that Spark holds are to be published to be k^m-anonymous, in the caller's session.

    The release is that of `setveil.anonymize` with the same arguments, to the last row and its place.

    Parameters
    ----------
    frame : DataFrame
        The rows: one line each with a column of arrays (`items`; null is an empty row), or a long table
        (`id_column` and `item_column`). It must hold the same rows each time it is computed.
    guarantee : KmAnonymity
        k and m; m must be a number.
    hierarchy : Hierarchy or path
        What items may be generalized to.
    items, id_column, item_column : str, optional
        Which columns hold the rows.
    algorithm : {"aa", "exact"}, or AA(...) or Exact(...)
        How the promise is kept.
    seed : int
        Shuffles the published rows.
    progress : callable or Progress, optional
        Hears how far it is.
    **parameters
        The algorithm's own parameters by name.

    Returns
    -------
    SparkRelease
        Its `write` publishes and verifies. Until then the coded rows stay cached in the session.
    """
    promise = promised(guarantee)
    require_seed(seed)
    name, settings = named_algorithm(algorithm)
    if name not in ALGORITHMS:
        raise RequestError(
            f"On Spark there are the algorithms {', '.join(ALGORITHMS)}, got {described(algorithm)}."
        )
    module = algorithms.load(name)
    if settings is not None and parameters:
        raise RequestError(
            f"Parameters of {name} are given twice, inside and beside it: {', '.join(parameters)}."
        )
    settings = settings_of(module.Parameters, name, parameters) if settings is None else settings
    tree = tree_of(hierarchy)
    if tree is None:
        raise RequestError(
            "On Spark a hierarchy must be given.",
            hint="setveil hierarchy build makes one of a sample of the rows, or of the items alone.",
        )
    listening = heard(progress)
    rows = rows_of(frame, items, id_column, item_column)
    listening("looking for numba on the workers")
    require_workers(frame.sparkSession)
    listening("counting items")
    found = surveyed(rows)
    vocabulary = Vocabulary(item_order(found.supports))
    leaves = tree.locate(vocabulary)
    coded_rows = coded(rows, vocabulary.labels, leaves, found.tasks).persist()
    try:
        listening("merging equal rows")
        held = SparkRows(coded_rows, found.rows, found.tasks)
        supports = np.array([found.supports[label] for label in vocabulary.labels], np.int64)
        facts = Parts((), vocabulary, held.lengths, frozen(supports, np.int64))
        listening(f"anonymizing ({name})")
        recoding, details = _recoding(held, facts, leaves, tree, promise, module, settings, listening)
    except BaseException:
        coded_rows.unpersist()
        raise
    utility = {"ncp": ncp(facts, recoding), "lm": lm(facts, recoding)}
    report = _report(facts, tree, name, module.info, settings, details, utility, seed)
    return SparkRelease(
        promise, recoding, utility, report, coded_rows, facts, found.tasks, int(seed), listening
    )


def _recoding(
    held: SparkRows,
    facts: Parts,
    leaves: Ids,
    tree: Hierarchy,
    promise: KmAnonymity,
    module: Any,
    settings: Any,
    progress: Progress,
) -> tuple[Recoding, dict[str, Any]]:
    """Run the algorithm: AA on the workers, what needs the rows themselves on the driver."""
    promise.require_feasible(facts)
    if isinstance(settings, AA) and not settings.refine:
        cut = Cut(facts, tree)
        cut.held = held
        cut, details = find_cut(cut, promise, progress)
        return Recoding.from_cut(tree, cut.nodes()), details
    if facts.n_occurrences > MOST_OCCURRENCES:
        raise RequestError(
            f"The rows hold {facts.n_occurrences:,} occurrences of items, and the driver takes "
            f"{MOST_OCCURRENCES:,}.",
            hint="The algorithm aa without refine counts on the workers.",
        )
    indptr, ids, weights = brought(held.rows, "of leaves")
    require_rows(int(weights.sum()), facts.n_rows, "coding")
    back = np.full(tree.n_leaves, -1, np.int32)
    back[leaves] = np.arange(facts.n_items)
    again = np.repeat(np.arange(weights.size), weights)
    data = Transactions(*recode_rows(*take_rows(indptr, ids, again), back), facts.vocabulary)
    made: tuple[Recoding, dict[str, Any]] = module.anonymize(data, tree, promise, settings, progress)
    return made


def _report(
    facts: Parts,
    tree: Hierarchy,
    name: str,
    info: AlgorithmInfo,
    settings: Any,
    details: Mapping[str, Any],
    utility: Mapping[str, float],
    seed: int,
) -> dict[str, Any]:
    origin = tree.origin or HierarchyOrigin("given")
    apart = {"optimality", "suppressed", "timing", "frontier"}
    return {
        "version": VERSION,
        "setveil": __version__,
        "engine": "spark",
        "seed": int(seed),
        "input": {
            "path": None,
            "sha256": None,
            "format": None,
            "rows": facts.n_rows,
            "empty_rows": facts.n_rows - facts.filled_rows,
            "items": facts.n_items,
            "occurrences": facts.n_occurrences,
        },
        "hierarchy": {
            "source": origin.source,
            "path": origin.path,
            "sha256": origin.sha256,
            "leaves": tree.n_leaves,
            "height": tree.height,
        },
        "algorithm": {
            "name": name,
            "title": info.title,
            "parameters": {key: str(value) if isinstance(value, Fraction) else value
                           for key, value in asdict(settings).items()},
            "reference": info.reference,
            **{key: value for key, value in details.items() if key not in apart},
        },
        "utility": dict(utility),
        **({"optimality": details["optimality"]} if details.get("optimality") else {}),
        "suppressed": details.get("suppressed", []),
        "recoding": Recoding.kind,
    }  # fmt: skip


def _local(out: object) -> Path:
    """Take the folder to write, which must be a path of the file system."""
    if not is_path(out):
        raise RequestError(f"The folder to write must be a path, got {described(out)}.")
    if "://" in str(out):
        raise RequestError(
            f"The folder to write must be a path of the file system, got {out}.",
            hint="Mount the store where driver and workers see it, or copy the folder when it is complete.",
        )
    return Path(out)
