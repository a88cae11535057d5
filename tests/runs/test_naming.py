"""Labels of hierarchies that runs compute: they depend on what enough rows contain."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import cast

import polars as pl
import pytest

import setveil as sv
from naive import labels
from setveil.rows.data.layout import Layout
from setveil.rows.hierarchy.computed import label_of
from strategies import examples, seeded


def labels_of(release: sv.VerifiedRelease) -> set[str]:
    return {label for row in release.published for label in row}


def test_labels_name_the_most_frequent_members() -> None:
    rng, seen = seeded(7), Counter[int]()
    styles = [
        "abcdefghijklmnop",
        [str(7 * n) for n in range(16)],
        [f"{'long ' * (n % 8)}name {n}" for n in range(16)],
    ]
    for turn in range(examples(30)):
        items, k = rng.choice(styles), rng.randint(3, 8)
        weights = [1 / (1 + n) for n in range(16)]
        rows = [[*{*rng.choices(items, weights, k=3)}] for _ in range(rng.randint(40, 60))]
        rows += [[f"rare {n}"] for n in range(rng.randint(0, 12)) for _ in range(2)]
        promise = sv.TransactionalKAnonymity(k) if turn % 2 else sv.KmAnonymity(k, 1)
        release = sv.anonymize(rows, promise, algorithm="lg" if turn % 2 else "da", list_members=True)
        members = {x: inside for x, inside in release.recoding.members().items() if len(inside) > 1}
        members.pop("*", None)
        assert {_without_number(label) for label in members} == {
            labels.name(inside, rows, k) for inside in members.values()
        }
        for label, inside in members.items():
            assert _without_number(label) == labels.name(inside, rows, k)
            assert not any(label in row for row in rows)
            seen[label.count("·")] += 1
        _require_numbers(members)
    assert {*seen} == {0, 1, 2, 3}


def _without_number(label: str) -> str:
    return label.rstrip("0123456789 ")


def _require_numbers(members: Mapping[str, Sequence[str]]) -> None:
    """Labels that would be called alike are numbered, those of groups inside others first."""
    alike: dict[str, list[str]] = {}
    for label in members:
        alike.setdefault(_without_number(label), []).append(label)
    for name, some in alike.items():
        numbers = [f"{name} {n}" for n in range(1, len(some) + 1)]
        assert {*some} == {*([name, *numbers[1:]] if name != "…" else numbers)}
        for label, other in permutations(some, 2):
            if {*members[label]} < {*members[other]}:
                assert len(label) <= len(other)
                assert label < other or len(label) < len(other)


def test_labels_have_no_blanks_but_single_ones_and_no_control_characters() -> None:
    assert label_of(["  a \n b\t", "c"]) == "a b · c · …"
    assert label_of(["a\0", "\ud800", "\u202e", "b"]) == "…"
    assert label_of(["a", "\x1b[1m", "b"]) == "a · b · …"


def test_a_long_name_is_cut() -> None:
    assert label_of(["a" * 36, "b"]) == f"{'a' * 36} · …"
    assert label_of(["a" * 37, "b"]) == f"{'a' * 35}… · …"
    assert label_of(["a" * 34 + " bcd", "b"]) == f"{'a' * 34}… · …"


def test_labels_name_no_item_that_is_published_otherwise() -> None:
    rng, others = seeded(13), 0
    for _ in range(examples(12)):
        rows = [rng.sample("abcdefghijkl", rng.randint(1, 4)) for _ in range(80)]
        promise = sv.RhoUncertainty("0.5", sensitive=["a", "b", "c"])
        release = sv.anonymize(rows, promise, algorithm="td-control", list_members=True)
        for label, inside in release.recoding.members().items():
            if len(inside) > 1:
                assert _without_number(label) == labels.name(inside, rows, 5)
                others += 1
    assert others


@pytest.mark.parametrize("name", ["… 1", "… 2", "*"])
def test_an_item_of_few_rows_called_like_a_label_is_refused(name: str) -> None:
    rows = [*([item] for item in "abcdefgh" for _ in range(2)), [name]]
    k = 9 if name == "*" else 3
    with pytest.raises(sv.DataError, match="called like a label that was computed") as caught:
        sv.anonymize(rows, k=k, m=1, algorithm="da")
    assert caught.value.hint == "Give a hierarchy with labels of its own, or give these items other names."


def test_an_item_of_enough_rows_called_like_a_label_gives_others_another_number() -> None:
    rows = [*([item] for item in "abcdefgh" for _ in range(2)), *[["… 1"]] * 5]
    assert labels_of(sv.anonymize(rows, k=4, m=1, algorithm="da")) == {"… 1 · …", "… 2"}


@pytest.mark.parametrize("algorithm", ["coat", "pcta"])
@pytest.mark.parametrize("name", ["(… 1)", "(a,b,…)", "(a,…)"])
def test_labels_of_groups_are_not_called_otherwise_for_an_item_of_few_rows(name: str, algorithm: str) -> None:
    rng = seeded(10)
    for _ in range(30):
        rows = [rng.sample("abcdefgh", rng.randint(1, 2)) for _ in range(24)]
        rows += [[item] for item in "pq" for _ in range(rng.randint(1, 2))]
        promise = sv.PrivacyConstraints(4, m=1)
        made = [sv.anonymize([*rows, ["zz"]], promise, algorithm=algorithm)]
        with contextlib.suppress(sv.DataError):
            made.append(sv.anonymize([*rows, [name]], promise, algorithm=algorithm))
        assert not any(label.startswith("((") for release in made for label in labels_of(release))


@pytest.mark.parametrize("items", ["coat", "pcta"])
def test_groups_within_classes_name_members_of_enough_rows_only(items: str) -> None:
    rng = seeded(12)
    numbered = 0
    for _ in range(20):
        rows = [
            [str(rng.randint(20, 60)), ";".join(rng.sample("abcd", rng.randint(1, 2)))] for _ in range(36)
        ]
        for rare in "pqrs":
            rows[rng.randrange(36)][1] += f";{rare}"
        frame = pl.DataFrame(rows, schema=["age", "codes"], orient="row")
        release = sv.anonymize(
            sv.read_table(frame, qi="age", set="codes"),
            sv.KKmAnonymity(4, 2),
            algorithm="bounding",
            items=items,
        )
        members = release.release.members()
        for label, inside in members.items():
            shown = [x for x in inside if x in set("abcd")]
            assert len(inside) == 1 or label.split(" ")[0].rstrip(")") == f"({','.join([*shown, '…'])}", label
            numbered += " " in label
        assert len(members) == len(set(members))
    assert numbered > 0  # groups that differ in other members have different labels


def test_the_hierarchy_of_a_run_is_found_again_with_its_names(tmp_path: Path) -> None:
    rng = seeded(9)
    renamed = 0
    for turn in range(6):
        rows = [rng.sample("abcdefghijklmnop", rng.randint(1, 4)) for _ in range(60)]
        file = tmp_path / f"{turn}.csv"
        file.write_text("".join(",".join(row) + "\n" for row in rows))
        release = sv.anonymize(sv.read(file, format="basket"), k=5, m=2, seed=turn)
        release.write(tmp_path / f"run{turn}")
        report = json.loads((tmp_path / f"run{turn}" / "internal" / "report.json").read_text())
        renamed += "renamed" in report["hierarchy"]
        for label, items in release.recoding.members().items():
            if "…" in label:
                found = sv.why(tmp_path / f"run{turn}", items[0])
                assert label in json.dumps(found, ensure_ascii=False), label
    assert renamed


GOODS = ["milk", "tea, green", "tea", 'jam "old"', "oil\nlight", "rye", "rice", "soda", " salt", "a=b", "c;d"]


def goods_rows(seed: int, n: int = 400) -> list[list[str]]:
    rng = seeded(seed)
    weights = [1 / (1 + place) ** 1.5 for place in range(len(GOODS))]
    rows = [sorted({*rng.choices(GOODS, weights, k=rng.randint(1, 2))}) for _ in range(n)]
    return [*rows, ["secret of one person", "tea, green"]]


@pytest.mark.parametrize(
    ("form", "separator"),
    [("basket", ","), ("basket", " "), ("basket", "|"), ("long", ";"), ("wide", ","), ("onehot", "\t"),
     ("spmf", ","), ("jsonl", ","), ("parquet", ",")],
)  # fmt: skip
def test_labels_are_read_again_from_every_format(form: str, separator: str, tmp_path: Path) -> None:
    release = sv.anonymize(goods_rows(1), k=8, m=2, algorithm="aa")
    assert any(label.count("·") > 1 for label in labels_of(release))
    layout = Layout(form, separator)
    checker = form != "parquet"
    replace(release, layout=layout).write(tmp_path / "x", checker=checker)
    published = cast("sv.Transactions", sv.read_published(tmp_path / "x"))
    assert sorted(map(sorted, published)) == sorted(map(sorted, release.published))
    assert sv.verify(tmp_path / "x").holds
    if checker:
        words = [sys.executable, "-I", str(tmp_path / "x" / "published" / "check.py")]
        assert subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_a_release_with_such_labels_is_queried_measured_applied_and_explained(tmp_path: Path) -> None:
    rows, file = goods_rows(1), tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    release = sv.anonymize(sv.read(file), k=8, m=2, algorithm="aa")
    run = tmp_path / "run"
    release.write(run, external=True)
    for name, content in ((path.name, path.read_bytes()) for path in (run / "published").iterdir()):
        assert b"secret" not in content, name
    assert sv.measure(rows, run)["lm"] == release.utility["lm"]
    found = {label: inside for label, inside in release.recoding.members().items() if "…" in label}
    for label, inside in found.items():
        number = sum(bool({*inside} & {*row}) for row in rows)
        for words in ([label], label, _quoted(label)):
            (answer,) = sv.query(run, [words])
            assert (answer.itemset, answer.least, answer.greatest) == ((label,), number, number)
        other = next(one for one in found if one != label)
        for words in (f"{_quoted(label)},{_quoted(other)}", f"{label} and {other}"):
            assert sv.query(run, [words])[0].itemset == (label, other)
        assert sv.why(run, inside[0])["label"] == label
    assert found
    later = sv.apply(run, [*goods_rows(2), ["another secret", "milk"]], repair=True)
    later.write(tmp_path / "later", external=True)
    assert {label for label in labels_of(later) if "…" in label} <= {*found}
    for path in (tmp_path / "later" / "published").iterdir():
        assert b"secret" not in path.read_bytes(), path.name
    assert sv.verify(tmp_path / "later").holds


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def test_a_file_with_such_labels_is_taken_for_a_computed_hierarchy(tmp_path: Path) -> None:
    rows = [[" ".join(item.split()) for item in row] for row in goods_rows(1)]
    sv.anonymize(rows, k=8, m=2, algorithm="exact", certificate=True).write(tmp_path / "x")
    file = tmp_path / "x" / "internal" / "hierarchy.csv"
    assert "…" in file.read_text()
    again = sv.anonymize(rows, k=8, m=2, algorithm="aa", hierarchy=file)
    again.write(tmp_path / "y", external=True)
    for path in (tmp_path / "y" / "published").iterdir():
        assert b"secret" not in path.read_bytes(), path.name
