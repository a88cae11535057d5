"""What a run is asked for: the refusals that hold wherever the rows lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any

from setveil.base.errors import RequestError, as_option, described
from setveil.base.tracing import can_trace, require_traceable
from setveil.judges.guarantees import Guarantee, absent_items, model_named
from setveil.judges.guarantees.verify import require_guarantee
from setveil.methods import algorithms
from setveil.methods.algorithms import AlgorithmInfo
from setveil.runs.options.classes import NAME as CLASSES
from setveil.runs.options.classes import require_classes
from setveil.runs.options.decode import no_parameter


@dataclass(frozen=True)
class RunRequest:
    """The request for a run, checked.

    `module`, `settings`: the algorithm, and its parameters. `least`: the least count that may be published,
    0: none. `details`: measure answers and the risk. `watched`: sensitive items that the guarantee does not
    cover. `list_members`: about.json lists all items of labels, however few rows contain them.
    """

    guarantee: Any
    algorithm: str
    module: Any
    settings: Any
    seed: int
    least: int
    details: bool
    watched: tuple[str, ...] = ()
    list_members: bool = False

    @property
    def constrained(self) -> frozenset[str]:
        """The items that constraints of the user name."""
        lists = (
            *(getattr(self.guarantee, "itemsets", None) or ()),
            *(getattr(self.settings, "utility", None) or ()),
        )
        return frozenset(item for items in lists for item in items)

    @property
    def info(self) -> AlgorithmInfo:
        """What there is to say of the algorithm."""
        info: AlgorithmInfo = self.module.info
        return info


def make_run_request(
    guarantee: Guarantee,
    algorithm: Any,
    parameters: Mapping[str, Any],
    *,
    seed: int,
    counts: bool | int,
    details: bool,
    watched: tuple[str, ...] = (),
    list_members: bool = False,
) -> RunRequest:
    """Check the request of `setveil.anonymize`; choose the algorithm if none is named."""
    model = require_guarantee(guarantee).model
    require_seed(seed)
    name, settings = named_algorithm(algorithm)
    wanted = parameters.get(CLASSES)
    if name == CLASSES or wanted not in (None, False):
        require_classes(name, model)
        if settings is not None and name != CLASSES:
            raise RequestError(
                f"Parameters of {name} cannot be given with classes.",
                hint="Give them by name, or in setveil.Classes(...).",
            )
        name = CLASSES
    elif wanted is False:
        parameters = {key: value for key, value in parameters.items() if key != CLASSES}
    name = name or model_named(model).algorithm
    module = algorithms.load(name)
    algorithms.require_gives(name, model)
    algorithms.require_absence(name, absent_items(guarantee))
    if settings is not None and parameters:
        raise RequestError(
            f"Parameters of {name} are given twice, inside {type(settings).__name__}(...) and next to it: "
            f"{', '.join(parameters)}.",
            hint=f"Give all of them to {type(settings).__name__}(...).",
        )
    if settings is None:
        settings = settings_of(module.Parameters, name, parameters)
    if algorithms.takes_seed(name):
        settings = replace(settings, seed=int(seed))
    least = least_count(guarantee, counts, public=name == CLASSES)
    return RunRequest(guarantee, name, module, settings, int(seed), least, details, watched, list_members)


def require_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise RequestError(f"The seed must be an integer of at least 0, got {described(seed)}.")


def require_traced(name: str, module: Any, *, facts: bool) -> None:
    """Refuse to trace what does not report its steps."""
    if facts:
        raise RequestError(
            "The search over facts does not report its steps.", hint=f"Omit {as_option('trace')}."
        )
    require_traceable(name, module, [one for one, each in algorithms.modules().items() if can_trace(each)])


def least_count(guarantee: Any, counts: Any, *, public: bool = False) -> int:
    """Find the least count that may be published, 0 for none: k, or what was asked for if that is more.

    `public`: where items are sensitive the others are counted.
    """
    allowed = public or (model_named(guarantee.model).counts and not guarantee.secrets)
    if isinstance(counts, bool):
        return max(guarantee.k, 2) if counts and allowed else 0
    if not isinstance(counts, Integral) or counts < 2:
        raise RequestError(
            f"counts must be True, False or an integer of at least 2, got {described(counts)}."
        )
    if not allowed:
        raise RequestError(
            f"{model_named(guarantee.model).title}: no counts of items can be published with such a release.",
            hint="They would tell more of sensitive items than the rows do."
            if guarantee.secrets
            else "It tells of items under their own names already.",
        )
    if counts < guarantee.k:
        raise RequestError(
            f"Counts below k = {guarantee.k} would speak of fewer rows than the guarantee does, "
            f"got {counts} as the least.",
            hint=f"Give {guarantee.k} or more.",
        )
    return int(counts)


def named_algorithm(algorithm: Any, *, trusted: bool = False) -> tuple[str | None, Any]:
    """Return an algorithm's name and parameters, if given; only `trusted`, a Python file is executed."""
    if algorithm is None:
        return None, None
    if isinstance(algorithm, str):
        return algorithms.named(algorithm, trusted=trusted), None
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    for name, module in algorithms.modules().items():
        if kind is module.Parameters:
            return name, algorithm() if isinstance(algorithm, type) else algorithm
    raise RequestError(
        f"The algorithm must be a name or the parameters of one, got {described(algorithm)}.",
        hint=f'Such as "aa" or setveil.AA(refine=True). There are {", ".join(algorithms.names())}.',
    )


def settings_of(kind: Any, algorithm: str, parameters: Mapping[str, Any]) -> Any:
    """Make the parameters of an algorithm from values by name."""
    known = [f.name for f in fields(kind)]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise no_parameter(algorithm, unknown, known)
    return kind(**parameters)
