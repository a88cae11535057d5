"""The account of noisy counts: what adds up, what does not, and files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.judges.guarantees.differential_privacy import violation_words
from setveil.releases.published.blocks import drawn_rows

ROWS = [["tea", "milk"], ["tea"], ["milk"], ["rum, dark", "tea"]] * 25
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = sv.DPBlocks(universe=["milk", "rum, dark", "soap", "tea"], block_size=2)
    release = sv.anonymize(ROWS, sv.DifferentialPrivacy(1), algorithm=settings)
    place = tmp_path_factory.mktemp("noisy") / "run"
    release.write(place)
    return place


def changed(folder: Path, place: Path, change: Change) -> Path:
    """Write the release with another data.json, and without the about.json that describes its rows."""
    content = json.loads((folder / "published" / "data.json").read_text())
    change(content)
    (place / "data.json").write_text(json.dumps(content))
    (place / "synthetic.csv").write_bytes((folder / "published" / "synthetic.csv").read_bytes())
    return place / "data.json"


def test_what_was_written_is_read_again(folder: Path) -> None:
    shown = sv.read_published(folder)
    verdict = sv.verify(folder, sv.DifferentialPrivacy(1))
    assert repr(verdict) == "Yes: differential privacy (epsilon=1) holds."
    assert verdict.found() == {"spent": 1}
    assert sv.verify(shown, sv.DifferentialPrivacy(2)).holds
    weaker = sv.verify(folder, sv.DifferentialPrivacy("0.9"))
    assert [violation_words(one) for one in weaker.listed()] == ["the lines spend 1.0 in all, more than 0.9"]
    frame = shown.to_polars()
    assert frame.columns == ["block", "items", "count"]
    assert frame.height == 8
    assert shown.to_polars(long=True).columns == ["block", "item", "count"]
    lines = (folder / "published" / "cells.csv").read_text().splitlines()
    assert lines[0] == "block,items,count"
    assert len(lines) == 9
    assert any('""rum, dark""' in line for line in lines)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_rows_that_are_all_empty_are_read_again(number: int, tmp_path: Path) -> None:
    made = sv.anonymize(
        ROWS[:3], sv.DifferentialPrivacy(1), algorithm=sv.DPBlocks(["milk", "tea"], block_size=1)
    )
    release: Any = made.release
    altered = replace(release.shown, noisy_rows=number, cells=(number, 0, number, -1))
    shown = replace(altered, rows=drawn_rows(altered, seed=0))
    assert [*shown.rows.rows()] == [()] * number
    replace(made, release=replace(release, shown=shown)).write(tmp_path / "run")
    again: Any = sv.read_published(tmp_path / "run")
    assert again.shows(shown)
    assert sv.verify(tmp_path / "run", sv.DifferentialPrivacy(1)).holds


def test_nothing_true_is_published(folder: Path) -> None:
    published = folder / "published"
    assert {file.name for file in published.iterdir()} == {
        "about.json", "cells.csv", "data.json", "synthetic.csv"
    }  # fmt: skip
    about = json.loads((published / "about.json").read_text())
    data = json.loads((published / "data.json").read_text())
    assert about["rows"] == max(0, data["rows"])
    assert set(about) == {
        "setveil", "guarantee", "algorithm", "file", "format", "rows", "empty_rows", "recoding", "cells_file",
        "rows_file",
    }  # fmt: skip
    assert set(data) == {"model", "epsilon", "spent", "rows", "blocks"}
    assert (folder / "internal" / "rows.csv").read_text().splitlines()[:2] == [
        "input_row,synthetic_row",
        "0,",
    ]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda data: data["spent"][0].update(epsilon=0.5), "epsilon"),
        (lambda data: data["spent"][0].update(scale=19), "scale"),
        (lambda data: data["spent"][1].update(scale=15), "scale"),
        (lambda data: data["spent"][3].update(one_row_changes=1), "distance"),
        (lambda data: data["spent"].pop(0), "distance"),
        (lambda data: data["blocks"][1].update(items=data["blocks"][0]["items"]), "item"),
        (lambda data: data.update(rows=data["rows"] + 1), "rows"),
        (lambda data: data["blocks"][0]["cells"].__setitem__(0, 4000), "rows"),
        (lambda data: data["blocks"][0]["items"].reverse(), "rows"),
    ],
)
def test_tampered(folder: Path, tmp_path: Path, change: Change, kind: str) -> None:
    verdict = sv.verify(changed(folder, tmp_path, change), sv.DifferentialPrivacy(1))
    assert not verdict.holds
    assert kind in {one["kind"] for one in verdict.listed()}
    assert all(map(violation_words, verdict.listed()))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data.pop("epsilon"), "there is no 'epsilon'"),
        (lambda data: data.pop("blocks"), "there is no 'blocks'"),
        (lambda data: data.update(epsilon="none"), "expected a number above 0"),
        (lambda data: data["spent"][0].pop("scale"), "there is no 'scale'"),
        (lambda data: data["spent"][0].update({"for": 3}), "expected a text"),
        (lambda data: data.update(rows=1.5), "expected a number from"),
        (lambda data: data["blocks"][0]["cells"].pop(), "expected 4 numbers"),
        (lambda data: data["blocks"][0]["cells"].__setitem__(0, None), "expected a number from"),
        (lambda data: data["blocks"][0].update(items=[]), "expected 1 to 10 items"),
        (lambda data: data["blocks"][0].update(items=["", "x"]), "expected items, each a text"),
        (lambda data: data.update(blocks={}), "expected a list"),
    ],
)
def test_what_is_no_such_file(folder: Path, tmp_path: Path, change: Change, text: str) -> None:
    with pytest.raises(sv.DataError, match=text):
        sv.verify(changed(folder, tmp_path, change), sv.DifferentialPrivacy(1))


def test_rows_are_missing(folder: Path, tmp_path: Path) -> None:
    place = changed(folder, tmp_path, lambda _: None)
    (tmp_path / "synthetic.csv").unlink()
    with pytest.raises(sv.DataError, match=r"there is no synthetic\.csv"):
        sv.verify(place, sv.DifferentialPrivacy(1))


def test_other_promises_are_not_about_noisy_counts(folder: Path) -> None:
    with pytest.raises(sv.DataError, match="contains counts with noise, not single rows"):
        sv.verify(folder, sv.KmAnonymity(2, 2))
    with pytest.raises(sv.DataError, match="is about counts with noise"):
        sv.verify(ROWS, sv.DifferentialPrivacy(1))
    with pytest.raises(sv.RequestError, match="a person's"):
        sv.risk(folder)
    with pytest.raises(sv.DataError, match="facts or noisy counts"):
        sv.attack(folder, ROWS, ROWS[:2])
    with pytest.raises(sv.RequestError, match="published as themselves, by counts with noise"):
        sv.why(folder, "tea", row=1)
    with pytest.raises(sv.RequestError, match="published already"):
        sv.reconstruct(folder)
    with pytest.raises(sv.RequestError, match="Itemsets cannot be searched"):
        sv.query(folder, itemsets=3)
    answer = sv.query(folder, [["tea", "milk"]])[0]
    assert str(answer).endswith("with noise")
    assert set(answer.as_dict()) == {"itemset", "estimate"}


def test_no_page_to_be_shared(tmp_path: Path) -> None:
    release = sv.anonymize(
        ROWS[:4], sv.DifferentialPrivacy(1), algorithm=sv.DPBlocks(universe=["milk", "rum, dark", "tea"])
    )
    with pytest.raises(sv.RequestError, match="There is no page to share"):
        release.write(tmp_path / "run", external=True)
    assert not (tmp_path / "run").exists()
    page = release.report_html()
    assert "Epsilon and noise" in page
    assert "are internal" in page
