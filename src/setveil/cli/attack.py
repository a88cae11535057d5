"""The command ``attack``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from setveil.base.errors import RequestError
from setveil.cli.bundles import Bundle, Reading, bundled, own_options, promise_options, source_of
from setveil.cli.help import ALGORITHM, ATTACKER, GENERAL, OUTPUT, PROMISE, READING
from setveil.cli.options import (
    Parameter,
    ReadHierarchy,
    algorithm_or_file,
    argument,
    choice,
    flag,
    integer,
    option,
)
from setveil.cli.session import Answer
from setveil.judges.guarantees import model_named, models
from setveil.methods import algorithms as registry
from setveil.runs.options.models import settled_model
from setveil.runs.options.reading import Reading as ReadingOptions


def _own() -> list[Parameter]:
    """List the options of all algorithms but those that this command has itself."""
    return [option for option in own_options() if option.name not in {"alpha"}]


def _promise() -> list[Parameter]:
    """List the options of guarantees, but for facts, which are not attacked: `known` is a number here."""
    return [option for option in promise_options(drawn=True) if option.name != "known"]


@dataclass(frozen=True)
class AttackOptions:
    """Options on the attacks that are tried."""

    known: int | None = integer(
        ATTACKER, "Try 1 to N known items (default: the guarantee's m, or 2).", 1, "--known"
    )
    attacks: int = integer(ATTACKER, "Attempt each kind of attack this often.", 1, default=2000, brief=None)
    secret: str | None = option(
        ATTACKER, "Guess these items, which nobody knows: a file or a list.", "ITEMS", brief=None
    )
    alpha: str = option(
        ATTACKER, "Limit the probability of a false alarm.", "SHARE", default="1%", brief=None
    )


@dataclass(frozen=True)
class Making:
    """Options on the release that is made with --split."""

    split: str | None = option(ALGORITHM, "Publish this share of RELEASE; use the rest as control.", "SHARE")
    model: str | None = choice(
        PROMISE, "Choose the guarantee of --split", "privacy model",
        models, brief="Choose the guarantee of --split.")  # fmt: skip
    algorithm: str | None = algorithm_or_file(
        "Choose the algorithm of --split", brief="Choose the algorithm of --split."
    )
    no_counts: bool = flag(OUTPUT, "Publish no counts of items with --split.", brief=None)


def attack(
    progress: Any,
    release: str = argument("RELEASE", "Attack this run's folder, published/, file of rows, or -."),
    original: list[str] | None = option(
        READING, "Read the rows that it was made from.", "FILE", default=None
    ),
    control: list[str] | None = option(
        READING, "Read rows of other people from the same source.", "FILE", default=None
    ),
    recoding: Path | None = option(
        READING, "Read what labels represent: csv of item,published.", "FILE"
    ),
    *,
    making: Annotated[Making, bundled(Making)],
    hierarchy_file: ReadHierarchy = None,
    tried: Annotated[AttackOptions, bundled(AttackOptions)],
    seed: int = integer(
        GENERAL, "Draw targets, their known items and the split by this seed.", 0, default=0, brief=None
    ),
    promise: Annotated[dict[str, Any], Bundle(_promise)],
    own: Annotated[dict[str, Any], Bundle(_own, usual=list)],
    reading: Reading,
) -> Answer:  # fmt: skip
    """Attack published rows, with other people as a control.

    Exit code 1: an attack breaks the bound of the guarantee. An attack that fails proves nothing.

    $ setveil attack release --original baskets.csv --control others.csv --json > attack.json
    $ setveil attack theirs.csv --original baskets.csv --control others.csv --known 2
    $ setveil attack baskets.csv --split 50% --k 5 --m 2 -H products.csv
    """
    from setveil.cli.files import read_fitting
    from setveil.commands.attack import attacked_split, require_sides, secrets_of, share_between
    from setveil.report.attack import attack_text
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.options.decode import require_file

    share, level = share_between("split", making.split), share_between("alpha", tried.alpha)
    require_sides(share, original, control)
    options: dict[str, Any] = {
        "m": tried.known, "attacks": tried.attacks, "alpha": level, "seed": seed, "progress": progress
    }  # fmt: skip
    for path in (hierarchy_file, recoding):
        require_file(path)
    encoding = reading.text_encoding
    tree = None if hierarchy_file is None else read_hierarchy(hierarchy_file, encoding=encoding)
    progress("reading")
    if share is not None:
        rows, tree = read_fitting(release, reading, tree)
        make = _maker(making, promise, own, tree, reading, seed, progress)
        found = attacked_split(rows, share, make, secrets_of(tried.secret, rows, encoding), **options)
    else:
        k, m = _of_rows(making, promise, own)
        options["m"] = tried.known or m
        found = _with_control(
            release, original or [], control or [], recoding, tree, reading, tried.secret, k=k, **options
        )
    return Answer(found, attack_text(found), code=1 if found["leak"] else 0)


def _with_control(
    release: str,
    original: list[str],
    control: list[str],
    recoding: Path | None,
    tree: Any,
    reading: ReadingOptions,
    secret: str | None,
    **options: Any,
) -> dict[str, Any]:
    """Attack a release that is there, with its original and rows of other people."""
    from setveil.cli.files import read_recoding, read_release, read_rows
    from setveil.commands.attack import attacked, require_other, secrets_of, target_of
    from setveil.rows.hierarchy.fit import fitted

    image = None if recoding is None else read_recoding(recoding, reading.text_encoding)
    how = reading.explicit_options() if not original else {}
    # What cannot be attacked is refused before files are read; a hierarchy is fitted first.
    if tree is None:
        target = target_of(release, image, None, read_release, **how)
    if len(original) == len(control) == 1:
        require_other(original[0], control[0])
    train = read_rows(source_of(original, reading, "--original"), reading)
    if tree is not None:
        tree = fitted(tree, train.vocabulary.labels)
        target = target_of(release, image, tree, read_release, **how)
    others = read_rows(source_of(control, reading, "--control"), reading)
    return attacked(target, train, others, secrets_of(secret, train, reading.text_encoding), **options)


def _of_rows(making: Making, promise: dict[str, Any], own: dict[str, Any]) -> tuple[int | None, int | None]:
    """Take the guarantee of rows whose about.json says none: k and m."""
    values = {name: value for name, value in promise.items() if value is not None}
    more = [name for name in values if name not in {"k", "m"}]
    more += [name for name, value in own.items() if value is not None and value is not True]
    more += [
        name
        for name, value in (("model", making.model), ("algorithm", making.algorithm))
        if value is not None
    ]
    if more:
        raise RequestError(
            f"--{more[0].replace('_', '-')} goes with --split, which makes a release first.",
            hint="The guarantee of rows that are published already is --k and --m, if no about.json says it.",
        )
    m = values.get("m")
    if m is not None and (not str(m).isdigit() or int(m) < 1):
        raise RequestError(f"--m must be an integer of at least 1 here, got {m!r}.")
    return values.get("k"), None if m is None else int(m)


def _maker(
    making: Making,
    promise: dict[str, Any],
    own: dict[str, Any],
    tree: Any,
    reading: Any,
    seed: int,
    progress: Any,
) -> Callable[[Any], Any]:
    """Say how a release is made of some rows."""
    from setveil.commands.attack import target_of
    from setveil.runs.options.decode import Inputs, decode_parameters, require_parameters
    from setveil.runs.options.guarantees import make_guarantee, require_options, require_values
    from setveil.runs.run import anonymize

    name = making.model or settled_model(promise)
    chosen = registry.named(making.algorithm) if making.algorithm else model_named(name).algorithm
    module = registry.load(chosen)
    require_options(name, promise)
    plain = require_values(name, promise, reading.text_encoding)
    require_parameters(chosen, module.Parameters, own, reading.text_encoding)

    def make(rows: Any) -> Any:
        inputs = Inputs(rows, reading.text_encoding, tree, seed)
        guarantee = make_guarantee(name, promise, inputs) if plain is None else plain
        made = anonymize(
            rows, guarantee, hierarchy=tree, algorithm=chosen, seed=seed, counts=not making.no_counts,
            progress=progress,
            **decode_parameters(module.Parameters, own, inputs),
        )  # fmt: skip
        return target_of(made)

    return make
