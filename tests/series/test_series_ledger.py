"""The ledger of a series: its contents, its permissions, and that it is written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ward_series import FIRST, SECOND, SO_FAR, TREE, begun, everything, refused, with_first

import setveil as sv
from setveil.commands.series_verdict import verify_together
from setveil.work.series import files, ledger, publish, state
from setveil.work.series.ids import coded


def test_the_ledger_is_its_owners_alone_and_nothing_of_it_is_published(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    folder = tmp_path / "ward"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "ward.key").stat().st_mode & 0o777 == 0o600
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert {path.name for path in (folder / "q2").iterdir()} == {
        "items.csv.zst", "recoding.csv", "rows.csv", "held.csv"
    }  # fmt: skip
    people = files.read_part(folder / "q2").people
    code = coded(bytes.fromhex((tmp_path / "ward.key").read_text()))
    assert set(people) == {code(name) for name in SECOND}
    assert all(len(one) == 32 for one in people)
    for run in ("q1", "q2"):
        for path in (tmp_path / run / "published").rglob("*"):
            content = path.read_bytes()
            assert not any(name.encode() in content for name in [*SECOND, *people])
        about = json.loads((tmp_path / run / "published" / "about.json").read_text())
        assert set(about["series"]) == {"release", "of", "k", "m", "known", "presence"}
        inside = tmp_path / run / "internal" / "series.json"
        assert json.loads(inside.read_text()) == {"series": str(folder), "release": run}
        assert inside.stat().st_mode & 0o777 == 0o600


def test_every_way_of_the_example_keeps_the_promise(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    ways = {one["way"]: one for one in series.plan(SECOND, hierarchy=TREE)["ways"]}
    assert ways["register"]["lm"] == 0
    assert ways["append"]["lm"] == pytest.approx(3 / 7)
    assert (ways["append"]["exposed_before"], ways["append"]["unique_before"]) == (2, 2)
    for way in ("needed", "found", "returners"):
        copy = tmp_path / way
        shutil.copytree(tmp_path / "ward", copy)
        other = sv.Series.open(copy, key=tmp_path / "ward.key")
        report = other.add(SECOND, name="q2", out=tmp_path / f"run {way}", hierarchy=TREE, hold_back=way)
        verdict = other.verify()
        assert verdict["holds"]
        assert verdict["exposed"] == 0
        assert report["series"]["held_back"] == other.releases[-1].held_back
        assert report["published"]["rows"] + other.releases[-1].held_back == len(SECOND)
        assert report["utility"]["lm"] == pytest.approx(report["series"]["lm"])


def test_greedy_labels_and_labels_of_an_earlier_release_are_safe(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE, algorithm="greedy")
    assert verify_together([tmp_path / "q2", tmp_path / "q1"]) == series.verify()
    report = series.add(SECOND, name="q3", out=tmp_path / "q3", hierarchy=TREE, labels_of="q2")
    before, after = ({**series.ledger.part(name).image} for name in ("q2", "q3"))
    assert all(after[item] is None or label is not None for item, label in before.items())
    assert series.verify()
    assert report["series"]["of"] == ["q1", "q2", "q3"]


def test_orders_of_rows_do_not_link_releases(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    many = {f"p{i}": ["b"] for i in range(50)}
    for name in ("x", "y"):
        series.add(many, name=name, out=tmp_path / name, hierarchy=TREE)
    x, y = (series.ledger.part(name) for name in ("x", "y"))
    assert x.people == y.people
    assert x.rows.tolist() != y.rows.tolist()


def test_a_register_has_everybody_and_everything_so_far(tmp_path: Path) -> None:
    series = with_first(tmp_path, kind="register")
    (warning,) = series.warnings
    assert "q1: counts.csv is in the first release of a register" in warning

    def added(data: object, **how: Any) -> object:
        return series.add(data, name="q2", out=tmp_path / "q2", hierarchy=TREE, **how)

    refused(
        tmp_path, sv.DataError, lambda: added({"ann": ["a", "c"], "zoe": ["a"]}), "4 people of q1 are missing"
    )
    refused(tmp_path, sv.DataError, lambda: added({**SO_FAR, "ann": ["a"]}), "have no more", "'c'")
    refused(tmp_path, sv.DataError, lambda: added({"zoe": ["a"], "tom": ["a"]}), "None of the 2 people")
    refused(tmp_path, sv.RequestError, lambda: added(SO_FAR, hold_back="needed"), "withholds nobody")
    refused(tmp_path, sv.RequestError, lambda: added(SO_FAR, counts=3), "no counts")
    added(SECOND, merge=True)
    assert not (tmp_path / "q2" / "published" / "counts.csv").exists()
    assert series.warnings == ()
    part = series.ledger.part("q2")
    code = coded(bytes.fromhex((tmp_path / "ward.key").read_text()))
    assert {one: list(part.data[at]) for at, one in enumerate(part.people)} == {
        code(name): items for name, items in SO_FAR.items()
    }
    verdict = series.verify()
    assert (verdict["exposed"], verdict["holds"]) == (0, False)  # counts of q1 are out
    assert "what stays" in verdict["warnings"][0]
    assert series.verify(counts_are_out=True)["holds"]


def test_suppressed_items_are_not_counted_beside_rows_that_show_nothing(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    report = series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    assert report["published"]["empty_rows"] >= 2
    lines = (tmp_path / "q2" / "published" / "counts.csv").read_text().splitlines()
    assert not [line for line in lines if ",," in line]
    assert sv.verify(tmp_path / "q2", k=2, m=1).holds


def test_a_release_that_is_out_comes_in_with_what_it_exposes(tmp_path: Path) -> None:
    both = {}
    for name, rows in (("one", FIRST), ("two", SECOND)):
        release = sv.anonymize(list(rows.values()), k=2, m=1, hierarchy=TREE)
        release.write(tmp_path / name)
        both[name] = everything(tmp_path / name / "published")
    series = begun(tmp_path)
    assert series.add(FIRST, name="q1", published=tmp_path / "one")["holds"]
    turned = dict(reversed(SECOND.items()))  # whose rows come in another order now
    verdict = series.add(turned, name="q2", published=tmp_path / "two")
    assert (verdict["holds"], verdict["exposed"]) == (False, 2)
    assert {name: everything(tmp_path / name / "published") for name in both} == both
    assert series.releases[-1].exposed == 2
    assert not series.verify()
    assert series.verify(known="facts")
    third = {"hal": ["b"], "ida": ["b"]}
    series.add(third, name="q3", out=tmp_path / "q3", hierarchy=TREE)  # what failed before, fails for ever
    assert series.verify()["exposed"] == 2
    wrong = {**FIRST, "eva": ["a"]}
    other = begun(tmp_path / "other")
    refused(
        tmp_path,
        sv.DataError,
        lambda: other.add(wrong, name="q1", published=tmp_path / "one"),
        "do not match",
    )
    refused(
        tmp_path, sv.DataError, lambda: other.add(SECOND, name="q1", published=tmp_path / "one"), "6 people"
    )


def test_what_a_series_does_not_cover_is_refused(tmp_path: Path) -> None:
    rows = list(FIRST.values())
    sv.anonymize(rows, sv.TransactionalKAnonymity(k=2), hierarchy=TREE).write(tmp_path / "lg")
    sv.anonymize(rows, k=2, m=1, hierarchy=TREE).write(tmp_path / "weak")
    series = begun(tmp_path, k=3)

    def added(run: str) -> object:
        return series.add(FIRST, name="q1", published=tmp_path / run)

    refused(tmp_path, sv.RequestError, lambda: added("lg"), "km-anonymity")
    refused(tmp_path, sv.RequestError, lambda: added("weak"), "k = 2", "k = 3")


def test_ids_must_be_written_as_before(tmp_path: Path) -> None:
    series = begun(tmp_path)
    padded = {f"00{i}": ["a"] for i in range(1, 9)}
    series.add(padded, name="q1", out=tmp_path / "q1", hierarchy=TREE)

    def added(ids: list[str]) -> object:
        return series.add({one: ["a"] for one in ids}, name="q2", out=tmp_path / "q2", hierarchy=TREE)

    error = refused(tmp_path, sv.DataError, lambda: added(list("12345678")), "'1' was '001', '2' was '002'")
    assert "007 and 7" in error.hint
    refused(tmp_path, sv.DataError, lambda: added([f"P00{i}" for i in range(1, 9)]), "'P001' was '001'")
    refused(tmp_path, sv.DataError, lambda: added(["001", " 001"]), "blanks")
    refused(tmp_path, sv.DataError, lambda: added(["001", " "]), "empty id")
    added(["x1", "x2", " x3 "])
    assert "known to the series" in series.warnings[0]
    assert series.verify()["people"] == 11


def test_keys_that_are_lost_or_of_another_series(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    sv.Series.create(tmp_path / "other", k=2)

    def added(one: sv.Series) -> object:
        return one.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)

    wrong = sv.Series.open(tmp_path / "ward", key=tmp_path / "other.key")
    refused(tmp_path, sv.DataError, lambda: added(wrong), "another series", "fingerprint")
    (tmp_path / "ward.key").rename(tmp_path / "kept.key")
    refused(tmp_path, sv.DataError, lambda: added(series), "not there")
    (tmp_path / "bad.key").write_text("zz")
    bad = sv.Series.open(tmp_path / "ward", key=tmp_path / "bad.key")
    refused(tmp_path, sv.DataError, lambda: added(bad), "no key")
    added(sv.Series.open(tmp_path / "ward", key=tmp_path / "kept.key"))
    assert series.verify()  # needs no key
    plain = sv.Series.create(tmp_path / "plain", k=2, m=1, ids="plain")
    plain.add(FIRST, name="q1", out=tmp_path / "p1", hierarchy=TREE)
    assert plain.ledger.part("q1").people == tuple(FIRST)
    assert not (tmp_path / "plain.key").exists()


def test_names_places_and_arguments(tmp_path: Path) -> None:
    series = with_first(tmp_path)

    def add(data: object = SECOND, **how: Any) -> Callable[[], object]:
        options = {"name": "q2", "out": tmp_path / "q2", "hierarchy": TREE, **how}
        return lambda: series.add(data, **options)

    refused(tmp_path, sv.RequestError, add(name="q1"), "q1 already")
    refused(tmp_path, sv.RequestError, add(name="../x"), "cannot be called")
    refused(tmp_path, sv.OutputError, add(out=tmp_path / "q1"), "not empty")
    refused(tmp_path, sv.RequestError, add(out=None), "where")
    refused(tmp_path, sv.RequestError, add(hierarchy=None), "hierarchy")
    refused(tmp_path, sv.RequestError, add(labels_of="q0"), "no release")
    refused(tmp_path, sv.DataError, add([["a"], ["b"]]), "whose they are")
    (tmp_path / "rows.csv").write_text("a,c\na,c\nb\n")
    refused(tmp_path, sv.RequestError, add(tmp_path / "rows.csv", format="basket"), "no ids")
    with pytest.raises(sv.RequestError, match="hold_back"):
        add(hold_back="some")()
    with pytest.raises(sv.RequestError, match="merge"):
        add(merge=True)()
    with pytest.raises(sv.RequestError, match="no argument"):
        add(colour="red")()
    published = tmp_path / "q1" / "published" / "ward"
    for place in (published, tmp_path / "published" / "ward"):
        refused(tmp_path, sv.RequestError, lambda place=place: sv.Series.create(place, k=2), "is shared")  # type: ignore[misc]
    refused(tmp_path, sv.OutputError, lambda: begun(tmp_path), "exists")
    refused(tmp_path, sv.DataError, lambda: sv.Series.open(tmp_path / "q1"), "contains no series")


def test_who_must_be_held_back_is_if_anybody_may_be(tmp_path: Path) -> None:
    series = begun(tmp_path)
    series.add(
        {"p": ["a"], "q": ["a"], "r": ["b"], "s": ["b"]}, name="q1", out=tmp_path / "q1", hierarchy=TREE
    )
    second = {"p": ["a"], "x": ["b"], "y": ["b"]}

    def added(hold_back: str) -> Any:
        return series.add(second, name="q2", out=tmp_path / "q2", hierarchy=TREE, hold_back=hold_back)

    error = refused(tmp_path, sv.InfeasibleError, lambda: added("none"), "1 person would be exposed")
    assert error.exit_code == 3
    report = added("needed")
    assert report["series"]["held_back"] == 1
    assert series.ledger.part("q2").held == (coded(bytes.fromhex((tmp_path / "ward.key").read_text()))("p"),)


def test_what_was_published_must_stay_where_and_as_it_was(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    run = tmp_path / "q1"
    run.rename(tmp_path / "moved")
    refused(tmp_path, sv.DataError, series.verify, "not at", "q1")
    refused(
        tmp_path, sv.DataError,
        lambda: series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE), "not at",
    )  # fmt: skip
    (tmp_path / "moved").rename(run)
    assert series.verify()
    data = next((run / "published").glob("data.*"))
    content = data.read_text()
    data.write_text(content.replace("b", "a", 1))
    refused(tmp_path, sv.DataError, series.verify, "changed", "sha256", data.name)
    data.write_text(content)
    (run / "published" / "more.txt").write_text("x")
    refused(tmp_path, sv.DataError, series.verify, "more.txt")
    (run / "published" / "more.txt").unlink()
    check, page = sv.checker(run)
    assert series.verify()
    check.write_text("print('yes')\n")
    refused(tmp_path, sv.DataError, series.verify, "check.py")
    check.unlink()
    page.unlink()
    assert series.verify()
    # The ledger must agree with the rows.
    rows = tmp_path / "ward" / "q1" / "rows.csv"
    lines = rows.read_text().splitlines()
    numbers = [line.split(",")[1] for line in lines[1:]]
    other = [
        f"{line.split(',')[0]},{n}" for line, n in zip(lines[1:], numbers[1:] + numbers[:1], strict=True)
    ]
    rows.write_text("\n".join([lines[0], *other]) + "\n")
    refused(tmp_path, sv.DataError, series.verify, "does not show")
    rows.write_text("person,row\n")
    refused(tmp_path, sv.DataError, series.verify, "cannot be read")


def test_runs_of_no_common_series_cannot_be_put_together(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    sv.anonymize(list(SECOND.values()), k=2, m=1, hierarchy=TREE).write(tmp_path / "loose")
    refused(
        tmp_path,
        sv.RequestError,
        lambda: verify_together([tmp_path / "q1", tmp_path / "loose"]),
        "without ids",
    )
    refused(
        tmp_path, sv.RequestError, lambda: verify_together([tmp_path / "q1", tmp_path / "q1"]), "different"
    )
    assert series.verify()


def test_one_change_at_a_time(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    with (tmp_path / "ward" / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(
            tmp_path, sv.OutputError,
            lambda: series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE), "at this moment",
        )  # fmt: skip
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)


@pytest.mark.parametrize("where", ["part", "run", "entry", "inside"])
def test_a_full_disk_leaves_neither_a_folder_nor_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    series = with_first(tmp_path)

    def full(*args: Any, **more: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        if where == "part":
            patched.setattr(ledger, "write_part", full)
        elif where == "run":
            patched.setattr("setveil.runs.folder._write_row_map", full)
        elif where == "entry":
            patched.setattr(ledger, "_written", full)
        else:
            patched.setattr(publish, "hashes_of", full)
        error = refused(
            tmp_path, sv.OutputError,
            lambda: series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE),
        )  # fmt: skip
        assert "setveil-" not in str(error)
    assert not (tmp_path / "q2").exists()
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    assert series.verify()


def test_who_is_forgotten_still_hides_others(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    code = coded(bytes.fromhex((tmp_path / "ward.key").read_text()))
    assert series.forget("ann") == 2
    content = b"".join(everything(tmp_path / "ward").values())
    assert code("ann").encode() not in content
    codes: set[str] = set()
    for name in ("q1~1", "q2~1"):
        kept = everything(tmp_path / "ward" / name)
        codes |= {line.split(b",")[0].decode() for line in kept["forgotten.csv"].splitlines()[1:]}
        assert kept["rows.csv"].count(b"\n,") + kept["rows.csv"].count(b'\n"",') == 1
    assert len(codes) == 1  # its labels in the releases are known together, or others could not hide there
    rows = b"".join(
        series_file for name, series_file in everything(tmp_path / "ward").items() if "forgotten" not in name
    )
    assert codes.pop().encode() not in rows  # but no code says which rows they are of
    verdict = series.verify()
    assert verdict["holds"]
    assert verdict["people"] == 7
    assert "1 forgotten" in verdict["warnings"][0]
    assert series.told()["forgotten"] == 1
    refused(tmp_path, sv.DataError, lambda: series.forget("ann"), "Nobody")
    # In a later release, ann counts as a new person.
    series.add({"ann": ["b"], "hal": ["b"]}, name="q3", out=tmp_path / "q3", hierarchy=TREE)
    assert series.verify()["people"] == 9
    for one in ("bob", "hal"):
        series.forget(one)
    assert series.verify()["people"] == 9
    part = series.ledger.part("q1")
    swapped = dict.fromkeys(part.forgotten or (), ("nothing",))
    shown = state.read_rows(tmp_path / "q1")
    with pytest.raises(sv.DataError, match="does not show"):
        state.require_shown(
            series.ledger.entry("q1"), replace(part, forgotten=swapped), shown, tmp_path / "q1"
        )


def test_only_the_last_release_leaves_and_only_if_nobody_has_it(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    refused(tmp_path, sv.RequestError, lambda: series.drop("q2"), "Shared releases stay")
    refused(tmp_path, sv.RequestError, lambda: series.drop("q1", not_shared=True), "not the last")
    refused(tmp_path, sv.RequestError, lambda: series.drop("q3", not_shared=True), "no release")
    series.drop("q2", not_shared=True)
    assert [one.name for one in series.releases] == ["q1"]
    assert not (tmp_path / "ward" / "q2").exists()
    series.add(SECOND, name="q2", out=tmp_path / "again", hierarchy=TREE)


def test_releases_can_be_planned_together(tmp_path: Path) -> None:
    series = begun(tmp_path)
    plan = series.plan_together([FIRST, SECOND], names=["q1", "q2"], hierarchy=TREE)
    reports = series.add_together(
        [FIRST, SECOND], names=["q1", "q2"], out=[tmp_path / "q1", tmp_path / "q2"], hierarchy=TREE
    )
    assert [one["lm"] for one in plan["ways"]] == [report["series"]["lm"] for report in reports]
    assert series.verify()["holds"]
    refused(
        tmp_path, sv.RequestError, lambda: series.plan_together([FIRST], hierarchy=TREE), "planned any more"
    )


def test_risk_is_counted_by_each_release_and_by_all(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    found = {(one["release"], one["view"], one["m"]): one["below"] for one in series.risk()["risk"]}
    assert len(found) == 3 * 2 * 4
    assert found[None, "labels", 1]["2"] == 0
    assert found[None, "items", 1]["2"] == 2  # ann alone has a in both, bob c
    assert found["q1", "items", 1]["2"] == 0


def test_a_part_is_read_as_it_was_written(tmp_path: Path) -> None:
    import numpy as np

    data = sv.Transactions.from_rows([["a,b", 'say "x"'], ["é\n"], []])
    part = files.KeptRelease(
        ("1", "007", "-2"), data, {"a,b": "L", 'say "x"': None, "é\n": "é\n", "other": "L"},
        np.array([2, 1, 0]), ("9",), {"-2": ()},
    )  # fmt: skip
    folder = tmp_path / "q1"
    folder.mkdir()
    files.write_part(folder, part)
    again = files.read_part(folder)
    assert (again.people, dict(again.image), again.held) == (part.people, part.image, part.held)
    assert list(again.data) == list(data)
    assert again.rows.tolist() == [2, 1, 0]
    assert again.forgotten == {"-2": ()}
    assert replace(again, forgotten=None).without("1", "-3").labels_of(2) == {"L"}
