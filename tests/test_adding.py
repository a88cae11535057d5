"""Adding an algorithm with a parameter, a model, a measure, a command, a kind of release: their files alone.

The files are added to a copy of the package; the command line, a study and the reports must pick them up. A
command is also named in two lists.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import added_kind
import setveil as sv
from cli_helpers import Done, setveil, write

MODEL = '''
"""Every published item is in many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from setveil.base.errors import InfeasibleError
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer
from setveil.judges.guarantees import Guarantee, Model, Words


@dataclass(frozen=True)
class CommonItems(Guarantee):
    """Every published item is in at least `floor` rows."""

    floor: int
    model: ClassVar[str] = "common-items"

    @property
    def phrase(self) -> str:
        return f"commonness {self.floor}"

    def require_feasible(self, data: Any) -> None:
        if data.n_rows < self.floor:
            raise InfeasibleError(f"There are {data.n_rows} rows, fewer than {self.floor}.")

    def as_dict(self) -> dict[str, Any]:
        return {"model": self.model, "floor": self.floor}


model = Model(
    name="common-items",
    title="common items",
    make=CommonItems,
    options={"floor": Option(Integer(1), "Fewest rows of an item.", needed=True)},
    algorithm="drop-rare",
    words=Words(
        parameters=("floor",),
        promise=lambda g: f"Every published item is in at least {g['floor']} rows.",
        fulfilled=lambda g: f"the rarest item is in {g['rarest']} rows",
        broken=lambda g: f"{g['violations']} items in too few rows",
        not_covered=lambda g: [],
        reading=lambda g: [("floor:", "how many rows an item must be in.")],
        violation=lambda entry: f"{entry['itemset'][0]} in {entry['support']} rows",
        beyond=lambda g: [],
    ),
    family="common",
    axes={"floor": "fewest rows (floor)"},
    example={"floor": 2},
)
'''

VERIFIER = '''
"""Is every published item in many rows? Answered from the published rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.base.progress import Progress, silent


@dataclass(frozen=True)
class CommonItemsVerdict:
    guarantee: Any
    rare: list[tuple[str, int]]
    rarest: int | None

    @property
    def holds(self) -> bool:
        return not self.rare

    @property
    def violations(self) -> int:
        return len(self.rare)

    def found(self) -> dict[str, Any]:
        return {"rarest": self.rarest}

    def as_dict(self) -> dict[str, Any]:
        first = [{"itemset": [label], "support": support} for label, support in self.rare]
        found = {"holds": self.holds, "violations": self.violations, "first": first, **self.found()}
        return {**self.guarantee.as_dict(), **found}


def verify_commonitems(published: Any, guarantee: Any, *, show: int = 10, progress: Progress = silent) -> Any:
    supports: dict[str, int] = {}
    for row in published:
        for label in row:
            supports[label] = supports.get(label, 0) + 1
    rare = [(label, n) for label, n in sorted(supports.items()) if n < guarantee.floor]
    return CommonItemsVerdict(guarantee, rare, min(supports.values(), default=None))
'''

ALGORITHM = '''
"""Drop what is rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.methods.algorithms import AlgorithmInfo
from setveil.base.values.declared import parameter
from setveil.base.values.kinds import Integer
from setveil.base.progress import Progress, silent

info = AlgorithmInfo(
    title="Dropping of rare items",
    guarantees=("common-items",),
    needs=(),
    summary="Suppresses items in few rows.",
    reference="none, doi:10.0000/none",
)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the dropping of rare items."""

    margin: int = parameter(Integer(0), "Rows that an item must be in beyond the floor.", default=0)


def anonymize(
    data: Any,
    hierarchy: Any,
    guarantee: Any,
    parameters: Parameters = Parameters(),
    progress: Progress = silent,
) -> Any:
    """Suppress items in few rows."""
    import numpy as np

    from setveil.releases.published.recoding import Recoding

    guarantee.require_feasible(data)
    keep = data.supports() >= guarantee.floor + parameters.margin
    recoding = Recoding.from_groups(data.vocabulary, np.where(keep, np.arange(data.n_items), -1))
    gone = [label for label, kept in zip(data.vocabulary.labels, keep, strict=True) if not kept]
    return recoding, {"suppressed": gone}
'''

MEASURE = '''
"""How many rows are no longer what they were."""

from __future__ import annotations

from setveil.judges.utility import Case, Measure


def _touched(case: Case) -> float:
    image = case.recoding.images(case.original)
    ends = case.original.indptr.tolist()
    changed = sum((image[a:b] < 0).any() for a, b in zip(ends, ends[1:]))
    return float(changed / max(case.original.n_rows, 1))


MEASURES = (
    Measure(
        name="rows_touched",
        title="Touched",
        meaning="share of the rows that are not what they were",
        compute=_touched,
    ),
)
'''

BODY = '''
"""Count the rows of each length."""

from __future__ import annotations

from typing import Any

from setveil.commands.arguments import rows_of


def lengths(data: object, *, least: int = 0) -> dict[int, int]:
    """Count the rows of each length, from a least one on."""
    return counted(rows_of(data), least)


def counted(rows: Any, least: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for length in rows.row_lengths().tolist():
        if length >= least:
            found[length] = found.get(length, 0) + 1
    return dict(sorted(found.items()))
'''

COMMAND = '''
"""The command ``lengths``."""

from __future__ import annotations

from typing import Any

from setveil.cli.bundles import Reading, source_of
from setveil.cli.help import ANSWER
from setveil.cli.options import Input, integer
from setveil.cli.session import Answer


def lengths(
    progress: Any,
    input: Input = None,
    least: int = integer(ANSWER, "Only rows of at least N items.", 0, default=0),
    *,
    reading: Reading,
) -> Answer:
    """Count the rows of each length.

    $ setveil lengths baskets.csv --least 2
    """
    from setveil.cli.files import read_rows
    from setveil.commands.lengths import counted

    found = counted(read_rows(source_of(input, reading), reading), least)
    return Answer(found, ", ".join(f"{length}: {rows}" for length, rows in found.items()))
'''

FILES = {
    "commands/lengths.py": BODY,
    "cli/lengths.py": COMMAND,
    "judges/guarantees/commonitems.py": MODEL,
    "judges/guarantees/verify/commonitems.py": VERIFIER,
    "methods/algorithms/drop_rare.py": ALGORITHM,
    "judges/utility/touched.py": MEASURE,
    **added_kind.FILES,
}

LISTED = {  # further files that name a command
    "cli/app.py": [('"moles", "warm")', '"moles", "warm", "lengths")')],
    "__init__.py": [("_HOMES = {\n", '_HOMES = {\n    "lengths": "commands.lengths",\n')],
}

Command = Callable[..., Done]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the package, add the files, and write some rows."""
    folder = tmp_path_factory.mktemp("added")
    package = folder / "package" / "setveil"
    shutil.copytree(Path(sv.__file__).parent, package)
    for name, content in FILES.items():
        assert not (package / name).exists()
        write(package / name, content.lstrip())
    for name, changes in LISTED.items():
        text = (package / name).read_text(encoding="utf-8")
        for before, after in changes:
            assert text.count(before) == 1
            text = text.replace(before, after)
        write(package / name, text)
    rows = ["a,b", "a,b", "a", "b,c", "a,c", "d", "a,b,e"]
    write(folder / "in.csv", "".join(f"{row}\n" for row in rows))
    return folder


@pytest.fixture
def run(place: Path) -> Command:
    def command(*arguments: object) -> Done:
        return setveil(*arguments, cwd=place, env={"PYTHONPATH": str(place / "package")})

    return command


def test_help_and_lists(run: Command) -> None:
    for words in (["--help-all"], ["-a", "drop-rare", "--help"]):
        shown = " ".join(run("anonymize", *words).ok().out.split())
        assert "Algorithm: drop-rare" in shown
        assert "Rows that an item must be in beyond the floor." in shown
        assert "--margin" in shown
        assert "Guarantee: common-items" in shown
        assert "Fewest rows of an item." in shown
    assert "common-items" in run("verify", "--help-all").ok().out
    listed = run("algorithms").ok().out
    assert "drop-rare Dropping of rare items" in listed
    assert "gives common-items" in listed


@pytest.mark.exhaustive
def test_a_run_and_its_report(run: Command, place: Path) -> None:
    command = ("anonymize", "in.csv", "-a", "drop-rare", "--floor", 2, "--margin", 1)
    said = run(*command, "--out", "short").ok().out
    assert said.startswith("Holds    Every published item is in at least 2 rows.")
    said = run(*command, "--out", "out", "--verbose").ok().out
    assert "Every published item is in at least 2 rows." in " ".join(said.split())
    assert "share of the rows that are not what they were" in " ".join(said.split())
    assert (place / "out/published/data.csv").read_text().count("c") == 0
    report = json.loads((place / "out/internal/report.json").read_text())
    assert report["algorithm"]["parameters"] == {"margin": 1}
    assert report["guarantee"] == {
        "model": "common-items", "floor": 2, "phrase": "commonness 2", "holds": True, "violations": 0,
        "rarest": 4,
    }  # fmt: skip
    assert report["utility"]["rows_touched"] == pytest.approx(4 / 7)
    page = (place / "out/internal/report.html").read_text()
    for text in (
        "Every published item is in at least 2 rows.",
        "Touched",
        "how many rows an item must be in.",
    ):
        assert text in page

    assert run("verify", "out", "--model", "common-items", "--floor", 4).ok().out.startswith("Yes")
    broken = run("verify", "out", "--model", "common-items", "--floor", 5)
    assert broken.code == 1
    assert "b in 4 rows" in broken.out
    assert "Touched" in run("measure", "in.csv", "out").ok().out


def test_requests_that_make_no_sense(run: Command) -> None:
    for arguments, code, words in (
        (["-a", "drop-rare"], 2, "common-items needs --floor"),
        (["-a", "drop-rare", "--floor", 2, "--k", 2], 2, "common-items has no --k; it takes --floor"),
        (["-a", "aa", "--k", 2, "--m", 1, "--margin", 1], 2, "aa has no parameter margin"),
        (["-a", "drop-rare", "--floor", 8], 3, "fewer than 8"),
    ):
        done = run("anonymize", "in.csv", *arguments, "--out", "no")
        assert done.code == code, done
        assert words in done.err


@pytest.mark.exhaustive
def test_a_study(run: Command, place: Path) -> None:
    write(
        place / "study.toml",
        'name = "Rare"\ndata = [{path = "in.csv"}]\nalgorithms = ["drop-rare", "aa"]\n'
        "floor = [1, 2]\nmargin = [0, 1]\nk = 2\nm = 1\n",
    )
    run("compare", "study.toml", "--out", "study", "--jobs", 2).ok()
    with (place / "study/results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"done"}, rows
    own = {
        (row["floor"], row["margin"]): row["rows_touched"] for row in rows if row["algorithm"] == "drop-rare"
    }
    assert len(own) == 4
    assert float(own["2", "1"]) == pytest.approx(4 / 7)
    page = (place / "study/report.html").read_text()
    for text in ("common items", "drop-rare margin=1", "Touched", "fewest rows (floor)"):
        assert text in page


def test_a_command_from_the_command_line_and_from_python(run: Command, place: Path) -> None:
    assert "lengths" in run("--help").ok().out
    shown = run("lengths", "--help-all").ok().out
    for words in ("Count the rows of each length.", "--least", "--item-column", "--json", "--config"):
        assert words in shown
    assert run("lengths", "in.csv").ok().out == "1: 2, 2: 4, 3: 1\n"
    assert json.loads(run("lengths", "in.csv", "--least", 2, "--json").ok().out) == {"2": 4, "3": 1}
    refused = run("lengths", "in.csv", "--least", "x")
    assert refused.code == 2
    assert "expected an integer" in refused.err
    script = "import setveil as sv; print(sv.lengths([['a'], ['a', 'b'], ['b', 'c']], least=2))"
    assert _python(script, place) == "{2: 2}\n"


def test_an_option_in_the_commands_of_the_studio(place: Path) -> None:
    script = """
from pathlib import Path
from setveil.studio import commands
from setveil.studio.projects import Projects

project = Projects(Path("projects")).create("Rare")
project.save(input="in.csv", algorithm="drop-rare", floor=2, margin=1, model="common-items")
print(*commands.anonymize(project, "runs/one"))
report = {"guarantee": {"model": "common-items"}, "options": {"floor": 2, "margin": 1}}
print(*commands.verify("runs/one", report))
"""
    made, checked = _python(script, place).splitlines()
    assert made == (
        "anonymize in.csv --model common-items --floor 2 --algorithm drop-rare --margin 1 --out runs/one"
    )
    assert checked == "verify runs/one --model common-items --floor 2 --json"


SCRIPT = """
from setveil.judges.guarantees.counted import ManyRows
import setveil as sv

rows = [line.split(",") for line in open("in.csv").read().split()]
made = sv.anonymize(rows, ManyRows(2))
made.write("counts", external=True)
for release in (made, "counts"):
    questions = {
        "verify": lambda: sv.verify(release, ManyRows(9)),
        "verify k and m": lambda: sv.verify(release, k=2, m=2),
        "risk": lambda: sv.risk(release),
        "risk of both": lambda: sv.risk(release, original=rows),
        "risk of absent items": lambda: sv.risk(release, absent=1),
        "measure": lambda: sv.measure(rows, release),
        "measure queries": lambda: sv.measure(rows, release, queries=20),
        "query": lambda: sv.query(release, [["a"]]),
        "why": lambda: sv.why(release, "a", data=rows),
        "reconstruct": lambda: sv.reconstruct(release),
        "attack": lambda: sv.attack(release, rows, rows, attacks=3),
        "apply": lambda: sv.apply(release, rows),
    }
    for name, question in questions.items():
        try:
            print(f"{name}: {question()}")
        except sv.SetveilError as error:
            print(f"{name}: {error.message}")
print(made.to_polars().rows(), sv.read_published("counts").n_rows)
"""

ANSWERS = """
verify: No: counts of 9 rows does not hold, 3 counts of too few rows.
verify k and m: {km}
risk: This release contains no rows of people, so that no person can be found in it.
risk of both: This release contains no rows of people, so that no person can be found in it.
risk of absent items: This release contains no rows of people, so that no person can be found in it.
measure: {{}}
measure queries: queries cannot be used for counts of items.
query: Nothing is estimated from such a release.
why: No label of this run can be split: no item is published under a broader label (count-items).
reconstruct: No rows are drawn from such a release.
attack: Attacks are tried on single rows of items, not on tables, groups, chunks, classes, facts or noisy counts.
apply: The guarantee of {run} is counted: recodings are applied to other rows for km-anonymity and constraints only.
"""  # noqa: E501  (messages as they are)


def test_a_kind_of_release_answers_or_refuses_every_question(place: Path) -> None:
    """The answers of a release and of its folder, sentence by sentence: none is a traceback."""
    made = ANSWERS.lstrip().format(
        km="k^m-anonymity is not a guarantee for this release: it is about single rows.",
        run="the earlier run",
    )
    read = ANSWERS.lstrip().format(km="counts contains counts of items, not single rows.", run="counts")
    assert _python(SCRIPT, place) == made + read + "[('a', 5), ('b', 4), ('c', 2)] 7\n"


@pytest.mark.exhaustive
def test_a_kind_of_release_on_the_command_line_and_in_the_studio(run: Command, place: Path) -> None:
    said = run("anonymize", "in.csv", "-a", "count-items", "--fewest", 2, "--out", "items").ok().out
    said = " ".join(said.split())
    assert "Every count is of at least 2 rows." in said
    assert "Rechecked, as far as files can show: the least count is 2." in said
    assert run("verify", "items").ok().out == "Yes: counts of 2 rows holds.\n"
    assert run("measure", "in.csv", "items").ok().out == "No measure applies to this kind of release.\n"
    for command in ("risk items", "query items a", "why items a", "reconstruct items --out draws"):
        refused = run(*command.split())
        assert refused.code in (2, 3), refused
        assert "defect" not in refused.err
    write(
        place / "counts.toml",
        'name = "C"\ndata = [{path = "in.csv"}]\nalgorithms = ["count-items"]\nfewest = 2\n',
    )
    run("compare", "counts.toml", "--out", "counted").ok()
    with (place / "counted/results.csv").open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["done"]
    script = """
from pathlib import Path
from setveil.studio.desk.place import Desk
from setveil.studio.desk.release import in_words, refused

Path("runs").mkdir()
Path("items").rename("runs/items")
desk = Desk(Path())
print(dict(in_words(desk, "items")["facts"])["Check"])
print(*refused(desk, "items").values(), sep="\\n")
"""
    assert _python(script, place).splitlines() == [
        "It holds, as far as files can show: the least count is 2.",
        "The checker for recipients does not support this release, which guarantees counted.",
        "Nothing is estimated from such a release. Count in its files; `setveil verify` checks its "
        "guarantee.",
        *["This release contains no rows of people, so that no person can be found in it."] * 3,
    ]


def _python(script: str, place: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(place / "package")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=place, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout
