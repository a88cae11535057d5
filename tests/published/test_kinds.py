"""Requirements of runs and commands for each kind of release. The tests find a new kind by its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.judges.guarantees import model_named, models
from setveil.releases.published import KindInfo, kind_at, kind_named, kind_of_recoding, kinds
from setveil.releases.published.block_files import PublishedBlocks
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.group_files import as_groups
from setveil.releases.published.table_files import PublishedTable
from tables import as_table

ROWS = [["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"], ["c"], ["a", "s"], ["b"], ["a", "c"]]
DATA = sv.Transactions.from_rows(ROWS)
LINES = [(row, item, 2001 + row % 2) for row, items in enumerate(ROWS) for item in items]
LOG = pl.DataFrame(LINES, schema=["who", "code", "on"], orient="row")
PROMISES: dict[str, tuple[Any, Any]] = {
    "global": (sv.KmAnonymity(2, 2), "aa"),
    "local": (sv.TransactionalKAnonymity(2), "lg"),
    "classes": (sv.KmAnonymity(2, 2), "classes"),
    "facts": (sv.KmAnonymity(2, 1), "aa"),
    "grouped": (sv.PrivacyDegree(2, ("s",)), "cahd"),
    "disassociated": (sv.Disassociated(2, 2), "disassociation"),
    "noisy": (sv.DifferentialPrivacy(1), sv.DPBlocks(universe=["a", "b", "c", "s"])),
    "table": (sv.KKmAnonymity(2, 2), "rt"),
    "table-cut": (sv.KKmAnonymity(2, 2), "forest"),
}


def made(recoding: str) -> Any:
    promise, algorithm = PROMISES[recoding]
    data: Any = as_table(DATA) if recoding.startswith("table") else DATA
    if recoding == "facts":
        data = sv.read_facts(LOG, id="who", sets="code", when={"on": "year"})
    return sv.anonymize(data, promise, algorithm=algorithm, details=False)


def test_every_kind_is_complete() -> None:
    recodings: list[str] = []
    for kind in kinds():
        assert isinstance(kind.info, KindInfo)
        assert all(callable(getattr(kind, name)) for name in ("publish", "holds", "read"))
        recodings += kind.info.recodings
        for recoding in kind.info.recodings:
            assert kind_of_recoding(recoding) is kind
    assert sorted(recodings) == sorted(PROMISES)
    assert kind_of_recoding("none of these") is None
    assert [kind.info.rows_of_items for kind in kinds()] == [not kind.info.format for kind in kinds()]
    assert not hasattr(kinds()[-1], "FILE"), "what is no release of another kind is one of single rows"
    for model in models().values():
        assert kind_named(model.release) in kinds()


@pytest.mark.parametrize("recoding", PROMISES)
def test_what_is_written_is_read_back(recoding: str, tmp_path: Path) -> None:
    promise, verified = PROMISES[recoding][0], made(recoding)
    kind = kind_of_recoding(recoding)
    assert verified.release.info is kind.info
    about_kind = kind_named(model_named(promise.model).release)
    assert kind is about_kind or (kind.info.rows_of_items and about_kind.info.rows_of_items)
    verified.write(tmp_path / "run", rare_names=True)
    about = json.loads((tmp_path / "run/published/about.json").read_text())
    assert about["recoding"] == verified.report["recoding"] == recoding
    assert kind.info.means in about
    for place in (tmp_path / "run", tmp_path / "run/published"):
        assert kind_at(str(place)) is kind
        again, exposed = kind.read(str(place), sv.read), verified.release.exposed()
        if isinstance(exposed, PublishedTable | PublishedChunks | PublishedBlocks):
            assert exposed.shows(again)
            continue
        again, exposed = as_groups(again), as_groups(exposed)
        assert list(again.qid) == list(exposed.qid)
        for name in ("group", "indptr", "item", "count"):
            assert getattr(again, name).tolist() == getattr(exposed, name).tolist()
        assert again.sensitive.labels == exposed.sensitive.labels
    # Replaced by a run of every other kind: the files of each are known.
    for other in PROMISES:
        made(other).write(tmp_path / "run", force=True, rare_names=True)
        assert kind_at(str(tmp_path / "run")) is kind_of_recoding(other)


@pytest.mark.parametrize("recoding", ["global", "grouped", "table-cut"])
def test_every_item_is_published_as_something_or_not_at_all(recoding: str) -> None:
    release = made(recoding).release
    image = release.image()
    assert set(image) >= set(DATA.vocabulary.labels)
    assert {label for label in image.values() if label} >= set(release.published.vocabulary.labels)
