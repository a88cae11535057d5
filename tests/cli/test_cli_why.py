"""The command `why`: its findings in the folders of runs, and its errors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import dump, refused, setveil, together, write
from real_data import DATA
from strategies import COMPILED

# Baskets with rare breads: gluten-free bread is with milk once, rye is with butter once.
ROWS = [
    *(["white bread", "milk"],) * 6,
    *(["white bread", "butter"],) * 5,
    *(["rye", "milk"],) * 5,
    ["rye", "butter"],
    ["gluten-free bread", "milk"],
    *(["gluten-free bread"],) * 4,
    *(["buns", "milk"],) * 5,
    *(["buns"],) * 5,
    ["saffron"],
    *(["milk", "butter"],) * 7,
]
TREE = (
    "white bread;bread;food\nrye;bread;food\ngluten-free bread;bread;food\nbuns;bread;food\nmilk;dairy;food\n"
    "butter;dairy;food\nsaffron;spices;food\n"
)
MAKE = ["anonymize", "in.csv", "-H", "tree.csv", "--format", "basket", "--k", 5, "--m", 2, "--no-details"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    write(folder / "in.csv", dump(ROWS, "basket"))
    write(folder / "tree.csv", TREE)
    made = together([[*MAKE, "--algorithm", "aa", "--out", "cut"], [*MAKE, "--out", "best"]], folder)
    for done in made:
        done.ok()
    return folder


def test_a_label_is_split(place: Path) -> None:
    text, as_json, few = together(
        [["why", "cut", "food"], ["why", "cut", "food", "--json"], ["why", "cut", "food", "--show", 0]], place
    )
    answer = as_json.ok().json()
    assert (answer["question"], answer["label"], answer["items"], answer["rows"]) == ("split", "food", 7, 40)
    assert (answer["objective"], answer["loss"]) == ("ncp", 1.0)
    children, items = answer["tries"]
    assert children["parts"] == ["bread", "dairy", "spices"]
    assert (children["violations"], children["loss"]) == (1, None)
    assert children["first"] == [{"itemset": ["spices"], "support": 1}]
    assert children["leave_out"]["labels"] == ["spices"]
    # 32 entries of bread, 37 of dairy, and 1 that is lost
    assert children["leave_out"]["loss"] == pytest.approx((32 * 4 + 37 * 2 + 7) / (70 * 7))
    assert [entry["itemset"] for entry in items["first"]] == [
        ["saffron"],
        ["butter", "rye"],
        ["gluten-free bread", "milk"],
    ]
    assert items["leave_out"]["labels"] == ["rye", "gluten-free bread", "saffron"]
    assert (items["leave_out"]["entries"], items["leave_out"]["smallest"]) == (12, True)
    assert items["leave_out"]["loss"] == pytest.approx(12 / 70)
    assert answer["below"] == ["saffron"]
    assert answer["stays_inside"] is True
    assert text.ok().out == answer["text"] + "\n"
    assert (
        "Suppressing rye, gluten-free bread and saffron (3 items, 12 occurrences) would leave 4 others "
        "unchanged: NCP 1 → 0.171.\nAmong the parts, fewer items are not enough (proven).\n"
    ) in text.out
    assert "So the run did not find the least NCP: aa does not guarantee it." in text.out
    assert "Keep this internal" in text.out
    assert "In fewer than 5 rows: saffron." in text.out
    assert "  {spices} in 1 row\n" in text.out
    assert "{" not in few.ok().out
    assert (
        "Split into 7 items, the rows would contain 3 sets of at most 2 items in fewer than 5 rows.\n"
        in few.out
    )
    assert " more\n" not in few.out


def test_an_item_is_brought_back(place: Path) -> None:
    names = ("rye", "saffron", "milk", "bread")
    rye, saffron, milk, bread = together([["why", "best", name] for name in names], place)
    assert (
        "rye (1 item, 6 occurrences) is suppressed.\n\n"
        "Published as rye, the rows would contain 1 set of at most 2 items in fewer than 5 rows:\n"
        "  {butter, rye} in 1 row\n"
        "Suppressing butter (13 occurrences) would bring rye back: LM 0.171 → 0.271.\n"
        "Among whole labels, fewer items are not enough (proven).\n"
        "In a hierarchy with rye and white bread under one label of their own, the guarantee would hold: "
        "LM 0.171 → 0.126. But 1 item would get a broader label.\n\n"
        "Published as bread, the guarantee would hold: LM 0.171 → 0.243. "
        "But 2 items would get a broader label."
        "\n\n"
        "The run's LM is proven to be the least with its hierarchy, so a change only adds loss.\n"
    ) in rye.ok().out
    assert "saffron is in 1 row, fewer than k = 5: whatever else is suppressed" in saffron.ok().out
    assert milk.ok().out.startswith("milk is published as itself, in 24 rows.\n")
    assert bread.ok().out.startswith(
        "bread (4 items, 32 occurrences) is split already, into buns and white bread; "
        "2 items are suppressed.\n"
    )


def test_names_that_nothing_has(place: Path) -> None:
    close, far, nothing = together([["why", "cut", x] for x in ("Safran", "zzz", "")], place)
    refused(close, 4, "'Safran'", "Did you mean 'saffron'?")
    refused(far, 4, "'zzz'", "recoding.csv")
    refused(nothing, 4, "''")


def test_folders_that_are_no_runs(place: Path) -> None:
    shutil.copytree(place / "cut", place / "damaged")
    write(place / "damaged" / "internal" / "recoding.csv", "item,published\nrye\n")
    shutil.copytree(place / "cut", place / "torn")
    write(place / "torn" / "internal" / "report.json", "{")
    shutil.copytree(place / "cut", place / "other")
    write(place / "other" / "internal" / "report.json", "[]")
    shutil.copytree(place / "cut", place / "bare")
    (place / "bare" / "internal" / "recoding.csv").unlink()
    names = ("nowhere", "cut/published", "damaged", "torn", "other", "bare")
    nowhere, shared, damaged, torn, other, bare = together([["why", x, "rye"] for x in names], place)
    refused(nowhere, 4, "nowhere is not the folder of a run")
    refused(shared, 4, "is not the folder of a run")
    refused(damaged, 4, "recoding.csv, line 2", "'rye'")
    refused(torn, 4, "report.json cannot be read")
    refused(other, 4, "is not the record of a run")
    refused(bare, 4, "recoding.csv cannot be read")


def test_rows_and_hierarchies_that_moved_or_changed(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "best", tmp_path / "best")
    write(tmp_path / "rows.csv", dump(ROWS, "basket"))
    write(tmp_path / "nodes.csv", TREE)
    write(tmp_path / "changed.csv", dump([*ROWS, ["milk"]], "basket"))
    write(tmp_path / "finer.csv", TREE.replace("rye;bread", "rye;dark;bread"))
    write(tmp_path / "renamed.csv", TREE.replace("spices", "herbs"))
    ask = ["why", "best", "rye"]
    lost, no_tree, found, other, finer, renamed, no_file = together(
        [
            ask,
            [*ask, "--data", "rows.csv"],
            [*ask, "--data", "rows.csv", "-H", "nodes.csv"],
            [*ask, "--data", "changed.csv", "-H", "nodes.csv"],
            [*ask, "--data", "rows.csv", "-H", "finer.csv"],
            [*ask, "--data", "rows.csv", "-H", "renamed.csv"],
            [*ask, "--data", "nothing.csv"],
        ],
        tmp_path,
    )
    refused(lost, 4, "came from in.csv, where there is no in.csv now", "--data")
    refused(no_tree, 4, "The hierarchy of this run was tree.csv", "--hierarchy")
    assert found.ok().out == setveil(*ask, cwd=place).ok().out
    refused(other, 4, "changed.csv is not what the run read", "SHA-256", "--data")
    refused(finer, 4, "finer.csv is not that of the run", "SHA-256")
    refused(renamed, 4, "renamed.csv is not that of the run", "SHA-256")
    refused(no_file, 4, "nothing.csv")


def test_rows_are_read_as_the_run_read_them(tmp_path: Path) -> None:
    write(tmp_path / "long.csv", dump(ROWS, "wide-long"))
    write(tmp_path / "piped.csv", dump(ROWS, "basket"))
    write(tmp_path / "tree.csv", TREE)
    make = ["anonymize", "-H", "tree.csv", "--k", 5, "--m", 2, "--no-details"]
    together(
        [
            [*make, "long.csv", "--id-column", "who", "--item-column", "what", "--out", "long"],
            [*make, "piped.csv", "--format", "basket", "--sample", 35, "--seed", 3, "--out", "sample"],
        ],
        tmp_path,
    )
    setveil(*make, "-", "--format", "basket", "--out", "piped", cwd=tmp_path, stdin=dump(ROWS, "basket")).ok()
    release = sv.anonymize(
        sv.read(tmp_path / "long.csv", id_column="who", item_column="what"),
        sv.KmAnonymity(5, 2),
        hierarchy=tmp_path / "tree.csv",
    )
    release.write(tmp_path / "python")
    long, piped, table, python, sample = together(
        [
            ["why", "long", "rye", "--json"],
            ["why", "piped", "rye"],
            ["why", "piped", "rye", "--data", "piped.csv", "--json"],
            ["why", "python", "rye", "--json"],
            ["why", "sample", "milk", "--json"],
        ],
        tmp_path,
    )
    refused(piped, 4, "came from standard input", "--data")
    answers = [done.ok().json() for done in (long, table, python)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["question"] == "back"
    assert 5 < sample.ok().json()["rows"] < 24
    answer = sv.why(release, "rye", hierarchy=tmp_path / "tree.csv")
    assert {**answer, "text": ""} == {**answers[0], "text": ""}


def test_a_hierarchy_made_from_the_rows(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS, "basket"))
    make = ["anonymize", "in.csv", "--format", "basket", "--k", 5, "--m", 2, "--no-details", "--out", "own"]
    made, root = together([make, ["why", "own", "*", "--json"]], tmp_path)
    made.ok()
    assert root.ok().json()["question"] in {"split", "split already"}


def test_groups_of_items_are_split(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS, "basket"))
    write(tmp_path / "P.txt", "butter,rye\ngluten-free bread,milk\nsaffron\n")
    make = ["anonymize", "in.csv", "--format", "basket", "--algorithm", "coat", "--k", 5, "--no-details"]
    listed, every = together(
        [
            [*make, "--privacy", "P.txt", "--out", "listed"],
            [*make, "--privacy", "all", "--m", 2, "--out", "every"],
        ],
        tmp_path,
    )
    for done, folder in ((listed.ok(), "listed"), (every.ok(), "every")):
        assert done.code == 0
        recoding = [
            line.split(",", 1)
            for line in (tmp_path / folder / "internal" / "recoding.csv").read_text().splitlines()[1:]
        ]
        label = next(to.strip('"') for _, to in recoding if to.startswith('"('))
        members = [item for item, to in recoding if to.strip('"') == label]
        whole, one, tree = together(
            [
                ["why", folder, label, "--json"],
                ["why", folder, members[0], "--json"],
                ["why", folder, label, "-H", "in.csv"],
            ],
            tmp_path,
        )
        answer = whole.ok().json()
        (split,) = answer["tries"]
        assert (answer["objective"], split["kind"], split["parts"]) == ("lm", "children", members)
        assert not split["holds"]
        blamed = split["leave_out"]
        assert blamed["holds"]
        assert set(blamed["labels"]) <= set(members)
        assert split["move"] is None
        (apart,) = one.ok().json()["tries"]
        assert apart["kind"] == "apart"
        refused(tree, 2, "--hierarchy")
    write(tmp_path / "P.txt", "butter,rye\n")
    shrunk, unlisted = together([["why", "listed", "rye"], ["why", "listed", "zzz"]], tmp_path)
    refused(shrunk, 4, "P.txt contains 1 itemsets, the run protected 3")
    (tmp_path / "P.txt").unlink()
    refused(setveil("why", "listed", "rye", cwd=tmp_path), 4, "P.txt")
    assert unlisted.code == 4


def test_runs_in_which_no_label_is_split(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS[:-1] + ROWS, "basket"))
    make = ["anonymize", "in.csv", "--format", "basket", "--no-details", "--algorithm"]
    coherence = ["--h", "0.9", "--k", 2, "--p", 2, "--private", "rye"]
    made = together(
        [
            [*make, "lg", "--k", 2, "--out", "lg"],
            [*make, "cahd", "--p", 2, "--sensitive", "rye", "--out", "cahd"],
            [*make, "border", *coherence, "--out", "border"],
        ],
        tmp_path,
    )
    for done in made:
        done.ok()
    lg, cahd, border = together([["why", x, "milk"] for x in ("lg", "cahd", "border")], tmp_path)
    refused(lg, 2, "No label of this run can be split", "several labels (lg)")
    refused(cahd, 2, "groups (cahd)")
    refused(border, 2, "coherence", "km-anonymity and constraints")


def test_what_python_refuses(place: Path) -> None:
    for wrong in (5, None, ["milk"]):
        with pytest.raises(sv.RequestError, match="run must be"):
            sv.why(wrong, "milk")  # type: ignore[arg-type]
    with pytest.raises(sv.RequestError, match="name must be"):
        sv.why(place / "cut", "")
    with pytest.raises(sv.RequestError, match="show must be"):
        sv.why(place / "cut", "food", data=ROWS, show=-1)
    with pytest.raises(sv.DataError, match="not the rows of the run: 41 rows"):
        sv.why(place / "cut", "food", data=[*ROWS, []], hierarchy=place / "tree.csv")
    release = sv.anonymize(ROWS, sv.KmAnonymity(5, 2), hierarchy=place / "tree.csv")
    with pytest.raises(sv.DataError, match="came from memory"):
        sv.why(release, "milk")
    swap = {"milk": "butter", "butter": "milk"}
    other = [[swap.get(item, item) for item in row] for row in ROWS]
    with pytest.raises(sv.DataError, match="'milk' is in 13 of them, recorded are 24"):
        sv.why(place / "best", "rye", data=other, hierarchy=place / "tree.csv")


def test_rows_that_do_not_fit_the_recoding(place: Path) -> None:
    """Rows in memory have no hash; these have the sizes and the supports of the run's, but other pairs."""
    rows = [list(row) for row in ROWS]
    for here, there in ((0, 17), (1, 18)):
        rows[here].remove("milk")
        assert rows[there + 1] == ["gluten-free bread"]
        rows[there + 1].append("milk")
    with pytest.raises(sv.DataError, match=r"no k\^m-anonymity .* as it is"):
        sv.why(place / "best", "rye", data=rows, hierarchy=place / "tree.csv")
    shutil.copytree(place / "cut", place / "edited")
    recoding = place / "edited" / "internal" / "recoding.csv"
    write(recoding, recoding.read_text().replace("rye,food", "rye,"))
    with pytest.raises(sv.DataError, match=r"NCP is 0.869.*; its record says 1"):
        sv.why(place / "edited", "rye", data=ROWS, hierarchy=place / "tree.csv")
    write(recoding, recoding.read_text().replace("rye,\n", ""))
    with pytest.raises(sv.DataError, match="other items or labels than the run's recoding"):
        sv.why(place / "edited", "buns", data=ROWS, hierarchy=place / "tree.csv")
    paths = [line.split(";") for line in TREE.splitlines()]
    for more, said in (
        ([["tea", "food"]], "it has 8 leaves and height 2, recorded are 7 and 2"),
        ([], "other items or labels"),
    ):
        tree = sv.Hierarchy.from_paths([*paths, *more] if more else [[*p[:2], "all"] for p in paths])
        with pytest.raises(sv.DataError, match=said):
            sv.why(place / "cut", "rye", data=ROWS, hierarchy=tree)
    coat = sv.anonymize(ROWS, sv.PrivacyConstraints(5, m=2))
    coat.write(place / "coat")
    recoding = place / "coat" / "internal" / "recoding.csv"
    write(recoding, "".join(x for x in recoding.read_text().splitlines(keepends=True) if x[:3] != "rye"))
    with pytest.raises(sv.DataError, match="does not contain 1 items: 'rye'"):
        sv.why(place / "coat", "buns", data=ROWS)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
@pytest.mark.skipif(not COMPILED, reason="real data take too long without compilation")
def test_groceries(tmp_path: Path) -> None:
    tree = DATA / "groceries_hierarchy.csv"
    make = ["anonymize", DATA / "groceries.csv", "-H", tree, "--k", 5, "--m", 2, "--no-details"]
    made, dairy, wine = together(
        [[*make, "--out", "run"], ["why", "run", "dairy produce", "--json"], ["why", "run", "wine"]], tmp_path
    )
    made.ok()
    answer = dairy.ok().json()
    (split,) = answer["tries"]
    found = {frozenset(entry["itemset"]): entry["support"] for entry in split["first"]}
    assert found == {
        frozenset({"beverages", "bakery improver"}): 2,
        frozenset({"butter milk", "canned beer"}): 4,
        frozenset({"butter milk", "garden"}): 4,
    }
    assert split["leave_out"]["labels"] == ["butter milk", "beverages"]
    assert (split["leave_out"]["entries"], split["leave_out"]["new_names"]) == (531, 6)
    assert split["leave_out"]["loss"] > answer["loss"]  # which is proven to be the least
    assert split["move"]["loss"] < answer["loss"]  # by another hierarchy
    assert "proven to be the least with its hierarchy" in answer["text"]
    assert "Every part is a cause" in wine.ok().out


@pytest.mark.parametrize("objective", ["entropy", "entropy-max"])
def test_runs_that_kept_the_entropy_low(place: Path, objective: Any) -> None:
    release = sv.anonymize(
        ROWS, sv.KmAnonymity(5, 2), hierarchy=place / "tree.csv", algorithm=sv.Exact(objective=objective)
    )
    first = release.report["suppressed"][0]
    found = sv.why(release, first, data=ROWS, hierarchy=place / "tree.csv")
    assert found["loss"] == release.utility["entropy"]["share"]
    proven = "proven to be the least" in found["text"]
    assert proven == (objective == "entropy")  # the other kept another loss low than the one that is shown
    assert "Entropy" in found["text"]
