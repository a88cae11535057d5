"""Errors of rows in chunks and noisy counts in Python, with their reasons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv

ROWS = 4 * [["tea", "milk"], ["tea", "rum"], ["milk", "rum"], ["tea", "milk", "rum"]]
Face = tuple[dict[str, Any], Any, Path]

CHUNKS = "do not show which items are in the same row"
NOISE = "No row of noisy counts is a person's"
ROWS_ONLY = "is about rows of items, and the data are a table"
TABLE = "age,codes\n30,a;b\n30,a\n41,b\n41,a;b\n"


@pytest.fixture(scope="module", params=["chunks", "noise"])
def face(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Face:
    how: dict[str, Any] = {"guarantee": sv.Disassociated(3, 2), "algorithm": "disassociation"}
    if request.param == "noise":
        how = {
            "guarantee": sv.DifferentialPrivacy(epsilon=1),
            "algorithm": sv.DPBlocks(universe=["tea", "milk", "rum"]),
        }
    release = sv.anonymize(ROWS, **how)
    folder = tmp_path_factory.mktemp(request.param) / "run"
    release.write(folder)
    return how, release, folder


@pytest.mark.parametrize(
    ("call", "chunks", "noise"),
    [
        (lambda how, release, folder: sv.apply(folder, ROWS), "which cluster new rows", "of its own rows"),
        (
            lambda how, release, folder: sv.apply(folder, ROWS, union=folder),
            "which cluster new rows", "of its own rows",
        ),
        (
            lambda how, release, folder: sv.anonymize(ROWS, **how, engine="parts"),
            "has no parameter engine", "given twice.*engine",
        ),
        (
            lambda how, release, folder: sv.anonymize(table(folder.parent / "table.csv"), **how),
            ROWS_ONLY, ROWS_ONLY,
        ),
        (lambda how, release, folder: sv.risk(release, m=2), CHUNKS, NOISE),
        (lambda how, release, folder: sv.risk(folder, m=2), CHUNKS, NOISE),
        (lambda how, release, folder: sv.risk(release, m=2, absent=True), CHUNKS, NOISE),
        (lambda how, release, folder: sv.why(folder, "tea"), "only which items go together", "with noise"),
        (
            lambda how, release, folder: sv.anonymize(ROWS, **how, classes=True),
            "disassociation has no classes|no parameter", "differential privacy has no classes|no parameter",
        ),
        (
            lambda how, release, folder: sv.anonymize(ROWS, **how, counts=5),
            "under their own names already", "under their own names already",
        ),
        (
            lambda how, release, folder: sv.anonymize(ROWS, **how, bound=True),
            "not for disassociation", "not for differential privacy",
        ),
        (
            lambda how, release, folder: sv.anonymize(ROWS, sv.KmAnonymity(3, 2), algorithm=how["algorithm"]),
            "does not give km-anonymity", "does not give km-anonymity",
        ),
    ],
)  # fmt: skip
def test_refused(face: Face, call: Callable[..., Any], chunks: str, noise: str) -> None:
    how, release, folder = face
    with pytest.raises(sv.RequestError, match=chunks if folder.parent.name.startswith("chunks") else noise):
        call(how, release, folder)


def table(file: Path) -> sv.Table:
    file.write_text(TABLE)
    return sv.read_table(file, qi=["age"], set="codes")


def test_only_published_labels_can_be_queried(face: Face) -> None:
    """Check that a group of items has no label in such a release."""
    _, release, folder = face
    for target in (release, folder):
        with pytest.raises(sv.DataError, match="'drinks' is not an item of the release") as raised:
            sv.query(target, [["tea", "drinks"]])
        chunks = folder.parent.name.startswith("chunks")
        assert ("count groups in rows" if chunks else "in no block are not published") in str(raised.value)


def test_a_hierarchy_is_not_used() -> None:
    tree = sv.Hierarchy.from_paths([["tea", "*"], ["milk", "*"], ["rum", "*"]])
    promise = sv.Disassociated(3, 2)
    release = sv.anonymize(ROWS, promise, algorithm="disassociation", hierarchy=tree)
    assert release.report["algorithm"]["warnings"] == ["disassociation does not use the hierarchy."]
    assert release.release.exposed().shows(
        sv.anonymize(ROWS, promise, algorithm="disassociation").release.exposed()
    )


def test_noisy_rows_are_drawn_already(face: Face) -> None:
    _, release, folder = face
    if folder.parent.name.startswith("chunks"):
        assert sv.reconstruct(release)
        return
    with pytest.raises(sv.RequestError, match=r"synthetic\.csv"):
        sv.reconstruct(release)


@pytest.mark.parametrize("epsilon", [0, -1, "0", "x"])
def test_no_epsilon(epsilon: Any) -> None:
    with pytest.raises(sv.RequestError, match="epsilon must be a number above 0"):
        sv.DifferentialPrivacy(epsilon=epsilon)


def test_the_list_of_items_is_fixed_before() -> None:
    promise = sv.DifferentialPrivacy(epsilon=1)
    with pytest.raises(sv.RequestError, match="fixed without looking at the data"):
        sv.anonymize(ROWS, promise, algorithm="dp-blocks")
    with pytest.raises(sv.DataError, match="1 item is not in the list of all items: 'rum'"):
        sv.anonymize(ROWS, promise, algorithm=sv.DPBlocks(universe=["tea", "milk"]))
