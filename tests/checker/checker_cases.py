"""Small random releases of every text layout, unchanged and forged, and the answers of the verifier."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import setveil as sv
from naive import kanonymity, km, tables_verify
from setveil.releases.recipients import CHECK
from strategies import random_rows, random_tree
from tables import under_a_root

WORDS = ("tea", "a,b", 'q"q', "b1", "é", "\U0001d518", "\ufb01", "c;d", " x", "B1", "line\nbreak")
PLAIN = ("tea", "a,b", 'q"q', "b1", "é", "\U0001d518", "\ufb01", "c;d", "x", "B1", "A")
NUMBERS = ("1", "2", "10", "9", "007", "7", "33", "-4", "+5", "100")
POSITIVE = ("1", "2", "10", "9", "8", "7", "33", "4")
FORMATS = ("basket", "fimi", "long", "jsonl", "spmf", "wide", "onehot", "table")


@dataclass(frozen=True)
class Case:
    """The texts of a folder ``published``, and what `setveil verify` says of it."""

    about: Any
    data: str
    counts: str | None
    code: int
    verdict: dict[str, Any] | None  # as JSON; None without one
    brute: tuple[int, int | None] | None  # violations and the greatest k, counted in all subsets


def check_module() -> ModuleType:
    """Load check.py, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("check", CHECK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(module: ModuleType, folder: Path, *words: str) -> tuple[int, Any]:
    """Run the program in this process; return its exit code and its output, JSON or errors."""
    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    sys.argv = ["check.py", str(folder), "--json", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            module.main()
        raise AssertionError("it ended without an exit code")
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = before
    return code, json.loads(out.getvalue()) if out.getvalue() else err.getvalue()


def random_folder(rng: Random, folder: Path, form: str) -> None:
    """Write a release of some rows."""
    if form == "table":
        _table(rng, folder)
        return
    pool = {"fimi": NUMBERS, "spmf": rng.choice((POSITIVE, PLAIN))}.get(
        form, rng.choice((NUMBERS, WORDS, PLAIN))
    )
    items = rng.sample(pool, rng.randint(2, 6))
    rows = random_rows(rng, items, rng.randint(4, 24), 4)
    rows[0] |= frozenset(items[:1])
    if form == "long":
        rows = [row or frozenset(items[:1]) for row in rows]
    parents = under_a_root(random_tree(rng, items))
    if form == "fimi":  # whose labels are numbers, too
        name = {x: x if x in items else str(1000 + at) for at, x in enumerate(parents)}
        parents = {name[x]: up and name[up] for x, up in parents.items()}
    tree = sv.Hierarchy(parents)
    k, m = rng.randint(2, 3), rng.choice((1, 2, 2, 3, math.inf))
    algorithm, promise = rng.choice(
        (
            ("exact", sv.KmAnonymity(k, m)),
            ("aa", sv.KmAnonymity(k, 2)),
            ("lra", sv.KmAnonymity(k, 2)),
            ("lg", sv.TransactionalKAnonymity(k)),
        )
    )
    release = sv.anonymize(
        rows, promise, hierarchy=tree, algorithm=algorithm, seed=rng.randrange(99), details=False,
        counts=rng.random() < 0.8,
    )  # fmt: skip
    release.write(folder, format=form)


def _table(rng: Random, folder: Path) -> None:
    import polars as pl

    items = rng.sample(WORDS, rng.randint(2, 4))
    n = rng.randint(5, 16)
    rows = random_rows(rng, items, n, 3)
    rows[0] |= frozenset(items[:1])
    frame = pl.DataFrame(
        {
            "age": [rng.randint(30, 34) for _ in range(n)],
            "sex": [rng.choice("FM") for _ in range(n)],
            "codes": [sorted(row) for row in rows],
        }
    )
    tree = sv.Hierarchy(under_a_root(random_tree(rng, items)))
    table = sv.read_table(frame, qi=["age", "sex"], set="codes", hierarchies={"codes": tree})
    k = rng.randint(2, 3)
    if rng.random() < 0.5:
        promise: Any = sv.KKmAnonymity(k, rng.choice((1, 2, math.inf)))
        algorithm = rng.choice(("rt", "forest"))
    else:
        promise, algorithm = sv.MixedKmAnonymity(k, rng.choice((1, 2, 3))), "forest"
    release = sv.anonymize(table, promise, hierarchy=tree, algorithm=algorithm, details=False)
    release.write(folder)


# --- forging


def _one_line(rng: Random, text: str, change: Callable[[list[str], int], None]) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text + "x\n"
    change(lines, rng.randrange(1, len(lines)))
    return "".join(lines)


def _repeat(lines: list[str], at: int) -> None:
    lines[at] = lines[at - 1] if at > 1 else lines[-1]


def _drop(lines: list[str], at: int) -> None:
    del lines[at]


def forge(rng: Random, folder: Path) -> None:
    """Change one thing in a folder: rows, counts or about.json."""
    published = folder / "published"
    about = json.loads((published / "about.json").read_text("utf-8"))
    data = published / about["file"]
    counts = published / "counts.csv"
    kinds = ["repeat", "drop", "k", "m", "rows", "empty", "labels", "model"]
    if counts.exists():
        kinds += [
            "number",
            "number",
            "line",
            "label",
            "unlist",
            "least",
            "suppressed",
            "domain",
            "nocounts",
            "order",
        ]
    kind = rng.choice(kinds)
    if kind in ("repeat", "drop"):
        text = data.read_bytes().decode()
        data.write_bytes(_one_line(rng, text, _repeat if kind == "repeat" else _drop).encode())
        if rng.random() < 0.5:
            about["rows"] -= kind == "drop"
    elif kind == "k":
        about["guarantee"]["k"] += rng.randint(1, 3)
    elif kind == "m" and "m" in about["guarantee"]:
        about["guarantee"]["m"] = rng.choice((1, 2, 3, 4, "inf"))
    elif kind == "rows":
        about["rows"] += rng.choice((-1, 1))
    elif kind == "empty":
        about["empty_rows"] += 1
        about["rows"] += rng.choice((0, 1))
    elif kind == "model":
        about["guarantee"]["model"] = {"km-anonymity": "k-anonymity", "kkm": "mixed-km"}.get(
            about["guarantee"]["model"], "coherence"
        )
    elif kind == "labels" and about["labels"]:
        label = rng.choice(sorted(about["labels"]))
        about["labels"][label] = rng.choice(
            (about["labels"][label][:-1], [*about["labels"][label], "tea", "new"], "x")
        )
    elif kind == "least":
        about["counts"]["least"] += rng.choice((-1, 1))
    elif kind == "suppressed":
        about["counts"]["suppressed"] = not about["counts"]["suppressed"]
    elif kind == "domain":
        about["domain"] = rng.randint(0, 4)
    elif kind == "nocounts":
        del about["counts"]
    elif kind in ("number", "line", "label", "unlist", "order"):
        lines = list(_csv(counts.read_bytes().decode()))
        at = rng.randrange(1, len(lines)) if len(lines) > 1 else 0
        if kind == "number" and at:
            lines[at][2] = str(max(int(lines[at][2]) + rng.choice((-2, -1, 1, 2, 9)), 0))
        elif kind == "label" and at:
            lines[at][1] = rng.choice(("", "B", lines[-1][1], lines[at][0]))
        elif kind == "unlist" and at:
            del lines[at]
        elif kind == "order" and at:
            lines.insert(rng.randint(1, len(lines)), lines.pop(at))
        else:
            lines.insert(rng.randint(1, len(lines)), [rng.choice(WORDS), rng.choice(("", "A")), "3"])
        with counts.open("w", encoding="utf-8", newline="") as file:
            import csv

            csv.writer(file, lineterminator="\n").writerows(lines)
    (published / "about.json").write_text(json.dumps(about), "utf-8")


def _csv(text: str) -> Iterator[list[str]]:
    import csv

    return csv.reader(io.StringIO(text, newline=""), strict=True)


# --- what is true


def promise_of(about: Any) -> Any:
    said = dict(about["guarantee"])
    made = {
        "km-anonymity": sv.KmAnonymity,
        "k-anonymity": sv.TransactionalKAnonymity,
        "kkm": sv.KKmAnonymity,
        "mixed-km": sv.MixedKmAnonymity,
    }[said.pop("model")]
    if said.get("m") == "inf":
        said["m"] = math.inf
    if made is sv.TransactionalKAnonymity:
        said.pop("m", None)
    elif "m" not in said:
        said["m"] = math.inf
    return made(**said)


def verified(folder: Path, about: Any) -> tuple[int, dict[str, Any] | None]:
    """Return exit code and answer of `setveil verify` for the guarantee of about.json."""
    if about["guarantee"]["model"] not in ("km-anonymity", "k-anonymity", "kkm", "mixed-km"):
        return 2, None
    try:
        verdict = sv.verify(folder, promise_of(about))
    except sv.SetveilError as error:
        return error.exit_code, None
    return 0 if verdict.holds else 1, verdict.as_dict()


def brute(folder: Path, about: Any) -> tuple[int, int | None]:
    """Count violations, and find the greatest k, by looking at all subsets of all rows."""
    promise = promise_of(about)
    if about["format"] == "table":
        roles = about["roles"]
        table = sv.read_published_table(
            folder / "published" / about["file"],
            qi=roles["qi"],
            set=roles["set"],
            delimiter=about["delimiter"],
        )
        columns = [[column.labels[code] for code in column.codes.tolist()] for column in table.columns]
        lines = [
            tables_verify.Line(tuple(column[row] for column in columns), frozenset(items))
            for row, items in enumerate(table.sets)
        ]
        if isinstance(promise, sv.MixedKmAnonymity):
            rare = tables_verify.mixed_violations(lines, promise.k, promise.m)
            return len(rare), tables_verify.mixed_greatest_k(lines, promise.m)
        order = sorted({x for line in lines for x in line.items})
        rare_sets = tables_verify.violations(lines, promise.k, promise.m, order)
        return len(rare_sets), tables_verify.greatest_k(lines, promise.m)
    from setveil.releases.published import kind_at

    rows = [frozenset(row) for row in kind_at(str(folder)).read(str(folder), sv.read)]
    order = sorted({x for row in rows for x in row})
    if isinstance(promise, sv.TransactionalKAnonymity):
        return len(kanonymity.violations(rows, promise.k, order)), kanonymity.greatest_k(rows)
    return len(km.violations(rows, promise.k, promise.m, order)), km.greatest_k(rows, promise.m)


def cases(number: int, seed: int, folder: Path) -> Iterator[tuple[Path, Case]]:
    """Draw `number` releases, the layouts in turn, and forge two of five."""
    rng = Random(seed)
    for count in range(number):
        form = FORMATS[count % len(FORMATS)]
        if folder.exists():
            shutil.rmtree(folder)
        while not folder.exists():
            with contextlib.suppress(sv.SetveilError):  # no release for these rows: draw others
                random_folder(rng, folder, form)
        if count % 5 < 2:
            forge(rng, folder)
        yield folder, case_of(folder)


def case_of(folder: Path) -> Case:
    """Read a folder, and ask the verifier."""
    published = folder / "published"
    about = json.loads((published / "about.json").read_text("utf-8"))
    data = (published / about["file"]).read_bytes().decode()
    counts = published / "counts.csv"
    code, verdict = verified(folder, about)
    return Case(
        about,
        data,
        counts.read_bytes().decode() if counts.exists() else None,
        code,
        verdict,
        brute(folder, about) if verdict is not None else None,
    )


# --- bytes


def _at(rng: Random, text: str, old: str, new: str) -> str:
    """Replace one of the places of a text; the whole stays if it has none."""
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if not places:
        return text
    at = rng.choice(places)
    return text[:at] + new + text[at + len(old) :]


def _replacing(old: str, new: str) -> Callable[[Random, str], str]:
    """Replace one of the places of a text."""
    return lambda rng, text: _at(rng, text, old, new)


EDITS: dict[str, Callable[[Random, str], str]] = {
    "byte order mark": lambda _, text: "\ufeff" + text,
    "all line ends": lambda _, text: text.replace("\n", "\r\n"),
    "all line ends alone": lambda _, text: text.replace("\n", "\r"),
    "no last line end": lambda _, text: text[:-1],
    "a blank line at the end": lambda _, text: text + "\n",
    "blanks at the end": lambda _, text: text + "  ",
    **{
        f"{name} before a line end": _replacing("\n", sign + "\n")
        for name, sign in (
            ("a blank", " "), ("a tab", "\t"), ("a carriage return", "\r"), ("NEL", "\x85"),
            ("U+2028", "\u2028"), ("a no-break space", "\xa0"), ("a separator", ","), ("a form feed", "\f"),
            ("a mark", "\ufeff"), ("a zero", "\0"), ("a line end", "\n"), ("U+001C", "\x1c"),
        )
    },
    **{
        f"{name} after a line end": _replacing("\n", "\n" + sign)
        for name, sign in (
            ("a blank", " "), ("a tab", "\t"), ("a no-break space", "\xa0"), ("a mark", "\ufeff")
        )
    },
    "a blank after a separator": lambda rng, text: _at(rng, text, ",", ", "),
    "a blank before a separator": lambda rng, text: _at(rng, text, ",", " ,"),
    "two blanks": lambda rng, text: _at(rng, text, " ", "  "),
    "a quoted field": lambda rng, text: _at(rng, text, "tea", '"tea"'),
    "no quotes": lambda rng, text: _at(rng, text, '"', ""),
    "an escape": lambda rng, text: _at(rng, text, '"tea"', '"\\u0074ea"'),
    "a sign": lambda rng, text: _at(rng, text, "1", "+1"),
    "a zero before": lambda rng, text: _at(rng, text, "1", "01"),
    "another key": lambda rng, text: _at(rng, text, "{", '{"who": "ann", '),
}  # fmt: skip


def edited(number: int, seed: int, folder: Path) -> Iterator[tuple[str, Path, Case]]:
    """Draw releases, the layouts in turn, some without any item, and edit bytes of each in every way."""
    rng = Random(seed)
    for count in range(number):
        form = FORMATS[count % len(FORMATS)]
        shutil.rmtree(folder, ignore_errors=True)
        while not folder.exists():
            with contextlib.suppress(sv.SetveilError):
                if count >= len(FORMATS) and form not in ("table",) and rng.random() < 0.3:
                    tree = sv.Hierarchy.from_paths([["1", "3"], ["2", "3"]])
                    few = [["1"], [], [], []]
                    sv.anonymize(few, k=2, m=1, hierarchy=tree, algorithm="aa").write(folder, format=form)
                else:
                    random_folder(rng, folder, form)
        about = json.loads((folder / "published" / "about.json").read_text("utf-8"))
        for file in (about["file"], "counts.csv"):
            path = folder / "published" / file
            whole = path.read_bytes() if path.exists() else b""
            for name, edit in EDITS.items():
                changed = edit(rng, whole.decode()).encode()
                if whole and changed != whole:
                    path.write_bytes(changed)
                    yield f"{form}, {file}, {name}", folder, case_of(folder)
                    path.write_bytes(whole)
