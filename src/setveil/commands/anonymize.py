"""Make a verified release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from setveil.base.errors import RequestError, described
from setveil.base.tracing import require_internal, traced
from setveil.base.values.declared import options_of
from setveil.base.values.kinds import is_integer
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    heard,
    is_path,
    labels_of,
    m_of,
    original_of,
    promised,
    tree_beside,
    tree_of,
    tree_of_codes,
)
from setveil.judges.guarantees import Guarantee, Model, model_named
from setveil.methods import algorithms
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.generalizing import VOLUME, Generalizing
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table
from setveil.runs.options.classes import NAME
from setveil.runs.options.decode import Inputs, decode, no_parameter
from setveil.runs.options.reading import Reading
from setveil.runs.request import named_algorithm
from setveil.runs.run import VerifiedRelease
from setveil.runs.run import anonymize as run_anonymize

if TYPE_CHECKING:
    from setveil.methods.algorithms.aa import AA
    from setveil.methods.algorithms.cahd.cahd import CAHD
    from setveil.methods.algorithms.classes.classes import Classes
    from setveil.methods.algorithms.coat.coat import COAT
    from setveil.methods.algorithms.coherence.border import Border
    from setveil.methods.algorithms.coherence.mm import MM
    from setveil.methods.algorithms.da import DA
    from setveil.methods.algorithms.disassociation.disassociation import Disassociation
    from setveil.methods.algorithms.exact.exact import Exact
    from setveil.methods.algorithms.hghs.hghs import HgHs
    from setveil.methods.algorithms.hghs.mhghs import MHgHs
    from setveil.methods.algorithms.lg.lg import LG
    from setveil.methods.algorithms.lra.lra import LRA
    from setveil.methods.algorithms.noisy.dp_blocks import DPBlocks
    from setveil.methods.algorithms.oa import OA
    from setveil.methods.algorithms.pcta.pcta import PCTA
    from setveil.methods.algorithms.rho.partial import Partial
    from setveil.methods.algorithms.rho.suppress_control import SuppressControl
    from setveil.methods.algorithms.rho.td_control import TDControl
    from setveil.methods.algorithms.rt.bounding import Bounding
    from setveil.methods.algorithms.rt.forest import Forest
    from setveil.methods.algorithms.rt.rt import RT
    from setveil.methods.algorithms.vpa import VPA

    OfRows: TypeAlias = (
        AA | Border | CAHD | Classes | COAT | DA | Disassociation | DPBlocks | Exact | HgHs | LG | LRA | MHgHs
        | MM | OA | Partial | PCTA | SuppressControl | TDControl | VPA
    )  # fmt: skip
    OfTables: TypeAlias = Bounding | Forest | RT
    Parameters: TypeAlias = OfRows | OfTables
    Algorithm: TypeAlias = Parameters | type[Parameters]


def anonymize(
    data: str | PathLike[str] | object,
    guarantee: Guarantee | None = None,
    *,
    k: int | None = None,
    m: int | float | Mapping[str, int] | None = None,
    hierarchy: TreeLike | Mapping[str, TreeLike] = None,
    algorithm: str | Algorithm | None = None,
    seed: int = 0,
    bound: bool | float = False,
    counts: bool | int = True,
    details: bool = False,
    watched: Iterable[str] | str | PathLike[str] | None = None,
    list_members: bool = False,
    suppress_below: int | None = None,
    classes: bool | int = False,
    fact_order: str | int | None = None,
    fact_loss: str = VOLUME,
    fact_weights: Mapping[str, float] | None = None,
    fact_lines: bool = False,
    trace: str | PathLike[str] | None = None,
    progress: Listener = None,
    **parameters: Any,
) -> VerifiedRelease:
    """Make a release that satisfies a guarantee, and prove that it does.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions, Table, or Facts
        The rows. Facts are what `setveil.read_facts` reads; their `hierarchy` is that of the
        codes. A guarantee for tables needs what `setveil.read_table` reads. Use `setveil.read`
        first for a file or frame that is otherwise misread.
    guarantee : KmAnonymity, KKmAnonymity, TransactionalKAnonymity, ..., optional
        The guarantee.
    k, m : int, optional
        The guarantee in short: ``k=5, m=2`` is `KmAnonymity`, and for a table `KKmAnonymity`, with these
        parameters.
    hierarchy : Hierarchy, path, dict or data frame, optional
        What items may be generalized to. A dict goes from child to parent, or is nested; a data frame has in
        each row an item and to its right broader groups. Of a table by default what it was read with. An
        algorithm that needs one and is given none groups items that often occur together
        (`setveil.rows.hierarchy.build.by_cooccurrence`); one that has no use for it does not look at it.
    algorithm : Exact, AA, ... or str, optional
        An algorithm with its own parameters, such as ``sv.Exact(suppress=False)`` or ``sv.AA(refine=True)``,
        or its name; by default the first choice for the guarantee.
    seed : int
        Shuffles the published rows.
    bound : bool or float
        Also find how far a release is from the optimum. For k^m-anonymity: from the least NCP of all cuts,
        or, where the algorithm may suppress items, from the least LM of all cuts with suppressed items. For
        `mm`, `border` and `suppress-control`: from the fewest occurrences that leaving items out can cost;
        for `td-control`: from the least loss of all cuts with suppressed items; for `partial` and
        (k,rho)^m-anonymity: from the fewest occurrences of sensitive items that must be suppressed. Other
        optima are not known. A number limits the seconds that this may take (True: as the exact algorithm's
        `time_limit`).
    counts : bool or int
        Publish the supports of items next to the rows (counts.csv), of all items of at least k rows, or of at
        least this many, where the model allows it; False: of none. The guarantee stays what it was.
    details : bool
        Also find what the report shows of the release's use and risk: errors of random COUNT queries,
        frequent itemsets that survive, rows that few known items single out, before and after. The command
        line does this by default; it may take longer than all else.
    watched : list of str, or text, optional
        Sensitive items that the guarantee does not cover: a list, a file, or a text with commas.
        With ``details=True`` the report shows how well they can be inferred, before and after. For
        k^m-anonymity, k-anonymity and constraints; other models have sensitive items of their own.
    list_members : bool
        Let about.json list all items of each label, and let the labels of `coat` and `pcta` name all of them.
        By default only items are listed that at least k rows contain (5 if the guarantee has no k), or that
        the given hierarchy lists (docs/hierarchies.md).
    suppress_below : int, optional
        Suppress the items that fewer rows contain, before anything else: for releases that publish items
        under their own names, such as rows in chunks or in groups.
    classes : bool or int
        Cut the rows into published classes, at most this many if a number is given, each with a recoding
        and counts of its own (docs/classes.md): for k^m-anonymity and (k,rho)^m-anonymity. The parameters of
        `setveil.Classes` may follow by name, such as ``class_size=150``.
    fact_order : {"first", "last"} or int, optional
        Of facts: periods and bands are dropped before codes become broader ("first"), after that ("last"), or
        at a depth of the codes' hierarchy; by default all of these are tried and the best is taken.
    fact_loss : {"volume", "parts"}
        What a published fact loses: by how many facts it represents, or each of its parts by itself.
    fact_weights : mapping of str to number, optional
        Weights of parts in the loss by parts, 1 where not given.
    fact_lines : bool
        After that, try another depth in each branch of the codes' hierarchy, while there is time.
    trace : path, optional
        Write the steps of the search into this file, as JSON lines (docs/own_method.md): `aa`, `da`, `oa`,
        `hghs`, `mhghs`, `coat`, `pcta`, `lg`, `mm`, `border`, `cahd` and `rt`. The file describes original
        rows: do not share it.
    progress : callable or Progress, optional
        Hears how far the run is: a function of a phase and a share done (None: not known), or an object like
        `setveil.base.progress.Progress`.
    **parameters
        The algorithm's own parameters by name, as on the command line, instead of inside `algorithm`: for
        programs that choose the algorithm by its name.

    Returns
    -------
    VerifiedRelease

    Raises
    ------
    RequestError
        If the algorithm or a parameter does not exist, the algorithm does not give this guarantee, or a value
        is of a wrong type.
    DataError
        If the data are nothing that holds rows, or cannot be read.
    InfeasibleError
        If no release can satisfy the guarantee.
    HierarchyError
        If items are missing from the hierarchy.
    GuaranteeError
        If the release failed verification (a defect of setveil).

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> drinks = sv.Hierarchy.from_paths(
    ...     [["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "cold", "*"]]
    ... )
    >>> release = sv.anonymize(
    ...     rows, sv.KmAnonymity(k=2, m=2), hierarchy=drinks, algorithm=sv.Exact(suppress=False)
    ... )
    >>> release.verdict
    Yes: k^m-anonymity (k=2, m=2) holds.
    >>> sorted(release.published)
    [('hot',), ('hot',), ('milk', 'hot'), ('milk', 'hot')]
    >>> sv.anonymize(rows, k=2, m=2, hierarchy=drinks).verdict
    Yes: k^m-anonymity (k=2, m=2) holds.
    """
    m = m_of(data) if m is None and guarantee is None else m
    guarantee = promised(guarantee, k, m, kind="tables" if isinstance(data, Table) else "rows")
    name, settings = named_algorithm(algorithm, trusted=True)
    algorithm = name if settings is None else settings
    if not isinstance(classes, bool) and not is_integer(classes, 1):
        raise RequestError(
            f"classes must be True, False or an integer of at least 1, got {described(classes)}."
        )
    if classes:
        parameters = {**parameters, "classes": classes}
    for name, value in (("details", details), ("list_members", list_members)):
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be True or False, got {described(value)}.")
    listening = heard(progress)
    reading = [name for name in parameters if name in options_of(Reading)]
    if reading:
        raise RequestError(
            f"{', '.join(reading)}: how data are read is said to setveil.read.",
            hint=f"sv.anonymize(sv.read(data, {reading[0]}=...), ...)",
        )
    _require_parameters(parameters, algorithm, guarantee)
    _require_roles(model_named(guarantee.model), data)
    rows = original_of(data)
    tree = tree_of(hierarchy) if rows.facts is None else tree_of_codes(hierarchy, rows.facts)
    tree = tree or tree_beside(rows)
    values = _values(parameters, algorithm, guarantee, rows, tree, seed)
    weights = {name: Fraction(str(weight)) for name, weight in (fact_weights or {}).items()}
    place = trace_at(trace)
    with traced(place) as steps:
        return run_anonymize(
            rows, guarantee, hierarchy=tree, algorithm=algorithm, seed=seed, bound=bound, counts=counts,
            generalizing=Generalizing(fact_order, fact_loss, weights, lines=bool(fact_lines)),
            details=details, watched=labels_of("watched", watched, rows), list_members=list_members,
            suppress_below=suppress_below, trace=steps, progress=listening, **values,
        )  # fmt: skip


def _require_roles(model: Model, data: object) -> None:
    """Refuse files and frames, which are read as rows of items, for a guarantee about tables."""
    if model.release == "tables" and not isinstance(data, Transactions | list | tuple):
        raise RequestError(
            f"{model.title} is about tables, whose columns have roles, got {described(data)}.",
            hint="sv.anonymize(sv.read_table(data, qi=[...], set=...), ...)",
        )


def trace_at(place: str | PathLike[str] | None) -> Path | None:
    """Check where a trace is to be written."""
    if place is None:
        return None
    if not is_path(place):
        raise RequestError(f"trace must be the path of a file, got {described(place)}.")
    require_internal(Path(place))
    return Path(place)


def _algorithm_of(parameters: Mapping[str, Any], algorithm: Any, guarantee: Guarantee) -> str:
    """Name the algorithm whose parameters are given."""
    named = named_algorithm(algorithm)[0] or model_named(guarantee.model).algorithm
    return NAME if parameters.get(NAME) else named


def _require_parameters(parameters: Mapping[str, Any], algorithm: Any, guarantee: Guarantee) -> None:
    """Refuse names that are neither parameters of the algorithm nor of `anonymize`."""
    settings, name = named_algorithm(algorithm)[1], _algorithm_of(parameters, algorithm, guarantee)
    own = list(options_of(algorithms.load(name).Parameters))
    unknown = [one for one in parameters if one not in own]
    if unknown and settings is None:
        arguments = [one for one in signature(anonymize).parameters if one != "parameters"]
        raise no_parameter(name, unknown, own, arguments)


def _values(
    parameters: dict[str, Any],
    algorithm: Any,
    guarantee: Guarantee,
    data: Transactions,
    tree: Hierarchy | None,
    seed: int,
) -> dict[str, Any]:
    """Read those parameters that are given as texts as the command line does; others are values already."""
    if not any(is_path(value) for value in parameters.values()):
        return parameters
    name = _algorithm_of(parameters, algorithm, guarantee)
    options = options_of(algorithms.load(name).Parameters)
    inputs = Inputs(data, hierarchy=tree, seed=seed)
    return {
        key: decode(key, options[key].kind, value, inputs, {}) if key in options and is_path(value) else value
        for key, value in parameters.items()
    }
