"""The statements of README.md and docs/ are true: links lead somewhere, commands run, outputs are current.

``python tests/test_docs.py [PAGE ...]`` runs all or some pages and writes the printed output into them.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import COMMAND_LINE, interpreter
from setveil.base.values.declared import options_of
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from warm import CAN_FORK

ROOT = Path(__file__).resolve().parents[1]
MADE = {"api", "commands", "gallery", "project"}  # folders of docs/ with files that the site's build makes
WRITTEN = [page for page in (ROOT / "docs").rglob("*.md") if page.relative_to(ROOT).parts[1] not in MADE]
PAGES = [ROOT / "README.md", *sorted(WRITTEN)]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
FIRST = re.compile(r"README\.md|docs/(hierarchies|query|ten_minutes)\.md")  # the pages for newcomers
WITH_PYTHON = ["README.md", "docs/series.md", "docs/python.md", "docs/tables.md", "docs/ten_minutes.md"]
WITH_PYTHON += [
    name for name in NAMES if name.count("/") > 1 and "\n```python\n" in (ROOT / name).read_text("utf-8")
]
COMMANDS = ["anonymize", "apply", "verify", "measure", "convert", "demo", "algorithms"]
COMMANDS += [
    "hierarchy build",
    "hierarchy check",
    "hierarchy convert",
    "hierarchy edit",
    "policy pgen",
    "policy check",
]
COMMANDS += ["moles", "risk", "explore", "compare", "recommend", "query", "reconstruct", "warm", "why"]
COMMANDS += ["attack", "evidence", "read"]
EXHAUSTIVE = pytest.mark.exhaustive
# and how far a run is, on a busy machine, and the times of its phases (--verbose)
NOISE = re.compile(r"compiling, first run only|\[[0-9:]+\] .*|[a-z][^:|]*(: [a-z][^:|]*)*: [0-9.]+ s")

pytestmark = [
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="the pages' commands need kernels"),
    pytest.mark.skipif(not CAN_FORK, reason="the pages' commands are written for a POSIX shell"),
]


@dataclass
class Block:
    """A fenced block: `lines` are at ``start:end`` of the page, between its fences."""

    language: str
    start: int
    end: int
    lines: list[str]


@dataclass
class Command:
    """A command of a page, the output shown below it (at ``start:end`` of the page), and that of a run."""

    text: str
    start: int
    end: int
    shown: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    code: int = 0


def blocks_of(text: str) -> list[Block]:
    out: list[Block] = []
    language: str | None = None
    start = 0
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if language is None:
            language, start = line[3:].strip(), i + 1
        else:
            out.append(Block(language, start, i, lines[start:i]))
            language = None
    assert language is None, "a fence is not closed"
    return out


def commands_of(text: str) -> list[Command]:
    out: list[Command] = []
    for block in blocks_of(text):
        if block.language != "console":
            continue
        first = len(out)
        goes_on = False
        for i, line in enumerate(block.lines, block.start):
            if goes_on:
                out[-1].text += "\n" + line.removeprefix("> ")
                out[-1].start = out[-1].end = i + 1
            elif line.startswith("$ "):
                out.append(Command(line[2:], i + 1, i + 1))
            else:
                assert len(out) > first, f"output without a command: {line!r}"
                out[-1].shown.append(line)
                out[-1].end = i + 1
            goes_on = goes_on or line.startswith("$ ")
            goes_on = goes_on and line.endswith("\\")
    return out


ENVIRONMENT = {**os.environ, "COLUMNS": "200", "LC_ALL": "C"}


def environment(tools: Path) -> dict[str, str]:
    return {**ENVIRONMENT, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


OWN_FOLDER = "<!-- own folder -->"  # what follows starts in a folder of its own, with the demo's files


def starts(text: str) -> list[int]:
    """List the lines at which parts of a page start that have a folder of their own."""
    return [0, *(i for i, line in enumerate(text.split("\n")) if line == OWN_FOLDER)]


def part(text: str, line: int) -> int:
    """Return the number of the part that a line of a page is in."""
    return sum(start <= line for start in starts(text)) - 1


def run_page(page: Path, whole: Path, tools: Path) -> list[Command]:
    """Run the commands of a page in order; ``echo $?`` sees the exit code of the one before.

    A block with a name after its language is a file, written before the commands below it.
    """
    text = page.read_text("utf-8")
    folders = [whole, *(whole.with_name(f"{whole.name}-{i}") for i in range(1, len(starts(text))))]
    for folder in folders[1:]:
        shutil.copytree(whole, folder)
    commands = commands_of(text)
    files = [block for block in blocks_of(text) if " " in block.language]
    code = 0
    for command in commands:
        while files and files[0].start < command.start:
            file = files.pop(0)
            target = folders[part(text, file.start)] / file.language.split()[1]
            target.write_text("\n".join(file.lines) + "\n", "utf-8")
        done = subprocess.run(
            ["sh", "-c", f"(exit {code})\n{command.text}"],
            cwd=folders[part(text, command.start)],
            env=environment(tools),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        code = command.code = done.returncode
        lines = done.stdout.decode("utf-8").rstrip("\n").split("\n") if done.stdout else []
        command.printed = [line for line in lines if not NOISE.fullmatch(line)]
    return commands


def run_python(page: Path) -> list[tuple[Block, Block | None, str]]:
    """Run the Python blocks of a page in copies of the current folder, one for each part.

    Gives each block, the text block after it, and its output.
    """
    text = page.read_text("utf-8")
    blocks = blocks_of(text)
    out: list[tuple[Block, Block | None, str]] = []
    places = [Path(f"part{i}").absolute() for i in range(len(starts(text)))]
    for place in places:
        shutil.copytree(Path.cwd(), place, ignore=shutil.ignore_patterns("part*"))
    namespaces: list[dict[str, Any]] = [{"__name__": "__page__"} for _ in places]
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block.language != "python":
            continue
        printed = io.StringIO()
        code = compile("\n" * block.start + "\n".join(block.lines), page.name, "exec")
        at = part(text, block.start)
        with contextlib.redirect_stdout(printed), contextlib.chdir(places[at]):
            exec(code, namespaces[at])  # noqa: S102
        shown = after if after is not None and after.language == "text" else None
        out.append((block, shown, printed.getvalue()))
    return out


LEFT_OUT = "..."  # a line of an output that represents lines that the page does not show
TIME = re.compile(r" +([0-9.]+ s|time)$")  # a column of times, which change from run to run


def best(lines: list[str], printed: list[str], starts: range) -> int:
    """Return the start of the printed lines that are most like `lines`."""
    for at in starts:
        if printed[at : at + len(lines)] == lines:
            return at
    like = difflib.SequenceMatcher(None, b="\n".join(lines), autojunk=False)

    def similarity(at: int) -> float:
        like.set_seq1("\n".join(printed[at : at + len(lines)]))
        return like.ratio()

    return max(starts, key=similarity)


def excerpt(shown: list[str], printed: list[str]) -> list[str]:
    """Return the part of the printed lines that the page shows; all of them if it leaves nothing out."""
    known = {TIME.sub("", line): line for line in shown}
    printed = [known.get(TIME.sub("", line), line) for line in printed]
    if LEFT_OUT not in shown:
        return printed
    out: list[str] = []
    at = 0
    pieces = [list(piece) for omitted, piece in itertools.groupby(shown, LEFT_OUT.__eq__) if not omitted]
    for piece in pieces:
        last = len(printed) - len(piece)
        first = piece is pieces[0] and shown[0] != LEFT_OUT
        ends = piece is pieces[-1] and shown[-1] != LEFT_OUT
        start = 0 if first else last if ends else best(piece, printed, range(at, max(at, last) + 1))
        out += [LEFT_OUT] * (start > at) + printed[start : start + len(piece)]
        at = start + len(piece)
    return out + [LEFT_OUT] * (at < len(printed))


def make_tools(folder: Path) -> Path:
    """Make a folder with a command `setveil`, run in a fork of an interpreter."""
    folder.mkdir()
    command = folder / "setveil"
    command.write_text(interpreter().command(COMMAND_LINE))
    command.chmod(0o755)
    return folder


def prepare(base: Path) -> tuple[Path, dict[str, Path]]:
    """Make one working folder per page, each with the demo's files."""
    tools = make_tools(base / "tools")
    demo = base / "demo"
    demo.mkdir()
    subprocess.run(
        ["sh", "-c", "setveil demo"], cwd=demo, env=environment(tools), check=True, capture_output=True
    )
    folders = {name: base / f"page{i}" for i, name in enumerate(NAMES)}
    for folder in folders.values():
        shutil.copytree(demo, folder)
    return tools, folders


def run_all(tools: Path, folders: dict[str, Path], names: list[str] = NAMES) -> dict[str, list[Command]]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {name: pool.submit(run_page, ROOT / name, folders[name], tools) for name in names}
        return {name: run.result() for name, run in runs.items()}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Path]]:
    return prepare(tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def runs(places: tuple[Path, dict[str, Path]], request: pytest.FixtureRequest) -> dict[str, list[Command]]:
    """Run the commands of the pages that are looked at."""
    tests = [item for item in request.session.items if isinstance(item, pytest.Function)]
    shown = test_commands_print_what_the_page_shows.__name__
    names = [str(item.callspec.params["name"]) for item in tests if item.originalname == shown]
    return run_all(*places, names)


def pages(names: list[str]) -> list[Any]:
    """Mark blocks beyond the first ones that are read."""
    return [pytest.param(name, marks=[] if FIRST.fullmatch(name) else [EXHAUSTIVE]) for name in names]


@pytest.mark.parametrize("name", pages(NAMES))
def test_commands_print_what_the_page_shows(name: str, runs: dict[str, list[Command]]) -> None:
    commands = runs[name]
    for i, command in enumerate(commands):
        shown = "\n".join(command.shown)
        assert "\n".join(excerpt(command.shown, command.printed)) == shown, f"{name}: $ {command.text}"
        if [after.text for after in commands[i + 1 : i + 2]] == ["echo $?"]:
            continue  # the page shows the exit code, which was compared
        checks = "setveil verify" in command.text or "check.py" in command.text
        fails = checks and ("No:" in shown or '"holds": false' in shown)
        assert command.code == int(fails) or re.search("^Error: ", shown, re.M), f"{name}: $ {command.text}"


FILTER = re.compile(r"\b(seq|printf|awk|sed)\b|\| *[a-z]")


@pytest.mark.parametrize("name", NAMES)
def test_commands_need_no_filters(name: str) -> None:
    commands = commands_of((ROOT / name).read_text("utf-8"))
    assert [one.text for one in commands if FILTER.search(one.text)] == [], "name a file, or leave lines out"


@pytest.mark.parametrize("name", pages(WITH_PYTHON))
def test_python_prints_what_the_page_shows(
    name: str, places: tuple[Path, dict[str, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(places[1][name].parent / "demo", folder)
    monkeypatch.chdir(folder)
    results = run_python(ROOT / name)
    assert results
    for block, shown, printed in results:
        where = f"{name}, line {block.start}"
        assert (shown is not None) == bool(printed), f"{where}: what is printed is shown in a text block"
        if shown is not None:
            assert printed.rstrip("\n") == "\n".join(shown.lines), where


def slugs(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    fenced = {i for block in blocks_of(text) for i in range(block.start, block.end)}
    heads = [
        line.lstrip("#").strip()
        for i, line in enumerate(text.split("\n"))
        if re.match(r"#+ ", line) and i not in fenced
    ]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(text: str) -> Iterator[str]:
    for block in reversed(blocks_of(text)):
        lines = text.split("\n")
        text = "\n".join(lines[: block.start] + lines[block.end :])
    yield from re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text))


@pytest.mark.parametrize("name", [*NAMES, "CONTRIBUTING.md", "SECURITY.md"])
def test_relative_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in links(page.read_text("utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in slugs(target.read_text("utf-8")), f"{name}: {link}"


@functools.cache
def page_of(name: str) -> str:
    """Return the page of an algorithm, and the section, as the table of all names them."""
    table = (ROOT / "docs" / "algorithms.md").read_text("utf-8")
    found = re.search(rf"^\| \[`{name}`\]\((\S+)\)", table, re.M)
    assert found is not None, name
    return found[1]


@pytest.mark.parametrize("name", algorithms.names())
def test_every_algorithm_has_a_page_and_a_line_among_all(name: str) -> None:
    page = ROOT / "docs" / page_of(name).partition("#")[0]
    reference = algorithms.load(name).info.reference
    doi = re.search(r"10\.\d{4,}/[^\s,;)]+", reference)
    assert doi is None or doi[0] in page.read_text("utf-8")


@functools.cache
def documented() -> set[str]:
    """Find all that looks like an option in the pages."""
    pages = "\n".join(page.read_text("utf-8") for page in PAGES)
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*(?![\w-])", pages))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command: str, places: tuple[Path, dict[str, Path]]) -> None:
    done = subprocess.run(
        ["sh", "-c", f"setveil {command} --help-all"],
        env={**environment(places[0]), "NO_COLOR": "1", "TERM": "dumb"},
        check=True,
        capture_output=True,
    )
    options = set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", done.stdout.decode("utf-8"))) - {"--help"}
    assert options
    missing = sorted(options - documented())
    assert not missing, f"setveil {command}"


PARAMETERS = ROOT / "docs" / "compare.md"
TABLE = re.compile(r"(<!-- declared parameters -->\n)(.*?)(<!-- end -->\n)", re.S)


def declared_parameters() -> str:
    """Make the table of the parameters of models and algorithms from their declarations."""
    owners: dict[tuple[str, str, str, bool], list[str]] = {}
    for model in models().values():
        for name, option in model.options.items():
            key = (name, option.help, option.kind.allowed, option.drawn_with is None)
            owners.setdefault(key, []).extend(algorithms.giving(model.name))
    for algorithm in algorithms.names():
        for name, option in options_of(algorithms.load(algorithm).Parameters).items():
            key = (option.study_name or name, option.help, option.kind.allowed, True)
            owners.setdefault(key, []).append(algorithm)
    lines = ["| key | of | value | meaning |", "|---|---|---|---|"]
    for (name, meaning, allowed, _), of in owners.items():
        links = ", ".join(f"[{algorithm}]({page_of(algorithm)})" for algorithm in dict.fromkeys(of))
        lines.append(f"| `{name}` | {links} | {allowed} | {meaning} |")
    return "\n".join(lines) + "\n"


def test_the_table_of_parameters_is_that_of_the_declarations() -> None:
    found = TABLE.search(PARAMETERS.read_text("utf-8"))
    assert found is not None
    assert found[2].strip("\n") == declared_parameters().strip("\n"), "python tests/test_docs.py writes it"


def update(names: list[str]) -> None:
    """Write printed outputs and declarations into the pages."""
    old = PARAMETERS.read_text("utf-8")
    new = TABLE.sub(lambda found: f"{found[1]}\n{declared_parameters()}\n{found[3]}", old)
    PARAMETERS.write_text(new, "utf-8")
    with tempfile.TemporaryDirectory() as base:
        tools, folders = prepare(Path(base))
        for name, commands in run_all(tools, folders, names).items():
            page = ROOT / name
            lines = page.read_text("utf-8").split("\n")
            for command in reversed(commands):
                lines[command.start : command.end] = excerpt(command.shown, command.printed)
            page.write_text("\n".join(lines), "utf-8")
        for name in set(WITH_PYTHON) & set(names):
            page = ROOT / name
            lines = page.read_text("utf-8").split("\n")
            folder = Path(base) / f"python-{name.replace('/', '-')}"
            shutil.copytree(Path(base) / "demo", folder)
            with contextlib.chdir(folder):
                results = run_python(page)
            for _, shown, printed in reversed(results):
                if shown is not None and printed:
                    lines[shown.start : shown.end] = printed.rstrip("\n").split("\n")
            page.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    update(sys.argv[1:] or NAMES)
