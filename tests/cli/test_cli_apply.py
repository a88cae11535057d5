"""``setveil apply``: folders, exit codes, printed output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli_helpers import Done, files_under, refused, rows_of, setveil, table, together, write

TREE = "tea;hot;drinks;all\ncoffee;hot;drinks;all\nmilk;cold;drinks;all\njuice;cold;drinks;all\nbread;all\n"
GROWN = f"{TREE}cocoa;hot;drinks;all\n"
JANUARY = [
    ["tea", "milk"], ["coffee", "milk"], ["tea", "bread"], ["coffee", "bread"], ["bread"], ["bread"],
    ["milk"], ["milk"], ["juice", "bread"],
]  # fmt: skip
FEBRUARY = [["tea", "milk"], ["cocoa", "milk"], ["coffee"], ["tea"]]
BROKEN = [*FEBRUARY, ["milk", "bread"], ["bread"], ["bread", "soap"]]
READ = ["--id-column", "visit", "--item-column", "item"]


def long(rows: Sequence[Sequence[str]], first: int = 0) -> str:
    lines = [f"v{first + i},{item}" for i, row in enumerate(rows) for item in row]
    return "\n".join(["visit,item", *lines, ""])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an earlier run and rows of later months."""
    folder = tmp_path_factory.mktemp("apply")
    write(folder / "tree.csv", TREE)
    write(folder / "grown.csv", GROWN)
    write(folder / "january.csv", long(JANUARY))
    write(folder / "february.csv", long(FEBRUARY, 100))
    write(folder / "broken.csv", long(BROKEN, 100))
    write(folder / "again.csv", long([*FEBRUARY, *FEBRUARY], 8))
    write(folder / "other.csv", long([["soap"], ["water"]], 100))
    write(folder / "baskets.csv", "".join(f"{','.join(row)}\n" for row in FEBRUARY))
    done = setveil("anonymize", "january.csv", *READ, "-k", 2, "-m", 2, "-H", "tree.csv", "-o", "january",
                   cwd=folder)  # fmt: skip
    assert done.code == 0, done
    assert table(folder / "january" / "internal" / "recoding.csv")[1:] == [
        ["bread", "bread"], ["coffee", "hot"], ["juice", ""], ["milk", "milk"], ["tea", "hot"],
    ]  # fmt: skip
    return folder


def apply(place: Path, data: str, *more: object, out: str | Path = "out") -> Done:
    reading = [] if data == "baskets.csv" else READ
    return setveil("apply", "january", data, *reading, "--out", out, *more, cwd=place)


def report_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    return found


def test_a_folder_like_that_of_any_run(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "february"
    done = apply(place, "february.csv", "-H", "grown.csv", "--verbose", out=out)
    assert done.code == 0, done
    assert files_under(out) == {
        "published/data.csv", "published/about.json", "published/counts.csv", "internal/recoding.csv",
        "internal/rows.csv", "internal/report.json", "internal/report.html",
    }  # fmt: skip
    assert sorted(map(sorted, rows_of(out / "published" / "data.csv", "long"))) == [
        ["hot"], ["hot"], ["hot", "milk"], ["hot", "milk"],
    ]  # fmt: skip
    assert "Labels     Those of january. 3 of 4 items known, 1 new, below a label (1" in done.out
    assert "none of its 9 ids is among" in done.out.replace("\n           ", " ")
    about = json.loads((out / "published" / "about.json").read_text(encoding="utf-8"))
    assert about["labels"] == {"hot": ["cocoa", "coffee", "tea"]}
    assert about["domain"] == 6
    text = (out / "published" / "about.json").read_text(encoding="utf-8")
    assert "january" not in text
    page = (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert "The labels of an earlier release" in page
    checked, measured, queried = together(
        [["verify", out, "-k", 2, "-m", 2], ["measure", "february.csv", out, *READ, "--json"],
         ["anonymize", "--config", out / "internal" / "report.json", "--out", tmp_path / "x"]],
        place,
    )  # fmt: skip
    assert checked.code == 0
    assert json.loads(measured.out)["utility"]["ncp"] == pytest.approx(report_of(out)["utility"]["ncp"])  # type: ignore[index]
    refused(queried, 2, "no option 'earlier'")


def test_it_can_be_repeated_from_its_record(place: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    done = apply(
        place, "broken.csv", "--repair", "--objective", "ncp", "--no-suppress", "--no-counts", out=first
    )
    assert done.code == 0, done
    again = setveil("apply", "--config", first / "internal" / "report.json", "--out", second, cwd=place)
    assert again.code == 0, again
    for name in files_under(first / "published") | {"../internal/recoding.csv"}:
        assert (first / "published" / name).read_bytes() == (second / "published" / name).read_bytes()
    assert not (first / "published" / "counts.csv").exists()
    command = report_of(first)["command"]
    assert isinstance(command, str)
    assert command.startswith("setveil apply january broken.csv --repair --objective ncp --no-suppress")


def test_an_applied_run_can_be_applied(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "february"
    assert apply(place, "february.csv", "-H", "grown.csv", out=out).code == 0
    more = ["--people", "other", "--repair", "--union", "january"]
    done = setveil("apply", out, "broken.csv", *READ, "-o", tmp_path / "march", *more, cwd=place)
    assert done.code == 0, done
    said = " ".join(done.out.split())
    assert "4 ids are in both, which was said to mean nothing." in said
    assert "k^m-anonymity (k=2, m=2) also holds for the 16 rows of this release and of january" in said


def test_the_promise_fails(place: Path) -> None:
    done = apply(place, "broken.csv", "-H", "grown.csv")
    refused(done, 3, "Under the labels of january", "1 set of at most 2 items in fewer than 2 rows",
            "support 1: bread, milk", "--repair", out=place / "out")  # fmt: skip


def test_a_repair_shows_the_difference(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = apply(place, "broken.csv", "-H", "grown.csv", "--repair", "--json", "--external", out=out)
    assert done.code == 0, done
    report = json.loads(done.out)
    assert report["applied"]["repaired"] is True
    assert report["applied"]["changes"] == [
        {"from": "milk", "to": None, "items": 1, "occurrences": 3, "first": ["milk"]},
    ]  # fmt: skip
    assert report["optimality"]["proven"] is True
    assert report["algorithm"]["name"] == "apply"
    assert "Only for people who are not in the earlier release" in done.err
    page = (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert "Coarsened labels" in page
    shared = (out / "published" / "report.html").read_text(encoding="utf-8")
    assert "Recoding of an earlier run" in shared
    assert "soap" not in shared
    assert "january" not in shared


def test_strict(place: Path) -> None:
    done = apply(place, "broken.csv", "-H", "grown.csv", "--strict")
    refused(done, 4, "1 item of the new rows is not known", "'soap'", out=place / "out")
    done = apply(place, "february.csv", "--strict")
    refused(done, 4, "'cocoa'", out=place / "out")


def test_the_same_rows_and_the_same_ids(place: Path, tmp_path: Path) -> None:
    refused(apply(place, "january.csv"), 4, "the same rows", "--people same", out=place / "out")
    refused(apply(place, "january.csv", "--people", "other"), 4, "the same rows", out=place / "out")
    done = apply(place, "again.csv", "-H", "grown.csv")
    refused(done, 4, "1 id of the new rows is among", "such as ****.", "--people other", out=place / "out")
    assert "v8" not in done.err
    done = apply(place, "again.csv", "-H", "grown.csv", "--people", "same", out=tmp_path / "same")
    assert done.code == 0, done
    said = " ".join(done.out.split())
    assert "WARNING: some people are in the earlier release, too (1 id is in both)" in said
    page = (tmp_path / "same" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "<strong>WARNING: some people are in the earlier release" in page
    refused(apply(place, "again.csv", "--people", "same", "--union", "january"), 2, "same people")


def test_ids_that_cannot_be_compared(place: Path, tmp_path: Path) -> None:
    done = apply(place, "baskets.csv", "-H", "grown.csv", out=tmp_path / "out")
    assert done.code == 0, done
    assert "could not be checked: there are no ids to compare" in " ".join(done.out.split())


def test_the_hierarchy_of_the_run_is_taken_again(place: Path, tmp_path: Path) -> None:
    """Check that the recorded path is used; if the file is missing, it must be named, if it is needed."""
    known = write(tmp_path / "known.csv", "tea,milk\ncoffee,milk\ntea\n")
    unknown = write(tmp_path / "unknown.csv", "tea,milk\ncocoa,milk\ntea\n")
    run = place / "january"
    done = setveil("apply", run, known, "-o", "known", cwd=tmp_path)
    assert done.code == 0, done
    assert report_of(tmp_path / "known")["hierarchy"] == report_of(run)["hierarchy"]
    done = setveil("apply", run, unknown, "-o", "out", cwd=tmp_path)
    refused(done, 4, "(tree.csv) is not there", "1 item that the run does not know", out=tmp_path / "out")
    done = setveil("apply", "known", unknown, "-o", "out", cwd=tmp_path)
    refused(done, 4, "(tree.csv) is not there", "--hierarchy", out=tmp_path / "out")
    write(tmp_path / "tree.csv", GROWN)
    assert setveil("apply", run, unknown, "-o", "out", cwd=tmp_path).code == 0


def test_a_run_that_grouped_items_itself(place: Path, tmp_path: Path) -> None:
    """Check that unknown items and, in a repair, labels are suppressed: no learned hierarchy is stored."""
    together(
        [["anonymize", place / "january.csv", *READ, "-k", 2, "-m", 1, "-o", "january"],
         ["apply", "january", place / "broken.csv", *READ, "--repair", "-k", 3, "-o", "out"]],
        tmp_path,
    )  # fmt: skip
    report = report_of(tmp_path / "out")
    assert report["hierarchy"] is None
    assert [line["item"] for line in report["applied"]["items"]["lost"]] == ["cocoa", "soap"]  # type: ignore[index]
    assert "optimality" not in report
    checked = setveil("verify", "out", "-k", 3, "-m", 1, cwd=tmp_path)
    assert checked.code == 0, checked


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["-k", 1], 2, ["k must be an integer of at least 2"]),
        (["-m", 1], 2, ["raised, not lowered"]),
        (["-k", 5], 3, ["k=5", "--repair"]),
        (["--privacy", "all"], 2, ["has no --privacy"]),
        (["--objective", "lm"], 2, ["--objective", "Add --repair"]),
        (["--no-counts", "--counts-min", 5], 2, ["contradict each other"]),
        (["--counts-min", 3, "-k", 4, "--repair"], 2, ["k = 4"]),
        (["--union", "february.csv"], 4, ["about.json"]),
        (["--union", "nowhere"], 4, ["nowhere"]),
        (["-H", "nowhere.csv"], 4, ["nowhere.csv"]),
        (["--out", "tree.csv"], 2, ["not a folder"]),
        (["--out", "january"], 2, ["not empty"]),
    ],
)
def test_refused(place: Path, more: list[object], code: int, words: list[str]) -> None:
    done = apply(place, "february.csv", *([] if "-H" in more else ["-H", "grown.csv"]), *more)
    refused(done, code, *words, out=place / "out")


def test_bad_folders_and_rows(place: Path, tmp_path: Path) -> None:
    (tmp_path / "broken" / "internal").mkdir(parents=True)
    write(tmp_path / "broken" / "internal" / "report.json", '{"recoding": "global"}')
    contradictory = write(tmp_path / "tree.csv", TREE.replace("tea;hot", "tea;cold"))
    for run, data, more, code, words in (
        ("nowhere", "february.csv", READ, 4, "internal/report.json"),
        ("january/published", "february.csv", READ, 4, "is not the folder of a run"),
        (tmp_path / "broken", "february.csv", READ, 4, "is not the record of a run"),
        ("january", "other.csv", READ, 4, "No item of the new rows is known"),
        ("january", "february.csv", [*READ, "-H", contradictory], 4, "published 'tea' as 'hot'"),
        ("january", "nowhere.csv", [], 4, "nowhere.csv"),
    ):
        done = setveil("apply", run, data, *more, "--out", "out", cwd=place)
        refused(done, code, words, out=place / "out")


def test_an_item_that_is_called_like_a_published_label(place: Path, tmp_path: Path) -> None:
    named = write(tmp_path / "named.csv", "tea,hot\ntea\n")
    done = setveil("apply", "january", named, "--out", tmp_path / "out", cwd=place).ok()
    assert "1 item is called like a group that is published already" in done.err
    assert "hot as hot (itself)" in done.err


@pytest.mark.parametrize(
    "change",
    [{"guarantee": {"model": "km-anonymity"}}, {"algorithm": {}}, {"input": 5}, {"guarantee": None}, None],
)
def test_a_damaged_record(place: Path, tmp_path: Path, change: dict[str, object] | None) -> None:
    copy = tmp_path / "run" / "internal"
    copy.mkdir(parents=True)
    write(copy / "report.json", json.dumps(change and report_of(place / "january") | change))
    done = setveil("apply", tmp_path / "run", "february.csv", *READ, "--out", "out", cwd=place)
    refused(done, 4, "is not the record of a run", out=place / "out")


def test_a_damaged_recoding(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run" / "internal"
    copy.mkdir(parents=True)
    write(copy / "report.json", (place / "january" / "internal" / "report.json").read_bytes())
    for content, words in (
        (None, "cannot be read as a recoding"),
        ("item,label\n", "expected item,published"),
        ("item,published\ntea,hot\ntea,cold\n", "line 3"),
        ("item,published\ntea\n", "line 2"),
    ):
        if content is not None:
            write(copy / "recoding.csv", content)
        done = setveil("apply", tmp_path / "run", "february.csv", *READ, "--out", "out", cwd=place)
        refused(done, 4, words, out=place / "out")


def test_an_earlier_release_that_breaks_its_promise(place: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    about = json.loads((place / "january" / "published" / "about.json").read_text(encoding="utf-8"))
    del about["counts"]
    write(bad / "data.csv", "visit,item\n0,tram\n1,hot\n2,hot\n")
    for changes, words in (
        ({"rows": 3, "empty_rows": 0}, "together with"),
        (
            {"rows": 3, "empty_rows": 0, "labels": {"hot": ["milk", "tea"]}},
            "does not represent the same items",
        ),
        ({"rows": 3, "empty_rows": 0, "guarantee": {"model": "k-anonymity", "k": 2}}, "does not"),
    ):
        write(bad / "about.json", json.dumps(about | changes))
        done = apply(place, "february.csv", "-H", "grown.csv", "--union", bad)
        refused(done, 2 if "guarantee" in changes else 4, words, out=place / "out")


def test_which_runs_can_be_applied(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    fresh = write(tmp_path / "new.csv", "a,b\nd,e\nzz\n" * 6)
    for name, code, words in (
        ("lg", 2, "local"),
        ("mm", 2, "coherence"),
        ("cahd", 2, "privacy-degree"),
        ("coat", 2, "does not hold the itemsets"),
        ("hghs", 4, "paper-tree.csv"),
    ):
        done = setveil("apply", folder / name, fresh, "--out", tmp_path / "out", cwd=tmp_path)
        refused(done, code, words, out=tmp_path / "out")
    done = setveil("apply", folder / "coat", fresh, "--privacy", folder / "P.txt", "--out", tmp_path / "coat",
                   cwd=tmp_path)  # fmt: skip
    assert done.code == 0, done
    done = setveil("apply", folder / "coat", fresh, "--privacy", folder / "P.txt", "-H", folder / "tree.csv",
                   "--out", tmp_path / "out", cwd=tmp_path)  # fmt: skip
    refused(done, 2, "groups of items", out=tmp_path / "out")
    rare = write(tmp_path / "rare.csv", "101,102,103\n110,111\n104,112\n" + "101\n102,103\n" * 6)
    done = setveil("apply", folder / "coat-tree", rare, "--out", tmp_path / "out", cwd=tmp_path)
    refused(done, 3, "--repair", out=tmp_path / "out")
    done = setveil("apply", folder / "coat-tree", rare, "--repair", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.code == 0, done
    checked = setveil(
        "verify", tmp_path / "out", "--model", "constraints", "-k", 4, "--privacy", "all", "-m", 2
    )
    assert checked.code == 0, checked
