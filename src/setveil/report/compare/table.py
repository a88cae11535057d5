"""The table of a study as its report reads it: runs, methods, parameters, settings, medians over seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from setveil.judges.guarantees import model_named, models
from setveil.judges.utility import compared, measures
from setveil.report.coarse import FINE_STEPS, MANY, OF_ITEMSETS, coarse, exactly, near, one_digit
from setveil.report.compare.columns import LABEL, OPTIMALITY, ORIGINAL, OWN, RISK_BEFORE, fixed
from setveil.report.compare.fronts import rounded
from setveil.report.compare.names import keep_parameters, named_parameters
from setveil.report.compare.repeats import median_interval
from setveil.report.drawing.scales import number, text_of

T = TypeVar("T")
Row = dict[str, Any]
Setting = tuple[Any, ...]  # the values of some parameters, in their order


def promise_names() -> tuple[str, ...]:
    """List the parameters of guarantees, in the order shown; others are an algorithm's own."""
    return tuple(dict.fromkeys(name for model in models().values() for name in model.options))


def _naming_items() -> set[str]:
    """List those of them that name items, or files with items: their values may be codes like numbers."""
    return {
        name
        for model in models().values()
        for name, option in model.options.items()
        if option.kind.names_items
    }


_SAFE_TEXT = frozenset({
    "lm", "ncp", "entropy", "entropy-max", "true", "false", "none", "inf", "∞",
    "public", "any", "occurrences", "items",
})  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Runs whose guarantees are of one kind, so that they can be compared."""

    name: str
    rows: list[Row]

    @property
    def models(self) -> list[str]:
        """Names of the models, in words."""
        names = distinct(row["model"] for row in self.rows)
        return [model_named(name).title if name in models() else name for name in names]

    @property
    def title(self) -> str:
        """The models in a heading."""
        return ", ".join(self.models)

    @property
    def done(self) -> list[Row]:
        """Runs that ended with a release."""
        return [row for row in self.rows if row["status"] == "done"]

    @property
    def data(self) -> list[str]:
        """Names of the data sets, in the table's order."""
        return distinct(row["data"] for row in self.rows)

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the table's order."""
        return distinct(row["method"] for row in self.rows)


def clean(rows: Iterable[Row]) -> list[Row]:
    """Copy a table with nothing missing that the report relies on; values that are no number become None."""
    out = []
    for row in rows:
        kept = {key: _value(value) for key, value in row.items()}
        algorithm = kept.get("algorithm") or "unnamed"
        method = str(kept.get("method") or algorithm)
        named = {
            "algorithm": algorithm,
            "method": kept.get(LABEL) or method,
            "model": kept.get("model") or "",
            "data": kept.get("data") or "data",
            "status": kept.get("status") or "failed",
        }
        out.append(
            {**kept, **{key: str(value) for key, value in named.items()}, OWN: named_parameters(method)}
        )
    return out


def _value(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "inf" if value == math.inf else value


def public(rows: Iterable[Row], naming_items: Iterable[str]) -> list[Row]:
    """Remove what is internal from a cleaned table.

    That is the risk of the originals, their numbers of occurrences and of items and measures that reveal
    these, hashes, error messages, and every text that an author wrote as a parameter: it may be a path or an
    item. Such texts, and all values of the parameters `naming_items`, are numbered instead. Figures that
    compare a release with its original are rounded, as on the page of a release that may be shared.
    """
    rows, naming, skipped = list(rows), _naming_items() | set(naming_items), fixed()
    own = [key for key in distinct(key for row in rows for key in row) if key not in skipped]
    masks = {
        key: {
            value: f"choice {i}"
            for i, value in enumerate(
                distinct(row.get(key) for row in rows if _secret(key, row.get(key), naming)), 1
            )
        }
        for key in own
    }
    methods = _public_methods(rows, naming)
    inside = {*RISK_BEFORE, *ORIGINAL, *OPTIMALITY, "data_sha256", "error", "run", "items", "occurrences"}
    inside |= {name for one in compared() for name in (one.column, one.whole) if name}
    out = []
    for row in rows:
        kept = {
            key: masks[key].get(value, value) if key in masks else value
            for key, value in row.items()
            if key not in inside
        }
        kept |= _coarse(row)
        name = re.split(r"[/\\]", str(kept["data"]))[-1]
        out.append({**kept, "method": methods[row["method"]], "data": name})
    return out


def _coarse(row: Row) -> Row:
    """Round the figures of a run that compare its release with the original; none if they reveal too much."""
    scale = coarse(row.get("occurrences") or 0, FINE_STEPS)
    if scale is None or row.get("rho") is not None:  # how often sensitive items were suppressed
        return {}
    shared = [one for one in measures() if one.handed_out]
    shares = {column.name: one.of_occurrences for one in shared for column in one.in_table()}
    found: Row = {}
    for one in compared():
        value = row.get(one.column)
        if not one.handed_out or value is None:
            continue
        if one.column in shares:
            share = scale.loss(value) if shares[one.column] else exactly(value)
            found[one.column] = near(share, scale.step)
        elif one.whole:  # itemsets
            if (row.get(one.whole) or 0) >= MANY:
                found |= {one.column: near(exactly(value / row[one.whole]), OF_ITEMSETS), one.whole: 1}
        elif isinstance(value, int):  # of classes, which are published
            found[one.column] = value
        else:
            found[one.column] = one_digit(value)
    if "f" in found:  # R/4 + 3T/4
        found["f"] = (found["relational_loss"] + 3 * found["transaction_loss"]) / 4
    return found | ({"gap": one_digit(row["gap"])} if row.get("gap") is not None else {})


def _secret(name: str, value: Any, naming: Collection[str]) -> bool:
    """Return whether a parameter's value may be an item or a path: all but numbers and words of setveil."""
    if name in naming:
        return value is not None
    return isinstance(value, str) and number(value) is None and value.lower() not in _SAFE_TEXT


def _public_methods(rows: Sequence[Row], naming: Collection[str]) -> dict[str, str]:
    """Name each method by its algorithm and those of its parameters that are numbers or words of setveil."""
    names: dict[str, str] = {}
    for row in rows:
        if row.get(LABEL):
            names.setdefault(row["method"], row["method"])  # as the study's author wants it shown
            continue
        shown = keep_parameters(
            row["method"], row["algorithm"], lambda name, value: not _secret(name, value, naming)
        )
        names.setdefault(row["method"], shown)
    taken = list(names.values())
    same = {name: iter(range(1, taken.count(name) + 1)) for name in taken if taken.count(name) > 1}
    return {
        method: f"{name} ({next(same[name])})" if name in same else name for method, name in names.items()
    }


def families(rows: Sequence[Row]) -> list[Family]:
    """Part a cleaned table by the kind of guarantee, in the table's order."""
    return [Family(kind, _with_models(part)) for kind, part in grouped(rows, _family_of)]


def _with_models(rows: list[Row]) -> list[Row]:
    """Name the model next to methods that were run for several models of a family."""
    models_of = {method: distinct(row["model"] for row in of) for method, of in grouped(rows, _method_of)}
    return [
        {**row, "method": f"{row['method']} ({row['model']})"} if len(models_of[row["method"]]) > 1 else row
        for row in rows
    ]


def _method_of(row: Row) -> str:
    return str(row["method"])


def _family_of(row: Row) -> str:
    model = models().get(row["model"])
    return model.family if model else str(row["model"])


def distinct(values: Iterable[Any]) -> list[Any]:
    """Each value once, in order of appearance."""
    return list(dict.fromkeys(values))


def order(value: Any) -> tuple[int, float, str]:
    """Sort values of a parameter: missing ones, numbers, texts."""
    if value is None:
        return (0, 0.0, "")
    read = number(value)
    return (2, 0.0, text_of(value)) if read is None else (1, read, text_of(value))


def parameters(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Find the parameters that have a value in some row, with their values in order; guarantees first."""
    rows, skipped, promised = list(rows), fixed(), promise_names()
    names = distinct(key for row in rows for key in row if key not in skipped)
    out = {}
    for name in [*(name for name in promised if name in names), *(n for n in names if n not in promised)]:
        values = distinct(row.get(name) for row in rows if row.get(name) is not None)
        if values:
            out[name] = sorted(values, key=order)
    return out


def conditions(rows: Iterable[Row]) -> list[str]:
    """Name the parameters under which methods are compared: the guarantee's, and how runs were measured."""
    rows, promised = list(rows), promise_names()
    own = {name for row in rows for name in row[OWN]}
    return [*promised, *(name for name in parameters(rows) if name not in promised and name not in own)]


def varying(rows: Iterable[Row], names: Iterable[str]) -> list[str]:
    """Those of some parameters that take two values or more."""
    found = parameters(rows)
    return [name for name in names if len(found.get(name, ())) > 1]


def setting_text(names: Sequence[str], setting: Setting) -> str:
    """Write the values of some parameters: "k = 5, m = 2"."""
    return ", ".join(
        f"{name} = {text_of(value)}" for name, value in zip(names, setting, strict=True) if value is not None
    )


def fits(row: Row, names: Sequence[str], setting: Setting) -> bool:
    """Return whether a run belongs to a setting; parameters that its method does not have are ignored."""
    return all(
        row.get(name) is None or row.get(name) == value for name, value in zip(names, setting, strict=True)
    )


@dataclass(frozen=True)
class Middle:
    """Median of some values, with the least and the greatest, and how sure it is."""

    value: float
    low: float
    high: float
    sure: tuple[float, float] | None = None  # 95% interval of the median; None: there are too few values

    @property
    def ends(self) -> tuple[float, float]:
        """Return the interval of the median, or without one the least and the greatest value."""
        return self.sure or (self.low, self.high)


def middle(values: Sequence[float]) -> Middle:
    """Find median, least and greatest of at least one value, rounded so that equal ones tie."""
    values = [rounded(value) for value in values]
    return Middle(rounded(median(values)), min(values), max(values), median_interval(values))


def grouped(rows: Iterable[T], key: Callable[[T], Any]) -> Iterator[tuple[Any, list[T]]]:
    """Part rows by a key, in order of appearance."""
    parts: dict[Any, list[T]] = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    yield from parts.items()
