"""Releases in classes from end to end: bytes, formats, guarantees, and errors."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from naive.km import is_km
from setveil.base.threads import use_threads
from setveil.releases.published.classes import ClassesRelease
from setveil.report.run.kinds import promised

Rows = list[list[str]]
K = sv.KmAnonymity(5, 2)


def shop(*, empty: int = 0) -> Rows:
    rows: Rows = []
    for _ in range(60):
        rows += [["tea", "scone"], ["tea", "honey"], ["beer", "crisps"], ["beer", "nuts"]]
    rare = [["tea", "crisps"], ["tea", "nuts"], ["beer", "honey"], ["beer", "scone"]]
    return rows + 2 * rare + [[] for _ in range(empty)]


@pytest.fixture(scope="module")
def tree() -> sv.Hierarchy:
    leaves = {
        "tea": "drinks", "beer": "drinks", "scone": "sweet", "honey": "sweet", "crisps": "salty",
        "nuts": "salty", "flu": "ill", "cold": "ill",
    }  # fmt: skip
    return sv.Hierarchy.from_paths([[leaf, above, "all"] for leaf, above in leaves.items()])


def made(rows: Rows, tree: sv.Hierarchy, **more: Any) -> sv.VerifiedRelease:
    settings: dict[str, Any] = {"classes": True, "class_size": 50, **more}
    return sv.anonymize(rows, settings.pop("guarantee", K), hierarchy=tree, **settings)


def published_bytes(release: sv.VerifiedRelease, folder: Path, **how: Any) -> dict[str, bytes]:
    release.write(folder, **how)
    return {path.name: path.read_bytes() for path in sorted((folder / "published").iterdir())}


def test_the_promise_is_said_of_every_class(tree: sv.Hierarchy) -> None:
    several, one = (promised(made(shop(), tree, **more).report) for more in ({}, {"classes": 1}))
    assert several.endswith("or none. This is so in every class, even if the class is known.")
    assert one.endswith("or none.")


@pytest.fixture
def release(tree: sv.Hierarchy) -> sv.VerifiedRelease:
    return made(shop(empty=3), tree)


def test_every_class_keeps_the_promise(release: sv.VerifiedRelease) -> None:
    assert isinstance(release.release, ClassesRelease)
    classes = release.release.classes
    rows = [frozenset(row) for row in release.published]
    assert sorted(np.bincount(classes).tolist()) == [124, 127]
    for c in range(2):
        assert is_km([row for row, at in zip(rows, classes.tolist(), strict=True) if at == c], 5, 2)
    assert [str(one) for one in sv.query(release, [["tea", "scone"]])] == ["tea, scone: exactly 60"]
    assert release.counts is not None
    assert ("honey", 62) not in release.counts.totals.items()  # 2 would follow


def test_same_bytes_for_rows_in_any_order_and_any_number_of_threads(
    release: sv.VerifiedRelease, tree: sv.Hierarchy, tmp_path: Path
) -> None:
    first = published_bytes(release, tmp_path / "first")
    rows = shop(empty=3)
    random.Random(1).shuffle(rows)
    assert published_bytes(made(rows, tree), tmp_path / "shuffled") == first
    use_threads(1)
    try:
        assert published_bytes(made(rows, tree), tmp_path / "one") == first
    finally:
        use_threads(None)
    assert published_bytes(made(rows, tree, seed=1), tmp_path / "seed") != first


@pytest.mark.parametrize("form", ["basket", "long", "wide", "jsonl", "parquet"])
def test_formats_are_read_back(form: str, release: sv.VerifiedRelease, tmp_path: Path) -> None:
    release.write(tmp_path / "out", format=form)
    verdict = sv.verify(tmp_path / "out", K)
    assert verdict.holds
    assert verdict.counts is not None
    assert [str(one) for one in sv.query(tmp_path / "out", [["tea", "scone"]])] == ["tea, scone: exactly 60"]
    assert sv.measure(shop(empty=3), tmp_path / "out")["ncp"] == release.utility["ncp"]
    drawn = sv.reconstruct(tmp_path / "out", draws=1)
    assert drawn[0].n_rows == 251


def test_one_class_where_rows_are_too_few_or_answers_no_better(tree: sv.Hierarchy) -> None:
    few = sv.anonymize(shop()[:8], K, hierarchy=tree, classes=True)
    assert few.report["classes"]["number"] == 1
    assert few.report["classes"]["too_few_rows"]
    assert "one: there are too few rows for two" in str(few)


def test_one_class_is_spoken_of_as_one(tree: sv.Hierarchy, tmp_path: Path) -> None:
    made(shop(), tree, classes=1).write(tmp_path / "one")
    made(shop(), tree).write(tmp_path / "two")
    one, two = ((tmp_path / name / "internal" / "report.html").read_text("utf-8") for name in ("one", "two"))
    assert "1 class, with labels and counts of its own" in one
    assert "1 class, each" not in one
    assert "The rows are in 1 class. It is proven to lose the least." in one
    assert "2 classes, each with labels and counts of its own" in two
    assert "2 of them are proven to lose the least." in two


def test_at_most_so_many_classes(tree: sv.Hierarchy) -> None:
    assert made(shop(), tree, classes=1).report["classes"]["number"] == 1


def test_items_that_nothing_is_cut_on(tree: sv.Hierarchy) -> None:
    release = made(shop(), tree, not_split=["tea", "beer"])
    cuts = [cut["item"] for one in release.report["classes"]["classes"] for cut in one["cuts"]]
    assert not {"tea", "beer"} & set(cuts)


@pytest.mark.parametrize("knows", ["public", "any"])
def test_sensitive_items_are_neither_cut_on_nor_counted(
    knows: str, tree: sv.Hierarchy, tmp_path: Path
) -> None:
    rng = random.Random(2)
    rows = [row + (["flu"] if rng.random() < 0.3 else []) for row in shop(empty=2)]
    promise = sv.KmRho(5, 2, "1/5", ["flu"], knows)
    release = made(rows, tree, guarantee=promise, details=True)
    assert release.counts is not None
    assert "flu" not in release.counts.items
    cuts = [cut["item"] for one in release.report["classes"]["classes"] for cut in one["cuts"]]
    assert "flu" not in cuts
    release.write(tmp_path / "out", external=True)
    assert sv.verify(tmp_path / "out", promise).holds
    classes = release.release.classes  # type: ignore[attr-defined]
    for c in set(classes.tolist()):
        own = [row for row, at in zip(release.published, classes.tolist(), strict=True) if at == c]
        for item in {x for row in own for x in row} - {"flu"}:
            held = [row for row in own if item in row]
            assert sum("flu" in row for row in held) * 5 <= len(held)
    assert sv.reconstruct(tmp_path / "out", draws=1)[0].n_rows == len(rows)


def test_a_class_is_queried_by_itself(release: sv.VerifiedRelease, tree: sv.Hierarchy) -> None:
    answers = [sv.query(release, [["tea"]], class_=c)[0].greatest for c in range(2)]
    assert sorted(answers)[1] == 124
    named = next(c for c in range(2) if answers[c] == 124)
    found = sv.why(release, "scone", data=shop(empty=3), hierarchy=tree, class_=named)
    assert found["name"] == "scone"
    with pytest.raises(sv.RequestError, match="has 2 classes"):
        sv.why(release, "scone", data=shop(empty=3), hierarchy=tree)
    with pytest.raises(sv.RequestError, match="no class 7"):
        sv.query(release, [["tea"]], class_=7)
    known = sv.risk(release, m=1)
    assert set(known) == {"class not known", "class known"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"class_size": 9}, "at least 10 rows"),
        ({"class_size": 200}, "no more than half"),
        ({"algorithm": "lra"}, "not by lra"),
        ({"classes": 0}, "classes must be"),
        ({"not_split": ["rum"]}, "no row contains"),
        ({"guarantee": sv.TransactionalKAnonymity(5)}, "k-anonymity"),
        ({"guarantee": sv.RhoUncertainty("1/5", ["tea"])}, "rho-uncertainty"),
        ({"guarantee": sv.Coherence(h="1/2", k=5, p=2, private=["tea"])}, "coherence"),
        ({"guarantee": sv.PrivacyConstraints(5, m=2)}, "constraints"),
        ({"guarantee": sv.PrivacyDegree(2, ["tea"])}, "groups"),
    ],
)
def test_what_is_refused(more: dict[str, Any], said: str, tree: sv.Hierarchy) -> None:
    with pytest.raises(sv.RequestError, match=said):
        made(shop(), tree, **more)


def changed(folder: Path, file: str, before: str, after: str) -> Path:
    path = folder / "published" / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    return folder


def test_files_that_do_not_fit(release: sv.VerifiedRelease, tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        release.write(tmp_path / name)
        return tmp_path / name

    sizes = (fresh("a") / "published" / "classes.csv").read_text("utf-8").splitlines()
    first = sizes[1]
    with pytest.raises(sv.DataError, match="adds up to"):
        sv.verify(changed(tmp_path / "a", "classes.csv", first, "0,100"), K)
    (fresh("b") / "published" / "classes.csv").unlink()
    with pytest.raises(sv.DataError, match=r"classes\.csv is missing"):
        sv.verify(tmp_path / "b", K)
    with pytest.raises(sv.DataError, match="there is no class '9'"):
        sv.verify(changed(fresh("c"), "counts.csv", "\n0,", "\n9,"), K)
    added = changed(fresh("d"), "counts.csv", ",tea,,124\n", ",honey,,62\n,tea,,124\n")
    verdict = sv.verify(added, K)
    assert not verdict.holds
    assert verdict.counts is not None
    assert any("line" in problem for problem in verdict.counts.first)
    with pytest.raises(sv.RequestError, match="which class new rows"):
        sv.apply(fresh("e"), shop())


def test_a_label_that_stands_for_an_item_twice_in_a_class(
    release: sv.VerifiedRelease, tmp_path: Path
) -> None:
    release.write(tmp_path / "out")
    about = tmp_path / "out" / "published" / "about.json"
    record = json.loads(about.read_text("utf-8"))
    record["labels"]["drinks"] = ["beer", "tea"]
    about.write_text(json.dumps(record), "utf-8")
    rows = tmp_path / "out" / "published" / "data.csv"
    rows.write_text(rows.read_text("utf-8").replace("scone,tea", "drinks,scone", 10), "utf-8")
    verdict = sv.verify(tmp_path / "out", K)
    assert not verdict.holds
    assert verdict.counts is not None
    assert "class 0 shows 'drinks' and 'tea', which both represent 'tea'" in verdict.counts.first
