"""Bad input of the other privacy models: the right exit code, one clear message, nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_helpers import Done, files_under, refused, together, write
from model_runs import BAD_CONSTRAINTS, INPUTS

ANONYMIZE = "anonymize coat.csv --out OUT -a "
CONSTRAINTS = ANONYMIZE + "coat --k 5 --privacy P.txt "
BORDER = ANONYMIZE + "border --h 0.5 --k 2 --p 2 "
RHO = "anonymize coat.csv --out OUT "
CAHD = ANONYMIZE + "cahd --p 2 --sensitive b "
MANY = "".join(f"a,item{i}\n" for i in range(500))
BAD: dict[str, tuple[str, int, list[str]]] = {
    # Options that a model lacks or does not know.
    "lg with m": (ANONYMIZE + "lg --k 2 --m 2", 2, ["k-anonymity", "--m", "--k"]),
    "lg without k": (ANONYMIZE + "lg", 2, ["k-anonymity needs --k"]),
    "lg with k of 1": (ANONYMIZE + "lg --k 1", 2, ["k must be", "got 1"]),
    "hghs without m": (ANONYMIZE + "hghs --k 2", 2, ["needs --m"]),
    "mhghs without k and m": (ANONYMIZE + "mhghs", 2, ["needs --k, --m"]),
    "hghs with p": (ANONYMIZE + "hghs --k 2 --m 2 --p 3", 2, ["has no --p"]),
    "aa with private items": (ANONYMIZE + "aa --k 2 --m 2 --private a", 2, ["has no --private"]),
    "coat without constraints": (ANONYMIZE + "coat --k 2 --m 2", 2, ["needs --privacy"]),
    "coat without k": (ANONYMIZE + "coat --privacy P.txt", 2, ["needs --k"]),
    "coat, all of no size": (ANONYMIZE + "coat --k 2 --privacy all", 2, ["--privacy all needs --m"]),
    "coat, all of size 0": (ANONYMIZE + "coat --k 2 --privacy all --m 0", 2, ["m must be", "got 0"]),
    "coat, all of size x": (ANONYMIZE + "coat --k 2 --privacy all --m x", 2, ["--m", "'x'"]),
    "coat, a size and a file": (CONSTRAINTS + "--m 2", 2, ["--m", "--privacy all"]),
    "coat, a size and pgen": (ANONYMIZE + "coat --k 2 --privacy pgen --m 2", 2, ["--m", "--privacy all"]),
    "coat with k of 1": (ANONYMIZE + "coat --k 1 --privacy P.txt", 2, ["k must be", "got 1"]),
    "border without h": (ANONYMIZE + "border --k 2 --p 2 --private a", 2, ["h is needed"]),
    "border with m": (ANONYMIZE + "border --h 0.5 --k 2 --p 2 --m 2", 2, ["has no --m"]),
    "mm with sensitive items": (ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --sensitive b", 2, ["--sensitive"]),
    "aa with rho": (ANONYMIZE + "aa --k 2 --m 2 --rho 0.2 --sensitive b", 2, ["has no --rho", "km-rho"]),
    "mm, watching": (ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --sensitive b", 2, ["coherence has no --sensitive"]),
    "watching without details": (
        ANONYMIZE + "aa --k 2 --m 2 --sensitive b --no-details", 2, ["details only", "--no-details"],
    ),
    "rho without sensitive items": (RHO + "--rho 0.2", 2, ["rho-uncertainty needs --sensitive"]),
    "rho, k and m without sensitive items": (RHO + "--rho 0.2 --k 2 --m 2", 2, ["km-rho needs --sensitive"]),
    "rho and k without m": (RHO + "--rho 0.2 --k 2 --sensitive b", 2, ["km-rho needs --m"]),
    "rho-uncertainty with k": (
        RHO + "--model rho-uncertainty --rho 0.2 --k 2 --sensitive b", 2, ["rho-uncertainty has no --k"],
    ),
    "rho-uncertainty with what is known": (
        RHO + "--model rho-uncertainty --rho 0.2 --sensitive b --knows any", 2,
        ["rho-uncertainty has no --knows", "--rho, --sensitive"],
    ),
    "what is known, without k and m": (RHO + "--rho 0.2 --sensitive b --knows any", 2, ["needs --k, --m"]),
    "nobody knows so": (RHO + "--rho 0.2 --k 2 --m 2 --sensitive b --knows all", 2, ["'all'", "public, any"]),
    "cahd without p": (ANONYMIZE + "cahd --sensitive b", 2, ["privacy-degree needs --p"]),
    "cahd without sensitive items": (ANONYMIZE + "cahd --p 2", 2, ["--sensitive", "--sensitive-random"]),
    "cahd with k": (CAHD + "--k 3", 2, ["has no --k"]),
    "cahd, named and drawn": (CAHD + "--sensitive-random 2", 2, ["--sensitive", "--sensitive-random"]),
    "no such algorithm": (ANONYMIZE + "pgen --k 2", 2, ["'pgen'", "coat", "cahd"]),
    # Options of another algorithm.
    "coat's option for aa": (ANONYMIZE + "aa --k 2 --m 2 --utility U.txt", 2, ["utility"]),
    "coat's default for aa": (ANONYMIZE + "aa --k 2 --m 2 --utility any", 2, ["utility"]),
    "border's option for mm": (ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --k-nugget 3", 2, ["mm has no"]),
    "cahd's option for lg": (ANONYMIZE + "lg --k 2 --alpha 3", 2, ["lg has no"]),
    "refine for lg": (ANONYMIZE + "lg --k 2 --refine", 2, ["lg has no", "refine"]),
    "bound for cahd": (CAHD + "--bound", 2, ["bound"]),
    "a format for groups": (CAHD + "--output-format jsonl", 2, ["--output-format"]),
    # Parameters.
    "h of 2": (ANONYMIZE + "border --h 2 --k 2 --p 2", 2, ["h must be", "'2'"]),
    "h of 0": (ANONYMIZE + "border --h 0 --k 2 --p 2", 2, ["h must be", "'0'"]),
    "h of 101%": (ANONYMIZE + "mm --h 101% --k 2 --p 2", 2, ["h must be", "'101%'"]),
    "no h for a private item": (ANONYMIZE + "mm --k 2 --p 2 --private a", 2, ["h is needed"]),
    "h of abc": (ANONYMIZE + "mm --h abc --k 2 --p 2", 2, ["h must be", "'abc'"]),
    "h of nan": (ANONYMIZE + "mm --h nan --k 2 --p 2", 2, ["h must be", "'nan'"]),
    "rho of 0": (RHO + "--rho 0 --sensitive b", 2, ["rho must be", "above 0 and at most 1", "'0'"]),
    "rho of 1.5": (RHO + "--rho 1.5 --k 2 --m 2 --sensitive b", 2, ["rho must be", "at most 1", "'1.5'"]),
    "rho of x": (RHO + "--rho x --k 2 --m 2 --sensitive b", 2, ["rho must be", "at most 1", "'x'"]),
    "p of abc": (ANONYMIZE + "border --h 0.5 --k 2 --p abc", 2, ["--p", "'abc'", "inf"]),
    "p of 0": (ANONYMIZE + "border --h 0.5 --k 2 --p 0", 2, ["p must be", "got 0"]),
    "k of 0": (ANONYMIZE + "border --h 0.5 --k 0 --p 1", 2, ["k must be", "got 0"]),
    "nuggets of no row": (BORDER + "--k-nugget 0", 2, ["nugget", "got 0"]),
    "nuggets of x items": (BORDER + "--p-nugget x", 2, ["--p-nugget", "'x'"]),
    "degree of 1": (ANONYMIZE + "cahd --p 1 --sensitive b", 2, ["p must be", "2", "got 1"]),
    "degree of abc": (ANONYMIZE + "cahd --p abc --sensitive b", 2, ["--p", "'abc'"]),
    "degree of inf": (ANONYMIZE + "cahd --p inf --sensitive b", 2, ["--p", "'inf'"]),
    "alpha of 0": (CAHD + "--alpha 0", 2, ["alpha", "got 0"]),
    "200 per cent": (CONSTRAINTS + "--max-suppressed-items 200%", 2, ["100%", "'200%'"]),
    "less than nothing": (CONSTRAINTS + "--max-suppressed-items -1%", 2, ["0%", "'-1%'"]),
    "no share": (CONSTRAINTS + "--max-suppressed-items abc", 2, ["'abc'"]),
    # Items.
    "unknown private item": (BORDER + "--private zz", 4, ["'zz'", "not in the data"]),
    "unknown private items": (BORDER + "--private a,zz,yy", 4, ["2 items", "'zz'", "'yy'"]),
    "file of unknown private items": (BORDER + "--private S.txt", 4, ["S.txt", "'1', '2', '3'"]),
    "unknown sensitive item": (ANONYMIZE + "cahd --p 2 --sensitive zz", 4, ["'zz'", "not in the data"]),
    "missing file of sensitive items": (ANONYMIZE + "cahd --p 2 --sensitive no.txt", 4, ["'no.txt'", "file"]),
    "unknown item to watch": (ANONYMIZE + "aa --k 2 --m 2 --sensitive zz", 4, ["'zz'", "not in the data"]),
    "unknown sensitive item with rho": (RHO + "--rho 0.2 --sensitive b,zz", 4, ["'zz'", "not in the data"]),
    "missing file of sensitive items with rho": (
        RHO + "--rho 0.2 --k 2 --m 2 --sensitive no.txt", 4, ["'no.txt'", "file"],
    ),
    "only sensitive items with rho": (
        RHO + "--rho 0.2 --sensitive a,b,c,d,e,f,g,h", 2, ["All 8 items", "sensitive"],
    ),
    "only sensitive items with rho, k and m": (
        RHO + "--rho 0.2 --k 2 --m 2 --sensitive a,b,c,d,e,f,g,h", 2, ["All 8 items", "sensitive"],
    ),
    "no sensitive item": (ANONYMIZE + "cahd --p 2 --sensitive ,", 2, ["No sensitive item"]),
    "only sensitive items": (ANONYMIZE + "cahd --p 2 --sensitive a,b,c,d,e,f,g,h", 2, ["All 8 items"]),
    "too many drawn": (ANONYMIZE + "cahd --p 3 --sensitive-random 9", 2, ["9", "only 1", "p = 3"]),
    # Guarantees that no release can keep.
    "private item too frequent": (
        ANONYMIZE + "mm --h 0.5 --k 2 --p 2 --private c", 3, ["'c'", "6 of 10 rows", "h = 0.5", "0.6"],
    ),
    "private items too frequent": (
        ANONYMIZE + "border --h 0.3 --k 2 --p 2 --private h,c,b", 3, ["'c'", "most frequent of 2", "0.6"],
    ),
    "more than all rows": (
        ANONYMIZE + "border --h 0.5 --k 11 --p 1", 3, ["10 rows", "greatest possible k", "10"],
    ),
    "sensitive item too frequent": (
        ANONYMIZE + "cahd --p 4 --sensitive b", 3, ["'b'", "3 of 10 rows", "greatest p", "is 3"],
    ),
    "sensitive items too frequent": (
        ANONYMIZE + "cahd --p 4 --sensitive b,h", 3, ["'h'", "4 of 10 rows", "greatest p", "is 2"],
    ),
    "sensitive item in most rows": (ANONYMIZE + "cahd --p 2 --sensitive c", 3, ["'c'", "6 of 10", "No p"]),
    "too few rows for constraints": (
        ANONYMIZE + "coat --k 11 --privacy P.txt", 3, ["10 rows", "greatest possible k", "10"],
    ),
    "unreachable threshold": (
        CONSTRAINTS + "--utility U.txt --max-suppressed-items 5%", 3,
        ["constraint 3", "'d'", "5%", "12.5%", "1 of the 8 items"],
    ),
    "no suppression at all": (CONSTRAINTS + "--utility U.txt", 3, ["constraint 3", "'d'", "0%"]),
    "too few empty rows": (
        "anonymize empty-rows.csv --out OUT -a lg --k 3", 3, ["1", "contain none", "3", "row without items"],
    ),
    "too few rows with items": (
        ANONYMIZE + "lg --k 11", 3, ["10 contain items", "greatest possible k", "10"],
    ),
    # Files of constraints and hierarchies.
    "unknown item in a privacy constraint": (
        ANONYMIZE + "coat --k 5 --privacy bad.txt", 4, ["bad.txt", "line 2", "no item", "line 3", "'zz'"],
    ),
    "an item in two groups": (
        CONSTRAINTS + "--utility overlap.txt", 4,
        ["overlap.txt", "line 2", "'b'", "line 1", "line 3", "'zz'", "line 4"],
    ),
    "many unknown items": (ANONYMIZE + "coat --k 5 --privacy many.txt", 4, ["500 problems", "495 more"]),
    "missing privacy constraints": (ANONYMIZE + "coat --k 5 --privacy no.txt", 4, ["no.txt"]),
    "missing utility constraints": (CONSTRAINTS + "--utility no.txt", 4, ["no.txt"]),
    "siblings of no hierarchy": (CONSTRAINTS + "--utility siblings", 2, ["siblings", "--hierarchy"]),
    "groups of no hierarchy": (CONSTRAINTS + "--utility groups:2", 2, ["groups:2", "--hierarchy"]),
    "groups of no size": (CONSTRAINTS + "--utility groups -H letters.csv", 2, ["groups:SIZE", "integer"]),
    "groups of size x": (CONSTRAINTS + "--utility groups:x -H letters.csv", 2, ["groups", "'x'"]),
    "groups of size 0": (CONSTRAINTS + "--utility groups:0 -H letters.csv", 2, ["size", "got 0"]),
    "no such level": (CONSTRAINTS + "--utility siblings:3 -H letters.csv", 2, ["level", "0", "2", "got 3"]),
    "a hierarchy of other items": (CONSTRAINTS + "-H tree.csv", 4, ["8 of 8 items", "'a'"]),
    # Other commands.
    "no such model": ("verify coat.csv --model nonsense --k 2", 2, ["'nonsense'", "coherence"]),
    "an original for another model": (
        "verify coat.csv --model k-anonymity --k 2 --original coat.csv", 2, ["--original", "k-anonymity"],
    ),
    "a recoding for another model": (
        "verify coat.csv --model k-anonymity --k 2 --recoding U.txt", 2, ["--recoding", "k-anonymity"],
    ),
    "verify with m": ("verify coat.csv --model k-anonymity --k 2 --m 2", 2, ["has no --m"]),
    "verify without constraints": ("verify coat.csv --model constraints --k 2", 2, ["needs --privacy"]),
    "verify pgen": ("verify coat.csv --model constraints --k 2 --privacy pgen", 2, ["policy pgen"]),
    "verify an unknown private item": (
        "verify coat.csv --model coherence --h 0.5 --k 2 --p 2 --private zz", 4, ["'zz'"],
    ),
    "verify rho without sensitive items": (
        "verify coat.csv --rho 0.2", 2, ["rho-uncertainty needs --sensitive", "about.json"],
    ),
    "verify rho, k and m without sensitive items": (
        "verify FINISHED/coat --rho 0.2 --k 2 --m 2", 2, ["km-rho needs --sensitive", "about.json"],
    ),
    "verify rho of 2": ("verify coat.csv --rho 2 --sensitive b", 2, ["rho must be", "at most 1", "'2'"]),
    "verify rho with unknown items": ("verify coat.csv --rho 0.2 --sensitive z", 4, ["'z'", "not in"]),
    "verify rho with a missing file": (
        "verify coat.csv --rho 0.2 --k 2 --m 2 --sensitive no.txt", 4, ["'no.txt'", "file"],
    ),
    "verify, watching": ("verify coat.csv --k 2 --m 2 --sensitive b", 2, ["km-anonymity has no --sensitive"]),
    "verify baskets as groups": (
        "verify coat.csv --model privacy-degree --p 2", 4, ["coat.csv", "groups.csv"],
    ),
    "verify groups as rows": ("verify FINISHED/cahd --k 2 --m 2", 4, ["groups, not", "`setveil verify"]),
    "verify groups as rows, published": (
        "verify FINISHED/cahd/published --model k-anonymity --k 2", 4, ["groups, not", "`setveil verify"],
    ),
    "verify groups as rows, the file": (
        "verify FINISHED/cahd/published/data.csv --k 2 --m 2", 4, ["groups, not", "`setveil verify"],
    ),
    "verify rows as a table": ("verify FINISHED/lg --model kkm --k 2 --m 2", 4, ["single rows, not a table"]),
    "verify rows as chunks": (
        "verify FINISHED/lg --model disassociated --k 2 --m 2", 4, ["single rows, not rows in chunks"],
    ),
    "verify rows as groups": (
        "verify FINISHED/lg --model privacy-degree --p 2 --sensitive a", 4, ["not rows published in groups"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Done]]:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in INPUTS.items():
        write(folder / name, content)
    for name, content in BAD_CONSTRAINTS.items():
        write(folder / name, content)
    write(folder / "many.txt", MANY)
    write(folder / "empty-rows.csv", "a,b\na,b\na,b\na,b\n\na\na\na\na\n")
    write(folder / "letters.csv", "".join(f"{x};{'low' if x < 'd' else 'high'};*\n" for x in "abcdefgh"))
    commands = [
        [word.replace("OUT", f"out{i}").replace("FINISHED", str(finished[0])) for word in line.split()]
        for i, (line, _, _) in enumerate(BAD.values())
    ]
    before = files_under(folder)
    done = together(commands, folder)
    assert {name for name in files_under(folder) - before if not name.startswith("out")} == set()
    return folder, dict(zip(BAD, done, strict=True))


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, answers: tuple[Path, dict[str, Done]]) -> None:
    _, code, words = BAD[name]
    folder, done = answers
    refused(done[name], code, *words, out=folder / f"out{list(BAD).index(name)}")


def test_the_command_in_a_hint_works(answers: tuple[Path, dict[str, Done]]) -> None:
    """Check that the command in the hint shows all problems of the file."""
    folder, done = answers
    hints = []
    for name in ("unknown item in a privacy constraint", "an item in two groups"):
        hint = re.search(r"`setveil (policy check .*?)`", done[name].err.replace("\n", " "))
        assert hint, done[name].err
        hints.append(hint[1].replace("DATA", "coat.csv").split())
    for words, answer in zip(hints, together(hints, folder), strict=True):
        assert answer.code == 4, (words, answer)
        assert "line 2" in answer.out, (words, answer)
