"""From the options of a command, or the keys of a study, to the guarantee that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError, as_option
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer, Items, Itemsets
from setveil.judges.guarantees import Guarantee, Model, model_named, models
from setveil.runs.options.decode import Inputs, decode, plain_values, whose

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


WATCHED = "sensitive"  # names items that are only looked at, where the model has none of its own


def offered(model: Model, *, published: bool = False) -> list[str]:
    """List the options of a model, without those that draw or only look if rows are published already."""
    found = [key for key, option in model.options.items() if option.drawn_with is None or not published]
    hides = any(option.secret for option in model.options.values())
    return found if hides or published or model.release != "rows" else [*found, WATCHED]


def applicable(model: Model, texts: Mapping[str, Any]) -> dict[str, Option]:
    """List the options of a model that mean something next to what was given for others."""
    return {
        name: option
        for name, option in model.options.items()
        if option.only_with is None or texts.get(option.only_with[0]) == option.only_with[1]
    }


def missing(model: Model, texts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """List what must still be given to describe a guarantee: names of options, one of each tuple will do."""
    needed = [name for name, option in applicable(model, texts).items() if option.needed or option.only_with]
    choices = [(name, *_instead_of(model, name)) for name in needed]
    return [names for names in choices if all(texts.get(name) is None for name in names)]


def conflicting_options(model: Model, texts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List pairs of options of which one replaces the other, but both were given."""
    return [
        (option.instead_of, name)
        for name, option in model.options.items()
        if option.instead_of and texts.get(name) is not None and texts.get(option.instead_of) is not None
    ]


def _instead_of(model: Model, name: str) -> list[str]:
    return [other for other, option in model.options.items() if option.instead_of == name]


def require_options(name: str, texts: Mapping[str, Any], *, published: bool = False) -> None:
    """Refuse a model that does not exist, and options that it lacks or does not know (None: not given)."""
    model = model_named(name)
    known = offered(model, published=published)
    extra = [key for key, text in texts.items() if text is not None and key not in known]
    gaps = [names for names in missing(model, texts) if not (published and model.options[names[0]].secret)]
    if gaps:
        needed = [names[0] for names in gaps if model.options[names[0]].only_with is None]
        if needed:
            instead = [other for names in gaps for other in names[1:]]
            raise RequestError(
                f"{name} needs {_named(needed)}.",
                hint=f"For experiments: {_named(instead)} instead." if instead else _of_others(extra),
            )
        other, value = model.options[gaps[0][0]].only_with or ("", "")
        raise RequestError(f"{as_option(other, value)} needs {_named(gaps[0][:1])}.")
    if extra:
        own = [key for key in known if key in model.options]
        if "absent" in extra:
            raise RequestError(
                f"{name} has no {_named(['absent'])}: only km-anonymity covers absent items.",
                hint="`setveil verify --absent 1` checks a release of km-anonymity or kkm for it.",
            )
        raise RequestError(
            f"{name} has no {_named(extra)}; it takes {_named(own)}.",
            hint=_of_others(extra),
        )
    for key, entry in model.options.items():
        if entry.only_with and texts.get(key) is not None and key not in applicable(model, texts):
            raise RequestError(f"{as_option(key)} goes with {as_option(*entry.only_with)} only.")
    for key, drawn in conflicting_options(model, texts):
        raise RequestError(
            f"The {key} items are either named ({_named([key])}) or drawn ({_named([drawn])})."
        )


def _of_others(extra: list[str]) -> str:
    """Say which models have options that one has not, if there are such options."""
    if not extra:
        return ""
    have = {name: model.options for name, model in models().items()}
    return f"{whose(extra, have)} Choose by {as_option('model')}, and omit {as_option('algorithm')}."


def require_values(name: str, texts: Mapping[str, Any], encoding: str) -> Guarantee | None:
    """Refuse invalid values before data are read; return the guarantee, None if it depends on data."""
    model = model_named(name)
    options = applicable(model, texts)
    values = plain_values(options, texts, encoding)
    complete = all(key in values for key in options if texts.get(key) is not None)
    for key, option in options.items():
        if isinstance(option.kind, Items):
            if not (option.needed or option.only_with or texts.get(key) is not None):
                continue
            values[key], complete = ("any",), False
        elif isinstance(option.kind, Itemsets):
            values[key], complete = None if texts.get(key) == "all" else (("any",),), False
    named = {key: value for key, value in values.items() if options[key].drawn_with is None}
    guarantee = model.make(**named)
    return guarantee if complete and len(named) == len(values) else None


def make_guarantee(name: str, texts: Mapping[str, Any], inputs: Inputs) -> Guarantee:
    """Make the guarantee of a model from its options (see `require_options`); None in `texts`: not given."""
    model = model_named(name)
    values: dict[str, Any] = {}
    for key, option in applicable(model, texts).items():
        if texts.get(key) is None:
            continue
        value = decode(key, option.kind, texts[key], inputs, values)
        if option.drawn_with is None:
            values[key] = value
        else:
            values[option.instead_of] = _drawn(option, value, inputs, values)
    return model.make(**values)


def _drawn(
    option: Option, value: int | Fraction, inputs: Inputs, values: Mapping[str, Any]
) -> tuple[str, ...]:
    """Draw items for experiments: this many, or a share of all (halves up), that are not too frequent."""
    least = max([1, *(values[name] for name in option.drawn_with or ())]) if option.drawn_with else 5
    number = int(value)
    if not isinstance(option.kind, Integer):
        number = int(value * inputs.data.n_items + Fraction(1, 2))
    drawn = _draw(inputs.data, number, least, inputs.seed)
    if len(drawn) < number:
        of = f"{option.drawn_with[0]} = {least}" if option.drawn_with else str(least)
        raise RequestError(
            f"{number:,} {option.instead_of} items were asked for, but only {len(drawn):,} items are in at "
            f"most one row of {of}."
        )
    return drawn


def _draw(data: Transactions, number: int, least: int, seed: int) -> tuple[str, ...]:
    """Draw this many of the items that occur in at most one row of `least`, or all there are."""
    import numpy as np

    supports = data.supports()
    possible = np.flatnonzero((supports > 0) & (supports * least <= data.n_rows))
    keys = np.random.PCG64(seed).random_raw(possible.size)
    drawn = np.sort(possible[np.argsort(keys, kind="stable")[:number]])
    return tuple(data.vocabulary.labels[item] for item in drawn.tolist())


def _named(options: Iterable[str]) -> str:
    return ", ".join(map(as_option, options))
