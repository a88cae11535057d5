"""Exchanges under options of reading: of spellings, IDs, missing values, ages, dates and lines."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import setveil as sv
from exchanges import (
    COMPUTED,
    NEW,
    Goods,
    Made,
    Rows,
    Shown,
    Trial,
    by_items,
    cell_changes,
    goods,
    kinds_of_rows,
    rows_trial,
    shown_by,
    whole,
    writing,
    written,
)
from setveil.rows.data.spelling import code_form, text_form
from setveil.runs import orders

Lines = list[list[str]]
Pairs = set[tuple[str, Any]]


def write_lines(path: Path, header: Iterable[str], lines: Lines) -> Path:
    """Write a table as separated text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*header], *lines])
    return path


def of_people(made: Made, lines: Lines) -> Made:
    """Name people by their number instead of their row: the ID of the person i ends in -i."""
    people = [int(who.rpartition("-")[2]) for who in dict.fromkeys(line[0] for line in lines if line[0])]
    shown: Shown = Counter()
    for (of, label, rows), n in made.shown.items():
        shown[of, label, frozenset(people[row] for row in rows)] += n
    return replace(made, shown=shown)


# --- rows of items

WORDS = ("unknown", "n/a", "?", "not known")


@dataclass(frozen=True)
class Read:
    """Rows, and how the lines of their file are written: reading them gives the rows again."""

    rows: Rows
    seed: int
    option: str
    twist: int = 0  # written otherwise by this seed, with the same meaning

    def lines(self) -> Lines:
        """Write one line for each item of each row."""
        rng, other = Random(self.seed), Random(self.twist)
        numbers = rng.sample(range(1000, 9999), len(self.rows))
        if self.option == "ids" and self.twist:
            other.shuffle(numbers)
        names = [f"p{n}-{i}" for i, n in enumerate(numbers)]
        found = []
        for who, row in zip(names, self.rows, strict=True):
            lines = [[who, item] for item in row]
            if self.option == "missing":
                lines += [[who, rng.choice(WORDS)] for _ in range(rng.choice((0, 0, 1)))]
            found.append(lines)
        ways = [rng] + [other] * bool(self.twist)
        for way in ways:  # the second draws again what part of the first has drawn
            for lines in found:
                for line in lines:
                    if way.random() < (0.3 if way is rng else 0.05):
                        self._written_otherwise(line, way)
        if self.option == "ids" and self.twist:
            other.shuffle(found)
        filled = [line for lines in found for line in lines]
        if self.option == "fill-id":
            above = ""
            for at, line in enumerate(filled):
                blank = line[0] == above and Random(f"{self.seed} {self.twist} {at}").random() < 0.6
                above = line[0]
                filled[at] = ["" if blank else line[0], line[1]]
        return filled

    def _written_otherwise(self, line: list[str], rng: Random) -> None:
        text = line[1]
        if self.option == "missing" and text in WORDS:
            line[1] = rng.choice(WORDS)
        elif self.option == "text":
            line[1] = rng.choice((text.upper(), f" {text}", text.replace(" ", "  "), text.title()))
        elif self.option == "codes":
            line[1] = rng.choice((text.lower(), f"{text[:1]} {text[1:]}", f"{text[:2]}.{text[2:]}"))


READING: dict[str, dict[str, Any]] = {
    "text": {"normalize": "text"},
    "codes": {"normalize": "codes"},
    "missing": {"missing": list(WORDS)},
    "fill-id": {"fill_id": True},
    "ids": {},
}


def reading_trial(rng: Random, option: str) -> Trial | None:
    """Draw rows, a release of them and an exchange; or write the same rows otherwise."""
    algorithm, model, hierarchy = rng.choice(kinds_of_rows())
    trial = rows_trial(rng, algorithm, model, hierarchy)
    if trial is None:
        return None
    form = {"text": text_form, "codes": code_form}.get(option, str)
    some = {item for data in (trial.before, trial.after) for row in data for item in row}
    if any(form(item) != item or item in {"*", "~"} or item in WORDS for item in some):
        return None
    before = Read(trial.before, rng.randrange(10**6), option)
    if rng.random() < 0.5:
        after = replace(before, rows=trial.after)
    else:
        after = replace(before, twist=rng.randrange(1, 10**6))
    same = before.rows == after.rows

    def publish(data: Read, folder: Path) -> Made:
        lines = data.lines()
        path = write_lines(folder.parent / "data.csv", ("who", "item"), lines)
        options: dict[str, Any] = {"id_column": "who", "item_column": "item", "format": "long"}
        rows = sv.read(path, **options, not_ids=["item"], **READING[option])
        return of_people(trial.publish(rows, folder), lines)

    old, new = ("written so", "written otherwise") if same else (trial.old, trial.new)
    how = f"{trial.kind} {trial.how}"
    return Trial(f"reading: {option}", publish, before, after, old, new, how)


# --- tables of people with several lines

COLUMNS = ("who", "born", "admitted", "sex", "job", "score", "ward", "code")
WHO, BORN, ADMITTED, SEX, JOB, SCORE, WARD, CODE = range(len(COLUMNS))
JOBS = ("nurse", "clerk", "teacher", "driver", "baker", "judge", "welder", "singer")
WAYS = ("first", "last", "most-frequent")


def years_between(born: str, then: str) -> int:
    """Count full years."""
    return int(then[:4]) - int(born[:4]) - (then[5:] < born[5:])


@dataclass(frozen=True)
class Request:
    """The arguments for reading a table of people."""

    job: str  # which job of a person counts
    score: str
    age: str  # a column, a day, or which of the ages at admissions counts
    bounds: bool
    keep: bool
    missing: bool
    ranges: bool

    def reading(self) -> dict[str, Any]:
        """Say it as arguments."""
        at = "2025-01-01" if self.age == "day" else "admitted"
        ways = {"job": self.job, "score": self.score} | ({"ward": "last"} if self.keep else {})
        if at == "admitted":
            ways["age"] = self.age
        reading_options: dict[str, Any] = {
            "qi": ["age", "sex", "job", "score"],
            "ages": {"age": ("born", at)},
            "per_person": ways,
        }
        reading_options["keep" if self.keep else "drop"] = ["ward"]
        reading_options["drop"] = ["born", *reading_options.get("drop", [])]
        if self.bounds:
            reading_options["bounds"] = {"age": "0..120", "score": "0..1000"}
        if self.ranges:
            reading_options["ranges"] = {"age": 10}
        if self.missing:
            reading_options["missing"] = {"job": list(WORDS)}
        return reading_options

    def known(self, lines: Lines) -> list[tuple[str, ...]]:
        """Return what counts of each person: age, sex, job, score."""
        people: dict[str, Lines] = defaultdict(list)
        for line in lines:
            people[line[WHO]].append(line)
        return [
            (
                str(self._age_of(some)),
                some[0][SEX],
                _counting(["" if self.missing and x[JOB] in WORDS else x[JOB] for x in some], self.job),
                _counting([x[SCORE] for x in some], self.score),
            )
            for some in people.values()
        ]

    def _age_of(self, some: Lines) -> int:
        if self.age == "day":
            return years_between(some[0][BORN], "2025-01-01")
        ages = [years_between(line[BORN], line[ADMITTED]) for line in some]
        return int(_counting([str(age) for age in ages], self.age))


def _counting(values: list[str], way: str) -> str:
    """Return the value of a person that counts."""
    values = [value for value in values if value]
    if not values:
        return ""
    if way in {"least", "greatest"}:
        return str((min if way == "least" else max)(map(int, values)))
    if way == "most-frequent":
        return max(values, key=lambda value: (values.count(value), -values.index(value)))
    return values[0 if way == "first" else -1]


def _people(rng: Random, codes: list[str], k: int, *, missing: bool) -> Lines:
    """Draw people with one to three lines."""
    lines = []
    for i, who in enumerate(rng.sample(range(10_000, 90_000), rng.randint(12 * k, 20 * k))):
        year = rng.randint(1950, 2000) if rng.random() < 0.93 else rng.choice((1916, 1925, 2015, 2021))
        born, sex = f"{year}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}", rng.choice("fm")
        job = rng.choices(JOBS, [8, 7, 6, 3, 1, 1, 1, 1])[0]
        score = rng.randint(1, 60) if rng.random() < 0.95 else rng.choice((350, 720, 999))
        for _ in range(rng.randint(1, 3)):
            mine = job if rng.random() < 0.8 else rng.choices(JOBS, [8, 7, 6, 3, 1, 1, 1, 1])[0]
            if missing and rng.random() < 0.1:
                mine = rng.choice(WORDS)
            when = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            at = str(score + rng.choice((0, 0, 1)))
            code = rng.choices(codes, [6, 5, 4, 3, 3, 1, 1, 1, 1])[0]
            lines.append([f"p{who}-{i}", born, when, sex, mine, at, rng.choice("uvw"), code])
    return lines


def people_trial(rng: Random, option: str, hierarchy: str) -> Trial | None:
    """Draw people with several lines, and exchange what fewer than k have, or what does not count."""
    k, some = rng.randint(2, 4), goods(rng)
    codes = [*some.frequent[:5], *some.rare[:4]]

    def maybe(name: str) -> bool:
        return option == name or rng.random() < 0.25

    people = Request(
        job=rng.choice(WAYS),
        score=rng.choice(("least", "greatest", *WAYS)),
        age=rng.choice(("least", "greatest", "first", "day", "day")),
        bounds=maybe("bounds"),
        keep=maybe("keep-columns"),
        missing=maybe("missing"),
        ranges=rng.random() < 0.3,
    )
    lines = _people(rng, codes, k, missing=people.missing)
    algorithm = rng.choice(("rt", "forest", "bounding"))
    guarantee = sv.MixedKmAnonymity(k, 2) if algorithm == "forest" else sv.KKmAnonymity(k, 2)
    tree = some.tree() if hierarchy == "given" else None
    seed, options = rng.randint(0, 9), writing(rng, formats=False)
    options.pop("checker", None)
    jobs: dict[str, Any] = {"*": None, "x": "*", "y": "*", **{j: "xy"[i % 2] for i, j in enumerate(JOBS)}}

    def publish(data: Lines, folder: Path) -> Made:
        path = write_lines(folder.parent / "data.csv", COLUMNS, data)
        reading = people.reading()
        if tree is not None:
            reading["hierarchies"] = {"job": jobs}
        if people.age == "day":
            reading["drop"] = [*reading["drop"], "admitted"]
        table = sv.read_table(path, set="code", id_column="who", **reading)
        release = sv.anonymize(table, guarantee, algorithm=algorithm, hierarchy=tree, seed=seed)
        ours = whole if tree is not None else by_items([[line[CODE] for line in data]])

        def plain(of: str, label: str) -> str:
            if of in {"age", "score"} and not (of == "age" and people.ranges):
                return COMPUTED if label.startswith("[") or " or " in label else label
            return label if of in {"sex", "job", "age"} else ours(of, label)

        return of_people(written(release, folder, plain, **options), data)

    what = _change(rng, option)
    after, old, new = _changed(rng, lines, what, some, NEW[:6] if tree is None else ())
    if after == lines:
        return None
    if what == "ids":
        shared = False
    else:
        one, other = people.known(lines), people.known(after)
        shared = _share_more(lines, after, one, other, k) or any(
            cell_changes([person[at] for person in one], [person[at] for person in other], k)
            for at in ((3,) if people.ranges else (0, 3))
        )
    how = f"k={k} {algorithm} {people} {options}"
    return Trial(f"people: {option} {hierarchy}: {what}", publish, lines, after, old, new, how, shared)


def _change(rng: Random, option: str) -> str:
    usual = {
        "age": ("born", "admitted"),
        "bounds": ("score", "born"),
        "per-person": ("job", "score", "admitted"),
        "keep-columns": ("job", "code", "born"),
        "missing": ("job",),
    }
    return rng.choice((*usual[option] * 2, "job", "code", "ids"))


def _renamed(rng: Random, lines: Lines) -> Lines:
    """Give every person another ID, and write people in another order."""
    people: dict[str, Lines] = defaultdict(list)
    for line in lines:
        people[line[WHO]].append(line)
    numbers = rng.sample(range(10_000, 90_000), len(people))
    renamed = [
        [[f"q{number}-{i}", *line[1:]] for line in some]
        for i, (number, some) in enumerate(zip(numbers, people.values(), strict=True))
    ]
    rng.shuffle(renamed)
    return [line for some in renamed for line in some]


def _changed(
    rng: Random, lines: Lines, what: str, some: Goods, news: tuple[str, ...]
) -> tuple[Lines, str, str]:
    """Change one thing of a person: on one line, or on all lines of the person."""
    if what == "ids":
        return _renamed(rng, lines), "these IDs", "other IDs"
    place = COLUMNS.index(what)
    line = rng.choice(lines)
    if what == "score" and rng.random() < 0.6:
        line = rng.choice(sorted(lines, key=lambda one: int(one[SCORE]))[-4:])
    if what == "born" and rng.random() < 0.6:
        line = rng.choice(sorted(lines, key=lambda one: one[BORN])[:4])
    old = line[place]
    if what == "born":
        new = (date.fromisoformat(old) + timedelta(rng.choice((-900, -400, -30, 30, 400)))).isoformat()
    elif what == "admitted":
        new = f"2024-{rng.randint(1, 12):02}-15"
    elif what == "score":
        new = str(min(1000, max(1, int(old) + rng.choice((-3, -1, 1, 7, 200)))))
    elif what == "job":
        words = WORDS if old in WORDS else ()
        new = rng.choice((*words, *JOBS[3:], *news))
    else:
        new = rng.choice((*_near(some, old, anywhere=bool(news)), *news))
    every = what == "born" or rng.random() < 0.4

    def changes(one: list[str]) -> bool:
        return one is line or (every and what != "code" and one[WHO] == line[WHO] and one[place] == old)

    after = [[*one[:place], new, *one[place + 1 :]] if changes(one) else one for one in lines]
    return after, f"{what} {old}", f"{what} {new}"


def _near(some: Goods, old: str, *, anywhere: bool) -> list[str]:
    """Return rare and unused items: of the same group, or all."""
    return [
        item for item in (*some.rare, *some.unused) if anywhere or some.parents[item] == some.parents[old]
    ]


def _share_more(
    lines: Lines, after: Lines, one: list[tuple[str, ...]], other: list[tuple[str, ...]], k: int
) -> bool:
    """Return whether something changed that k people have: a code, or what counts of a person."""
    codes: list[Pairs] = [{(line[WHO], line[CODE]) for line in data} for data in (lines, after)]
    counting: list[Pairs] = [
        {(str(i), column) for i, person in enumerate(known) for column in enumerate(person)}
        for known in (one, other)
    ]
    return not all(few_changed(before, now, k) for before, now in (codes, counting))


def few_changed(one: Pairs, other: Pairs, k: int) -> bool:
    """Return whether only such values have changed that fewer than k people have, before and after."""
    changed = {value for _, value in one ^ other}
    return not any(changed & shared_values(some, k) for some in (one, other))


def shared_values(pairs: Pairs, k: int) -> set[Any]:
    """Return the values that k people have."""
    return {value for value, n in Counter(value for _, value in pairs).items() if n >= k}


# --- facts

PERIODS = ("day", "week", "month", "quarter", "year", "30d-since-first", "90d-since-first")


def _period(day: str, first: str, how: str) -> Any:
    when = date.fromisoformat(day)
    if how.endswith("first"):
        return (when - date.fromisoformat(first)).days // int(how.partition("d")[0])
    if how == "week":
        return when.isocalendar()[:2]
    return {"day": day, "month": day[:7], "quarter": (day[:4], when.month // 4), "year": day[:4]}[how]


def _facts_of(lines: Lines, how: str) -> list[Pairs]:
    """Return the codes of people, their codes in a period, and the period or the year."""
    first: dict[str, str] = {}
    for who, _, day in lines:
        first[who] = min(day, first.get(who, day))
    placed = [(who, code, _period(day, first[who], how), day[:4]) for who, code, day in lines]
    found: list[Pairs] = [{(x[0], x[1]) for x in placed}, {(x[0], x[1:3]) for x in placed}]
    if not how.endswith("first"):
        return [*found, {(x[0], x[3]) for x in placed}]
    return [*found, {(x[0], reached) for x in placed for reached in range(x[2] + 1)}]


def periods_trial(rng: Random, option: str, hierarchy: str) -> Trial | None:
    """Draw facts with dates, perhaps at most a few of a person, and exchange, add or remove one."""
    k, some = rng.randint(2, 3), goods(rng)
    codes = [*some.frequent[:4], *some.rare[:4]]
    how = option if option in PERIODS else rng.choice(("month", "quarter"))
    most = rng.choice((2, 3)) if option == "most-facts" else None
    days = [date(2024, 1, 1) + timedelta(n) for n in rng.sample(range(366), 9 if how == "day" else 60)]
    lines: Lines = []
    for i, number in enumerate(rng.sample(range(1000, 9000), rng.randint(14 * k, 24 * k))):
        for _ in range(rng.randint(1, 5 if most else 2)):
            then = rng.choice(days) if rng.random() < 0.96 else date(rng.choice((1931, 2019)), 5, 5)
            lines.append(
                [f"p{number}-{i}", rng.choices(codes, [6, 5, 4, 3, 1, 1, 1, 1])[0], then.isoformat()]
            )
    tree, algorithm = some.tree() if hierarchy == "given" else None, rng.choice(orders.ALGORITHMS)
    seed, options, counts = rng.randint(0, 9), writing(rng, formats=False), rng.random() < 0.7
    options.pop("checker", None)

    def publish(data: Lines, folder: Path) -> Made:
        path = write_lines(folder.parent / "data.csv", ("who", "code", "day"), data)
        facts = sv.read_facts(path, id="who", sets="code", when={"day": how}, most=most, seed=seed, fewest=k)
        release = sv.anonymize(facts, k=k, m=2, hierarchy=tree, seed=seed, counts=counts, algorithm=algorithm)
        named = by_items([[code for _, code, _ in data]]) if tree is None else whole

        def plain(of: str, label: str) -> str:
            code, *parts = label.split("@")
            return "@".join([code if code == "*" else named(of, code), *parts])

        made = written(release, folder, plain, **options)
        if most is None:
            return of_people(made, data)
        drawn = [
            (i, what)
            for i, row in enumerate(facts)
            for fact in row
            for what in (fact, fact.split("@")[0], fact.split("@")[1][:4])  # with its code and its year
        ]
        held = shared_values({(str(i), what) for i, what in drawn}, k)
        made = replace(made, shown=made.shown + shown_by((i, "drawn", x) for i, x in drawn if x in held))
        return of_people(made, data)

    at = rng.randrange(len(lines))
    who, code, day = lines[at]
    what = rng.choice(("code", "day", "ids", "added", "removed") if most else ("code", "day", "ids"))
    after = [*lines]
    other = rng.choice([*_near(some, code, anywhere=tree is None), *(NEW if tree is None else ())])
    if what == "ids":
        after = _renamed(rng, lines)
    elif what == "removed":
        del after[at]
    elif what == "added":
        after.insert(at, [who, rng.choice((*some.rare, *some.unused)), rng.choice(days).isoformat()])
    else:
        near = rng.choice((*days, date.fromisoformat(day) + timedelta(rng.randint(-9, 9))))
        after[at] = [who, other, day] if what == "code" else [who, code, near.isoformat()]
    old, new = (str(data[at : at + 2]) for data in (lines, after))
    if after == lines or (
        {line[WHO] for line in after} != {line[WHO] for line in lines} and what == "removed"
    ):
        return None
    found = [_facts_of(data, how) for data in (lines, after)]
    shared = what != "ids" and not (
        few_changed(found[0][1], found[1][1], k)
        and all(shared_values(a, k) == shared_values(b, k) for a, b in zip(*found, strict=True))
    )
    case_text = f"k={k} {algorithm} {how} most={most} counts={counts} seed={seed} {options}"
    return Trial(f"facts: {option} {hierarchy}: {what}", publish, lines, after, old, new, case_text, shared)


def reading_kinds() -> dict[str, Callable[[Random], Trial | None]]:
    """List these kinds of exchanges, with what draws a trial of each."""

    def drawing(make: Callable[..., Trial | None], *kind: str) -> Callable[[Random], Trial | None]:
        return lambda rng: make(rng, *kind)

    people = ("age", "bounds", "per-person", "keep-columns", "missing")
    hierarchies = ("given", "computed")
    return {
        **{f"reading: {option}": drawing(reading_trial, option) for option in READING},
        **{f"people: {x} {h}": drawing(people_trial, x, h) for x in people for h in hierarchies},
        **{f"facts: {x} {h}": drawing(periods_trial, x, h)
           for x in (*(p for p in PERIODS if p not in {"month", "quarter"}), "most-facts")
           for h in hierarchies},
    }  # fmt: skip
