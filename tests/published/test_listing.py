"""Items that about.json lists below labels: only those of enough rows, or that a given list names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.base.errors import RequestError
from setveil.releases.published.listing import authored_items
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.build import balanced, by_cooccurrence, by_prefix, by_system, extend
from setveil.rows.hierarchy.computed import is_computed
from setveil.rows.hierarchy.edit import Draft
from strategies import seeded

COMMON = [["tea", "milk"]] * 6 + [["tea", "scone"]] * 5 + [["beer", "nuts"]] * 6 + [["beer", "crisps"]] * 5


def log(*texts: str) -> list[list[str]]:
    """Make rows with texts that one person each has."""
    return [*COMMON, *(["tea", text] for text in texts)]


TEXTS = [f"nuts for person {i}" for i in range(7)]
WAYS: list[tuple[str, Any, dict[str, Any]]] = [
    *((name, sv.KmAnonymity(k=5, m=2), {}) for name in ("aa", "da", "exact", "hghs", "lra", "vpa", "mhghs")),
    ("lg", sv.TransactionalKAnonymity(k=5), {}),
    ("coat", sv.PrivacyConstraints(k=5, m=2), {"max_suppressed_items": "50%"}),
    ("pcta", sv.PrivacyConstraints(k=5, m=2), {}),
    ("classes", sv.KmAnonymity(k=3, m=2), {"class_size": 8}),
]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize(("name", "guarantee", "more"), WAYS, ids=lambda x: x if isinstance(x, str) else "")
def test_no_text_of_one_person_is_published(
    name: str, guarantee: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    release = sv.anonymize(log(*TEXTS), guarantee, algorithm=name, **more)
    release.write(tmp_path / "x", external=True)
    files = contents(tmp_path / "x" / "published")
    assert not [file for file, content in files.items() if b"nuts for person" in content]
    assert sv.verify(tmp_path / "x").holds
    full = sv.anonymize(log(*TEXTS), guarantee, algorithm=name, list_members=True, **more)
    full.write(tmp_path / "y", list_members=True)
    if name not in ("exact", "hghs", "mhghs", "coat"):  # which suppress them
        assert b"nuts for person" in (tmp_path / "y" / "published" / "about.json").read_bytes()
        again = sv.measure(log(*TEXTS), tmp_path / "x")
        assert again["lm"] == full.utility["lm"]


@pytest.mark.parametrize("name", ["pcta", "coat"])
def test_labels_of_groups_name_common_members_and_say_that_there_are_others(name: str) -> None:
    rows = log(*TEXTS)
    release = sv.anonymize(rows, sv.PrivacyConstraints(k=5, m=2), algorithm=name)
    labels = release.published.vocabulary.labels
    assert any("…" in label for label in labels)
    assert len(set(labels)) == len(labels)
    everything = sv.anonymize(rows, sv.PrivacyConstraints(k=5, m=2), algorithm=name, list_members=True)
    members = sorted(map(tuple, everything.recoding.members().values()))
    assert sorted(map(tuple, release.recoding.members().values())) == members


def test_a_named_hierarchy_is_listed_unchanged() -> None:
    rows = log(*TEXTS)
    items = sorted({x for row in rows for x in row})
    tree = sv.Hierarchy.from_paths([[x, "drink" if x in ("tea", "beer") else "food", "*"] for x in items])
    release = sv.anonymize(rows, k=5, m=2, hierarchy=tree, algorithm="aa").release
    assert release.listing is None  # type: ignore[attr-defined]
    assert "others" not in release.meaning()


def test_hierarchies_that_were_computed(tmp_path: Path) -> None:
    rows = Transactions.from_rows([["250.1", "250.2", "401.1", "401.2", "tea", "nuts", "beer", "250.13"]])
    for tree in (balanced(rows, 3), by_cooccurrence(rows, 2), by_prefix(rows)):
        again = sv.Hierarchy.from_paths(tree.paths())  # without a note of its origin
        assert is_computed(again)
        assert authored_items(again) == frozenset()
    few = Transactions.from_rows([["tea", "nuts", "beer"]])
    for tree in (balanced(few, 5), by_cooccurrence(few, 5), by_prefix(few)):
        assert tree.height == 1
        sv.write_hierarchy(tree, tmp_path / "tree.csv")
        assert authored_items(sv.read_hierarchy(tmp_path / "tree.csv")) == frozenset()
    (tmp_path / "tree.csv").write_text("tea;all\nbeer;all\n")
    assert authored_items(sv.read_hierarchy(tmp_path / "tree.csv")) == {"tea", "beer"}
    later = Transactions.from_rows([[*rows.vocabulary.labels, "what one person wrote"]])
    for tree in (balanced(rows, 3), by_cooccurrence(rows, 2), by_prefix(rows)):
        again = extend(sv.Hierarchy.from_paths(tree.paths()), later)
        assert authored_items(again) == frozenset()
    system = by_system(rows, "icd9")[0]
    assert not is_computed(system)
    assert authored_items(system) == {"250.1", "250.2", "401.1", "401.2", "250.13"}
    own = extend(sv.Hierarchy.from_paths([["tea", "drink", "*"], ["beer", "drink", "*"]]), rows)
    assert authored_items(own) == {"tea", "beer"}


def test_a_hierarchy_of_more_rows_than_are_published_is_computed_all_the_same(tmp_path: Path) -> None:
    rows = [["250.1"]] * 6 + [["250.2", "401.1"]] * 6 + [["250.13"], ["401.2"]]
    tree = by_prefix(Transactions.from_rows([*rows, ["250.77"], ["401.7"]]))
    release = sv.anonymize(rows, k=5, m=2, hierarchy=sv.Hierarchy.from_paths(tree.paths()), algorithm="aa")
    release.write(tmp_path / "x")
    said = (tmp_path / "x" / "published" / "about.json").read_text()
    assert "250.2" in said
    assert not [code for code in ("250.13", "401.2", "250.77", "401.7") if code in said]


def test_groups_of_a_computed_hierarchy_that_keep_their_names_list_no_rare_items() -> None:
    rows = Transactions.from_rows([[x] for x in "abcdefgh" for _ in range(2)])
    draft = Draft.of(sv.Hierarchy.from_paths(balanced(rows, 2).paths()))
    draft.apply({"do": "rename", "node": "L1_0", "name": "first"})
    draft.apply({"do": "rename", "node": "L2_1", "name": "second"})
    assert authored_items(draft.tree()) == frozenset()  # a and b are below L2_0, the others below L1_2, L1_3
    draft.apply({"do": "rename", "node": "L2_0", "name": "both"})
    assert authored_items(draft.tree()) == {"a", "b"}


CODES = [["E11.0", "I10"]] * 6 + [["E11.1"]] * 6 + [["I11"]] * 5
NEW_CODES = ("E11.77", "E11 Hans Meier 5")
CODE_TREE = [[x, x[:3], x[0], "*"] for x in ("E11.0", "E11.1", "E11.9", "Q00.0")]
CODE_TREE += [["I10", "I", "*"], ["I11", "I", "*"]]


def kinds_with_new_codes() -> tuple[dict[str, Any], list[list[str]]]:
    """Make a release of each kind, of rows with codes that their hierarchy lacks; also return the rows."""
    tree = sv.Hierarchy.from_paths(CODE_TREE)
    lists = [*CODES, *([code, "I10"] for code in NEW_CODES)]
    days = [(str(who), x, f"2024-0{1 + who % 2}-03") for who, row in enumerate(lists) for x in row]
    lines = pl.DataFrame(days, schema=["who", "code", "day"], orient="row")
    sexes = [("f", "m")[at % 2] for at in range(len(lists))]
    table = pl.DataFrame({"sex": sexes, "code": [";".join(row) for row in lists]})
    facts = sv.read_facts(lines, id="who", sets="code", when={"day": "month"})
    people = sv.read_table(table, qi=["sex"], set="code")
    made: dict[str, Any] = {name: {"algorithm": name} for name in ("aa", "exact", "lra")}
    made["classes"] = {"algorithm": "classes", "class_size": 8}
    some = {name: sv.anonymize(lists, k=3, m=1, hierarchy=tree, **more) for name, more in made.items()}
    some["facts"] = sv.anonymize(facts, k=3, m=1, hierarchy=tree)
    some["table"] = sv.anonymize(people, sv.KKmAnonymity(k=3, m=1), hierarchy=tree)
    earlier = sv.anonymize(CODES, k=3, m=1, hierarchy=tree)
    some["apply"] = sv.apply(earlier, lists, hierarchy=tree, repair=True)
    return some, lists


def test_a_new_code_that_the_run_places_below_a_group_is_not_listed(tmp_path: Path) -> None:
    releases, rows = kinds_with_new_codes()
    for name, release in releases.items():
        release.write(tmp_path / name, external=True)
        for file, content in contents(tmp_path / name / "published").items():
            assert not [code for code in NEW_CODES if code.encode() in content], (name, file)
        assert "E11.9" not in release.published.vocabulary.labels
        assert sv.verify(tmp_path / name).holds
    assert sv.measure(rows, tmp_path / "aa")["lm"] == releases["aa"].utility["lm"]
    (answer,) = sv.query(tmp_path / "aa", [["E11.77"]])
    assert answer.least <= 1 <= answer.greatest
    assert answer.greatest > 0


def test_an_item_that_is_not_listed_has_bounds_that_hold(tmp_path: Path) -> None:
    rows = log(*TEXTS)
    for counts in (True, False):
        release = sv.anonymize(rows, k=5, m=2, algorithm="aa", counts=counts)
        for source in (release, tmp_path / f"x{counts}"):
            if isinstance(source, Path):
                release.write(source)
            answers = sv.query(source, [[TEXTS[0]], ["nuts"], ["tea", "milk"], ["tea", TEXTS[1]], ["nobody"]])
            true = [1, 6, 6, 1, 0]
            for answer, number in zip(answers, true, strict=True):
                assert answer.least <= number <= answer.greatest
                assert answer.least <= answer.estimate <= answer.greatest
            assert answers[0].unlisted == (TEXTS[0],)
            assert "not listed" in str(answers[0])
            assert answers[1].unlisted == ()


def test_rare_items_as_themselves_are_published_on_request_only(tmp_path: Path) -> None:
    promise = sv.Disassociated(k=3, m=2)
    release = sv.anonymize(log(*TEXTS), promise)
    assert len(release.rare_names) == 7
    with pytest.raises(RequestError, match="7 items that fewer than 3 rows contain") as caught:
        release.write(tmp_path / "x")
    assert "suppress_below=3" in str(caught.value.hint)
    assert not (tmp_path / "x").exists()
    release.write(tmp_path / "x", rare_names=True)
    fewer = sv.anonymize(log(*TEXTS), promise, suppress_below=3)
    assert fewer.rare_names == ()
    assert "7 items in fewer than 3 rows suppressed" in fewer.details["warnings"][0]
    fewer.write(tmp_path / "y")
    assert all(b"person" not in content for content in contents(tmp_path / "y" / "published").values())


@pytest.mark.parametrize("name", ["aa", "pcta", "lra"])
def test_exchanged_texts_leave_every_byte(name: str, tmp_path: Path) -> None:
    guarantee = sv.PrivacyConstraints(k=5, m=2) if name == "pcta" else sv.KmAnonymity(k=5, m=2)
    found = []
    for texts in (TEXTS, [*TEXTS[:6], "aaa"], [*TEXTS[:6], "zzz"]):
        release = sv.anonymize(log(*texts), guarantee, algorithm=name)
        release.write(tmp_path / texts[-1], external=True)
        found.append(contents(tmp_path / texts[-1] / "published"))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["aa", "da", "lg", "pcta", "coat"])
def test_a_text_among_numbers_decides_no_order(name: str, tmp_path: Path) -> None:
    """If all items are numbers, 9 comes before 10, else 10 before 9: no item of few rows decides that."""
    promises: dict[str, Any] = {
        "lg": sv.TransactionalKAnonymity(3),
        **dict.fromkeys(["pcta", "coat"], sv.PrivacyConstraints(3, m=1)),
    }
    rng, kept, cases = seeded(11), 0, 0
    for turn in range(12):
        rows = [sorted(set(rng.choices(["2", "9", "10", "25", "100", "7777"], k=2))) for _ in range(40)]
        at, more = rng.randrange(40), ["5", "1234"]
        found = []
        for text in ("50", "x"):
            data = [*rows[:at], [*rows[at], text], *rows[at + 1 :], *([item] for item in more)]
            release = sv.anonymize(data, promises.get(name, sv.KmAnonymity(3, 2)), algorithm=name, seed=turn)
            release.write(tmp_path / f"{turn} {text}", external=True)
            members = {x: sorted({*inside} - {text}) for x, inside in release.recoding.members().items()}
            published = [*release.published]
            rows_as = [sorted(members[label] for label in published[place]) for place in release.row_map]
            found.append((rows_as, contents(tmp_path / f"{turn} {text}" / "published")))
        cases += found[0][0] == found[1][0]
        kept += found[0] == found[1]
    assert kept == cases > 0


def test_a_record_without_the_internal_members_is_not_measured(tmp_path: Path) -> None:
    rows = log(*TEXTS)
    sv.anonymize(rows, k=5, m=2, algorithm="aa").write(tmp_path / "x")
    about = json.loads((tmp_path / "x" / "published" / "about.json").read_text(encoding="utf-8"))
    assert about["others"]["least"] == 5
    assert "domain" not in about
    (tmp_path / "x" / "internal" / "members.json").unlink()
    with pytest.raises(sv.DataError, match="does not list all items"):
        sv.measure(rows, tmp_path / "x")


@pytest.mark.parametrize("name", ["coat", "pcta"])
def test_groups_of_items_that_occur_name_no_rare_one_whatever_a_hierarchy_lists(name: str) -> None:
    rows = log(*TEXTS)
    items = [*sorted({x for row in rows for x in row}), "nuts of nobody"]
    tree = sv.Hierarchy.from_paths([[x, "*"] for x in items])
    release = sv.anonymize(rows, sv.PrivacyConstraints(k=5, m=2), algorithm=name, hierarchy=tree)
    assert not [label for label in release.published.vocabulary.labels if "person" in label]
    assert "person" not in str(release.release.listing.about(release.recoding.members()))  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [balanced, by_cooccurrence])
def test_names_of_rare_items_move_no_other_item(make: Any) -> None:
    """Check that, with `common`, a hierarchy built from rows is the same except for these names."""
    trees = []
    for texts in (TEXTS, [*TEXTS[:6], "aaa"], [*TEXTS[:6], "zzz"]):
        tree = make(Transactions.from_rows(log(*texts)), 3, common=5)
        changed = {TEXTS[6]: "X", "aaa": "X", "zzz": "X"}
        common = {x for row in COMMON for x in row}
        trees.append({path[0]: path[1:] for path in tree.paths() if path[0] in common})
        assert sorted(changed.get(x, x) for x in tree.labels[: tree.n_leaves]) == sorted(
            [*common, *TEXTS[:6], "X"]
        )
    assert trees[0] == trees[1] == trees[2]


def test_items_that_keep_their_names_are_counted(tmp_path: Path) -> None:
    """Check that, if methods publish items unchanged by design, the summary counts the rare ones."""
    rows = [*log(*TEXTS), *[["tea", "secret"]] * 3]
    promises: list[tuple[Any, str]] = [
        (sv.PrivacyDegree(p=3, sensitive=["secret"]), "cahd"),
        (sv.PrivacyConstraints(k=5, itemsets=[["tea"], ["beer", "nuts"]]), "pcta"),
        (sv.RhoUncertainty("0.5", sensitive=["secret"]), "partial"),
    ]
    for guarantee, name in promises:
        release = sv.anonymize(rows, guarantee, algorithm=name)
        rare = {*TEXTS, "secret"} - set(guarantee.secrets)
        shown = [x for x in release.published.vocabulary.labels if x in rare]
        assert release.report["rare_names"] == {"least": 5, "items": len(shown)}
        said = f"{len(shown)} items that fewer than 5 rows contain are published under their own names"
        assert said in " ".join(repr(release).split())
        release.write(tmp_path / name)
        for file, there in (("internal/report.json", True), ("published/about.json", False)):
            assert ("rare_names" in (tmp_path / name / file).read_text(encoding="utf-8")) == there
    assert "rare_names" not in sv.anonymize(rows, k=5, m=2).report
