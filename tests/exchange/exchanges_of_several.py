"""Exchanges in several releases together, and in rows that are drawn from a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np

import setveil as sv
from cli_helpers import together
from exchanges import (
    NEW,
    Made,
    Rows,
    Trial,
    apply_trial,
    by_items,
    exchanged,
    goods,
    random_rows,
    row_places,
    shown_by,
    whole,
    writing,
)
from setveil.rows.data.draws import row_keys


@dataclass(frozen=True)
class Periods:
    """Rows of two periods, with whose they are."""

    ids: tuple[list[str], list[str]]
    rows: tuple[Rows, Rows]

    def people(self, at: int) -> dict[str, list[str]]:
        """Return the row of each person of a period."""
        return dict(zip(self.ids[at], self.rows[at], strict=True))


def periods_of_people(rng: Random, option: str) -> Trial | None:
    """Draw two periods whose people are partly the same; exchange an item, IDs, or a row that is withheld."""
    k, some = rng.randint(2, 3), goods(rng)
    first, second = (random_rows(rng, some, k) for _ in range(2))
    numbers = [f"p{n}" for n in rng.sample(range(1000, 2000), len(first) + len(second))]
    returning = rng.sample(
        numbers[: len(first)], min(rng.choice((3, 6, 12)), len(first), len(second) - 2 * k)
    )
    ids = numbers[: len(first)], [*returning, *numbers[len(first) :]][: len(second)]
    tree, options = some.tree(), writing(rng)
    options.pop("checker", None)
    presence = rng.choice(("implied", "implied", "known", "ignored"))
    kind = "register" if option == "register" else "periods"

    def publish(data: Periods, folder: Path) -> Made:
        folder.mkdir(parents=True)
        series = sv.Series.create(folder / "ledger", k=k, m=2, ids="plain", kind=kind, presence=presence)
        out = [folder / name for name in ("q1", "q2")]
        if option == "together":
            both = [data.people(at) for at in (0, 1)]
            series.add_together(both, names=("q1", "q2"), out=out, hierarchy=tree, writing=options)
        else:
            series.add(data.people(0), name="q1", out=out[0], hierarchy=tree, writing=options)
            more: dict[str, Any] = {"merge": True} if option == "register" else {"hold_back": option}
            series.add(data.people(1), name="q2", out=out[1], hierarchy=tree, writing=options, **more)
        (folder / "published").mkdir()
        pairs: list[tuple[int, str, str]] = []
        for run in out:
            shown = [tuple(row) for row in cast("sv.Transactions", sv.read_published(run))]
            place = row_places(run / "internal" / "rows.csv")
            pairs += [(i, run.name, label) for i, at in place if at < len(shown) for label in shown[at]]
            (run / "published").rename(folder / "published" / run.name)
        return Made(frozenset(label for _, _, label in pairs), shown_by(pairs))

    before = Periods(ids, (first, second))
    what = rng.choice(("items", "items", "ids", "withheld" if option == "returners" else "items"))
    old, new = what, what
    if what == "ids":
        others = rng.sample(range(1000, 2000), len(numbers))
        names = {who: f"x{n}" for who, n in zip(numbers, others, strict=True)}
        one, other = ([names[who] for who in period] for period in ids)
        after = replace(before, ids=(one, other))
    elif what == "withheld":
        at = rng.randrange(len(returning))
        row = sorted(rng.sample([*some.frequent, *some.rare, *some.unused], rng.randint(1, 4)))
        after = replace(before, rows=(first, [*second[:at], row, *second[at + 1 :]]))
    else:
        at = rng.randrange(2)
        found = exchanged(rng, before.rows[at], k, some.unused, some.parents)
        if found is None:
            return None
        rows, old, new = found
        after = replace(before, rows=(rows, second) if at == 0 else (first, rows))
    how = f"k={k} presence={presence} {options}"
    return Trial(f"series {option}: {what}", publish, before, after, old, new, how)


def sample_trial(rng: Random, hierarchy: str) -> Trial | None:
    """Draw rows, let the command line draw some of them, and exchange an item."""
    k, some = rng.randint(2, 3), goods(rng)
    rows = random_rows(rng, some, k)
    number, seed = len(rows) * rng.choice((2, 3)) // 4, rng.randint(0, 9)
    words: list[object] = ["--sample", number, "--seed", seed]
    words += ["--algorithm", rng.choice(("aa", "exact", "lra"))]
    words += [word for word in ("--external", "--checker", "--no-counts") if rng.random() < 0.3]
    words += ["--hierarchy", "tree.csv"] if hierarchy == "given" else []

    def publish(data: Rows, folder: Path) -> Made:
        home = folder.parent
        home.mkdir(parents=True)
        (home / "data.csv").write_text("".join(",".join(row) + "\n" for row in data))
        sv.write_hierarchy(some.tree(), home / "tree.csv")
        request = ["anonymize", "data.csv", "--format", "basket", "--k", k, "--m", 2, *words]
        (done,) = together([[*request, "--out", folder.name]], home)
        if done.code in {3, 4} and "defect" not in done.err:
            raise sv.SetveilError(done.err)
        done.ok()
        published = [tuple(row) for row in cast("sv.Transactions", sv.read_published(folder))]
        drawn = np.sort(np.argsort(row_keys(sv.read(home / "data.csv", format="basket"), seed))[:number])
        places = row_places(folder / "internal" / "rows.csv")  # of the rows that were drawn
        pairs = [(int(drawn[i]), label) for i, at in places if at < len(published) for label in published[at]]
        plain = whole if hierarchy == "given" else by_items(data)
        made = Made(frozenset(label for _, label in pairs), shown_by(((i, "", x) for i, x in pairs), plain))
        return replace(made, shown=made.shown + shown_by((i, "drawn", "") for i in drawn.tolist()))

    news = some.unused if hierarchy == "given" else [*some.unused, *NEW]
    found = exchanged(rng, rows, k, news, some.parents if hierarchy == "given" else None)
    if found is None:
        return None
    after, old, new = found
    return Trial(f"sample {hierarchy}", publish, rows, after, old, new, f"k={k} {words}")


SERIES = ("needed", "found", "returners", "together", "register")


def several_kinds() -> dict[str, Callable[[Random], Trial | None]]:
    """List these kinds of exchanges, with what draws a trial of each."""

    def drawing(make: Callable[..., Trial | None], *kind: str) -> Callable[[Random], Trial | None]:
        return lambda rng: make(rng, *kind)

    return {
        **{f"series: {option}": drawing(periods_of_people, option) for option in SERIES},
        **{f"union: {h}": drawing(apply_trial, h, "union") for h in ("given", "computed")},
        **{f"sample: {hierarchy}": drawing(sample_trial, hierarchy) for hierarchy in ("given", "computed")},
    }
