"""The examples of --help: all of them, run in one folder with the files that they name."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest

from cli_helpers import COMMAND_LINE, environment, interpreter, write
from setveil.cli.app import _EPILOG, NAMES, _module
from setveil.cli.command import texts_of
from setveil.rows.data.sample import grocery_sample
from warm import CAN_FORK

pytestmark = [
    pytest.mark.skipif(not CAN_FORK, reason="the examples are written for a POSIX shell"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
SERVES = r"setveil (studio|warm)\b"  # a server, and what compiles for minutes: they have tests of their own
# what needs the result of an example before it: these come in this order, all others in that of the help
ORDER = (
    "setveil demo", "setveil convert", "setveil hierarchy", "setveil anonymize baskets.csv",
    "setveil anonymize", "setveil attack release", "setveil series init",
    "setveil series plan visits --together", "setveil series add visits q1", "setveil series plan",
    "setveil series add", "setveil series verify", "setveil series risk", "setveil series list",
    "setveil series forget", "setveil verify", "setveil apply", "setveil policy pgen", "setveil compare",
)  # fmt: skip
LAST = ("setveil series drop",)
SLOW = r"setveil (recommend|explore|attack baskets|hierarchy build .* --regroup)"
VIOLATED = r"setveil (verify|policy check|attack theirs)"  # may also answer that the guarantee does not hold


def examples() -> list[str]:
    found = []
    for name in NAMES:
        module = _module(name)
        commands = module.COMMANDS if hasattr(module, "HELP") else [vars(module)[name]]
        for command in commands:
            found += [line[2:] for line in texts_of(command)[1].splitlines() if line.startswith("$ ")]
    return found


def place(example: str) -> tuple[int, int]:
    """Return the rank of an example in the order."""
    if example.startswith(LAST):
        return 2, 0
    at = [number for number, start in enumerate(ORDER) if example.startswith(start)]
    return (0, at[0]) if at else (1, 0)


EXAMPLES = sorted((one for one in examples() if not re.match(SERVES, one)), key=place)
QUICK = [one for one in EXAMPLES if not re.match(SLOW, one)]


def table(path: Path, header: str, rows: Iterator[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)


CODES = ["I50", "I21", "J18", "E11", "E10"]
ROLES = "".join(
    f'[columns.{name}]\nrole = "{role}"\n' for name, role in (("age", "qi"), ("sex", "qi"), ("dx", "set"))
)
STUDY = """name = "s"
data = [{path = "baskets.csv", hierarchy = "products.csv"}]
algorithms = ["aa"]
k = 5
m = 1
"""
TEXTS = {
    "visits.csv": "HIV,flu,cold\nhepatitis,flu\n" * 3 + "flu\nflu,cold\n" * 12,
    "icd.csv": "4280,486,4019\n25000,4280\n486\n4019,486\n" * 9,
    "orders.csv": "order,item\n" + "".join(f"{i},{item}\n" for i in range(40) for item in (1, 2)),
    "roles.toml": ROLES,
    "person.txt": "4711\n",
    "secret.csv": "painkillers\ncough syrup\n",
    "edits.jsonl": '{"do": "rename", "node": "fresh fruit", "name": "fruit"}\n',
    "ours.toml": 'owner = "The data office"\n',
    "study.toml": STUDY,
}
PARTS = {
    "baskets": (0, 300), "others": (300, 600), "january": (600, 800), "february": (600, 800),
    "march": (600, 900), "more": (300, 500), "theirs": (0, 100),
}  # fmt: skip


def put(folder: Path) -> None:
    """Write the files that the examples name."""
    random, pick = Random(47), Random(48).choice
    rows, paths = grocery_sample(900, 1)
    lines = [",".join(rows[i]) + "\n" for i in range(rows.n_rows)]
    texts = {f"{name}.csv": "".join(lines[first:end]) for name, (first, end) in PARTS.items()}
    texts |= dict.fromkeys(("products.csv", "tree.csv"), "".join(";".join(path) + "\n" for path in paths))
    texts["february.csv"] += lines[600]  # other people, whose rows keep the labels of january
    for name, text in {**texts, **TEXTS}.items():
        write(folder / name, text)

    def people(n: int) -> Iterator[tuple[object, ...]]:
        for _ in range(n):
            yield pick([30, 40, 50]), pick("fm"), ";".join(random.sample(CODES, pick([1, 2])))

    table(folder / "patients.csv", "age,sex,codes", people(120))
    table(folder / "table.csv", "age,sex,codes", people(60))
    ward = ((age, sex, pick(["10115", "10117", "20095"]), dx) for age, sex, dx in people(120))
    table(folder / "ward.csv", "age,sex,zip,dx", ward)
    days = [date(2024, 1, 1) + timedelta(days=day) for day in range(60)]
    log = ((f"p{i % 60:03}", pick(CODES), pick(days)) for i in range(150))
    table(folder / "log.csv", "id,dx,on", log)
    items = [path[0] for path in paths[:6]]
    for name, n in (("q1", 30), ("q2", 40)):
        visits = ((f"{4700 + i}", pick(items)) for i in range(n) for _ in range(2))
        table(folder / f"{name}.csv", "patient,code", visits)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    command = folder / "setveil"
    command.write_text(interpreter().command(COMMAND_LINE))
    command.chmod(0o755)
    return folder


def run(example: str, folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    env = {**environment(), "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", example], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def failing(commands: list[str], folder: Path, tools: Path) -> dict[str, str]:
    """Run commands in order; return the failed ones."""
    found = {}
    for one in commands:
        done = run(one, folder, tools)
        allowed = {0, 1} if re.match(VIOLATED, one) else {0}
        if done.returncode not in allowed or "Traceback" in done.stderr:
            found[one] = f"{done.returncode}: {done.stderr[-400:]}"
    return found


BEFORE = [
    "setveil anonymize january.csv -H products.csv -k 3 -m 1 -o january",
    "setveil anonymize q2.csv --id-column patient --item-column code -H tree.csv -k 5 -m 2 -o q2",
]


def test_every_example_works_where_the_files_are(tmp_path: Path, tools: Path) -> None:
    put(tmp_path)
    assert failing([*BEFORE, *QUICK], tmp_path, tools) == {}


@pytest.mark.exhaustive
def test_every_slow_example_works_where_the_files_are(tmp_path: Path, tools: Path) -> None:
    put(tmp_path)
    assert failing([one for one in EXAMPLES if one not in QUICK], tmp_path, tools) == {}


def test_to_begin_works_in_an_empty_folder(tmp_path: Path, tools: Path) -> None:
    lines = [line[2:] for line in _EPILOG.splitlines() if line.startswith("$ ")]
    done = run(" && ".join(lines), tmp_path, tools)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "setveil-demo-input" / "release" / "published").is_dir()
    printed = re.search(r"^    (setveil anonymize .*)$", done.stdout, re.MULTILINE)
    assert printed is not None
    assert run(printed[1], tmp_path, tools).returncode == 0
    assert (tmp_path / "release" / "published").is_dir()


# Or a network:
ELSEWHERE = (
    r"(git clone|pip|spark-submit|unshare|pytest|python benchmarks/|setveil (studio|compare studies/))"
)


def test_blocks_of_shell_on_the_pages_work_in_one_folder(tmp_path: Path, tools: Path) -> None:
    root = Path(__file__).parents[2]
    pages = [
        root / "README.md",
        *sorted((root / "docs").glob("*.md")),
        *sorted((root / "docs/howto").glob("*.md")),
    ]
    pages = [page for page in pages if page.name != "develop.md"]  # of a checkout
    lines = [
        re.sub(r"^pip install [^&]*&& ", "", line)
        for page in pages
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    ours = [line for line in lines if not re.match(ELSEWHERE, line)]
    assert len(ours) > 4
    assert failing([*dict.fromkeys(ours)], tmp_path, tools) == {}
