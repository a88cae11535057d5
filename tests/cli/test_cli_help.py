"""Every ``--help``: quick, whole at usual widths, in panels, with examples that run; and completion."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import environment, setveil, together
from setveil import algorithms
from setveil.data.layout import FORMATS

COMMANDS = [
    [], ["demo"], ["anonymize"], ["apply"], ["verify"], ["measure"], ["query"], ["reconstruct"], ["moles"],
    ["risk"], ["explore"], ["why"], ["compare"], ["recommend"], ["convert"], ["algorithms"], ["hierarchy"],
    ["hierarchy", "build"], ["hierarchy", "check"], ["hierarchy", "convert"], ["hierarchy", "edit"],
    ["policy"], ["policy", "pgen"], ["policy", "check"],
    [], ["demo"], ["anonymize"], ["apply"], ["verify"], ["measure"], ["moles"], ["risk"], ["compare"],
    ["recommend"], ["convert"], ["algorithms"], ["hierarchy"], ["hierarchy", "build"], ["hierarchy", "check"],
    ["hierarchy", "convert"], ["policy"], ["policy", "pgen"], ["policy", "check"],
]  # fmt: skip
HEAVY = ["numpy", "numba", "polars", "pyarrow", "pandas", "scipy", "rich.progress", "tomllib"]

_HELP = """
import json, os, sys
from io import StringIO
from setveil.cli.app import main
texts = []
for arguments in json.loads(sys.stdin.read()):
    out, sys.stdout = sys.stdout, StringIO()
    sys.argv = ["setveil", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, arguments
    texts.append(sys.stdout.getvalue())
    sys.stdout = out
print(json.dumps([texts, [m for m in json.loads(os.environ["HEAVY"]) if m in sys.modules]]))
"""


def helps(*commands: list[str], width: int = 80) -> tuple[list[str], list[str]]:
    """Return what commands print, and the heavy modules that were imported for it."""
    process = subprocess.run(
        [sys.executable, "-c", _HELP],
        env=environment({"COLUMNS": str(width), "HEAVY": json.dumps(HEAVY)}),
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    texts, imported = json.loads(process.stdout)
    return texts, imported


@pytest.mark.parametrize("width", [80, 100])
def test_every_help_is_light_and_whole(width: int) -> None:
    texts, imported = helps(*([*command, "--help"] for command in COMMANDS), width=width)
    assert imported == []
    for command, text in zip(COMMANDS, texts, strict=True):
        assert "Usage: setveil" in text, command
        assert max(map(len, text.splitlines())) <= width, command
        assert "…" not in text, command  # nothing is cut
        assert not re.search(r"<(str|int|bool|path|list|float)", text), command
        if command and command[0] not in {"hierarchy", "policy"}:
            assert re.search(r"^ Examples?:", text, re.MULTILINE), command
            assert "General" in text, command


def test_short_help() -> None:
    (long, short), _ = helps(["verify", "--help"], ["verify", "-h"])
    assert long == short


def examples(texts: list[str]) -> list[str]:
    return [line.strip().removeprefix("$ ") for text in texts for line in text.splitlines() if "$ " in line]


def test_examples_are_understood(tmp_path: Path) -> None:
    texts, _ = helps(
        *([*command, "--help"] for command in COMMANDS if command not in ([], ["demo"])), width=160
    )
    found = [re.sub(r" [<>]( \S+|$)", "", one) for one in examples(texts)]  # what a shell redirects
    assert len(found) > 20
    for example, done in zip(
        found, together([shlex.split(line)[1:] for line in found], tmp_path), strict=True
    ):
        assert done.code in {0, 4}, (example, done)  # 4: the files are not there
        assert "Traceback" not in done.err, example


def test_panels_of_anonymize() -> None:
    (text,), _ = helps(["anonymize", "--help"])
    panels = re.findall(r"^╭─ (.*?) ─", text, re.MULTILINE)
    assert panels[:2] == ["Arguments", "The promise"]
    assert panels[-5:] == [
        "How the input is read", "What is written", "What the report says", "What is shown", "General",
    ]  # fmt: skip
    assert "The algorithm: exact" in panels
    assert "Options" not in panels
    flat = " ".join(text.replace("│", " ").split())
    assert ", ".join(algorithms.names()) in flat
    assert ", ".join(FORMATS) in flat
    assert "ncp, lm, items, entropy, entropy-max" in flat


def test_help_of_one_algorithm() -> None:
    (text, usual), _ = helps(["anonymize", "-a", "cahd", "--help"], ["anonymize", "--help"])
    for option in ("--sensitive", "--alpha", "--p "):
        assert option in text
    for option in ("--gap", "--private", "--refine", "--k "):
        assert option not in text.partition("Examples:")[0]
        assert option in usual


def complete(words: str, shell: str = "bash") -> list[str]:
    given = {"_SETVEIL_COMPLETE": f"complete_{shell}", "COMP_WORDS": words}
    given["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    given["_TYPER_COMPLETE_ARGS"] = words
    return setveil(env=given).ok().out.split()


def test_completion_knows_commands_options_and_choices() -> None:
    assert complete("setveil anon") == ["anonymize"]
    assert complete("setveil anonymize --time-l") == ["--time-limit"]
    assert complete("setveil anonymize --algorithm ") == algorithms.names()
    assert complete("setveil convert in.csv out --to p") == ["parquet"]
    assert complete("setveil anonymize in.csv --objective ") == [
        "ncp",
        "lm",
        "items",
        "entropy",
        "entropy-max",
    ]
    assert complete("setveil hierarchy build --by ba") == ["balanced"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(shell: str) -> None:
    done = setveil("--show-completion", shell, env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}).ok()
    assert "_SETVEIL_COMPLETE" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["anonymize", "no.csv", "--out", "o", "-a", "exakt"], "there is no algorithm 'exakt'"),
        (["anonymize", "no.csv", "--out", "o", "--format", "csv"], "there is no format 'csv'"),
        (["anonymize", "no.csv", "--out", "o", "--output-format", "csv"], "there is no format 'csv'"),
        (["anonymize", "no.csv", "--out", "o", "--objective", "x"], "there is no objective 'x'"),
        (["anonymize", "no.csv", "--out", "o", "--seed", "-1"], "expected an integer of at least 0"),
        (["anonymize", "no.csv", "--out", "o", "--gap", "much"], "expected a number, got 'much'"),
        (["anonymize", "no.csv", "--out", "o", "--date", "soon"], "'soon' is no date"),
        (["verify", "no.csv", "--model", "x"], "there is no privacy model 'x'"),
        (["convert", "no.csv", "o", "--to", "x"], "there is no format 'x'"),
        (["hierarchy", "build", "no.csv", "--out", "o.csv", "--by", "x"], "there is no way 'x'"),
        (["hierarchy", "build", "no.csv", "--out", "o.csv", "--lengths", "x"], "--lengths must be integers"),
        (["anonymize", "no.csv", "--out", "o", "--k", "1", "--m", "2"], "k must be an integer of at least 2"),
        (["anonymize", "no.csv", "--out", "o", "--k", "2", "--m", "0"], "m must be an integer"),
        (["anonymize", "no.csv", "--out", "o", "--k", "2"], "km-anonymity needs --m"),
        (
            ["anonymize", "no.csv", "--out", "o", "-k2", "-m2", "--gap", "-1"],
            "gap must be a number of at least 0",
        ),
        (["anonymize", "no.csv", "--out", "o", "-k2", "-m2", "--alpha", "1"], "exact has no parameter alpha"),
        (
            [
                "anonymize",
                "no.csv",
                "--out",
                "o",
                "-a",
                "mm",
                "-k2",
                "--p",
                "1",
                "--h",
                "2",
                "--private",
                "a",
            ],
            "h must be",
        ),
        (["verify", "no.csv", "--k", "1", "--m", "2"], "k must be an integer of at least 2"),
        (["moles", "no.csv", "--k", "2", "--p", "0", "--h", "0.5"], "p must be an integer"),
        (["measure", "no.csv", "no", "--itemset-length", "2"], "--itemset-length"),
        (["risk", "no.csv", "--m", "0"], "--m must be a number"),
        (["anonymize", "--out", "o", "-k2", "-m2"], "INPUT is missing"),
        (["anonymize", "a.csv", "-", "--out", "o", "-k2", "-m2"], "Standard input"),
        (["algorithms", "--quiet", "--verbose"], "exclude each other"),
    ],
)
def test_refused_before_anything_is_read(arguments: list[str], words: str, tmp_path: Path) -> None:
    (done,) = together([arguments], tmp_path)
    assert done.code == 2, done
    assert words in " ".join(done.err.replace("│", " ").split()), done
    assert "There is no file" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--hierarchy", "--keep", "--weights", "--names", "--config"])
def test_files_that_are_missing(option: str, tmp_path: Path) -> None:
    line = ["anonymize", "no.csv", "--out", "o", "-k2", "-m2", option, "gone.txt"]
    (done,) = together([line], tmp_path)
    assert done.code == 4
    assert "There is no file gone.txt" in done.err
