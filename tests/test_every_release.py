"""Every question about every release, made here or read from its folder, gets an answer or an error."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import refused, setveil
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.report import words
from setveil.report.record import read_record
from setveil.report.run.folder import _INTERNAL, _PUBLISHED, published_files
from setveil.report.run.kinds import kinds
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.runs import orders
from setveil.runs.folder import require_writable
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee
from setveil.studio.desk.place import Desk
from setveil.studio.desk.release import refused as refused_in_studio
from setveil.studio.pages.release_handout import handed_out, name_of
from strategies import transactions
from tables import as_table

DRAW = random.Random(5)
ROWS = [
    frozenset(DRAW.sample("abcdef", DRAW.randint(1, 4))) | ({"s"} if DRAW.random() < 0.25 else set())
    for _ in range(60)
]
DATA, OTHERS = transactions(ROWS), transactions(ROWS[:30])
TABLE = as_table(DATA)
GROUPS = {"ab": "ab", "cd": "cd", "ef": "ef", "hidden": "s"}
TREE = sv.Hierarchy(
    {
        "*": None,
        **dict.fromkeys(GROUPS, "*"),
        **{item: group for group, inside in GROUPS.items() for item in inside},
    }
)
LOG = pl.DataFrame(
    [(who, item, f"2024-0{1 + who % 3}-01") for who, row in enumerate(ROWS) for item in sorted(row)],
    schema=["who", "code", "day"],
    orient="row",
)
FACTS = sv.read_facts(LOG, id="who", sets="code", when=["day:month"])
PROMISES = {name: make_guarantee(name, model.example, Inputs(DATA)) for name, model in models().items()}
MADE = [
    *((name, model) for name, module in algorithms.modules().items() for model in module.info.guarantees),
    *(("facts", name) for name in orders.ALGORITHMS),
]


def released(algorithm: str, model: str) -> tuple[sv.VerifiedRelease, Any, sv.Hierarchy | None]:
    """Make a release; the data and the hierarchy that it is of."""
    if algorithm == "facts":
        return sv.anonymize(FACTS, k=2, m=2, algorithm=model), FACTS, None
    promise = PROMISES[model]
    if (algorithm, model) == ("partial", "km-rho"):  # which generalizes nothing
        promise = sv.KmRho(1, 2, "0.4", ["s"])
    data = TABLE if models()[model].release == "tables" else DATA
    return sv.anonymize(data, promise, algorithm=algorithm, hierarchy=TREE), data, TREE


def questions(
    release: Any, data: Any, tree: sv.Hierarchy | None
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name each question to a release, to its folder, or to what is read from that."""
    yield "query items", partial(sv.query, release, [["a"], ["a", "b"]])
    yield "query itemsets", partial(sv.query, release, itemsets=3)
    for name in ("a", "ab", "*", "s"):
        yield f"why {name}, with data", partial(sv.why, release, name, data=data, hierarchy=tree)
    yield "why a", partial(sv.why, release, "a")
    options: dict[str, Any]
    for name, options in (
        ("risk", {}),
        ("risk, private", {"private": ["s"]}),
        ("risk, original", {"original": data}),
        ("risk, fraction", {"fraction": 0.1}),
        ("risk, absent", {"absent": 1}),
    ):
        yield name, partial(sv.risk, release, **options)
    for name, options in (
        ("measure", {}),
        ("measure, queries", {"queries": 20, "hierarchy": tree}),
        ("measure, rules", {"rules": "10%", "confidence": 0.5}),
    ):
        yield name, partial(sv.measure, data, release, **options)
    yield "attack", partial(sv.attack, release, data, OTHERS, attacks=5)
    yield "apply", partial(sv.apply, release, OTHERS)
    yield "reconstruct", partial(sv.reconstruct, release)
    yield "read", partial(sv.read_published, release)
    yield "anonymize again", partial(sv.anonymize, release, k=2, m=1, details=False)
    yield "explore", partial(sv.explore, release, k=[2], m=[1])
    for model, promise in PROMISES.items():
        yield f"verify {model}", partial(sv.verify, release, promise)


@pytest.mark.parametrize(("algorithm", "model"), MADE)
def test_every_question_is_answered_or_refused(algorithm: str, model: str, tmp_path: Path) -> None:
    """Check that only errors of setveil are raised, and that none is an internal one."""
    release, data, tree = released(algorithm, model)
    release.write(tmp_path / "run")
    answered, refused = 0, []
    for target in (release, tmp_path / "run", sv.read_published(tmp_path / "run")):
        for _, question in questions(target, data, tree):
            try:
                assert repr(question())
                answered += 1
            except sv.SetveilError as error:
                refused.append(str(error))
    assert answered >= 4
    assert [one for one in refused if "defect" in one] == []
    assert release.report_html()
    assert release.to_polars(long=True).width


GOLDEN = Path(__file__).with_name("answers_of_releases.txt")
ONE_OF_A_KIND = (
    ("exact", "km-anonymity"),
    ("lg", "k-anonymity"),
    ("classes", "km-anonymity"),
    ("facts", "aa"),
    ("rt", "kkm"),
    ("cahd", "privacy-degree"),
    ("forest", "mixed-km"),
    ("disassociation", "disassociated"),
    ("dp-blocks", "differential-privacy"),
)


def answers(folder: Path) -> str:
    """Write the answer of each kind of release to each question: "yes", or the reason against it.

    If the folder of a run answers otherwise than the release in memory, its answer has its own line; so has
    what `read_published` returns, if it answers otherwise than the folder.
    """
    lines = []
    for algorithm, model in ONE_OF_A_KIND:
        release, data, tree = released(algorithm, model)
        record = release.write(folder / algorithm, rare_names=True)
        lines.append(f"{record['recoding']} ({release.release.info.title})")
        of_release = dict(questions(release, data, tree))
        of_folder = dict(questions(folder / algorithm, data, tree))
        as_read = dict(questions(sv.read_published(folder / algorithm), data, tree))
        for name, question in of_release.items():
            first, second, third = (
                _answer(one).replace(str(folder / algorithm), "RUN")
                for one in (question, of_folder[name], as_read[name])
            )
            lines.append(f"  {name}: {first}")
            lines += [f"  {name}, of its folder: {second}"] if second != first else []
            asks_rows = not name.startswith(("why", "apply", "read"))  # the others ask about a run
            lines += [f"  {name}, as read: {third}"] if third != second and asks_rows else []
        external = _answer(partial(release.report_html, external=True))
        lines += [f"  page to share: {external}", f"  page: {_answer(release.report_html)}"]
        lines.append(f"  data frame: {_answer(partial(release.to_polars, long=True))}")
        (folder / "runs").mkdir(exist_ok=True)
        (folder / algorithm).rename(folder / "runs" / algorithm)
        refusals = refused_in_studio(Desk(folder), algorithm)
        lines += [f"  studio, {name}: {said}" for name, said in refusals.items()]
    return "\n".join(lines) + "\n"


def _answer(question: Callable[[], object]) -> str:
    try:
        question()
    except sv.SetveilError as error:
        return " ".join(error.message.split())
    return "yes"


def test_the_table_of_all_answers(tmp_path: Path) -> None:
    """`python tests/test_every_release.py` writes it again; read the difference."""
    assert answers(tmp_path) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("aa", "km-anonymity"), ("rt", "kkm"), ("facts", "aa"), ("cahd", "privacy-degree")],
)
def test_rows_are_in_clusters_only_where_there_are_clusters(
    algorithm: str, model: str, tmp_path: Path
) -> None:
    """Check also records without the length of rows."""
    if (algorithm, model) not in MADE:
        algorithm, model = next(one for one in MADE if one[0] == algorithm)
    release = released(algorithm, model)[0]
    record: Any = dict(release.write(tmp_path / "run"))
    record["utility"] = {
        key: value for key, value in record["utility"].items() if not key.startswith("mean_row_length")
    }
    text = words.rows(record)
    assert "clusters" not in text
    assert text.endswith("before).")


WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "shared": {"external": True},
    "checked": {"checker": True},
    "long": {"format": "long"},
    "parquet": {"format": "parquet"},
}


def require_listed(run: Path) -> set[str]:
    """Compare the files of a run with what its report, the studio and --force say; the names of all."""
    report = read_record(run / "internal" / "report.json")
    page = (run / "internal" / "report.html").read_text("utf-8").partition("May be shared:")[2]
    listed = published_files(report)
    assert sorted(listed) == sorted(path.name for path in (run / "published").iterdir())
    assert all(name in page.partition("</li>")[0] for name in listed)
    found = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    assert {f"published/{name_of(path)}" for path in handed_out(run)} == {
        name for name in found if name.startswith("published/")
    }
    require_writable(run, force=True)
    for part in ("published", "internal"):
        (run / part / "notes.txt").touch()
        with pytest.raises(sv.OutputError, match=rf"it contains '{part}/notes\.txt'"):
            require_writable(run, force=True)
        (run / part / "notes.txt").unlink()
    return found


def test_every_file_of_every_release_is_in_one_list(tmp_path: Path) -> None:
    """Check that the report lists a run's files, the studio packs them, and --force replaces them."""
    found = set()
    for algorithm, model in ONE_OF_A_KIND:
        release = released(algorithm, model)[0]
        for way, how in WAYS.items():
            out = tmp_path / f"{algorithm} {way}"
            try:
                release.write(out, rare_names=True, **how)
            except sv.RequestError:  # this kind is not written so
                assert way != "plain"
                continue
            found |= require_listed(out)
    (tmp_path / "rows.csv").write_text("\n".join([*(",".join(sorted(row)) for row in ROWS), ""]))
    write_hierarchy(TREE, tmp_path / "tree.csv")
    made = ["anonymize", "rows.csv", "--k", 2, "--m", 2, "--no-details", "--out"]
    setveil(*made, "proven", "--certificate", "--external", cwd=tmp_path).ok()
    setveil(*made, "parts", "-a", "aa", "-H", "tree.csv", "--engine", "parts", cwd=tmp_path).ok()
    setveil("apply", "proven", "rows.csv", "--people", "same", "--out", "applied", cwd=tmp_path).ok()
    for name in ("proven", "parts", "applied"):
        found |= require_listed(tmp_path / name)
    names = {*_PUBLISHED, *(name for kind in kinds() for name in kind.published)}
    inside = {*_INTERNAL, *(name for kind in kinds() for name in kind.internal)}
    listed = {*(f"published/{name}" for name in names), *(f"internal/{name}" for name in inside)}
    elsewhere = {"published/manifest.json", "internal/series.json"}  # of Spark and of series
    assert listed - found == elsewhere


@pytest.mark.parametrize("epsilon", ["0.0000009", 1_000_001, 1e12])
def test_epsilon_is_in_the_range_that_is_said(epsilon: float | str) -> None:
    with pytest.raises(sv.RequestError, match=r"from 0\.000001 to 1,000,000"):
        sv.DifferentialPrivacy(epsilon)


def test_rows_without_items_are_found_by_absent_items() -> None:
    rows = [["a"], ["a"], [], [], ["b"], ["b"], ["a", "b"]]
    assert "never found" in repr(sv.risk(rows))
    output = repr(sv.risk(rows, absent=1))
    assert "7 (100%)" in output
    assert "never found" not in output


def test_parts_count_single_rows_only(tmp_path: Path) -> None:
    rows = 20 * [["tea", "milk"], ["tea"]] + 20 * [["rum", "cola"], ["rum"]]
    for counts in (True, False):
        release = sv.anonymize(rows, k=2, m=2, classes=2, class_size=20, counts=counts)
        release.write(tmp_path / str(counts))
        for command in ("verify", "risk"):
            done = setveil(command, tmp_path / str(counts), "--engine", "parts")
            refused(done, 2, "rows in classes", "--engine parts")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        GOLDEN.write_text(answers(Path(place)), encoding="utf-8")
