"""Each command with a release of facts of one column, and of two: it works, or says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from cli_helpers import files_under, refused, setveil, write

ONE = ("--id-column", "patient", "--set", "code", "--when", "date:month")
TWO = ("--id-column", "patient", "--set", "code:m=2", "--set", "drug:m=1", "--when", "date:month")
MAKE = {
    "one": ("log.csv", *ONE, "-H", "icd.csv", "--k", "5", "--m", "2"),
    "two": ("log.csv", *TWO, "-H", "code=icd.csv", "-H", "drug=atc.csv", "--k", "5"),
}
READ = {"one": ONE, "two": TWO}
PROMISED = {"one": "2", "two": "code=2,drug=1"}
BOTH = ("one", "two")


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a log, hierarchies of its codes and drugs, and a release of each kind."""
    folder = tmp_path_factory.mktemp("ward")
    lines = ["patient,date,code,drug", "41,2024-02-02,N17,C08"]
    for i in range(40):
        lines.append(f"{i},2024-0{1 + i % 2}-03,I50.{i % 2},C07")
        lines += [f"{i},2024-0{1 + i % 4}-1{i % 9},J18.{i % 2},"] if i % 3 else []
        lines += [f"{i},2024-05-11,,C0{i % 3}"] if i % 4 == 0 else []
    write(folder / "log.csv", "\n".join(lines))
    write(folder / "items.csv", "patient,code\n" + "".join(f"{i},I50.{i % 2}\n" for i in range(41)))
    write(folder / "icd.csv", "I50.0;I50;*\nI50.1;I50;*\nJ18.0;J18;*\nJ18.1;J18;*\nN17;N17;*\n")
    write(folder / "atc.csv", "".join(f"C0{i};C;*\n" for i in (0, 1, 2, 7, 8)))
    for name, words in MAKE.items():
        setveil("anonymize", *words, "--out", name, "--external", cwd=folder).ok()
    setveil("series", "init", "ser", "--k", "5", "--m", "2", cwd=folder).ok()
    return folder


@pytest.mark.parametrize("name", BOTH)
def test_what_is_shared_names_each_part_with_its_finest_level(ward: Path, name: str) -> None:
    page = (ward / name / "published" / "report.html").read_text()
    date = "date (month at the finest)" if name == "one" else "date of code (month at the finest)"
    assert "Parts of a fact" in page
    assert ("m = 2 of code, 1 of drug" in page) == (name == "two")
    assert date in page.replace("<bdi>", "").replace("</bdi>", "").replace("<code>", "").replace(
        "</code>", ""
    )


# Commands that work, with NAME, READ and M as placeholders for parts of a release, and words of the answer.
WORKS = [
    (BOTH, "verify NAME --k 5 --m M", "Yes: k^m-anonymity"),
    (BOTH, "verify NAME --k 5 --m 2", "Yes: k^m-anonymity (k=5, m=2) holds"),
    (BOTH, "verify NAME/published/data.csv --k 5 --m M", "holds"),
    (BOTH, "risk NAME", "no row"),
    (BOTH, "risk NAME --original log.csv READ", "codes alone"),
    (BOTH, "risk log.csv READ", "codes alone"),
    (BOTH, "explore log.csv READ --k 5", "share of all facts that keep"),
    (BOTH, "evidence NAME --out NAME.html", "14 sections"),
    (["one"], "query one I50.1@2024-02", "Exactly 20 rows"),
    (["one"], "query one I50.1@*", "at least 20"),
    (["two"], "query two code=I50.1@2024-02", "Exactly 20 rows"),
    (["two"], "query two code=I50.1@* drug=C07", "drug=C07"),
    (["one"], "why one N17@2024-02", "N17@2024-02 is in 1 row, fewer than k = 5"),
    (["one"], "why one I50", "I50@* (2 facts, 40 occurrences) is split already"),
    (["two"], "why two drug=C@2024-05", "Split along drug into drug=C00@2024-05"),
    (["two"], "why two code=N17 --data log.csv", "code=N17@* (1 fact, 1 occurrence) is suppressed"),
    (BOTH, "reconstruct NAME --out drawn-NAME", "It holds"),
    (BOTH, "measure log.csv NAME READ", "LM"),
]


@pytest.mark.parametrize(("names", "words", "answer"), WORKS)
def test_a_command_works(ward: Path, names: list[str], words: str, answer: str) -> None:
    for name in names:
        assert answer in setveil(*filled(words, name), cwd=ward).ok().out


# What does not: the exit code, and words of its one message.
REFUSED = [
    (BOTH, "verify NAME --k 5 --m M --with one", 2, "series"),
    (["one"], "verify one --k 5 --m code=2,drug=1", 2, "'drug', which is no column of codes"),
    (["two"], "query two I50.1@2024-02", 4, "Did you mean 'code=I50.1@2024-02'"),
    (BOTH, "measure log.csv NAME READ --queries 10", 2, "cannot be used for rows of facts"),
    (BOTH, "why NAME Z99@2024-02", 4, "is not the name of a known fact, a published label"),
    (["one"], "why one I50.1@2024-02 --data items.csv", 4, "there is no column 'date'"),
    (["one"], "why one N17 --row 1", 2, "this run is of none"),
    (BOTH, "apply NAME log.csv --out applied", 2, "facts, which are applied to no other rows"),
    (BOTH, "certify NAME", 2, "not of facts"),
    (BOTH, "checker NAME", 2, "does not support this release, of facts"),
    (BOTH, "attack NAME --original log.csv --control log.csv --id-column patient", 4, "classes, facts or"),
    (BOTH, "explore log.csv READ --rho 0.5 --sensitive I50.1", 2, "facts are released under k^m-anonymity"),
    (BOTH, "explore log.csv READ --classes", 2, "makes no cut of a hierarchy"),
    (["two"], "explore log.csv READ --m 2", 2, "m is given twice"),
    (BOTH, "recommend log.csv READ --k 5 --m 2", 2, "--when is about facts, which setveil recommend"),
    (BOTH, "series add ser log.csv READ --out s", 2, "facts, which setveil series add does not read"),
    (
        BOTH,
        "series add ser items.csv --published NAME --name a --id-column patient --item-column code",
        2,
        "facts",
    ),
    (BOTH, "moles log.csv READ --k 5", 2, "--when is about facts, which setveil moles does not read"),
    (["one"], "recommend log.csv --id-column patient --set code:m=2 --k 5 --m 2", 2, "exact proves"),
]


@pytest.mark.parametrize(("names", "words", "code", "reason"), REFUSED)
def test_a_command_says_why_not(ward: Path, names: list[str], words: str, code: int, reason: str) -> None:
    before = files_under(ward)
    for name in names:
        done = setveil(*filled(words, name), cwd=ward)
        assert reason in " ".join(done.err.replace("│", " ").split()), done
        assert done.code == code, done
        assert "Traceback" not in done.err
    assert files_under(ward) == before


# Options of anonymize that facts have not.
OPTIONS = [
    ("--certificate", "not of facts"),
    ("--checker", "does not support this release, of facts"),
    ("--output-format jsonl", "facts are written as csv"),
    ("--engine parts", "read in memory"),
    ("--counts-min 3", "Counts below k = 5"),
    ("--model kkm", "kkm is about tables"),
]


@pytest.mark.parametrize(("option", "reason"), OPTIONS)
def test_an_option_is_refused(ward: Path, option: str, reason: str) -> None:
    for words in MAKE.values():
        done = setveil("anonymize", *words, *option.split(), "--out", "never", cwd=ward)
        refused(done, 2, reason, out=ward / "never")


@pytest.mark.parametrize("option", ["--bound", "--no-counts", "--algorithm aa"])
def test_an_option_is_taken(ward: Path, option: str) -> None:
    for name, words in MAKE.items():
        out = f"{name}{option.replace(' ', '')}"
        setveil("anonymize", *words, *option.split(), "--out", out, cwd=ward).ok()
        counted = "published/counts.csv" in files_under(ward / out)
        assert counted == (option != "--no-counts")
        setveil("verify", out, "--k", "5", "--m", PROMISED[name], cwd=ward).ok()


def test_python_refuses_the_same(ward: Path) -> None:
    for sets in ("code", ["code", "drug"]):
        facts = sv.read_facts(ward / "log.csv", id="patient", sets=sets, when=["date:month"])
        with pytest.raises(sv.RequestError, match="k\\^m-anonymity"):
            sv.explore(facts, rho=[0.5], sensitive=["I50.1"])
        with pytest.raises(sv.RequestError, match="exact proves"):
            sv.recommend(facts, k=5, m=2)


def filled(words: str, name: str) -> list[str]:
    """Put a release into the words of a command."""
    found: list[str] = []
    for word in words.split():
        found += (
            READ[name] if word == "READ" else [PROMISED[name] if word == "M" else word.replace("NAME", name)]
        )
    return found


def test_python_asks_why(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = sv.read_facts(
        ward / "log.csv", id="patient", sets={"code": {"m": 2}, "drug": {"m": 1}}, when=["date:month"]
    )
    trees = {"code": ward / "icd.csv", "drug": ward / "atc.csv"}
    release = sv.anonymize(facts, k=5, hierarchy=trees)
    monkeypatch.chdir(ward)
    for answer in (
        sv.why(release, "drug=C", data=facts, hierarchy=trees),
        sv.why(ward / "two", "drug=C"),
        sv.why("two", "drug=C@*", data=facts, hierarchy=trees),
    ):
        assert answer["question"] == "split already"
        assert answer["unit"] == "fact"
    assert sv.why("two", "drug=C00@2024-05")["label"] == "drug=C@2024-05"
    with pytest.raises(sv.DataError, match="how the facts were read"):
        sv.why(release, "drug=C")
    with pytest.raises(sv.DataError, match="its data were read as rows of items"):
        sv.why(release, "drug=C", data=[["a"]])
    with pytest.raises(sv.DataError, match="not the rows of the run"):
        sv.why(release, "drug=C", data=facts.rows_at(np.arange(3)), hierarchy=trees)
    with pytest.raises(sv.RequestError, match="of which column of codes"):
        sv.why("two", "drug=C", hierarchy=ward / "icd.csv")


@pytest.mark.parametrize("name", BOTH)
def test_python_refuses_what_takes_no_release_of_facts(ward: Path, name: str) -> None:
    sets = ["code", "drug"] if name == "two" else "code"
    facts = sv.read_facts(ward / "log.csv", id="patient", sets=sets, when=["date:month"])
    with pytest.raises(sv.RequestError, match="facts, which are applied to no other rows"):
        sv.apply(ward / name, facts)
    with pytest.raises(sv.RequestError, match="not of facts"):
        sv.certify(ward / name)
    with pytest.raises(sv.RequestError, match="not of facts"):
        sv.anonymize(facts, k=5, m=1, certificate=True)
