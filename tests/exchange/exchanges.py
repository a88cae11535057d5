"""Exchanges: a value that fewer than k people have is replaced by another with the same published form.

The published files must not reveal the exchange: every byte below ``published/`` must stay the same.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

import setveil as sv
from cli_helpers import together
from model_runs import recoding_of
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.rows.tables.ends import in_cells
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee

T = TypeVar("T")
Rows = list[list[str]]

Shown = Counter[tuple[str, str, frozenset[int]]]
"""How often which input rows share a label, by what it is a label of and what is plain of its text."""

Plain = Callable[[str, str], str]
"""What of a label, of something, depends on nobody's data: a computed label may be called otherwise."""

COMPUTED = "#"


def whole(of: str, label: str) -> str:
    """A label of a hierarchy that was given."""
    return label


def by_items(data: Rows) -> Plain:
    """Return a function that shows items and hides computed labels."""
    items = {item for row in data for item in row}
    return lambda of, label: label if label in items or of == "class" else COMPUTED


@dataclass(frozen=True)
class Made:
    """The published results of a run.

    Attributes
    ----------
    names : set of str
        The labels that rows show, and other texts that are published unchanged.
    shown : counter
        The groups of rows with the same labels.
    """

    names: frozenset[str]
    shown: Shown


@dataclass(frozen=True)
class Trial:
    """Data before and after an exchange, and how they are published.

    Attributes
    ----------
    kind : str
        What is published, for counts.
    publish : callable
        Writes a folder of a run, of data that it is given.
    before, after : object
        The data.
    old, new : str
        What was exchanged, as texts: what is published under its own name is no secret.
    how : str
        What else is to be said of it.
    shared : bool
        Whether something changed that k people share, or a number went to another cell of the published grid:
        no case.
    """

    kind: str
    publish: Callable[[Any, Path], Made]
    before: Any
    after: Any
    old: str
    new: str
    how: str = ""
    shared: bool = False


@dataclass
class Tally:
    """The results of trials.

    Attributes
    ----------
    cases : int
        Trials with the same recoding before and after.
    shared, moved, named, refused : int
        Trials that changed something that k people share; that chose another recoding; that publish the
        exchanged items by name; that made no release.
    differences : list of str
        The differences, one for each case.
    """

    cases: int = 0
    shared: int = 0
    moved: int = 0
    named: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def drawn(draw: Callable[[Random], Trial | None], rng: Random, tally: Tally | None = None) -> Trial:
    """Draw until data hold something that can be exchanged, and that fewer than k people have."""
    while True:
        trial = draw(rng)
        if trial is not None and not trial.shared:
            return trial
        if trial is not None and tally is not None:
            tally.shared += 1


def tried(trial: Trial, folder: Path, tally: Tally) -> None:
    """Publish before and after, and note what became of it."""
    made = []
    for data, name in ((trial.before, "before"), (trial.after, "after")):
        try:
            made.append(trial.publish(data, folder / name / "run"))
        except sv.SetveilError as error:
            if "defect" in str(error):
                raise
            tally.refused += 1
            tally.reasons[str(error)[:150]] += 1
            return
    before, after = made
    if trial.old in before.names | after.names or trial.new in before.names | after.names:
        tally.named += 1
    elif before.shown != after.shown:
        tally.moved += 1
    else:
        tally.cases += 1
        found = differences(folder / "before" / "run", folder / "after" / "run")
        if found:
            tally.differences.append(
                f"{trial.kind}: {trial.old!r} -> {trial.new!r} {trial.how}\n" + "\n".join(found)
            )


def differences(before: Path, after: Path) -> list[str]:
    """Say what differs below the published folders of two runs."""
    one, other = (contents(folder / "published") for folder in (before, after))
    return [
        f"  {name}: {_excerpt(one.get(name), other.get(name))}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _excerpt(one: bytes | None, other: bytes | None) -> str:
    if one is None or other is None:
        return "only before" if other is None else "only after"
    before, after = (text.decode(errors="replace").splitlines() for text in (one, other))
    changed = [
        line for line in difflib.unified_diff(before, after, n=0, lineterm="") if line[:2] not in {"--", "++"}
    ]
    return " | ".join(line[:90] for line in changed if line[:1] in "+-")[:240]


# --- what a run published


def shown_by(pairs: Iterable[tuple[int, str, str]], plain: Plain = whole) -> Shown:
    """Count the groups of rows that share labels, from pairs of a row and a label with its column or kind."""
    rows = defaultdict(set)
    for row, of, label in pairs:
        rows[of, label].add(row)
    return Counter((of, plain(of, label), frozenset(inside)) for (of, label), inside in rows.items())


def of_release(release: sv.VerifiedRelease, plain: Plain = whole) -> Made:
    """Look at a release in memory."""
    made: Any = release.release
    if made.info.title == "rows in chunks":
        return _of_chunks(release)
    published = [tuple(row) for row in release.published]
    place = release.row_map.tolist()
    pairs = [(i, "", label) for i, at in enumerate(place) if at >= 0 for label in published[at]]
    names = {label for row in published for label in row}
    if made.info.title.startswith("rows in groups"):
        names |= set(made.recoding.items.labels)
    if hasattr(made, "table"):
        for column in made.table.columns:
            shown = [column.labels[code] for code in column.codes]
            names |= set(shown)
            pairs += [(i, column.name, shown[at]) for i, at in enumerate(place)]
    if hasattr(made.recoding, "class_of_row"):
        pairs += [(i, "class", str(c)) for i, c in enumerate(made.recoding.class_of_row.tolist())]
    return Made(frozenset(names), shown_by(pairs, plain))


def _of_chunks(release: sv.VerifiedRelease) -> Made:
    """Look at rows in chunks: which rows are together, and all items, which are published by name."""
    names = set(release.recoding.items.labels)
    return Made(frozenset(names), shown_by((i, "", str(c)) for i, c in enumerate(release.row_map.tolist())))


def written(release: sv.VerifiedRelease, folder: Path, plain: Plain = whole, **options: Any) -> Made:
    """Write a release and look at it."""
    release.write(folder, **options)
    return of_release(release, plain)


# --- rows of items

GROUPS, FREQUENT, RARE, UNUSED = 4, 3, 3, 3
FIRST, SECOND = ("fresh", "old", "sweet", "red"), ("milk", "tea", "jam", "oil", "rye", "rice", "soda")
STYLES: tuple[Callable[[int], str], ...] = (
    lambda n: f"t{n:02}",
    lambda n: str(100 + 7 * n),
    lambda n: f"{FIRST[n % 4]} {SECOND[n % 7]} {n}",
    lambda n: f"{'ABCDEFGH'[n % 8]}{n // 8:02}.{n % 5}",
)


@dataclass(frozen=True)
class Goods:
    """Items in groups, some frequent, some rare, some that no row holds."""

    frequent: list[str]
    rare: list[str]
    unused: list[str]
    parents: dict[str, str | None]

    def tree(self) -> sv.Hierarchy:
        return sv.Hierarchy(self.parents)


def goods(rng: Random) -> Goods:
    """Draw items of a style and a tree of them."""
    style, numbers = rng.choice(STYLES), list(range(GROUPS * (FREQUENT + RARE + UNUSED)))
    rng.shuffle(numbers)
    names = iter([style(n) for n in numbers])
    parents: dict[str, str | None] = {"*": None}
    kinds: dict[str, list[str]] = {"frequent": [], "rare": [], "unused": []}
    deep = rng.random() < 0.5
    for group in range(GROUPS):
        parents[f"group {group}"] = "*"
        for kind, n in (("frequent", FREQUENT), ("rare", RARE), ("unused", UNUSED)):
            for at in range(n):
                item, above = next(names), f"group {group}"
                if deep:
                    above = f"group {group}{'ab'[at % 2]}"
                    parents[above] = f"group {group}"
                kinds[kind].append(item)
                parents[item] = above
    return Goods(**kinds, parents=parents)


def random_rows(rng: Random, some: Goods, k: int) -> Rows:
    """Draw rows in which rare items occur in fewer than k."""
    weights = [1 / (1 + i) ** rng.choice((0.3, 0.8)) for i in range(len(some.frequent))]
    n, longest = rng.randint(10 * k, 20 * k), rng.randint(1, 3)
    rows = [sorted(set(rng.choices(some.frequent, weights, k=rng.randint(1, longest)))) for _ in range(n)]
    for item in some.rare:
        for row in rng.sample(range(n), rng.randint(0, k - 1)):
            rows[row] = sorted({*rows[row], item})
    return rows


def supports(rows: Rows) -> Counter[str]:
    return Counter(item for row in rows for item in row)


NEW = ("0 new", "Hans Mueller Hauptstr. 5", "mm", "zzz", "~", "5", "Ä", "C1_0", "… 1", "t00 · …", "*")


def exchanged(
    rng: Random, rows: Rows, k: int, news: Sequence[str], image: Mapping[str, object] | None
) -> tuple[Rows, str, str] | None:
    """Replace an item of fewer than k rows, in one of them or in all, by one as rare, or by a new one.

    With an image of items the two have the same in it, as far as it knows both.
    """
    found = supports(rows)
    rare = [item for item, n in sorted(found.items()) if n < k]
    if not rare:
        return None
    old = rng.choice(rare)
    holding = [at for at, row in enumerate(rows) if old in row]
    if rng.random() < 0.6:
        holding = [rng.choice(holding)]
    news = [*rare, *news, *rng.sample(list(news), min(len(news), 8))]
    fitting = [
        new
        for new in news
        if new != old
        and found[new] + len(holding) < k
        and (image is None or new not in image or image[new] == image.get(old))
        and not any(new in rows[at] for at in holding)
    ]
    if not fitting:
        return None
    new = rng.choice(fitting)
    after = [
        sorted({new if item == old else item for item in row}) if at in holding else row
        for at, row in enumerate(rows)
    ]
    return after, old, new


def writing(rng: Random, *, formats: bool = True) -> dict[str, Any]:
    """Draw options for the written files."""
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["external"] = True
    if rng.random() < 0.3:
        options["checker"] = True
    if formats and rng.random() < 0.5:
        options["format"] = rng.choice(("basket", "jsonl", "long", "wide", "onehot", "spmf", "parquet"))
    return options


def promise(rng: Random, model: str, k: int, data: Rows, sensitive: Sequence[str]) -> Any:
    """Draw a guarantee of a model."""
    options = dict(models()[model].example)
    for name in ("private", "sensitive"):
        if name in options:
            options[name] = list(sensitive)
    options |= {name: k for name in ("k",) if name in options} | (
        {"m": rng.randint(1, 2)} if "m" in options else {}
    )
    return make_guarantee(model, options, Inputs(sv.read(data)))


def rows_trial(rng: Random, algorithm: str, model: str, hierarchy: str) -> Trial | None:
    """Draw rows, a guarantee for them and an exchange."""
    k, some = rng.randint(2, 4), goods(rng)
    rows = random_rows(rng, some, k)
    sensitive = rng.sample(sorted(supports(rows).keys() & {*some.frequent}), 2)
    guarantee = promise(rng, model, k, rows, sensitive)
    tree = some.tree() if hierarchy == "given" else None
    options = writing(rng, formats=models()[model].release == "rows" and algorithm != "classes")
    if model not in _CHECKED or algorithm == "classes" or options.get("format") == "parquet":
        options.pop("checker", None)
    config: dict[str, Any] = {"algorithm": algorithm, "hierarchy": tree, "seed": rng.randint(0, 9)}
    if model in {"km-anonymity", "k-anonymity", "constraints"}:
        config["counts"] = rng.choice((True, True, False, k + 1))
    if options.get("external") and rng.random() < 0.4:
        config["details"] = True
    if algorithm == "exact":
        config |= {"suppress": rng.random() < 0.7} if model == "km-anonymity" else {}
    if algorithm == "classes":
        config |= {"class_size": 4 * k}

    def publish(data: Rows, folder: Path) -> Made:
        plain = whole if tree is not None and algorithm not in {"coat", "pcta"} else by_items(data)
        return written(sv.anonymize(data, guarantee, **config), folder, plain, **options)

    image = None if tree is None else some.parents
    news = [*some.unused, *([] if tree is not None else NEW)]
    found = exchanged(rng, rows, k, news, image if rng.random() < 0.8 else None)
    if found is None:
        return None
    after, old, new = found
    if {old, new} & set(sensitive):
        return None
    kind = f"{algorithm} {model} {hierarchy}"
    return Trial(kind, publish, rows, after, old, new, f"k={k} {options} {config}")


_NOTHING = {("partial", "km-rho")}  # which protects nobody
_CHECKED = {"km-anonymity", "k-anonymity"}


def kinds_of_rows() -> list[tuple[str, str, str]]:
    """List algorithms, models and where hierarchies come from."""
    kinds = []
    for name, module in algorithms.modules().items():
        for model in module.info.guarantees:
            if models()[model].release == "tables":
                continue
            if (name, model) in _NOTHING or module.info.draws:  # noise: no bytes are expected to stay
                continue
            if "hierarchy" in module.info.needs:
                kinds += [(name, model, "given"), (name, model, "computed")]
            elif "hierarchy" in module.info.takes:
                kinds += [(name, model, "given"), (name, model, "none")]
            else:
                kinds.append((name, model, "none"))
    return kinds


# --- tables

JOBS = ("nurse", "clerk", "teacher", "driver", "baker", "judge", "welder", "singer")


def table_trial(rng: Random, algorithm: str, model: str, hierarchy: str) -> Trial | None:
    """Draw a table of people, and exchange an item or a value."""
    k, some = rng.randint(2, 4), goods(rng)
    rows = random_rows(rng, some, k)
    ages = [rng.randint(20, 80) if rng.random() < 0.9 else rng.choice((3, 98, 101)) for _ in rows]
    jobs = rng.choices(JOBS, [8, 7, 6, 3, 1, 1, 1, 1], k=len(rows))
    known = [[str(age), rng.choice("fm"), job] for age, job in zip(ages, jobs, strict=True)]
    trees: dict[str, Any] = {}
    if hierarchy == "given":
        trees["job"] = {
            "*": None,
            **dict.fromkeys(("x", "y"), "*"),
            **{j: "xy"[i % 2] for i, j in enumerate(JOBS)},
        }
        trees["codes"] = some.tree()
    reading: dict[str, Any] = {"qi": ["age", "sex", "job"], "set": "codes"}
    if rng.random() < 0.5:
        reading["ranges"] = {"age": rng.choice((5, 10))}
    guarantee = sv.KKmAnonymity(k, 2) if model == "kkm" else sv.MixedKmAnonymity(k, 2)
    options, seed = writing(rng, formats=False), rng.randint(0, 9)
    options.pop("checker", None)
    inner: dict[str, Any] = (
        rng.choice(({}, {"items": "coat"}, {"items": "pcta"})) if algorithm == "bounding" else {}
    )

    def publish(data: Any, folder: Path) -> Made:
        values, sets = data
        lines = [(*map(str, line), ";".join(items)) for line, items in zip(values, sets, strict=True)]
        frame = pl.DataFrame(lines, schema=["age", "sex", "job", "codes"], orient="row")
        column_trees = {name: tree for name, tree in trees.items() if name != "codes"}
        table = sv.read_table(frame, **reading, hierarchies=column_trees)
        tree = trees.get("codes")
        release = sv.anonymize(table, guarantee, algorithm=algorithm, hierarchy=tree, seed=seed, **inner)
        ours = whole if hierarchy == "given" and not inner else by_items(sets)

        def plain(of: str, label: str) -> str:
            if of == "age" and "ranges" not in reading:
                return COMPUTED if label.startswith("[") or " or " in label else label
            return label if of in {"sex", "job", "age"} else ours(of, label)

        return written(release, folder, plain, **options)

    kind = f"{algorithm} {model} {hierarchy} {inner.get('items', '')}".strip()
    if rng.random() < 0.4:
        image = some.parents if hierarchy == "given" else None
        found = exchanged(rng, rows, k, some.unused if image else [*some.unused, *NEW], image)
        if found is None:
            return None
        after, old, new = found
        return Trial(f"{kind} items", publish, (known, rows), (known, after), old, new, f"k={k} {reading}")
    at = rng.choice((0, 0, 2))
    changed = _other_value(rng, known, at, k, is_given=hierarchy == "given")
    if changed is None:
        return None
    values, old, new = changed
    name = ("age", "sex", "job")[at]
    elsewhere = (
        at == 0 and "ranges" not in reading and cell_changes([x[0] for x in known], [x[0] for x in values], k)
    )
    return Trial(
        f"{kind} {name}", publish, (known, rows), (values, rows), old, new, f"k={k} {reading} {options}",
        elsewhere,
    )  # fmt: skip


def cell_changes(before: list[str], after: list[str], k: int) -> bool:
    """Return whether the single changed number is in another cell of an otherwise equal grid."""
    one, other = _cells(before, k), _cells(after, k)
    changed = [at for at in range(len(before)) if before[at] != after[at]]
    same = all(one[at] == other[at] for at in range(len(before)) if at not in changed)
    return same and any(one[at] != other[at] for at in changed)


def _cells(numbers: list[str], k: int) -> list[str]:
    """Name the cell of each number."""
    texts = sorted({*numbers}, key=int)
    codes = np.array([texts.index(number) for number in numbers])
    column = in_cells(quasi_identifier("age", codes, texts, numeric=True), k)
    return [column.labels[code] for code in column.codes.tolist()]


def _other_value(
    rng: Random, known: list[list[str]], at: int, k: int, *, is_given: bool
) -> tuple[list[list[str]], str, str] | None:
    """Replace a value that fewer than k people have."""
    found = Counter(line[at] for line in known)
    rare = [value for value, n in sorted(found.items()) if n < k]
    if not rare:
        return None
    if at == 0:
        rare.sort(key=int)
        rare = [*rare, *rare[:1] * 5, *rare[-1:] * 5]
    old = rng.choice(rare)
    near = [str(int(old) + by) for by in (-3, -1, 1, 2)] if at == 0 else [*JOBS, *([] if is_given else NEW)]
    fitting = [new for new in near if new != old and found[new] + 1 < k]
    if not fitting:
        return None
    new = rng.choice(fitting)
    row = rng.choice([i for i, line in enumerate(known) if line[at] == old])
    after = [[*line] for line in known]
    after[row][at] = new
    return after, old, new


def kinds_of_tables() -> list[tuple[str, str, str]]:
    return [
        (name, model, hierarchy)
        for name, module in algorithms.modules().items()
        for model in module.info.guarantees
        if models()[model].release == "tables"
        for hierarchy in ("given", "computed")
    ]


# --- facts

Line = tuple[int, str, str, int]


def facts_trial(rng: Random, algorithm: str, hierarchy: str, amounts: str) -> Trial | None:
    """Draw facts with months, perhaps amounts, and exchange the code, the month or the amount of one."""
    k, some = rng.randint(2, 3), goods(rng)
    codes = [*some.frequent[:5], *some.rare[:4]]
    lines: list[Line] = []
    for who in range(rng.randint(14 * k, 24 * k)):
        for _ in range(rng.randint(1, 2)):
            code = rng.choices(codes, [6, 5, 4, 3, 3, 1, 1, 1, 1])[0]
            month = rng.choice((1, 2, 3, 3, 4, 5, 7)) if rng.random() < 0.95 else 11
            year = 2024 if rng.random() < 0.97 else rng.choice((1931, 2019))
            cost = rng.randint(1, 99) if rng.random() < 0.95 else rng.choice((500, 1700, 9000))
            lines.append((who, code, f"{year}-{month:02}-{rng.randint(1, 28):02}", cost))
    tree = some.tree() if hierarchy == "given" else None
    reading: dict[str, Any] = {"when": {"day": rng.choice(("month", "month", "quarter"))}}
    if amounts:
        reading |= {"amount": amounts, "fewest": k}
    options, seed = writing(rng, formats=False), rng.randint(0, 9)
    options.pop("checker", None)
    counts = rng.choice((True, True, False))

    def publish(data: list[Line], folder: Path) -> Made:
        frame = pl.DataFrame(data, schema=["who", "code", "day", "cost"], orient="row")
        facts = sv.read_facts(frame, id="who", sets="code", drop=[] if amounts else ["cost"], **reading)
        release = sv.anonymize(facts, k=k, m=2, algorithm=algorithm, hierarchy=tree, seed=seed, counts=counts)
        named = by_items([[code for _, code, _, _ in data]]) if tree is None else whole

        def plain(of: str, label: str) -> str:
            code, *parts = label.split("@")
            if amounts == "cost:5" and parts[1] != "*":
                parts[1] = COMPUTED
            return "@".join([code if code == "*" else named(of, code), *parts])

        made = written(release, folder, plain, **options)
        if tree is not None:
            return made
        common = sorted(_shared((who, code) for who, code, _, _ in data)(k))
        return replace(made, shown=made.shown + _groups(release.recoding, common))

    at = rng.randrange(len(lines))
    what = rng.choice(("code", "day", "cost") if amounts else ("code", "day"))
    who, code, day, cost = lines[at]
    if what == "code":
        same = [c for c in (*some.rare, *some.unused) if some.parents[c] == some.parents[code]]
        code = rng.choice(same if tree is not None else [*codes, *NEW])
    elif what == "day":
        year, month, _ = map(int, day.split("-"))
        first = (month - 1) // 3 * 3 + 1 if rng.random() < 0.7 else 1
        day = f"{year}-{rng.randint(first, first + (2 if first > 1 else 11)):02}-15"
    else:
        cost = rng.choice((cost + 40, cost * 3, 99999, 120))
    after = [*lines]
    after[at] = (who, code, day, cost)
    old, new = (str(line[1:]) for line in (lines[at], after[at]))
    if old == new:
        return None
    kind = f"facts {algorithm} {hierarchy}{' ' + amounts if amounts else ''}: {what}"
    few = _few(lines, lines[at], reading, k) and _few(after, after[at], reading, k)
    unchanged = _shares(lines, reading, k) == _shares(after, reading, k) and not (
        amounts == "cost:5" and _reached(lines, reading, k) != _reached(after, reading, k)
    )
    how = f"k={k} {reading} counts={counts} {options}"
    return Trial(kind, publish, lines, after, old, new, how, shared=not (few and unchanged))


def _groups(recoding: Any, common: list[str]) -> Shown:
    """Look at which common codes the published nodes of a computed hierarchy of codes hold: another tree?"""
    codes = recoding.tree.spaces[0].trees[0]
    shown = {int(recoding.tree.boxes[box, 0]) for box in recoding.nodes}
    held = [
        {codes.labels[leaf] for leaf in codes.under(node).tolist()}
        for node in shown
        if node >= codes.n_leaves
    ]
    return Counter(
        ("members", COMPUTED, frozenset(at for at, code in enumerate(common) if code in some))
        for some in held
    )


Place = tuple[str, str, int]


def _places(lines: list[Line], reading: dict[str, Any], k: int) -> list[Place]:
    """Return the code of each line, and its month or quarter; years beyond those of k people are one."""
    years = _shared((who, day[:4]) for who, _, day, _ in lines)(k)
    found = []
    for _, code, day, _ in lines:
        month = int(day[5:7])
        period = (month - 1) // 3 if reading["when"]["day"] == "quarter" else month
        if not years or not min(years) <= day[:4] <= max(years):
            found.append((code, "<" if years and day[:4] < min(years) else ">", 0))
        else:
            found.append((code, day[:4], period))
    return found


def _shared(pairs: Iterable[tuple[int, T]]) -> Callable[[int], set[T]]:
    """Count the people of each value; return a function that lists the values of at least k people."""
    people: dict[T, set[int]] = defaultdict(set)
    for who, value in pairs:
        people[value].add(who)
    return lambda k: {value for value, some in people.items() if len(some) >= k}


def _shares(lines: list[Line], reading: dict[str, Any], k: int) -> tuple[Any, ...]:
    """List the codes, the years, and the codes in a month or quarter, that k people share."""
    people = [line[0] for line in lines]
    of_lines: list[list[Any]] = [[line[1] for line in lines], [line[2][:4] for line in lines]]
    of_lines.append(_places(lines, reading, k))
    return tuple(_shared(zip(people, values, strict=True))(k) for values in of_lines)


def _reached(lines: list[Line], reading: dict[str, Any], k: int) -> int:
    """Return the greatest amount that k people reach, on which chosen bounds may depend."""
    sums: Counter[tuple[Any, ...]] = Counter()
    most: Counter[int] = Counter()
    for line in lines:
        month = int(line[2][5:7])
        period = (month - 1) // 3 if reading["when"]["day"] == "quarter" else month
        sums[line[0], line[1], line[2][:4], period] += line[3]
    for (who, *_), total in sums.items():
        most[who] = max(most[who], total)
    return sorted(most.values())[-k]


def _few(lines: list[Line], line: Line, reading: dict[str, Any], k: int) -> bool:
    """Return whether fewer than k people have a code in the month, or quarter, of a line, for any amount."""
    places = _places(lines, reading, k)
    mine = places[lines.index(line)]
    return len({one[0] for one, place in zip(lines, places, strict=True) if place == mine}) < k


def more_facts_trial(rng: Random, shape: str, hierarchy: str) -> Trial | None:
    """Draw facts of two columns, or of people whose age is known, too, and exchange one fact, or one age."""
    k, some = rng.randint(2, 3), goods(rng)
    codes = [*some.frequent[:5], *some.rare[:4]]
    lines: list[tuple[int, str, str, str, str]] = []
    for who in range(rng.randint(14 * k, 24 * k)):
        age = str(rng.randint(20, 80) if rng.random() < 0.95 else rng.choice((3, 98)))
        for _ in range(rng.randint(1, 2)):
            code = rng.choices(codes, [6, 5, 4, 3, 3, 1, 1, 1, 1])[0]
            month = rng.choice((1, 2, 3, 3, 4, 5, 7)) if rng.random() < 0.95 else 11
            drug = rng.choices(("p", "q", "r", "s", ""), [6, 5, 1, 1, 4])[0]
            lines.append((who, age, code, drug, f"2024-{month:02}-{rng.randint(1, 28):02}"))
    tree = some.tree() if hierarchy == "given" else None
    options, seed = writing(rng, formats=False), rng.randint(0, 9)
    options.pop("checker", None)

    def publish(data: list[tuple[int, str, str, str, str]], folder: Path) -> Made:
        frame = pl.DataFrame(data, schema=["who", "age", "code", "drug", "day"], orient="row")
        config: dict[str, Any] = {"hierarchy": tree, "seed": seed}
        if shape == "columns":
            when = {"code=day": "month"}
            facts = sv.read_facts(frame, id="who", sets=["code", "drug"], when=when, drop="age")
            if tree is not None:
                config["hierarchy"] = {"code": tree}
            release = sv.anonymize(facts, k=k, m=2, **config)
        else:
            when = {"day": "month"}
            facts = sv.read_facts(frame, id="who", sets="code", when=when, qi="age", drop="drug")
            release = sv.anonymize(facts, sv.KKmAnonymity(k, 2), algorithm=shape, **config)
        named = by_items([[line[2] for line in data], [line[3] for line in data]])

        def plain(of: str, label: str) -> str:
            if of == "age":
                return COMPUTED if label.startswith("[") or " or " in label else label
            column, _, rest = label.rpartition("=")
            code, *parts = rest.split("@")
            if code != "*" and (tree is None or column == "drug"):
                code = named(of, code)
            return "@".join([column, code, *parts])

        return written(release, folder, plain, **options)

    at, place = rng.randrange(len(lines)), rng.choice((2, 4, 3 if shape == "columns" else 1))
    changed = [*lines[at]]
    if place == 1:
        changed[1] = str(int(lines[at][1]) + rng.choice((-3, 1, 2)))
    elif place == 2:
        near = [c for c in (*some.rare, *some.unused) if some.parents[c] == some.parents[lines[at][2]]]
        changed[2] = rng.choice(near if tree is not None else [*codes, *NEW])
    elif place == 3:
        changed[3] = rng.choice(("r", "s", *NEW))
    else:
        changed[4] = f"2024-{rng.randint(1, 12):02}-15"
    new = cast("tuple[int, str, str, str, str]", tuple(changed))
    after = [new if i == at else line for i, line in enumerate(lines)]
    if place == 1:
        after = [(line[0], new[1], *line[2:]) if line[0] == new[0] else line for line in lines]
    parts = {1: (1,), 2: (2, 4), 3: (3,), 4: (2, 4)}[place]

    def few(data: list[tuple[int, str, str, str, str]], line: tuple[int, str, str, str, str]) -> bool:
        texts = [[str(one[p])[: 7 if p == 4 else None] for p in parts] for one in (*data, line)]
        return len({one[0] for one, has in zip(data, texts, strict=False) if has == texts[-1]}) < k

    if new == lines[at] or not lines[at][place]:
        return None

    def shares(data: list[tuple[int, str, str, str, str]]) -> list[set[Any]]:
        of_lines: list[list[Any]] = [[x[2] for x in data], [x[3] for x in data]]
        of_lines.append([(x[2], x[4][:7]) for x in data])
        return [_shared(zip([x[0] for x in data], values, strict=True))(k) for values in of_lines]

    one, other = ([age for _, age in sorted({(x[0], x[1]) for x in data})] for data in (lines, after))
    shared = not (few(lines, lines[at]) and few(after, new)) or shares(lines) != shares(after)
    shared = shared or (place == 1 and cell_changes(one, other, k))
    kind = f"facts {shape} {hierarchy}: {('age', 'code', 'drug', 'day')[place - 1]}"
    before, now = (str(one[1:]) for one in (lines[at], new))
    return Trial(kind, publish, lines, after, before, now, f"k={k} {options}", shared)


def kinds_of_facts() -> list[tuple[str, str, str]]:
    from setveil.runs import orders

    return [
        (name, hierarchy, amounts)
        for name in orders.ALGORITHMS
        for hierarchy in ("given", "computed")
        for amounts in ("", "cost:5", "cost:0,50,100,200")
    ]


# --- releases of several, and of other people


def series_trial(rng: Random) -> Trial | None:
    """Draw two periods of a series, and exchange an item in one period."""
    k, some = rng.randint(2, 3), goods(rng)
    first, second = (random_rows(rng, some, k) for _ in range(2))
    ids = [f"p{n}" for n in rng.sample(range(1000, 2000), len(first) + len(second))]
    later = [*rng.sample(ids[: len(first)], min(3, len(first))), *ids[len(first) :]][: len(second)]
    tree = some.tree()
    options = writing(rng)
    options.pop("checker", None)

    def publish(data: tuple[Rows, Rows], folder: Path) -> Made:
        folder.mkdir(parents=True)
        series = sv.Series.create(folder / "ledger", k=k, m=2, ids="plain")
        pairs: list[tuple[int, str, str]] = []
        names: set[str] = set()
        for name, rows, who in (("q1", data[0], ids), ("q2", data[1], later)):
            people = dict(zip(who, rows, strict=False))
            run = folder / "published" / name
            series.add(people, name=name, out=folder / name, hierarchy=tree, writing=options)
            (folder / "published").mkdir(exist_ok=True)
            (folder / name / "published").rename(run)
            shown = [tuple(row) for row in cast("sv.Transactions", sv.read_published(run))]
            names |= {label for row in shown for label in row}
            place = row_places(folder / name / "internal" / "rows.csv")
            pairs += [(i, name, label) for i, at in place if at < len(shown) for label in shown[at]]
            run.rename(folder / name / "published")
        for name in ("q1", "q2"):
            (folder / name / "published").rename(folder / "published" / name)
        return Made(frozenset(names), shown_by(pairs))

    which = rng.randrange(2)
    found = exchanged(rng, (first, second)[which], k, some.unused, some.parents)
    if found is None:
        return None
    after, old, new = found
    both = (after, second) if which == 0 else (first, after)
    return Trial(f"series q{which + 1}", publish, (first, second), both, old, new, f"k={k} {options}")


def row_places(path: Path) -> list[tuple[int, int]]:
    lines = path.read_text().splitlines()[1:]
    return [(int(one), int(other)) for one, other in (line.split(",")[:2] for line in lines) if other]


def apply_trial(rng: Random, hierarchy: str, more: str = "") -> Trial | None:
    """Draw rows of two sorts of people, and exchange an item of the first or of the second."""
    k, some = rng.randint(2, 3), goods(rng)
    first = random_rows(rng, some, k)
    second = [[*row] for row in (*first, *random_rows(rng, some, k)[: 4 * k])]
    tree = some.tree() if hierarchy == "given" else None
    options, repair = writing(rng), more == "union" or rng.random() < 0.8

    def publish(data: tuple[Rows, Rows], folder: Path) -> Made:
        earlier = sv.anonymize(data[0], k=k, m=2, hierarchy=tree)
        union = earlier if more == "union" else None
        release = sv.apply(earlier, data[1], repair=repair, hierarchy=tree, union=union)
        plain = whole if tree is not None else by_items([*data[0], *data[1]])
        made = written(release, folder, plain, **options)
        lost = {
            item
            for item, at in zip(release.recoding.items.labels, release.recoding.image.tolist(), strict=True)
            if at < 0
        }
        suppressed = shown_by(
            (i, "left out", str(len(lost.intersection(row)))) for i, row in enumerate(data[1])
        )
        return replace(made, shown=made.shown + of_release(earlier, plain).shown + suppressed)

    which = rng.randrange(2)
    news = some.unused if tree is not None else [*some.unused, *NEW]
    found = exchanged(rng, (first, second)[which], k, news, some.parents if tree is not None else None)
    if found is None:
        return None
    after, old, new = found
    both = (after, second) if which == 0 else (first, after)
    how = f"k={k} {options} repair={repair}"
    return Trial(
        f"{more or 'apply'} {hierarchy}, {('earlier', 'later')[which]} rows",
        publish,
        (first, second),
        both,
        old,
        new,
        how,
    )


def command_trial(rng: Random, engine: str, hierarchy: str) -> Trial | None:
    """Draw rows and an exchange for the command line, in memory or in parts."""
    k, some = rng.randint(2, 4), goods(rng)
    rows = random_rows(rng, some, k)
    allowed = (
        ("--external", "--checker", "--no-counts") if engine == "memory" else ("--external", "--no-counts")
    )
    more = [word for word in allowed if rng.random() < 0.3]
    if engine == "memory" and rng.random() < 0.4:
        formats = ("basket", "jsonl", "long", "wide", "onehot", "parquet")
        more += ["--output-format", rng.choice(formats[:-1] if "--checker" in more else formats)]
    if engine == "parts":
        more += ["--engine", "parts"]
    more += ["--algorithm", rng.choice(("aa", "exact") if engine == "memory" else ("aa",))]
    if hierarchy == "given":
        more += ["--hierarchy", "tree.csv"]

    def publish(data: Rows, folder: Path) -> Made:
        home = folder.parent
        home.mkdir(parents=True)
        (home / "data.csv").write_text("".join(",".join(row) + "\n" for row in data))
        sv.write_hierarchy(some.tree(), home / "tree.csv")
        options = [
            "anonymize",
            "data.csv",
            "--k",
            k,
            "--m",
            2,
            *more,
            "--out",
            folder.name,
            "--format",
            "basket",
        ]
        (done,) = together([options], home)
        if done.code in {3, 4} and "defect" not in done.err:
            raise sv.SetveilError(done.err)
        done.ok()
        shown = [tuple(row) for row in cast("sv.Transactions", sv.read_published(folder))]
        names = frozenset(label for row in shown for label in row)
        recoding = recoding_of(folder)
        pairs = [(i, recoding[item]) for i, row in enumerate(data) for item in row]
        plain = whole if hierarchy == "given" else by_items(data)
        return Made(names, shown_by(((i, "", label) for i, label in pairs if label), plain))

    news = some.unused if hierarchy == "given" else [*some.unused, *NEW]
    found = exchanged(rng, rows, k, news, some.parents if hierarchy == "given" else None)
    if found is None:
        return None
    after, old, new = found
    return Trial(f"command {engine} {hierarchy}", publish, rows, after, old, new, f"k={k} {more}")


def all_kinds() -> dict[str, Callable[[Random], Trial | None]]:
    """Every kind of release, with what draws a trial of it."""

    def drawing(make: Callable[..., Trial | None], *kind: str) -> Callable[[Random], Trial | None]:
        return lambda rng: make(rng, *kind)

    return {
        **{f"rows: {' '.join(kind)}": drawing(rows_trial, *kind) for kind in kinds_of_rows()},
        **{f"table: {' '.join(kind)}": drawing(table_trial, *kind) for kind in kinds_of_tables()},
        **{f"facts: {' '.join(kind)}": drawing(facts_trial, *kind) for kind in kinds_of_facts()},
        **{
            f"facts: {shape} {hierarchy}": drawing(more_facts_trial, shape, hierarchy)
            for shape in ("columns", "rt", "forest")
            for hierarchy in ("given", "computed")
        },
        "series": series_trial,
        "command: memory given": drawing(command_trial, "memory", "given"),
        "command: memory computed": drawing(command_trial, "memory", "computed"),
        "command: parts given": drawing(command_trial, "parts", "given"),
        "apply: given": drawing(apply_trial, "given"),
        "apply: computed": drawing(apply_trial, "computed"),
    }
