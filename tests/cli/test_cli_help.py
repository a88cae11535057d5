"""Every ``--help``: quick, whole at usual widths, in panels, with examples that run; and completion."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import environment, setveil, together
from setveil.base.values.declared import options_of
from setveil.cli.app import app_for
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.rows.data.layout import FORMATS

COMMANDS = [
    [], ["demo"], ["anonymize"], ["apply"], ["verify"], ["measure"], ["query"], ["reconstruct"], ["moles"],
    ["risk"], ["explore"], ["why"], ["compare"], ["recommend"], ["convert"], ["algorithms"], ["hierarchy"],
    ["hierarchy", "build"], ["hierarchy", "check"], ["hierarchy", "convert"], ["hierarchy", "edit"],
    ["policy"], ["policy", "pgen"], ["policy", "check"],
    [], ["demo"], ["anonymize"], ["apply"], ["verify"], ["measure"], ["moles"], ["risk"], ["compare"],
    ["recommend"], ["convert"], ["algorithms"], ["hierarchy"], ["hierarchy", "build"], ["hierarchy", "check"],
    ["hierarchy", "convert"], ["policy"], ["policy", "pgen"], ["policy", "check"],
]  # fmt: skip
COMMANDS += [
    ["read"], ["checker"], ["certify"], ["attack"], ["evidence"], ["warm"], ["studio"], ["series"],
    *(["series", one] for one in ("init", "plan", "add", "verify", "risk", "list", "forget", "drop")),
]  # fmt: skip
# whose examples need more than a moment
SERVING = [[], ["demo"], ["studio"], ["warm"], ["attack"], ["recommend"], ["explore"]]
GROUPS = [["hierarchy"], ["policy"], ["series"]]
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
@pytest.mark.parametrize("layer", ["--help", "--help-all"])
def test_every_help_is_light_and_whole(width: int, layer: str) -> None:
    texts, imported = helps(*([*command, layer] for command in COMMANDS), width=width)
    assert imported == []
    for command, text in zip(COMMANDS, texts, strict=True):
        assert "Usage: setveil" in text, command
        assert max(map(len, text.splitlines())) <= width, command
        assert "…" not in text, command  # nothing is cut
        assert not re.search(r"<(str|int|bool|path|list|float)", text), command
        if command and command not in GROUPS:
            assert re.search(r"^Examples?:", text, re.MULTILINE), command
            assert ("\nGeneral:" in text) == (layer == "--help-all"), command
            assert "--json: setveil --help." in " ".join(text.split()) or layer == "--help-all", command


def test_the_first_help_has_at_most_40_lines() -> None:
    texts, _ = helps(*([*command, "--help"] for command in COMMANDS if command))
    for command, text in zip((command for command in COMMANDS if command), texts, strict=True):
        assert len(text.rstrip().splitlines()) <= 40, command


def test_the_first_help_of_anonymize_shows_what_nearly_everyone_needs() -> None:
    (text,), _ = helps(["anonymize", "--help"])
    assert re.findall(r"^([^\s:]+(?: \w+)*):$", text, re.MULTILINE) == [
        "Examples", "Your data", "The guarantee", "The result",
    ]  # fmt: skip
    assert len(re.findall(r"^  (?:-\w, )?--[a-z]", text, re.MULTILINE)) == 16
    assert text.count("  $ setveil") == 3
    for line in text.split("Your data:")[1].split("All options")[0].splitlines():
        assert not line.startswith("    "), line  # one line for each option


def test_the_whole_help_has_every_option_of_a_command() -> None:
    for command in (["anonymize"], ["verify"], ["attack"], ["series", "add"], ["hierarchy", "build"]):
        (text,), _ = helps([*command, "--help-all"])
        found: Any = app_for(command)
        for name in command:
            found = found.commands[name]
        for one in found.params:
            if one.param_type_name == "option" and not one.hidden:
                assert re.search(rf"(?<![\w-]){max(one.opts, key=len)}(?![\w-])", text), (command, one.opts)


def test_options_of_all_commands_are_in_the_help_of_setveil() -> None:
    (text, one), _ = helps(["--help"], ["anonymize", "--help"])
    for option in ("--json", "--config", "--threads", "--unpacked-limit", "--quiet", "--verbose"):
        assert option in text
        assert option not in one or option == "--json"
    assert re.findall(r"^(\S.*):$", text, re.MULTILINE)[:4] == [
        "Publish", "Understand", "Check and use", "Research and files",
    ]  # fmt: skip


def test_short_help() -> None:
    (long, short), _ = helps(["verify", "--help"], ["verify", "-h"])
    assert long == short


def examples(texts: list[str]) -> list[str]:
    return [line.strip().removeprefix("$ ") for text in texts for line in text.splitlines() if "$ " in line]


def test_examples_are_understood(tmp_path: Path) -> None:
    texts, _ = helps(*([*command, "--help-all"] for command in COMMANDS if command not in SERVING), width=160)
    found = [re.sub(r" [<>]( \S+|$)", "", one) for one in examples(texts)]  # a redirection of the shell
    assert len(found) > 20
    for example, done in zip(
        found, together([shlex.split(line)[1:] for line in found], tmp_path, "P1\n"), strict=True
    ):
        missing = done.code == 4 or "has no release" in done.err  # the files are not there
        assert done.code == 0 or missing, (example, done)
        assert "Traceback" not in done.err, example


def test_panels_of_anonymize() -> None:
    (text,), _ = helps(["anonymize", "--help-all"])
    panels = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert panels[:3] == ["Examples", "Arguments", "Guarantee"]
    assert panels[-5:] == ["Output", "Output: cahd", "Report", "Answer", "General"]
    assert "Algorithm: exact" in panels
    assert "Options" not in panels
    flat = " ".join(text.split())
    assert ", ".join(algorithms.names()) in flat
    assert ", ".join(FORMATS) in flat
    assert "ncp, lm, items, entropy, entropy-max" in flat


def test_help_of_one_algorithm() -> None:
    (text, usual), _ = helps(["anonymize", "-a", "cahd", "--help"], ["anonymize", "--help-all"])
    for option in ("--sensitive", "--alpha", "--p ", "--plot-band"):
        assert option in text
    for option in ("--gap", "--private", "--refine", "--k ", "--qi", "--hierarchy", "--when", "--purpose"):
        assert option not in text
        assert option in usual


def shown_in(text: str) -> set[str]:
    """List the options that a help shows."""
    return {one.replace("-", "_") for one in re.findall(r"^  (?:-\w, )?--([a-z-]+)", text, re.MULTILINE)}


@pytest.mark.parametrize("command", ["anonymize", "attack", "explore"])
def test_options_of_algorithms_are_made_if_a_word_may_name_one(command: str) -> None:
    def made(*words: str) -> set[str]:
        options = app_for([command, "a.csv", *words], whole=False).commands[command].params
        return {word for one in options for word in (*one.opts, *one.secondary_opts)}

    usual, whole = made("-k5", "-m", "2", "--quiet", "--format=fimi"), made("--help-all")
    assert "--algorithm" in usual < whole
    others = sorted(whole - usual)
    assert all(made(word) == made(f"{word}=1") == whole for word in others)
    joined = [["-qh"], ["--config", "a.toml"], ["--config=a.toml"], ["-h"], ["--help"], ["--time-limi", "9"]]
    assert all(made(*words) == whole for words in joined)


def test_help_of_an_algorithm_is_what_it_declares() -> None:
    names = algorithms.names()
    texts, _ = helps(
        *(["anonymize", "--algorithm", name, "--help"] for name in names),
        *(["algorithms", name] for name in names),
    )
    for name, text, described in zip(names, texts[: len(names)], texts[len(names) :], strict=True):
        assert text.rstrip() == described.rstrip()
        info = algorithms.load(name).info
        declared = {*options_of(algorithms.load(name).Parameters)}
        declared |= {option for model in info.guarantees for option in models()[model].options}
        assert declared <= shown_in(text), name
        of_tables = all(models()[model].release == "tables" for model in info.guarantees)
        assert ("qi" in shown_in(text)) == of_tables, name
        assert ("hierarchy" in shown_in(text)) == ("hierarchy" in info.uses), name
        assert info.title in " ".join(text.split())


def test_help_of_a_model_is_what_it_declares() -> None:
    names = list(models())
    texts, _ = helps(*(["anonymize", "--model", name, "--help"] for name in names))
    for name, text in zip(names, texts, strict=True):
        assert {*models()[name].options} <= shown_in(text), name
        assert "objective" not in shown_in(text)
        for one in algorithms.giving(name):
            assert one in text


@pytest.mark.parametrize(
    ("arguments", "missing", "line"),
    [
        ([], "INPUT, --k, --m and --out are missing.", "anonymize setveil-demo-input/baskets.csv"),
        (["x.csv"], "--k, --m and --out are missing.", "anonymize x.csv --k 5 --m 2 --out release"),
        (["x.csv", "-k3"], "--m and --out are missing.", "anonymize x.csv -k3 --m 2 --out release"),
        (
            ["x.csv", "-a", "mm"],
            "--k, --p and --out are missing.",
            "anonymize x.csv -a mm --k 5 --p 2 --out release",
        ),
        (["--out", "o", "-k2", "-m2"], "INPUT is missing.", "setveil-demo-input/products.csv --k 5 --m 2"),
    ],
)
def test_what_is_missing_is_reported_together(
    arguments: list[str], missing: str, line: str, tmp_path: Path
) -> None:
    (done,) = together([["anonymize", *arguments]], tmp_path)
    assert done.code == 2
    assert missing in done.err
    assert line in done.err


def complete(words: str, shell: str = "bash") -> list[str]:
    variables = {"_SETVEIL_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
    variables["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    return [line.partition(",")[2] for line in setveil(env=variables).ok().out.split()]


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
    done = setveil("--show-completion", shell).ok()
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
