"""Paste every command that setveil prints, and count what comes of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import setveil as sv
from cli_helpers import Done, one_by_one
from door_tables import DoorTable

PROMISE = ["--k", "2", "--m", "1", "--no-details", "--out", "out"]
BEGINNINGS: dict[str, Callable[[str], list[str]]] = {
    "anonymize": lambda name: ["anonymize", name, *PROMISE],
    "series": lambda name: ["series", "add", "s", name, "--name", "q1", "--no-details", "--out", "out"],
    "explore": lambda name: ["explore", name],
}
SERIES = ("series", "init", "s", "--k", "2", "--m", "1")


@dataclass(frozen=True)
class Pasted:
    """A command that was run in a folder of its own.

    Attributes
    ----------
    table : DoorTable
        Its table.
    words : tuple of str
        The command, as a shell splits it, or the arguments of `sv.read`.
    done : Done
        Its result.
    round : int
        The number of messages read before: 0 before the first command.
    told : dict of str
        The published identifying values, with their kinds.
    rows : int
        The number of published rows.
    """

    table: DoorTable
    words: tuple[str, ...]
    done: Done
    round: int
    published_ids: dict[str, str] = field(default_factory=dict)
    rows: int = 0


@dataclass
class Findings:
    """The findings of each kind."""

    tables: int = 0
    codes: Counter[tuple[int, int]] = field(default_factory=Counter)
    rounds: Counter[int] = field(default_factory=Counter)
    failures: dict[str, list[Pasted]] = field(default_factory=lambda: defaultdict(list))

    def note(self, what: str, pasted: Pasted) -> None:
        self.failures[what].append(pasted)

    def add(self, other: Findings) -> None:
        """Add the findings of other tables."""
        self.tables += other.tables
        self.codes += other.codes
        self.rounds += other.rounds
        for what, some in other.failures.items():
            self.failures[what] += some

    def of(self, *beginnings: str) -> list[tuple[str, str, str]]:
        """Return failures whose names begin so: what failed, the table, and the command."""
        return [
            (what, one.table.kind, shlex.join(one.words))
            for what, some in self.failures.items()
            for one in some
            if what.startswith(beginnings)
        ]


def printed(text: str) -> list[str]:
    """Return the commands in a message, each on a line of its own."""
    found = (line.strip().removeprefix("$ ") for line in text.splitlines())
    return list(dict.fromkeys(line for line in found if line.startswith("setveil ")))


def unsafe(command: str) -> bool:
    """Return whether a shell would change the meaning of a command: special characters outside of quotes."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\\.", "", command)
    return bool(re.search(r"[;|&<>()$`*?\[\]#!{}\\'\"]", bare)) or bool(
        re.search(r'"[^"]*[$`!][^"]*"', command)
    )


def beginning(table: DoorTable, at: int) -> tuple[str, ...]:
    """Return the first command about a table: mostly to anonymize it."""
    face = "series" if at % 8 == 5 else "explore" if at % 16 == 11 else "anonymize"
    return tuple(BEGINNINGS[face](table.name))


def pasted_all(tables: Sequence[DoorTable], home: Path, most_rounds: int = 4) -> Findings:
    """Begin with each table as it is, and paste whatever is printed, until nothing new is."""
    found = Findings(tables=len(tables))
    waiting: list[tuple[DoorTable, tuple[str, ...], tuple[str, ...]]] = [
        (table, beginning(table, at), ()) for at, table in enumerate(tables) if table.name != "frame"
    ]
    for at in range(most_rounds + 1):
        folders = []
        for number, (table, _, _) in enumerate(waiting):
            folder = home / f"{at}-{number}"
            folder.mkdir(parents=True)
            if table.name != "-":
                (folder / table.name).write_bytes(table.content)
            folders.append(folder)
        todo = [
            (folder, words, os.fsdecode(table.content) if table.name == "-" else "")
            for folder, (table, words, _) in zip(folders, waiting, strict=True)
        ]
        begun: list[tuple[Path, Sequence[str], str]] = []
        begun += [(folder, SERIES, "") for folder, words, _ in todo if words[0] == "series"]
        begun += [(one[0], first, one[2]) for one, (_, _, first) in zip(todo, waiting, strict=True) if first]
        every = one_by_one([*begun, *todo]) if todo else []
        assert all(one.code == 0 for one in every[: len(begun)]), every[: len(begun)]
        done = every[len(begun) :]
        coming = []
        for folder, (table, words, _), one in zip(folders, waiting, done, strict=True):
            pasted = judged(found, Pasted(table, words, one, at), folder / "out")
            first: tuple[str, ...] = ()
            for command in printed(one.err) if pasted.done.code in {2, 4} else ():
                if unsafe(command):
                    found.note("a shell takes it apart otherwise", pasted)
                again = tuple(shlex.split(command)[1:])
                if again == words:
                    found.note("the same command is printed again", pasted)
                elif again[:2] == ("hierarchy", "build"):  # for the next one, in the same folder
                    first = again
                else:
                    coming.append((table, again, first))
            if not at:
                _proposed(found, pasted)
            shutil.rmtree(folder)
        waiting = coming
    for table in tables:
        if table.name == "frame":
            _read(found, table, home)
    return found


def judged(found: Findings, pasted: Pasted, out: Path) -> Pasted:
    """Inspect the files of a command."""
    done, at = pasted.done, pasted.round
    found.codes[at, done.code] += 1
    helps = [one for one in printed(done.err) if not one.startswith("setveil read ")]
    nameless = done.code in {2, 4} and pasted.words[0] == "series" and not pasted.table.named
    if nameless and "Traceback" not in done.err:  # a series needs ids, and no name of a column says which
        return pasted
    if "Traceback" in done.err or (done.code not in {0, 3, 4} and not helps):
        found.note("a traceback" if "Traceback" in done.err else f"exit code {done.code}", pasted)
    elif done.code == 4 and at and not helps:
        found.note("a printed command does not work", pasted)
    elif done.code == 4 and at >= 2:
        found.note("more than two rounds", pasted)
    elif done.code == 4 and not at and not helps:
        found.note("nothing is printed that works", pasted)
    if done.code == 0 and out.exists():
        found.rounds[at] += 1
        return _published(found, pasted, out)
    return pasted


def _published(found: Findings, pasted: Pasted, out: Path) -> Pasted:
    """Search the published files for identifying values, and compare the number of rows with people."""
    table = pasted.table
    text = "\n".join(_text(path) for path in sorted((out / "published").rglob("*")) if path.is_file())
    ids = {value: role for value, role in table.ids.items() if value in text}
    about = json.loads((out / "published" / "about.json").read_text())
    again = Pasted(table, pasted.words, pasted.done, pasted.round, ids, about["rows"])
    confirmed = any(word.startswith(("--rows-are-events", "rows_are_events")) for word in pasted.words)
    lifted = " (--not-ids)" if "--not-ids" in pasted.words else ""
    for role in sorted(set(ids.values())):
        found.note(f"published: {role}{lifted}", again)
    if table.named and about["rows"] > table.people and not confirmed:
        found.note("rows are events", again)
    elif about["rows"] > table.people and table.several and not confirmed:
        found.note("rows are events, without a header", again)
    return again


def _proposed(found: Findings, pasted: Pasted) -> None:
    """Look for what should be proposed: a table where people's ages, sexes or places are known; dates."""
    table, commands = pasted.table, printed(pasted.done.err)
    if pasted.done.code != 4 or not table.named or pasted.words[0] != "anonymize":
        return
    known = {"age", "sex", "zip", "born"} & {*table.roles}
    if len(known) >= 2 and "parquet" not in table.kind and not any("--qi" in one for one in commands):
        found.note("unproposed: a table", pasted)
    if "day" in table.roles and "long" in table.kind and not any("--when" in one for one in commands):
        found.note("unproposed: dates", pasted)


def _text(path: Path) -> str:
    if path.suffix == ".parquet":
        return json.dumps(pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False)
    return path.read_text(encoding="utf-8", errors="replace")


def _read(found: Findings, table: DoorTable, home: Path) -> None:
    """Read a data frame in Python, and again as each reading that is proposed."""
    waiting: list[tuple[dict[str, Any], int]] = [({}, 0)]
    while waiting:
        options, at = waiting.pop()
        words = ("sv.read(frame)", *(f"{name}={value!r}" for name, value in options.items()))
        out = home / "out"
        try:
            sv.anonymize(sv.read(table.frame, **options), k=2, m=1).write(out)
        except sv.TableError as error:
            judged(
                found,
                Pasted(table, words, Done(4, "", "setveil " * bool(error.readings) + str(error)), at),
                out,
            )
            again = [dict(one) for one, _ in error.readings]
            waiting += [(one, at + 1) for one in again if one != options and at < 4]
        except sv.InfeasibleError as error:
            judged(found, Pasted(table, words, Done(3, "", str(error)), at), out)
        except sv.SetveilError as error:
            judged(found, Pasted(table, words, Done(4, "", str(error)), at), out)
        except Exception as error:
            judged(found, Pasted(table, words, Done(1, "", f"Traceback: {error!r}"), at), out)
        else:
            judged(found, Pasted(table, words, Done(0, "", ""), at), out)
        if out.exists():
            shutil.rmtree(out)


def shown(found: Findings, most: int = 3) -> str:
    """Write the findings, grouped by cause, with examples."""
    lines = [
        f"{found.tables} tables; exit codes by round: "
        + ", ".join(f"round {at}: {code} x{n}" for (at, code), n in sorted(found.codes.items())),
        "released after rounds: " + ", ".join(f"{at}: {n}" for at, n in sorted(found.rounds.items())),
    ]
    for what, all_of_them in sorted(found.failures.items()):
        lines.append(f"\n## {what}: {len(all_of_them)}")
        groups = defaultdict(list)
        for pasted in all_of_them:
            options = " ".join(word for word in pasted.words if word.startswith("--") and word not in PROMISE)
            form = " / ".join(pasted.table.kind.split(" / ")[:2])
            groups[form, options or "(no option)", _gist(pasted.done.err)].append(pasted)
        for (form, options, gist), some in sorted(groups.items(), key=lambda one: -len(one[1]))[:14]:
            lines.append(f"- {len(some)} x {form} with {options}{': ' + gist if gist else ''}")
            for pasted in some[:most]:
                head = pasted.table.content[:160].decode(errors="replace").replace("\n", "⏎")
                lines.append(f"    - {pasted.table.kind}\n      `setveil {shlex.join(pasted.words)}`")
                lines.append(
                    f"      {pasted.rows} rows, {pasted.table.people} people, "
                    f"ids {[*pasted.published_ids][:2]}; {head!r}"
                )
    return "\n".join(lines)


def _gist(text: str) -> str:
    first = next((line for line in text.splitlines() if line.startswith("Error")), "")
    return re.sub(r"\d+|'[^']*'", "…", first)[:110]
