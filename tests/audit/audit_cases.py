"""Folders of small runs with their certificates, and forged ones."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from naive import measures
from naive.anonymize import leaves, up_from
from naive.exact import Terms
from naive.km import Rows
from setveil.releases.recipients import AUDIT
from setveil.releases.recipients import Certificate as Proof
from strategies import Case

OBJECTIVES = ("ncp", "lm", "items", "entropy", "entropy-max")


def audit_module() -> ModuleType:
    """Load audit.py, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("audit", AUDIT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def audited(module: ModuleType, run: Path, *words: str) -> tuple[int, str]:
    """Run the program in this process: its exit code, and the last line that it printed."""
    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    sys.argv = ["audit.py", str(run), str(run / "original.jsonl"), str(run / "tree.csv"), *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            module.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        sys.argv = before
    return code, (out.getvalue() + err.getvalue()).splitlines()[-1]


@dataclass
class Run:
    """All that a certificate is about, as it is written."""

    rows: Rows
    parents: dict[str, str | None]
    published: list[list[str]]
    recoding: list[tuple[str, str]]
    certificate: dict[str, Any]
    k: int
    m: float

    @classmethod
    def of(cls, case: Case, to: dict[str, str | None], proof: Proof) -> Run:
        """Take a run."""
        published = [sorted(row) for row in measures.recode(case.rows, to)]
        recoding = [(item, label or "") for item, label in to.items()]
        content = json.loads(json.dumps(proof.content))
        return cls(list(case.rows), dict(case.parents), published, recoding, content, case.k, case.m)

    def copy(self) -> Run:
        """Copy everything."""
        content = json.loads(json.dumps(self.certificate))
        published = [list(row) for row in self.published]
        return Run(
            list(self.rows), dict(self.parents), published, list(self.recoding), content, self.k, self.m
        )

    @property
    def terms(self) -> Terms:
        """Return the terms in the certificate, with the limit as a share of all occurrences."""
        certificate = self.certificate
        all_of_them = max(sum(map(len, self.rows)), 1)
        most = certificate["max_suppressed"]
        from fractions import Fraction

        return Terms(
            certificate["objective"],
            certificate["suppress"],
            weights={item: Fraction(weight) for item, weight in certificate["weights"].items()},
            keep=tuple(certificate["keep"]),
            max_suppressed=None if most is None else Fraction(most, all_of_them),
        )

    def write(self, folder: Path) -> Path:
        """Write the folder of the run, the original and the hierarchy."""
        for part in ("published", "internal"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        promise = {"model": "km-anonymity", "k": self.k, "m": "inf" if self.m == math.inf else int(self.m)}
        about = {
            "guarantee": promise, "file": "data.jsonl", "format": "jsonl", "rows": len(self.published),
        }  # fmt: skip
        lines = "".join(json.dumps(row) + "\n" for row in self.published)
        (folder / "published" / "data.jsonl").write_text(lines)
        (folder / "published" / "about.json").write_text(json.dumps(about))
        report = {"input": {"read": None, "rows": len(self.rows)}}
        (folder / "internal" / "report.json").write_text(json.dumps(report))
        with (folder / "internal" / "recoding.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("item", "published"), *self.recoding])
        (folder / "internal" / "certificate.json").write_text(json.dumps(self.certificate))
        (folder / "original.jsonl").write_text("".join(json.dumps(sorted(row)) + "\n" for row in self.rows))
        with (folder / "tree.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(up_from(self.parents, x) for x in leaves(self.parents))
        return folder


def _number(rng: Random, value: int) -> int:
    return rng.choice(
        (value + 1, value - 1, value * 2, value // 2, 0, value + rng.randint(1, 1 << 22), -value)
    )


def _of_bound(rng: Random, run: Run) -> None:
    run.certificate["bound"] += rng.choice((1, 1, 2, 10, run.certificate["bound"] + 1))


def _of_loss(rng: Random, run: Run) -> None:
    run.certificate["loss"] = _number(rng, run.certificate["loss"])
    if rng.random() < 0.5:
        run.certificate["bound"] = run.certificate["loss"]


def _of_multipliers(rng: Random, run: Run) -> None:
    multiplier = rng.choice(run.certificate["multipliers"])
    if multiplier["clauses"] and rng.random() < 0.8:
        pair = rng.choice(multiplier["clauses"])
        at = int(rng.random() < 0.7)
        pair[at] = _number(rng, pair[at])
    else:
        multiplier["limit"] = rng.randint(-(1 << 22), 1 << 22)


def _of_clauses(rng: Random, run: Run) -> None:
    clauses, nodes = run.certificate["clauses"], list(run.parents)
    if not clauses:
        return
    clause = rng.choice(clauses)
    way = rng.randrange(4)
    at = rng.randrange(len(clause["nodes"]))
    if way == 0:
        clause["nodes"][at] = rng.choice(nodes)
    elif way == 1:
        clause["leaves"][at] = rng.choice(nodes)
    elif way == 2:
        leaf = rng.choice(leaves(run.parents))
        clause["nodes"][at], clause["leaves"][at] = rng.choice(up_from(run.parents, leaf)), leaf
    else:
        del clause["nodes"][at], clause["leaves"][at]


def _of_branches(rng: Random, run: Run) -> None:
    branches, nodes = run.certificate["tree"], list(run.parents)
    at = rng.randrange(len(branches))
    some = len(run.certificate["multipliers"])
    choices: list[Any] = [
        {"none": rng.randrange(some)}, {"bound": rng.randrange(some)}, {}, {"bound": 0, "none": 0},
        {"on": [rng.choice(("up", "out")), rng.choice(nodes)], "zero": rng.randrange(len(branches) + 1),
         "one": rng.randrange(len(branches) + 1)},
    ]  # fmt: skip
    if rng.random() < 0.3:  # one more branching, with the same proof below
        end = branches[at]
        if "on" not in end:
            branches[at] = {**choices[4], "zero": len(branches), "one": len(branches) + 1}
            branches += [dict(end), rng.choice((dict(end), {"none": rng.randrange(some)}))]
            return
    branches[at] = rng.choice(choices)


def _of_rows(rng: Random, run: Run) -> None:
    rows: Any = run.published if rng.random() < 0.6 else run.rows
    if not rows:
        return
    at = rng.randrange(len(rows))
    labels = [label for label in run.parents if run.parents[label] is not None] or list(run.parents)
    if rows is run.rows:
        labels = leaves(run.parents)
    change: Callable[[set[str]], set[str]] = rng.choice(
        (lambda row: row | {rng.choice(labels)}, lambda row: row - {rng.choice(sorted(row) or [""])})
    )
    changed = change(set(rows[at]))
    rows[at] = frozenset(changed) if rows is run.rows else sorted(changed)
    if rng.random() < 0.2:
        del rows[at]


def _of_recoding(rng: Random, run: Run) -> None:
    at = rng.randrange(len(run.recoding))
    item, _ = run.recoding[at]
    way = rng.random()
    if way < 0.2:
        del run.recoding[at]
        return
    run.recoding[at] = item, rng.choice(("", item, *up_from(run.parents, item), *run.parents))
    if way < 0.7:  # the rows follow
        to: dict[str, str | None] = {x: label or None for x, label in run.recoding}
        run.published = [sorted(row) for row in measures.recode(run.rows, to)]


def _of_request(rng: Random, run: Run) -> None:
    certificate = run.certificate
    items, every = leaves(run.parents), sum(map(len, run.rows))
    way = rng.randrange(7)
    if way == 0:
        certificate["k"] = run.k = max(2, run.k + rng.choice((1, -1)))
    elif way == 1:
        run.m = rng.choice((1, 2, 3, math.inf))
        certificate["m"] = "inf" if run.m == math.inf else run.m
    elif way == 2:
        certificate["objective"] = rng.choice(OBJECTIVES)
    elif way == 3:
        certificate["suppress"] = not certificate["suppress"]
    elif way == 4:
        certificate["keep"] = rng.sample(items, min(len(items), rng.randint(0, 2)))
    elif way == 5:
        certificate["weights"] = {rng.choice(items): rng.choice(("0", "2", "1/3"))}
    else:
        certificate["max_suppressed"] = rng.choice((None, 0, 1, every // 2))


FORGERIES = (
    _of_bound, _of_loss, _of_multipliers, _of_clauses, _of_branches, _of_rows, _of_recoding, _of_request,
)  # fmt: skip
