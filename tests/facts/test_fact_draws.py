"""Draws of facts: every draw is a possible original, and is read back as it was written."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import setveil as sv
from fact_cases import random_columns, random_facts, some_facts
from setveil.base.errors import DataError, RequestError
from setveil.judges.reconstruction.draws import Terms, read_draws
from setveil.releases.published import shared as record_of
from strategies import many


def test_every_draw_is_a_possible_original(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(8)
    for _ in range(many(60)):
        facts, codes = some_facts(random)
        release = sv.anonymize(facts, k=2, m=1, hierarchy=codes)
        monkeypatch.setattr(record_of, "_FEW_FACTS", random.choice((0, 100_000)))
        assert release.counts is not None
        boxes = release.published.stands_for  # type: ignore[attr-defined]
        if not release.published.n_items and not release.counts.items:
            continue
        seen = sorted(map(sorted, release.published))
        for draw in sv.reconstruct(release, draws=2):
            supports = dict(zip(draw.vocabulary.labels, draw.supports().tolist(), strict=True))
            assert all(supports[fact] == rows for fact, _, rows in release.counts.lines())
            recoded = []
            for row in draw.rows():
                parsed = [boxes.fact(fact) for fact in row]
                assert None not in parsed
                places = {boxes.around(fact) for fact in parsed} - {-1}
                recoded.append(sorted(boxes.text(boxes.boxes[at]) for at in places))
            assert sorted(recoded) == seen


def test_draws_are_written_with_a_column_for_each_part_and_read_back(tmp_path: Path) -> None:
    facts, codes, _ = random_facts(Random(5))
    sv.anonymize(facts, k=2, m=1, hierarchy=codes).write(tmp_path / "out")
    drawn = sv.reconstruct(tmp_path / "out", draws=2)
    drawn.write(tmp_path / "draws")
    file = tmp_path / "draws/draw-1.csv"
    assert file.read_text().splitlines()[0] == "row,code,on"
    again = list(read_draws(tmp_path / "draws", sv.read))
    assert [draw.rows() for draw in again] == [draw.rows() for draw in drawn]
    file.write_text(file.read_text().replace("row,code,on", "row,on,code"))
    with pytest.raises(DataError, match="is no draw of"):
        list(read_draws(tmp_path / "draws", sv.read))
    assert isinstance(drawn.terms, Terms)
    with pytest.raises(RequestError, match="Draws of facts are written as csv"):
        drawn.terms.written_as("parquet")


def test_draws_of_two_columns_are_written_as_the_release_is(tmp_path: Path) -> None:
    facts, trees = random_columns(Random(3))
    sv.anonymize(facts, k=2, m=1, hierarchy=trees).write(tmp_path / "out")
    drawn = sv.reconstruct(tmp_path / "out", draws=2)
    drawn.write(tmp_path / "draws")
    header = (tmp_path / "draws/draw-1.csv").read_text().splitlines()[0]
    assert header == (tmp_path / "out/published/data.csv").read_text().splitlines()[0] == "row,set,item,on"
    again = list(read_draws(tmp_path / "draws", sv.read))
    assert [draw.rows() for draw in again] == [draw.rows() for draw in drawn]


def test_without_counts_nothing_is_drawn() -> None:
    facts, codes, _ = random_facts(Random(5))
    with pytest.raises(DataError, match="no counts"):
        sv.reconstruct(sv.anonymize(facts, k=2, m=1, hierarchy=codes, counts=False))
