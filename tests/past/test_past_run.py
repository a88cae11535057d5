"""A run that was made before is read once, by one reader, with one answer for what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from setveil.past.run import past_run, read_recoding

ROWS = [["tea", "milk"], ["coffee", "milk"], ["tea"], ["coffee"], ["coffee"], ["milk"]]


def test_a_folder_says_what_the_release_in_memory_does(tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2))
    release.write(tmp_path / "run")
    read, taken = past_run(tmp_path / "run"), past_run(release, "the release")
    assert (read.name, taken.name) == (str(tmp_path / "run"), "the release")
    assert read.uniform
    assert read.image == dict(taken.image)
    assert read.promise() == taken.promise() == taken.guarantee == sv.KmAnonymity(2, 2)
    assert (read.model, read.objective) == (taken.model, taken.objective) == ("km-anonymity", "lm")


def test_rows_that_were_recoded_apart_have_no_labels_of_items(tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, sv.TransactionalKAnonymity(k=2), algorithm=sv.LG)
    release.write(tmp_path / "run")
    for run in (past_run(tmp_path / "run"), past_run(release, "the release")):
        assert (run.uniform, dict(run.image)) == (False, {})


def test_a_recoding_is_read(tmp_path: Path) -> None:
    file = tmp_path / "recoding.csv"
    with pytest.raises(sv.DataError, match="cannot be read as a recoding"):
        read_recoding(file)
    file.write_text('item,published\n"a,b",food\nc,\n')
    assert read_recoding(file) == {"a,b": "food", "c": None}
    file.write_text("row,what\n1,2\n")
    with pytest.raises(sv.DataError, match="expected item,published"):
        read_recoding(file)
    file.write_bytes(b"item,published\n\xff,x\n")
    with pytest.raises(sv.DataError, match="cannot be read as a recoding"):
        read_recoding(file)
