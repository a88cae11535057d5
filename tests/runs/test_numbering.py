"""Labels of hierarchies that runs compute: their numbers depend on what enough rows contain."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import polars as pl
import pytest

import setveil as sv
from strategies import examples, seeded


def labels_of(release: sv.VerifiedRelease) -> set[str]:
    return {label for row in release.published for label in row}


def test_published_labels_are_numbered_without_gaps() -> None:
    rng = seeded(7)
    for turn in range(examples(10)):
        rows = [rng.sample("abcdefghijklmnop", rng.randint(1, 4)) for _ in range(60)]
        release = sv.anonymize(rows, k=rng.randint(3, 8), m=1, algorithm="aa", seed=turn)
        found = sorted(label for label in labels_of(release) if label.startswith("C"))
        assert found == sorted(f"C1_{number}" for number in range(len(found)))


def test_groups_above_published_groups_are_of_the_next_level() -> None:
    rng, levels = seeded(8), set()
    for turn in range(30):
        rows = [rng.sample("abcdefghijklmnopqrstuvwxyz", rng.randint(1, 3)) for _ in range(90)]
        release = sv.anonymize(rows, sv.TransactionalKAnonymity(3), algorithm="lg", seed=turn)
        levels |= {label.partition("_")[0] for label in labels_of(release) if label[0] == "C"}
    assert levels >= {"C1", "C2"}


@pytest.mark.parametrize("name", ["C1_0", "C1_1", "*"])
def test_an_item_of_few_rows_called_like_a_label_is_refused(name: str) -> None:
    rows = [*([item] for item in "abcdefgh" for _ in range(2)), [name]]
    k = 9 if name == "*" else 3
    with pytest.raises(sv.DataError, match="called like a label that was computed") as caught:
        sv.anonymize(rows, k=k, m=1, algorithm="da")
    assert caught.value.hint == "Give a hierarchy with labels of its own, or give these items other names."


def test_an_item_of_enough_rows_called_like_a_label_gives_others_longer_names() -> None:
    rows = [*([item] for item in "abcdefgh" for _ in range(2)), *[["C1_0"]] * 5]
    assert labels_of(sv.anonymize(rows, k=4, m=1, algorithm="da")) == {"CC1_0", "CC1_1"}


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
            if label.startswith("C"):
                found = sv.why(tmp_path / f"run{turn}", items[0])
                assert label in json.dumps(found), label
    assert renamed
