"""The Python functions: what they take, what they refuse, how their answers look."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import setveil as sv
from setveil.base import plugins
from setveil.base.values.declared import options_of
from setveil.methods import algorithms
from setveil.runs.options.reading import Reading

ROWS: list[list[str]] = 4 * [["a", "b"], ["a"], ["b", "c"], ["a", "c"], []]
PATHS = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "*"]]
PROMISE = sv.KmAnonymity(5, 2)
GROUPED = 4 * [["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "s"]]
PAIRS = [(number, item) for number, row in enumerate(ROWS) for item in row]
LONG = pd.DataFrame(PAIRS, columns=["id", "item"])
FOLDER = Path(str(sv.__file__)).parent
MODULES = [
    ".".join(("setveil", *path.relative_to(FOLDER).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(FOLDER.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with rows, a hierarchy, and the folder of a run."""
    monkeypatch.chdir(tmp_path)
    sv.convert(ROWS, "x.csv")
    sv.write_hierarchy(sv.Hierarchy.from_paths(PATHS), "h.csv")
    sv.anonymize("x.csv", PROMISE, hierarchy="h.csv").write("release")
    return tmp_path


@pytest.fixture(scope="module")
def release() -> sv.VerifiedRelease:
    return sv.anonymize(ROWS, PROMISE, hierarchy=sv.Hierarchy.from_paths(PATHS))


@pytest.fixture(scope="module")
def grouped() -> sv.VerifiedRelease:
    return sv.anonymize(GROUPED, sv.PrivacyDegree(2, ["s"]))


# Examples


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    monkeypatch.setattr(plugins, "_files", {**plugins._files})
    for number, test in enumerate(doctest.DocTestFinder(exclude_empty=True).find(module, name)):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        failures: list[str] = []
        runner.run(test, out=failures.append)
        assert not failures, "".join(failures)


def public_docstrings() -> dict[str, str]:
    """Collect the docstrings of all public names, and of what users call on rows, trees and releases."""
    found = {name: getattr(sv, name).__doc__ for name in sv.__all__}
    for kind in (sv.Transactions, sv.Hierarchy, sv.VerifiedRelease):
        for name, value in vars(kind).items():
            arguments = getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(arguments) and kind is not sv.Hierarchy:
                found[f"{kind.__name__}.{name}"] = arguments.__doc__
    for name in ("from_paths", "balanced"):
        found[f"Hierarchy.{name}"] = getattr(sv.Hierarchy, name).__doc__
    return found


@pytest.mark.parametrize(("name", "text"), public_docstrings().items())
def test_every_public_docstring_has_an_example_that_runs(name: str, text: str) -> None:
    assert text
    assert ">>>" in text, name
    assert "SKIP" not in text, name


# Accepted arguments


SOURCES: dict[str, Callable[[], Any]] = {
    "text": lambda: "x.csv",
    "path": lambda: Path("x.csv"),
    "list of one path": lambda: ["x.csv"],
    "lists": lambda: ROWS,
    "tuples of sets": lambda: tuple(map(frozenset, ROWS)),
    "generator": lambda: (row for row in ROWS),
    "transactions": lambda: sv.Transactions.from_rows(ROWS),
    "polars": lambda: sv.read(ROWS).to_polars(),
    "lazy": lambda: sv.read(ROWS).to_polars().lazy(),
    "arrow": lambda: sv.read(ROWS).to_arrow(),
    "pandas": lambda: sv.read(ROWS).to_pandas(),
    "series": lambda: pd.Series(ROWS),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_rows_in_every_form(place: Path, source: Callable[[], Any]) -> None:
    rows = sv.read(ROWS).rows()
    assert sv.read(source()).rows() == rows
    assert sv.anonymize(source(), PROMISE, hierarchy="h.csv").verdict.holds
    assert not sv.verify(source(), PROMISE).holds
    assert sv.risk(source(), m=1)["rows"] == len(rows)
    assert sv.measure(source(), source())["lm"] == 0
    assert sv.moles(source(), sv.Coherence(0.9, 2, 2, ["a"]))["moles"] == 0
    assert sv.read(sv.convert(source(), "y.jsonl")).rows() == rows


def test_long_tables_in_every_form() -> None:
    rows = [row for row in sv.read(ROWS).rows() if row]
    table = pl.DataFrame({"id": LONG["id"].tolist(), "item": LONG["item"].tolist()})
    for frame in (LONG, table, pa.table(table), LONG.set_index("id")["item"], LONG.groupby("id")["item"]):
        assert sv.read(frame).rows() == rows
    assert sv.read(LONG.rename(columns={"id": "x"}), id_column="x", item_column="item").rows() == rows
    with pytest.raises(sv.RequestError, match="separator say how files are read"):
        sv.read(LONG, separator=";")
    with pytest.raises(sv.RequestError, match="nothing to read so"):
        sv.read(ROWS, id_column="id")


def test_a_hierarchy_as_a_file_or_an_object(place: Path) -> None:
    made = [
        sv.anonymize(ROWS, PROMISE, hierarchy=tree)
        for tree in ("h.csv", Path("h.csv"), sv.Hierarchy.from_paths(PATHS))
    ]
    assert len({json.dumps(one.published.rows()) for one in made}) == 1
    assert sv.measure(ROWS, made[0].published, hierarchy="h.csv")["lm"] == made[0].utility["lm"]


def test_a_release_in_every_form(place: Path, release: sv.VerifiedRelease) -> None:
    forms = ["release", Path("release/published"), "release/published/data.csv", release, release.release]
    for form in forms:
        assert sv.verify(form, PROMISE).holds
        assert sv.risk(form, m=2)["risk"] == sv.risk(release.published, m=2)["risk"]
        assert sv.measure(ROWS, form) == release.utility
    assert sv.verify(release.published, PROMISE).holds
    rows_alone = sv.measure(ROWS, release, estimator="uniform")
    assert sv.measure(ROWS, release.published, release.recoding) == rows_alone != release.utility
    assert set(sv.risk(release, m=1, original="x.csv")) == {"before", "after"}


def test_groups_in_every_form(place: Path, grouped: sv.VerifiedRelease) -> None:
    grouped.write("groups")
    for form in ("groups", grouped, grouped.release, grouped.release.exposed()):
        assert sv.verify(form, sv.PrivacyDegree(2), original=GROUPED).holds
        assert sv.risk(form, m=1)["inference"][0]["item"] == "s"
    for form in ("groups", grouped, grouped.release):
        assert sv.measure(GROUPED, form) == grouped.utility
        assert sv.measure(GROUPED, form, queries=5)["kl"]["queries"] <= 5
    assert sv.measure(GROUPED, grouped.published, grouped.recoding) == grouped.utility
    with pytest.raises(sv.DataError, match="is about single rows"):
        sv.verify(grouped, PROMISE)
    with pytest.raises(sv.DataError, match="is about rows published in groups"):
        sv.verify(GROUPED, sv.PrivacyDegree(2))
    with pytest.raises(sv.RequestError, match="itemsets cannot be used for rows published in groups"):
        sv.measure(GROUPED, grouped, itemsets=2)


def test_constraints_know_what_items_became(place: Path) -> None:
    promise = sv.PrivacyConstraints(5, [["a", "b"]])
    made = sv.anonymize(ROWS, promise)
    made.write("coat")
    for form in ("coat", "coat/published/data.csv", made):
        assert sv.verify(form, promise).holds
    image = made.release.image()
    assert any(label not in (None, item) for item, label in image.items())
    for recoding in (made.recoding, image):
        assert sv.verify(made.published, promise, recoding=recoding).holds
    with pytest.raises(sv.DataError, match="protected items are not in the published rows"):
        sv.verify(made.published, promise)


def test_algorithms_are_classes_of_their_parameters() -> None:
    for name in algorithms.names():
        kind = algorithms.load(name).Parameters
        offered = next(one for one in sv.__all__ if one.lower() == name.replace("-", ""))
        assert kind is getattr(sv, offered)
        assert kind.__name__ == offered
        own = [field.name for field in fields(kind)]
        assert list(inspect.signature(kind).parameters) == own == list(options_of(kind))
        assert all(f"    {parameter} : " in kind.__doc__ for parameter in own)
    by_object = sv.anonymize(ROWS, PROMISE, algorithm=sv.AA(refine=True))
    by_name = sv.anonymize(ROWS, PROMISE, algorithm="aa", refine=True)
    by_class = sv.anonymize(ROWS, PROMISE, algorithm=sv.AA)
    assert by_object.report["algorithm"] == by_name.report["algorithm"]
    assert by_class.report["algorithm"]["parameters"] == {"refine": False, "count_tree": False}


def test_reading_options_are_those_of_the_command_line() -> None:
    assert list(inspect.signature(sv.read).parameters)[1:] == [field.name for field in fields(Reading)]


def test_parameters_by_name_are_written_as_on_the_command_line(place: Path) -> None:
    Path("keep.csv").write_text("c\n")
    made = sv.anonymize(ROWS, PROMISE, hierarchy="h.csv", max_suppressed="5%", keep="keep.csv")
    record = made.report["algorithm"]["parameters"]
    assert (record["max_suppressed"], record["keep"]) == (0.05, ["c"])
    merged = sv.anonymize(ROWS, sv.PrivacyConstraints(2, m=2), hierarchy="h.csv", utility="siblings")
    assert merged.report["algorithm"]["parameters"]["utility"] == [["a", "b"], ["c"]]


def test_private_items_as_a_list_a_text_or_a_file(place: Path) -> None:
    Path("private.csv").write_text("a\nb\n")
    answers = [sv.risk("x.csv", m=1, private=private) for private in (["a", "b"], "a,b", Path("private.csv"))]
    assert answers[0] == answers[1] == answers[2]
    with pytest.raises(sv.DataError, match="not in the data"):
        sv.risk("x.csv", private=["zz"])


def test_queries_and_itemsets(place: Path, release: sv.VerifiedRelease) -> None:
    Path("queries.csv").write_text("a,b\n")
    own = sv.measure(ROWS, release, queries=[["a", "b"]])["are"]
    assert own == sv.measure(ROWS, release, queries="queries.csv")["are"]
    assert sv.measure(ROWS, release, queries=7)["are"]["queries"] == 7
    both = [sv.measure(ROWS, release, queries=7, estimator=name)["are"] for name in ("entropy", "uniform")]
    assert [are["estimator"] for are in both] == ["maximum entropy", "uniform"]
    assert both[0]["from_rows"].items() <= both[1].items()
    with pytest.raises(sv.RequestError, match='"entropy" or "uniform", got'):
        sv.measure(ROWS, release, estimator="best")
    assert sv.measure(ROWS, release, itemsets=2, itemset_length=1)["itemsets"]["frequent"] == 3


@pytest.mark.exhaustive
def test_a_study(place: Path) -> None:
    Path("study.toml").write_text(
        'name = "s"\nalgorithms = ["aa"]\nk = [2, 5]\nm = 1\n[[data]]\npath = "x.csv"\nhierarchy = "h.csv"\n'
    )
    rows = sv.compare("study.toml", "study", jobs=1)
    assert [(row["k"], row["status"]) for row in rows] == [(2, "done"), (5, "done")]
    assert Path("study/report.html").is_file()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("forked_workers")
def test_advice_from_files_and_from_memory(place: Path) -> None:
    labels = {"a": "a, with a comma", "b": 'b "quoted"', "c": "c"}
    rows = [[labels[item] for item in row] for row in ROWS]
    tree = sv.Hierarchy.from_paths([[labels[path[0]], *path[1:]] for path in PATHS])
    advice = sv.recommend("x.csv", k=5, m=2, hierarchy="h.csv", jobs=2)
    again = sv.recommend(rows, k=5, hierarchy=tree, jobs=2)
    assert advice["best"]["loss"] == again["best"]["loss"]
    assert [row["status"] for row in advice["candidates"]] == [row["status"] for row in again["candidates"]]
    secret = sv.recommend(rows, k=2, m=1, private=[labels["a"]], h=0.9, jobs=2)
    assert secret["best"]["algorithm"] in {"border", "exact", "mm"}


# Errors


def nobody(_phase: str, _done: float | None) -> None:
    """Hear of the progress."""


WRONG = [None, 5, 1.5, {"a": 1}, object(), b"x", dict, [1], [None]]
CALLS: dict[str, Callable[[Any], object]] = {
    "read": sv.read,
    "anonymize": lambda wrong: sv.anonymize(wrong, PROMISE),
    "anonymize by": lambda wrong: sv.anonymize(ROWS, wrong),
    "verify": lambda wrong: sv.verify(wrong, PROMISE),
    "verify groups": lambda wrong: sv.verify(wrong, sv.PrivacyDegree(2)),
    "verify by": lambda wrong: sv.verify(ROWS, wrong),
    "measure": lambda wrong: sv.measure(wrong, ROWS),
    "measure release": lambda wrong: sv.measure(ROWS, wrong),
    "risk": sv.risk,
    "risk m": lambda wrong: sv.risk(ROWS, m=0 if wrong is None or wrong in (5, [1]) else wrong),
    "moles": lambda wrong: sv.moles(wrong, sv.Coherence(0.9, 2, 2, ["a"])),
    "moles by": lambda wrong: sv.moles(ROWS, wrong),
    "compare": lambda wrong: sv.compare(wrong, "out"),
    "compare out": lambda wrong: sv.compare("no.toml", wrong),
    "explore": sv.explore,
    "explore k": lambda wrong: sv.explore(ROWS, k=[] if wrong is None else wrong),  # None: the default
    "recommend": lambda wrong: sv.recommend(wrong, k=5),
    "recommend k": lambda wrong: sv.recommend("no.csv", wrong),
    "reconstruct": sv.reconstruct,
    "reconstruct draws": lambda wrong: sv.reconstruct("no", draws=0 if wrong == 5 else wrong),
    "convert": lambda wrong: sv.convert(wrong, "y.csv"),
    "convert to": lambda wrong: sv.convert(ROWS, wrong),
    "read_hierarchy": sv.read_hierarchy,
    "write_hierarchy": lambda wrong: sv.write_hierarchy(wrong, "t.csv"),
    "write_hierarchy to": lambda wrong: sv.write_hierarchy(sv.Hierarchy.from_paths(PATHS), wrong),
    "Hierarchy": sv.Hierarchy,
    "Hierarchy.from_paths": sv.Hierarchy.from_paths,
    "Hierarchy.balanced": sv.Hierarchy.balanced,
    "Transactions.from_rows": sv.Transactions.from_rows,
    "Transactions.from_frame": sv.Transactions.from_frame,
    "KmAnonymity": lambda wrong: sv.KmAnonymity("x" if wrong == 5 else wrong),  # type: ignore[arg-type]
    "Coherence": lambda wrong: sv.Coherence(0.5, 2, 2, "a" if wrong == {"a": 1} else wrong),
    "PrivacyConstraints": lambda wrong: sv.PrivacyConstraints(2, wrong),
    "PrivacyDegree": lambda wrong: sv.PrivacyDegree("x" if wrong == 5 else wrong),  # type: ignore[arg-type]
    "Exact keep": lambda wrong: sv.Exact(keep=wrong),
    "Exact weights": lambda wrong: sv.Exact(weights=[] if wrong == {"a": 1} else wrong),
    "AA refine": lambda wrong: sv.AA(refine=wrong),
    "COAT utility": lambda wrong: sv.COAT(utility=5 if wrong is None else wrong),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_wrong_types_are_refused(call: Callable[[Any], object]) -> None:
    for wrong in WRONG:
        with pytest.raises(sv.SetveilError) as caught:
            call(wrong)
        assert caught.value.message.endswith((".", ":")), caught.value.message


OPTIONS: dict[str, tuple[Callable[..., object], list[str]]] = {
    "anonymize": (
        lambda **wrong: sv.anonymize(ROWS, PROMISE, **wrong),
        ["hierarchy", "algorithm", "seed", "bound", "details", "progress"],
    ),
    "verify": (
        lambda **wrong: sv.verify(ROWS, PROMISE, **wrong),
        ["original", "recoding", "show", "progress"],
    ),
    "measure": (
        lambda **wrong: sv.measure(ROWS, ROWS, **{"itemsets": 2, **wrong}),
        ["recoding", "hierarchy", "queries", "query_size", "itemset_length", "private", "seed", "progress"],
    ),
    "risk": (
        lambda **wrong: sv.risk(ROWS, **wrong),
        ["private", "original", "thresholds", "seed", "effort", "progress"],
    ),
    "explore": (
        lambda **wrong: sv.explore(ROWS, k=[2], **{"m": [1], **wrong}),
        ["m", "hierarchy", "algorithm", "known", "time_budget", "seed", "progress"],
    ),
    "recommend": (
        lambda **wrong: sv.recommend("no.csv", k=5, **wrong),
        ["m", "hierarchy", "queries", "private", "h", "time_budget", "jobs", "seed", "progress"],
    ),
    "reconstruct": (lambda **wrong: sv.reconstruct("no", **wrong), ["draws", "seed", "mix", "progress"]),
    "read": (
        lambda **wrong: sv.read("no.csv", **wrong),
        ["format", "encoding", "separator", "id_column", "item_column"],
    ),
}


@pytest.mark.parametrize(
    ("function", "name"), [(function, name) for function, (_, names) in OPTIONS.items() for name in names]
)
def test_wrong_types_of_options_are_refused(function: str, name: str) -> None:
    call = OPTIONS[function][0]
    for wrong in ({"a": 1}, object(), b"x", [None]):
        with pytest.raises(sv.SetveilError):
            call(**{name: wrong})


def test_a_release_of_no_rows_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(sv.DataError, match="no rows"):
        sv.anonymize([], k=2, m=1).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    sv.anonymize([[]], k=2, m=1).write(tmp_path / "out")
    assert sv.verify(tmp_path / "out").holds


def test_hints_say_what_is_meant() -> None:
    for wrong, hint in (
        ({"x": ["a"]}, r"list\(d.values\(\)\)"),
        (["a", "b"], r'\[\["tea", "milk"\], \["tea"\]\]'),
        ([{"id": 1}], "wrap a single item"),
        (sv.anonymize(ROWS, sv.KmAnonymity(2, 1)), r"release\.published"),
        (pd.DataFrame({"a": [1, 0]}).to_numpy(), "named columns"),
    ):
        with pytest.raises(sv.DataError) as caught:
            sv.read(wrong)
        assert re.search(hint, caught.value.hint), caught.value.hint


# How answers look


def test_rows_by_number_and_slice() -> None:
    data = sv.read([["b", "a"], [], ["c"]])
    assert data[0] == ("a", "b")
    assert data[-1] == ("c",)
    assert data[1] == ()
    assert data[1:].rows() == [(), ("c",)]
    assert data[1:].vocabulary.labels == ("c",)
    assert data[::-1].rows() == data.rows()[::-1]
    assert data[5:].n_rows == 0
    with pytest.raises(IndexError, match="no row 3: there are 3"):
        data[3]
    for wrong in ("a", None, 1.0, slice("a", None)):
        with pytest.raises(sv.RequestError, match="number or a slice"):
            data[wrong]  # type: ignore[index]


def test_rows_as_frames() -> None:
    data = sv.read([["b", "a"], [], ["c"]])
    lists = [["a", "b"], [], ["c"]]
    assert data.to_polars()["items"].to_list() == lists
    assert data.to_pandas()["items"].tolist() == lists
    assert data.to_arrow()["items"].to_pylist() == lists
    pairs = [(0, "a"), (0, "b"), (2, "c")]
    assert data.to_polars(long=True).rows() == pairs
    assert list(data.to_pandas(long=True).itertuples(index=False, name=None)) == pairs
    assert data.to_arrow(long=True).to_pylist() == [{"row": row, "item": item} for row, item in pairs]
    nothing = sv.Transactions.from_rows([[], []])
    assert nothing.to_polars()["items"].to_list() == [[], []]
    for frame in (data.to_polars(), data.to_pandas(), data.to_arrow()):
        assert sv.read(frame).rows() == data.rows()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(sv.RequestError, match="pyarrow is not installed"):
        sv.read(ROWS).to_arrow()


def test_a_release_shows_its_summary(release: sv.VerifiedRelease, grouped: sv.VerifiedRelease) -> None:
    for one in (release, grouped):
        text = repr(one)
        assert text.startswith("File       data in memory")
        assert "It holds, recounted from the published rows" in text
        assert len(text.splitlines()) <= 15
        assert "<th>Guarantee</th>" in one._repr_html_()


def test_verdicts_show_themselves(release: sv.VerifiedRelease, grouped: sv.VerifiedRelease) -> None:
    assert repr(release.verdict) == "Yes: k^m-anonymity (k=5, m=2) holds."
    assert release.verdict
    broken = sv.verify(ROWS, PROMISE)
    assert not broken
    assert repr(broken).startswith("No: k^m-anonymity (k=5, m=2) does not hold, 3 sets")
    assert "support 4: a, b" in broken._repr_html_()
    assert "support" not in repr(broken)
    assert repr(grouped.verdict).startswith("Yes:")
    for other in (
        sv.verify([["x"], ["y"]], sv.TransactionalKAnonymity(2)),
        sv.verify([["x"], ["y"]], sv.Coherence(0.5, 2, 2, ["y"])),
        sv.verify([["x"], ["y"]], sv.PrivacyConstraints(2, m=1)),
        sv.verify(grouped, sv.PrivacyDegree(12)),
    ):
        assert repr(other).startswith("No: ")
        assert "<table>" in other._repr_html_()


def test_what_notebooks_show_is_escaped_and_short() -> None:
    data = sv.read([[f"<b>{number:03}" for number in range(30)]] * 9)
    shown = data._repr_html_()
    assert shown.count("<tr>") == 5
    assert shown.count("&lt;b&gt;") == 50
    assert "<b>" not in shown
    assert "and 20 more" in shown
    assert "and 4 more rows" in shown
    tree = sv.Hierarchy.balanced(data, fanout=2)._repr_html_()
    assert tree.count("<tr>") == 2
    assert "16 leaves" in tree
    wide = sv.Hierarchy.from_paths([[f"<{number}", "*"] for number in range(9)])._repr_html_()
    assert "&lt;0" in wide
    assert "and 4 more below the root" in wide


def test_the_page_is_that_which_write_writes(release: sv.VerifiedRelease, tmp_path: Path) -> None:
    release.write(tmp_path / "out", external=True)
    shared = tmp_path / "out" / "published" / "report.html"
    assert release.report_html(external=True) == shared.read_text("utf-8")
    plain = sv.anonymize(ROWS, PROMISE, hierarchy=sv.Hierarchy.from_paths(PATHS))
    plain.write(tmp_path / "plain")
    assert plain.report_html() == (tmp_path / "plain" / "internal" / "report.html").read_text("utf-8")


def test_details_are_found_where_they_are_requested(release: sv.VerifiedRelease, tmp_path: Path) -> None:
    assert not {"risk", "answers"} & set(release.report)
    detailed = sv.anonymize(ROWS, PROMISE, hierarchy=sv.Hierarchy.from_paths(PATHS), details=True)
    assert {"risk", "answers"} <= set(detailed.report)
    assert len(detailed.report_html()) > len(release.report_html())
    assert detailed.published.rows() == release.published.rows()


def test_progress_is_heard() -> None:
    heard: list[str] = []
    sv.anonymize(ROWS, PROMISE, progress=lambda phase, _: heard.append(phase))
    assert "verifying" in heard
    assert sv.verify(ROWS, sv.KmAnonymity(2, math.inf), progress=nobody).holds
