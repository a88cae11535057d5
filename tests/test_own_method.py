"""Methods of one's own: the example of the page, files that are no algorithm, other packages."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from importlib.metadata import EntryPoint
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import COMMAND, HIERARCHY, environment, setveil, write
from setveil.base import plugins
from setveil.base.errors import DataError, GuaranteeError, RequestError
from setveil.judges import guarantees, utility
from setveil.judges.guarantees import model_named, models
from setveil.judges.utility import measures
from setveil.methods import algorithms
from setveil.work.studies.compare.plan import Run
from setveil.work.studies.compare.study import read_study

PAGE = Path(__file__).parents[1] / "docs" / "own_method.md"
ROWS = [["101", "102"], ["101", "103"], ["102", "103"], ["104"], ["104", "101"], ["105", "106"], ["106"]] * 3


def example(file: str = "one_level.py") -> str:
    found = re.search(rf"```python {re.escape(file)}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(autouse=True)
def _no_files_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_files", {})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "one_level.py", example())
    write(tmp_path / "rows.csv", "".join(f"{','.join(row)}\n" for row in ROWS))
    write(tmp_path / "tree.csv", HIERARCHY)
    return tmp_path


def level_of(tree: sv.Hierarchy, k: int, m: int) -> int:
    """Find the lowest level at which all sets of at most m labels are in k rows, from paths of labels."""
    paths = {path[0]: path[::-1] for path in tree.paths()}
    for level in range(tree.height, -1, -1):
        rows = [{paths[item][: level + 1][-1] for item in row} for row in ROWS]
        held = Counter(
            known for row in rows for size in range(1, m + 1) for known in combinations(sorted(row), size)
        )
        if min(held.values()) >= k:
            return level
    raise AssertionError


@pytest.mark.parametrize(("k", "m"), [(2, 1), (2, 2), (5, 2), (10, 1), (21, 3)])
def test_the_example_does_what_it_says(place: Path, k: int, m: int) -> None:
    tree = sv.read_hierarchy(place / "tree.csv")
    release = sv.anonymize(
        ROWS, sv.KmAnonymity(k, m), hierarchy=tree, algorithm=str(place / "one_level.py"), details=False
    )
    assert release.verdict.holds
    assert release.details["level"] == level_of(tree, k, m)
    assert release.report["algorithm"]["origin"].keys() == {"file", "sha256", "minimizes"}


def test_it_has_about_forty_lines() -> None:
    assert len(example().splitlines()) <= 42


def test_on_the_command_line(place: Path) -> None:
    words = ["rows.csv", "-H", "tree.csv", "-a", "one_level.py", "-k", 2, "-m", 2]
    said = setveil("anonymize", *words, "--deepest", 1, "--out", "out", "-v", cwd=place).ok().out
    assert "One level for all" in said
    report = json.loads((place / "out/internal/report.json").read_text())
    assert report["algorithm"]["name"] == "one-level"
    assert report["algorithm"]["parameters"] == {"deepest": 1}
    assert report["algorithm"]["origin"]["file"] == "one_level.py"
    assert report["options"]["algorithm"] == "one_level.py"
    repeated = ["anonymize", "--config", "out/internal/report.json", "--out", "again"]
    refused = setveil(*repeated, cwd=place)
    assert refused.code == 2
    assert "--algorithm one_level.py" in refused.err
    setveil(*repeated, "--algorithm", "one_level.py", cwd=place).ok()
    assert (place / "again/published/data.csv").read_bytes() == (
        place / "out/published/data.csv"
    ).read_bytes()
    assert setveil("verify", "out", "--k", 2, "--m", 2, cwd=place).ok().out.startswith("Yes")
    shown = setveil("anonymize", "-a", "one_level.py", "--help", cwd=place).ok().out
    assert "--deepest" in shown
    assert "--gap" not in shown
    assert setveil("anonymize", *words, "--deepest", -1, "--out", "x", cwd=place).code == 2
    assert not (place / "x").exists()


def test_later_commands_do_not_need_the_file(place: Path) -> None:
    words = ["rows.csv", "-H", "tree.csv", "-a", "one_level.py", "-k", 2, "-m", 2]
    setveil("anonymize", *words, "--out", "out", cwd=place).ok()
    (place / "one_level.py").unlink()
    assert "101" in setveil("why", "out", "101", cwd=place).ok().out
    write(place / "new.csv", "".join(f"{','.join(row)}\n" for row in ROWS[:12]))
    setveil("apply", "out", "new.csv", "--repair", "--out", "applied", cwd=place).ok()
    assert setveil("verify", "applied", "--k", 2, "--m", 2, cwd=place).ok().out.startswith("Yes")


def test_a_file_is_run_by_no_other_command(place: Path) -> None:
    write(place / "loud.py", "print('executed')\n")
    for command in ("verify", "compare"):
        assert "executed" not in setveil(command, "rows.csv", "-a", "loud.py", cwd=place).out


TRAP = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
STUDY = 'name = "s"\ndata = [{path = "rows.csv"}]\nk = 2\nm = 1\nalgorithms = ["mine.py"]\n'
PLUGIN = 'plugins = ["mine.py"]\n' + STUDY.replace("mine.py", "aa")
TYPED = ["rows.csv", "-k", 2, "-m", 1, "-o", "out"]
FROM_FILES: dict[str, list[object]] = {
    "settings": ["anonymize", *TYPED, "--config", "settings.toml"],
    "a record": ["anonymize", *TYPED, "--config", "report.json"],
    "settings, with help": ["anonymize", "--config", "settings.toml", "--help"],
    "settings of explore": ["explore", "rows.csv", "--config", "settings.toml"],
    "settings of recommend": ["recommend", "rows.csv", "-k", 2, "-m", 1, "--config", "settings.toml"],
    "settings of the series": ["series", "plan", "s", "rows.csv", "--config", "settings.toml"],
    "settings that name a study": ["compare", "--config", "study-of.toml"],
    "settings with a plug-in": ["verify", "rows.csv", "-k", 2, "-m", 1, "--config", "plugin.toml"],
    "a record with a plug-in": ["anonymize", *TYPED, "--config", "plugin.json"],
    "settings that name a study with a plug-in": ["compare", "--config", "plugin-study-of.toml"],
    "a list of studies": ["compare", "--config", "study-of.toml", "--dry-run"],
}


@pytest.fixture
def trap(place: Path) -> Path:
    write(place / "mine.py", TRAP)
    write(place / "settings.toml", 'algorithm = "mine.py"\n')
    write(place / "report.json", '{"options": {"algorithm": "mine.py"}}')
    write(place / "study.toml", STUDY)
    write(place / "study-of.toml", 'study = "study.toml"\nout = "s"\n')
    write(place / "plugin.toml", 'plugin = "mine.py"\n')
    write(place / "plugin.json", '{"options": {"plugin": "mine.py"}}')
    write(place / "plugin-study.toml", PLUGIN)
    write(place / "plugin-study-of.toml", 'study = "plugin-study.toml"\nout = "s"\n')
    return place


@pytest.mark.parametrize("case", FROM_FILES)
def test_no_file_runs_code(trap: Path, case: str) -> None:
    done = setveil(*FROM_FILES[case], cwd=trap)
    assert done.code in {2, 3}, done
    assert "Traceback" not in done.err
    assert not (trap / "mine.ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["anonymize", *TYPED, "-a", "mine.py"],
        ["compare", "study.toml", "-o", "s"],
        ["verify", "rows.csv", "-k", 2, "-m", 1, "--plugin", "mine.py"],
        ["compare", "plugin-study.toml", "-o", "s"],
    ],
)
def test_what_is_typed_runs_but_not_from_the_studio(trap: Path, words: list[object]) -> None:
    steering, _open = os.pipe()  # its other end stays open, as that of the studio does
    refused = subprocess.run(
        [*COMMAND, *map(str, words)], cwd=trap, env=environment({"SETVEIL_WATCHED": "inf"}), stdin=steering,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    os.close(steering)
    os.close(_open)
    assert refused.returncode == 2
    assert (
        "executes only programs that you name yourself"
        in json.loads(refused.stderr.splitlines()[-1])["error"]["message"]
    )
    assert not (trap / "mine.ran").exists()
    setveil(*words, cwd=trap)
    assert (trap / "mine.ran").exists()


def test_python_runs_what_the_caller_names_and_nothing_else(trap: Path) -> None:
    from setveil.runs.request import named_algorithm

    with pytest.raises(RequestError, match="executes only programs that you name yourself"):
        algorithms.named(trap / "mine.py")
    with pytest.raises(RequestError, match="executes only"):
        named_algorithm(str(trap / "mine.py"))
    with pytest.raises(RequestError, match="executes only"):
        read_study(trap / "study.toml")
    assert not (trap / "mine.ran").exists()
    for call in (
        lambda: sv.anonymize(ROWS, k=2, m=1, algorithm=str(trap / "mine.py")),
        lambda: sv.explore(ROWS, algorithm=str(trap / "mine.py")),
        lambda: sv.compare(trap / "study.toml", trap / "s"),
    ):
        (trap / "mine.ran").unlink(missing_ok=True)
        with pytest.raises(RequestError, match="is no algorithm"):
            call()
        assert (trap / "mine.ran").exists()


def test_in_a_study(place: Path) -> None:
    text = 'name = "s"\ndata = [{path = "rows.csv", hierarchy = "tree.csv"}]\nk = 2\nm = 2\n'
    text += '[[runs]]\nalgorithms = ["aa", "one_level.py"]\n'
    text += '[[runs]]\nalgorithms = ["one_level.py"]\ndeepest = [0, 1]\n'
    write(place / "study.toml", text)
    done = setveil("compare", "study.toml", "--out", "s", cwd=place).ok()
    assert "Report" in done.out
    table = (place / "s/results.csv").read_text().splitlines()
    assert [line.split(",")[3] for line in table[1:]] == [
        "aa", "one-level", "one-level deepest=0", "one-level deepest=1",
    ]  # fmt: skip
    assert all(",done," in line for line in table[1:])
    references = (place / "s/references.bib").read_text()
    assert "title = {One level for all}" in references
    assert references.count("@") == 3  # setveil, the paper of aa, the example
    assert "One level for all" in (place / "s/report.html").read_text()

    def mine() -> Run:
        return next(
            run for run in read_study(place / "study.toml", trusted=True).runs if run.algorithm == "one-level"
        )

    before = mine().id
    assert mine().id == before
    write(place / "one_level.py", example() + "# another\n")
    assert mine().id != before


def test_a_file_that_changes_meanwhile_is_refused(place: Path) -> None:
    from setveil.work.studies.compare.worker import _run

    text = 'name = "s"\ndata = [{path = "rows.csv", hierarchy = "tree.csv"}]\nk = 2\nm = 2\n'
    text += 'algorithms = ["one_level.py"]\n'
    (run,) = read_study(write(place / "study.toml", text), trusted=True).runs
    task = run.task()
    write(place / "one_level.py", example() + "# another\n")
    with pytest.raises(RequestError, match="was changed while the study ran"):
        _run(task, {})


LIAR = example().replace("if min(held.values(), default=guarantee.k) >= guarantee.k:", "if True:")


def test_a_method_that_lies_is_found_out(place: Path) -> None:
    tree = sv.read_hierarchy(place / "tree.csv")
    write(place / "liar.py", LIAR)
    with pytest.raises(GuaranteeError):
        sv.anonymize(ROWS, sv.KmAnonymity(5, 2), hierarchy=tree, algorithm=str(place / "liar.py"))
    refused = setveil(
        "anonymize", "rows.csv", "-H", "tree.csv", "-a", "liar.py", "-k", 5, "-m", 2, "-o", "out", cwd=place
    )
    assert refused.code == 1
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("aa.py", "", r"aa\.py would be called aa, as an algorithm is already"),
        ("suppress_control.py", "", "would be called suppress-control"),
        ("My_Own.py", "", "the file's name is the algorithm's, and 'My_Own' cannot be one"),
        ("_hidden.py", "", "cannot be one"),
        ("broken.py", "x = 1 / 0", r"broken\.py cannot be loaded: ZeroDivisionError"),
        ("typo.py", "def f(:", r"typo\.py cannot be loaded: SyntaxError"),
        ("nothing.py", "", "is no algorithm: it must contain info, an AlgorithmInfo"),
        ("plain.py", example().replace("@dataclass(frozen=True)\n", ""), "must contain Parameters, a frozen"),
        (
            "undeclared.py",
            re.sub(r'parameter\(Integer.*\)', "20", example()),
            r"fields are each a parameter\(...\) with a default, also deepest",
        ),
        ("four.py", example().replace("parameters, progress):", "parameters):"), r"contain anonymize\(data"),
        ("kind.py", example().replace('needs=("hierarchy",)', 'needs=(), recoding="wild"'), "not 'wild'"),
    ],
)  # fmt: skip
def test_files_that_are_no_algorithm(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(RequestError, match=message):
        algorithms.named(path, trusted=True)
    assert path.stem.replace("_", "-") not in algorithms.names() or path.stem in {"aa", "suppress_control"}


def test_files_that_are_not_there_or_have_one_name(place: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.py cannot be read"):
        algorithms.named(place / "gone.py", trusted=True)
    assert algorithms.named(place / "one_level.py", trusted=True) == "one-level"
    assert "one-level" in algorithms.names()
    (place / "other").mkdir()
    write(place / "other" / "one_level.py", example())
    with pytest.raises(RequestError, match="would be called one-level, as that of"):
        algorithms.named(place / "other" / "one_level.py", trusted=True)


def offered(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    found = [EntryPoint(name, value, algorithms.GROUP) for name, value in entries]
    monkeypatch.setattr(plugins, "entry_points", lambda group: found if group == algorithms.GROUP else [])
    algorithms.installed.cache_clear()


def forget() -> None:
    """Let packages be asked again what they offer."""
    for cache in (
        algorithms.installed, guarantees._models, guarantees._modules, guarantees._further, utility._measures,
    ):  # fmt: skip
        cache.cache_clear()


@pytest.fixture
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> object:
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("_forgotten")
def test_packages_offer_algorithms(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(place))
    offered(monkeypatch, ("their-level", "one_level"), ("torn", "no_such_module"))
    assert {"their-level", "torn"} <= set(algorithms.names())
    assert "their-level" in algorithms.giving("km-anonymity")
    assert "torn" not in algorithms.modules()
    with pytest.raises(
        RequestError, match=r"torn of the package no_such_module cannot be loaded: ModuleNotFound"
    ):
        algorithms.load("torn")
    tree = sv.read_hierarchy(place / "tree.csv")
    release = sv.anonymize(ROWS, sv.KmAnonymity(2, 2), hierarchy=tree, algorithm="their-level", details=False)
    assert release.report["algorithm"]["origin"] == {"package": "one_level", "minimizes": "ncp"}


@pytest.mark.usefixtures("_forgotten")
def test_packages_may_not_take_names(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, ("exact", "one_level"))
    with pytest.raises(RequestError, match="offers an algorithm exact, which setveil has already"):
        algorithms.names()
    offered(monkeypatch, ("theirs", "a"), ("theirs", "b"))
    with pytest.raises(RequestError, match="offers an algorithm theirs, which a offers, too"):
        algorithms.names()


@pytest.mark.parametrize("name", algorithms.names())
def test_papers_are_those_of_the_references(name: str) -> None:
    info = algorithms.load(name).info
    for doi in re.findall(r"doi:(\S+?)(?=[,;.]?(?:\s|$))", info.reference):
        assert f"doi = {{{doi}}}" in info.bibtex
    entries = algorithms.bibtex([name])
    assert entries.startswith("@software{setveil,")
    keys = re.findall(r"^@\w+\{([^,]+),$", entries, re.MULTILINE)
    assert len(set(keys)) == len(keys) == entries.count("\n@") + 1
    assert entries.count("{") == entries.count("}")


def test_what_is_cited_is_that_of_the_citation_file() -> None:
    text = (PAGE.parents[1] / "CITATION.cff").read_text("utf-8")
    assert "preferred-citation:" in text
    assert text.count(f"version: {sv.__version__}") == 2
    title = re.search(r'title: "setveil: (.*)"', text)
    assert title is not None
    assert title[1] in algorithms.bibtex([])


DRAWN = """
    seed: int = parameter(Integer(0), "Draws.", default=0)
"""


@pytest.fixture
def drawing(place: Path) -> Path:
    """A method that declares a seed, and says which it got."""
    text = example().replace("default=20)\n", f"default=20){DRAWN}", 1)
    write(place / "drawing.py", text.replace('{"level": level}', '{"level": parameters.seed}'))
    return place


def test_a_seed_that_is_declared_is_that_of_the_run(drawing: Path) -> None:
    words = ["rows.csv", "-H", "tree.csv", "-a", "drawing.py", "-k", 2, "-m", 2, "--out", "out", "--seed", 5]
    setveil("anonymize", *words, cwd=drawing).ok()
    record = json.loads((drawing / "out/internal/report.json").read_text())["algorithm"]
    assert record["level"] == record["parameters"]["seed"] == 5
    tree = sv.read_hierarchy(drawing / "tree.csv")
    for seed in (0, 7):
        release = sv.anonymize(
            ROWS, k=2, m=2, hierarchy=tree, algorithm=str(drawing / "drawing.py"), seed=seed
        )
        assert release.details["level"] == seed
    assert setveil("anonymize", *words[:-2], "--force", cwd=drawing).ok().code == 0


def test_each_seed_of_a_study_is_a_release_of_its_own(drawing: Path) -> None:
    study = (
        'name = "Drawn"\nalgorithms = ["drawing.py", "aa"]\nk = 2\nm = 2\nseeds = [3, 4]\n'
        'data = [{path = "rows.csv", hierarchy = "tree.csv"}]\n'
    )
    write(drawing / "drawn.toml", study)
    runs = read_study(drawing / "drawn.toml", trusted=True).runs
    assert len({run.solution for run in runs if run.algorithm == "drawing"}) == 2
    assert len({run.solution for run in runs if run.algorithm == "aa"}) == 1
    setveil("compare", "drawn.toml", "--out", "out", cwd=drawing).ok()
    assert (drawing / "out/results.csv").read_text().count(",done,") == 4


@pytest.fixture
def own(place: Path) -> Path:
    """The measures and the guarantee of the page."""
    for name in ("rare_rows.py", "at_least.py"):
        write(place / name, example(name))
    return place


def test_measures_and_a_guarantee_of_ones_own(own: Path) -> None:
    assert sv.plugin(own / "rare_rows.py").MEASURES[0].name == "rows_emptied"
    mine = sv.plugin(str(own / "at_least.py"))
    assert sv.plugin(own / "at_least.py") is mine
    for enough in (2, 4, 7, 8, 13):
        release = sv.anonymize(ROWS, mine.AtLeast(enough), details=False)
        held = Counter(item for row in ROWS for item in row)
        kept = [[item for item in row if held[item] >= enough] for row in ROWS]
        assert sorted(map(sorted, release.published)) == sorted(map(sorted, kept))
        assert release.verdict.holds
        assert release.verdict.found() == {
            "fewest": min((n for n in held.values() if n >= enough), default=None)
        }
        utility: Any = release.report["utility"]
        assert utility["rows_emptied"] == sum(not row for row in kept) / len(ROWS)
        gone = sum(map(len, ROWS)) - sum(map(len, kept))
        assert utility["rows_shortened"] == gone / sum(map(len, ROWS))
    broken = sv.verify(ROWS, mine.AtLeast(7))
    assert not broken
    assert broken.listed()[0] == {"item": "105", "rows": 3}
    assert repr(broken) == "No: items in at least 7 rows does not hold, 5 items are in fewer than 7 rows."


def test_a_guarantee_that_is_not_satisfied_is_found_out(own: Path) -> None:
    write(own / "at_least.py", LEAST.replace("supports() < guarantee.enough", "supports() < 1"))
    mine = sv.plugin(own / "at_least.py")
    with pytest.raises(GuaranteeError):
        sv.anonymize(ROWS, mine.AtLeast(7), details=False)


def test_plugins_on_the_command_line(own: Path) -> None:
    words = ["rows.csv", "--plugin", "at_least.py", "--plugin=rare_rows.py", "--model", "at-least"]
    said = setveil("anonymize", *words, "--enough", 7, "--out", "out", "-v", cwd=own).ok().out
    assert "Every published item is in at least 7 rows." in said
    report = json.loads((own / "out/internal/report.json").read_text())
    assert report["utility"]["rows_emptied"] > 0
    assert "Emptied" in (own / "out/internal/report.html").read_text()
    assert report["options"]["plugin"] == ["at_least.py", "rare_rows.py"]
    about = json.loads((own / "out/published/about.json").read_text())
    assert about["guarantee"] == {"model": "at-least", "enough": 7}
    checked = setveil("verify", "out", "--plugin", "at_least.py", cwd=own).ok()
    assert checked.out.startswith("Yes: items in at least 7 rows holds.")
    more = ["--plugin", "at_least.py", "--model", "at-least", "--enough", 10]
    assert setveil("verify", "out", *more, cwd=own).code == 1
    unknown = setveil("verify", "out", cwd=own)
    assert unknown.code == 2
    assert "out guarantees 'at-least', which setveil does not know" in unknown.err
    assert "--plugin FILE" in unknown.err
    shown = setveil("anonymize", "--plugin", "at_least.py", "--model", "at-least", "--help", cwd=own).ok().out
    assert "--enough" in shown


def test_plugins_in_a_study(own: Path) -> None:
    text = 'name = "s"\nplugins = ["rare_rows.py", "at_least.py"]\nalgorithms = ["at-least"]\n'
    text += 'enough = [7, 13]\ndata = [{path = "rows.csv"}]\n'
    write(own / "study.toml", text)
    setveil("compare", "study.toml", "--out", "s", cwd=own).ok()
    lines = (own / "s/results.csv").read_text().splitlines()
    head, *runs = [line.split(",") for line in lines]
    assert [run[head.index("status")] for run in runs] == ["done", "done"]
    assert [run[head.index("enough")] for run in runs] == ["7", "13"]
    assert all(float(run[head.index("rows_shortened")]) > 0 for run in runs)
    page = (own / "s/report.html").read_text()
    assert "Emptied" in page
    assert "rows of each item at least" in page

    def ids() -> list[str]:
        plugins._files.clear()
        return [run.id for run in read_study(own / "study.toml", trusted=True).runs]

    before = ids()
    assert ids() == before
    write(own / "rare_rows.py", example("rare_rows.py") + "# another\n")
    assert not {*ids()} & {*before}


def test_a_plugin_that_changes_meanwhile_is_refused(own: Path) -> None:
    from setveil.work.studies.compare.worker import _run

    text = 'name = "s"\nplugins = ["rare_rows.py"]\nk = 2\nm = 2\ndata = [{path = "rows.csv"}]\n'
    (run,) = read_study(write(own / "study.toml", f'{text}algorithms = ["aa"]\n'), trusted=True).runs
    task = run.task()
    write(own / "rare_rows.py", example("rare_rows.py") + "# another\n")
    with pytest.raises(RequestError, match="was changed while the study ran"):
        _run(task, {})


LEAST = example("at_least.py")
MEASURE = 'from setveil.judges.utility import Measure\nMEASURES = (Measure("{}", {}),)\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"contains no measures \(MEASURES\), no guarantee \(model\) and no algorithm \(info\)"),
        ("MEASURES = []", "must contain MEASURES, a tuple of Measure"),
        (MEASURE.format("ncp", '"N", len'), "contains a measure ncp, as setveil does"),
        (MEASURE.format("Two words", '"N", len'), "not 'Two words'"),
        (MEASURE.format("mine", '"N"'), "with a title and compute, also mine"),
        (MEASURE.format("mine", '"N", len, handed_out=True'), "that no shared report shows"),
        ("model = 3", "must contain model, a Model"),
        (LEAST.replace('= "at-least"', '= "other"', 1), "a subclass of Guarantee whose model"),
        (LEAST.replace("def verify(", "def check("), r"contain verify\(published, guarantee"),
        (LEAST.replace('"at-least"', '"km-anonymity"'), "both contain a guarantee km-anonymity"),
        (LEAST.replace('family="items"', 'family="items", release="groups"'), "verified from the rows alone"),
    ],
)
def test_files_that_are_no_plugin(tmp_path: Path, content: str, message: str) -> None:
    before = models(), measures()
    with pytest.raises(RequestError, match=message):
        sv.plugin(write(tmp_path / "mine.py", content))
    assert (models(), measures()) == before


def test_an_option_that_another_one_has(own: Path) -> None:
    write(own / "at_least.py", LEAST.replace("enough", "gap"))
    words = ["rows.csv", "--plugin", "at_least.py", "--model", "at-least", "--gap", 2, "--out", "out"]
    refused = setveil("anonymize", *words, cwd=own)
    assert refused.code == 2
    assert "--gap would mean two things" in refused.err


@pytest.mark.usefixtures("_forgotten")
def test_packages_offer_measures_and_guarantees(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(own))
    offers = {
        "setveil.algorithms": [("at-least", "at_least")],
        "setveil.guarantees": [("at-least", "at_least"), ("torn", "no_such_module")],
        "setveil.measures": [("rare-rows", "rare_rows")],
    }
    monkeypatch.setattr(
        plugins, "entry_points",
        lambda group: [EntryPoint(name, value, group) for name, value in offers.get(group, [])],
    )  # fmt: skip
    forget()
    assert models()["at-least"].title == "items in enough rows"
    assert "torn" not in models()
    with pytest.raises(RequestError, match="torn of the package no_such_module cannot be loaded"):
        model_named("torn")
    import at_least  # type: ignore[import-not-found]

    release = sv.anonymize(ROWS, at_least.AtLeast(7), details=False)
    assert release.report["algorithm"]["origin"]["package"] == "at_least"
    assert "rows_emptied" in release.report["utility"]
