"""The about.json of a published file: how to read the file, and the rows that it cannot show."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from cli_helpers import refused, setveil
from setveil.base.errors import DataError
from setveil.judges.guarantees import Guarantee
from setveil.judges.utility import Case, measured
from setveil.releases.published import kind_at, kind_named
from setveil.releases.published.about import named_beside, published_file
from setveil.releases.published.rows import load_meaning
from setveil.rows.data.layout import InputFile, Layout, Origin
from setveil.rows.hierarchy.build import by_cooccurrence
from setveil.runs.run import VerifiedRelease

ROWS = [["a"], [], ["a", "b"], ["b"], [], ["a", "b"], ["a"], [], ["b"], ["c"]]
DATA = sv.Transactions.from_rows(ROWS)
LONG = [Layout("long", id_column="id", item_column="what"), Layout("parquet", nested=False)]
SHOWING = [Layout("basket", separator=";"), Layout("spmf"), Layout("jsonl"), Layout("parquet")]
TREE = sv.Hierarchy({"*": None, "a": "*", "b": "*", "c": "*"})


def written(layout: Layout, out: Path, data: sv.Transactions = DATA) -> VerifiedRelease:
    """Release rows by suppression for coherence, with c in too few rows, and write them."""
    data = replace(data, origin=Origin((InputFile("-", ""),), layout))
    release = sv.anonymize(data, sv.Coherence(0.9, 2, 2), algorithm="mm", details=False)
    release.write(out)
    return release


@pytest.mark.parametrize("layout", [*LONG, *SHOWING], ids=lambda layout: f"{layout.format}-{layout.nested}")
def test_the_file_itself_is_read_as_about_json_has_it(layout: Layout, tmp_path: Path) -> None:
    release = written(layout, tmp_path / "run")
    file = published_file(tmp_path / "run")
    for path in (file, file.parent, tmp_path / "run"):
        rows = kind_named("rows").read(str(path), sv.read)
        assert sorted(rows) == sorted(release.published)
        assert rows.n_rows == 10
        assert kind_at(str(path)) is kind_named("rows")


@pytest.mark.parametrize("layout", LONG, ids=lambda layout: layout.format)
def test_rows_that_a_long_table_cannot_show_come_last(layout: Layout, tmp_path: Path) -> None:
    release = written(layout, tmp_path / "run")
    file = published_file(tmp_path / "run")
    rows = kind_named("rows").read(str(file), sv.read)
    assert list(rows)[6:] == [()] * 4
    # The map of the rows says where each row is found, whatever the layout.
    row_map = np.loadtxt(tmp_path / "run/internal/rows.csv", np.int64, delimiter=",", skiprows=1)[:, 1]
    assert sorted(row_map.tolist()) == list(range(10))
    kept = [tuple(item for item in row if item != "c") for row in DATA]
    assert [list(rows)[place] for place in row_map] == kept
    page = (tmp_path / "run/internal/report.html").read_text()
    assert "4 rows are empty and show only in about.json" in page
    shown = pl.read_parquet(file) if layout.format == "parquet" else pl.read_csv(file)
    assert shown["id"].unique().sort().to_list() == list(range(6))
    assert release.published.n_rows == 10


@pytest.mark.parametrize("layout", LONG, ids=lambda layout: layout.format)
def test_a_local_recoding_is_measured_from_a_long_table(layout: Layout, tmp_path: Path) -> None:
    """An item has several labels, so the map of the rows must lead to the right ones."""
    rows = [["a1"], [], ["a1"], ["a1", "b1"], [], ["a2", "b1"], ["b2"], ["b2"], ["a2"], ["a2"], ["b1"]]
    data = replace(sv.Transactions.from_rows(rows), origin=Origin((InputFile("-", ""),), layout))
    tree = sv.Hierarchy({"*": None, "A": "*", "B": "*", "a1": "A", "a2": "A", "b1": "B", "b2": "B"})
    release = sv.anonymize(data, sv.TransactionalKAnonymity(2), hierarchy=tree, details=False)
    release.write(tmp_path / "run")
    file = str(published_file(tmp_path / "run"))
    published = kind_named("rows").read(file, sv.read)
    images = load_meaning(file, data, published, None).images(data)
    expected = release.recoding.images(data)
    named = [published.vocabulary.labels[i] for i in images.tolist()]
    assert named == [release.recoding.published.labels[i] for i in expected.tolist()]


@pytest.mark.parametrize("layout", [*LONG, *SHOWING], ids=lambda layout: f"{layout.format}-{layout.nested}")
def test_a_release_of_which_nothing_is_left(layout: Layout, tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a"], ["b"], ["c"]])
    written(layout, tmp_path / "run", data)
    file = published_file(tmp_path / "run")
    assert list(kind_named("rows").read(str(file), sv.read)) == [()] * 3
    written(layout, tmp_path / "other")
    shutil.copy(published_file(tmp_path / "other"), file)
    with pytest.raises(DataError, match="rows without items look like"):
        kind_named("rows").read(str(file), sv.read)


def test_options_that_say_otherwise_win(tmp_path: Path) -> None:
    written(LONG[0], tmp_path / "run")
    file = str(tmp_path / "run/published/data.csv")
    read = kind_named("rows").read
    assert read(file, sv.read, format="long", id_column="id").n_rows == 10  # as about.json has it
    assert read(file, sv.read, format="basket").n_items > 3
    assert read(file, sv.read, id_column="what", item_column="id", not_ids="id").n_rows == 2


def changed(run: Path, **entries: Any) -> str:
    about = run / "published/about.json"
    content = json.loads(about.read_text()) | entries
    about.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    return str(run)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"rows": 9}, "9 rows, 4 of them"),
        ({"rows": 5, "empty_rows": 0}, "contains 6 rows"),
        ({"rows": 10, "empty_rows": 3}, "10 rows, 3 of them"),
        ({"rows": 11}, "11 rows, 4 of them"),
        ({"rows": "10"}, "rows is '10'"),
        ({"empty_rows": -1}, "empty_rows is '-1'"),
        ({"rows": 1 << 70, "empty_rows": (1 << 70) - 6}, "expected a number"),
        ({"empty_rows": True}, "empty_rows is 'True'"),
        ({"rows": None}, "one of rows and empty_rows"),
        ({"labels": ["a"]}, "labels is no object"),
        ({"labels": {"A": "ab"}}, "expected a list of items"),
        ({"labels": {"A": []}}, "expected a list of items"),
        ({"labels": {"A": [1]}}, "expected a list of items"),
    ],
)
def test_an_about_json_that_does_not_fit_is_refused(
    entries: dict[str, Any], words: str, tmp_path: Path
) -> None:
    written(LONG[0], tmp_path / "run")
    with pytest.raises(DataError, match=words):
        kind_named("rows").read(changed(tmp_path / "run", **entries), sv.read)


def test_an_about_json_of_another_file_is_left_alone(tmp_path: Path) -> None:
    written(LONG[0], tmp_path / "run")
    other = tmp_path / "run/published/other.csv"
    other.write_text("a;b\n\na\n")
    assert list(kind_named("rows").read(str(other), sv.read, separator=";")) == [("a", "b"), (), ("a",)]


def test_groups_are_found_by_their_file(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a", "s"], ["a"], ["b"], ["b"], ["s"], ["a", "b"]])
    sv.anonymize(data, sv.PrivacyDegree(2, ("s",)), details=False).write(tmp_path / "run")
    file = str(tmp_path / "run/published/data.csv")
    assert kind_at(file) is kind_named("groups")
    assert kind_named("groups").read(file, sv.read).qid.n_rows == 6
    with pytest.raises(DataError, match="7 rows"):
        kind_named("groups").read(changed(tmp_path / "run", rows=7), sv.read)


OTHERS = sv.Transactions.from_rows([["a", "b"], ["c", "d"], ["e"]])


@pytest.mark.parametrize(
    ("promise", "algorithm", "tree", "n_suppressed"),
    [
        (sv.Coherence(0.9, 2, 2), "mm", None, None),
        (sv.PrivacyConstraints(2, m=2), "coat", None, None),
        (sv.KmAnonymity(2, 2), "hghs", None, None),
        (sv.KmAnonymity(2, 2), "hghs", TREE, 3),
        (sv.KmAnonymity(2, 2), "hghs", by_cooccurrence(OTHERS), None),
        (sv.TransactionalKAnonymity(2), "lg", None, None),
    ],
)
def test_about_json_does_not_tell_how_many_items_were_suppressed(
    promise: Guarantee, algorithm: str, tree: sv.Hierarchy | None, n_suppressed: int | None, tmp_path: Path
) -> None:
    """The number of items of the data would; measuring finds it in the original."""
    more: dict[str, Any] = {"max_suppressed_items": 1} if algorithm == "coat" else {}
    data = sv.Transactions.from_rows([row for row in ROWS if row] * (2 if algorithm == "lg" else 1))
    release = sv.anonymize(data, promise, hierarchy=tree, algorithm=algorithm, details=False, **more)
    release.write(tmp_path / "run")
    about = json.loads((tmp_path / "run/published/about.json").read_text())
    assert about.get("domain") == n_suppressed
    place = str(tmp_path / "run")
    rows = kind_named("rows").read(place, sv.read)
    again = measured(Case(data, **kind_named("rows").measurable(place, rows, data, None)))
    assert again == release.utility


def test_sensitive_items_that_a_promise_names(tmp_path: Path) -> None:
    release = sv.anonymize(DATA, sv.Coherence(0.9, 2, 2, ["b"]), algorithm="mm")
    release.write(tmp_path / "run")
    published = tmp_path / "run" / "published"
    for path in (tmp_path / "run", published, published_file(published)):
        assert named_beside(str(path), "private") == ("b",)
        assert named_beside(str(path), "sensitive") is None
    assert named_beside("-", "private") is None
    (tmp_path / "alone.csv").write_text("a\nb\n")
    assert named_beside(str(tmp_path / "alone.csv"), "private") is None
    shutil.copy(published / "about.json", tmp_path)  # which is about another file
    assert named_beside(str(tmp_path / "alone.csv"), "private") is None
    about = json.loads((published / "about.json").read_text())
    for wrong in ("b", [1], [""], {"b": 1}):
        about["guarantee"]["private"] = wrong
        (published / "about.json").write_text(json.dumps(about))
        with pytest.raises(DataError, match=r"about\.json is not .* private is .*expected a list of items"):
            named_beside(str(published), "private")
    (published / "about.json").write_text(json.dumps({**about, "guarantee": ["private"]}))
    assert named_beside(str(published), "private") is None


@pytest.mark.parametrize("form", ["wide", "long", "parquet", "jsonl"])
def test_a_column_that_about_says_nothing_of_is_refused(tmp_path: Path, form: str) -> None:
    """Check that an undeclared column, here of names, stops verification."""
    promise = sv.KmAnonymity(3, 2)
    released = sv.anonymize([["a", "b"], ["a"]] * 6, promise)
    released.write(tmp_path / "run", format=form)
    assert sv.verify(tmp_path / "run", promise).holds
    file = next(path for path in (tmp_path / "run" / "published").iterdir() if path.stem == "data")
    if form == "parquet":
        pl.read_parquet(file).with_row_index("name").write_parquet(file)
    elif form == "jsonl":
        rows = enumerate(map(json.loads, file.read_text().splitlines()))
        file.write_text("".join(json.dumps({"items": row, "name": f"p{at}"}) + "\n" for at, row in rows))
    else:
        header, *lines = file.read_text().splitlines()
        file.write_text("".join(f"{line}\n" for line in (f"{header},name", *(f"{x},p" for x in lines))))
    for path in (tmp_path / "run", tmp_path / "run" / "published", file):
        with pytest.raises(sv.DataError, match=r"does not mention 1 column, 'name'"):
            sv.verify(path, promise)


def test_such_a_column_is_refused_in_parts(tmp_path: Path) -> None:
    promise = sv.KmAnonymity(3, 2)
    sv.anonymize([["a", "b"], ["a"]] * 6, promise).write(tmp_path / "run", format="parquet")
    command = ["verify", tmp_path / "run", "-k3", "-m2", "--engine", "parts"]
    setveil(*command).ok()
    file = tmp_path / "run" / "published" / "data.parquet"
    pl.read_parquet(file).with_row_index("name").write_parquet(file)
    refused(setveil(*command), 4, "does not mention 1 column", "'name'")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "xyz"}, "There is no format 'xyz'"), ({"format": "facts"}, "There is no format 'facts'"),
        ({"format": ""}, "format is ''"), ({"format": "table"}, "contains a table, not single rows"),
        ({"format": ["csv"]}, "expected the format"), ({"format": None}, "expected the format"),
        ({}, "expected the format"),
    ],
)  # fmt: skip
def test_a_format_that_cannot_be(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    written(Layout("basket", separator=";"), tmp_path / "run")
    place = tmp_path / "run/published/about.json"
    about = json.loads(place.read_text())
    del about["format"]
    place.write_text(json.dumps(about | changed))
    with pytest.raises(sv.SetveilError, match=message):
        sv.verify(tmp_path / "run/published", sv.KmAnonymity(k=2, m=1))


@pytest.mark.parametrize("key", ["file", "items_file"])
@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "..", "C:\\x.csv", "", 5])
def test_about_json_names_no_file_outside_of_its_folder(key: str, name: object, tmp_path: Path) -> None:
    written(LONG[0], tmp_path / "run")
    about = tmp_path / "run" / "published" / "about.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), key: name}))
    with pytest.raises(DataError, match="expected the name of a file next to it"):
        sv.verify(tmp_path / "run")


def test_an_about_json_of_another_file_gives_labels_no_meaning(tmp_path: Path) -> None:
    lines = pl.DataFrame({"who": range(12), "code": ["a", "b"] * 6, "day": ["2024-01-02"] * 12})
    facts = sv.read_facts(lines, id="who", sets="code", when={"day": "month"})
    sv.anonymize(facts, k=3, m=1).write(tmp_path / "run")
    about = tmp_path / "run" / "published" / "about.json"
    about.write_text(about.read_text().replace('"data.csv"', '"other.csv"'))
    (tmp_path / "rows.csv").write_text("a\nb\n" * 6)
    done = setveil("measure", "rows.csv", "run", "--format", "basket", cwd=tmp_path)
    assert done.code == 4, done
    assert "Traceback" not in done.err


@pytest.mark.parametrize("lost", ["k", "m"])
def test_an_about_json_without_a_part_of_its_promise_promises_nothing(lost: str, tmp_path: Path) -> None:
    sv.anonymize([["a"]] * 6, k=3, m=2, hierarchy=TREE).write(tmp_path / "run")
    about = tmp_path / "run" / "published" / "about.json"
    said = json.loads(about.read_text())
    del said["guarantee"][lost]
    about.write_text(json.dumps(said))
    with pytest.raises(sv.SetveilError, match="Nothing says what to guarantee"):
        sv.verify(tmp_path / "run")


@pytest.mark.parametrize("entry", [{"item_columns": ["a", 5]}, {"id_column": 5}, {"separator": [","]}])
def test_an_about_json_says_with_texts_how_its_file_is_read(entry: dict[str, Any], tmp_path: Path) -> None:
    written(LONG[0], tmp_path / "run")
    about = tmp_path / "run" / "published" / "about.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), **entry}))
    with pytest.raises(DataError, match="expected how its file is read"):
        sv.verify(tmp_path / "run")


def test_a_wide_file_of_one_column_is_read(tmp_path: Path) -> None:
    release = sv.anonymize([["a"]] * 6, k=3, m=2, hierarchy=TREE)
    release.write(tmp_path / "run", format="wide")
    assert sv.verify(tmp_path / "run").holds
