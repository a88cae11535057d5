"""The next release of a series: its hierarchy, how labels are searched for, several at once, what leaves."""

from __future__ import annotations

import errno
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ward_series import FIRST, SECOND, SO_FAR, TREE, begun, everything, refused, with_first

import setveil as sv
from cli_helpers import setveil
from setveil.commands.series_verdict import SeriesRecord
from setveil.report.ways import plan_html
from setveil.work.series import earlier, ledger, publish
from setveil.work.series.ids import coded
from setveil.work.series.ledger import hashes_of

LINES = "a;A;*\nb;A;*\nc;C;*\nd;C;*\n"


def full(*args: Any, **more: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_the_hierarchy_is_that_of_the_last_release(tmp_path: Path) -> None:
    series, file = begun(tmp_path), tmp_path / "tree.csv"
    refused(tmp_path, sv.RequestError, lambda: series.add(FIRST, name="q1", out=tmp_path / "q1"), "hierarchy")
    file.write_text(LINES)
    series.add(FIRST, name="q1", out=tmp_path / "q1", hierarchy=file)
    report = series.add(SECOND, name="q2", out=tmp_path / "q2")
    assert report["hierarchy"]["path"] == str(file)
    assert series.plan(SECOND)["ways"]
    file.rename(tmp_path / "gone.csv")
    refused(
        tmp_path, sv.DataError, lambda: series.add(SECOND, name="q3", out=tmp_path / "q3"),
        "q2", "not there any more", "tree.csv",
    )  # fmt: skip


def test_a_label_that_is_out_keeps_what_it_stands_for(tmp_path: Path) -> None:
    series = begun(tmp_path)
    series.add({"ann": ["a"], "bob": ["b"]}, name="q1", out=tmp_path / "q1", hierarchy=TREE)
    assert series.ledger.part("q1").image["a"] == "A"
    other = sv.Hierarchy.from_paths([["a", "C", "*"], ["b", "A", "*"], ["c", "C", "*"], ["e", "A", "*"]])

    def added(tree: sv.Hierarchy) -> object:
        return series.add({"cid": ["b"], "dee": ["b"]}, name="q2", out=tmp_path / "q2", hierarchy=tree)

    refused(tmp_path, sv.DataError, lambda: added(other), "1 item elsewhere", "q1", "'a'", "was A")
    # New items and groups between are no contradiction, nor is a group that has another name now.
    added(sv.Hierarchy.from_paths([["a", "A1", "A", "*"], ["b", "A", "*"], ["e", "A", "*"]]))
    series.drop("q2", not_shared=True)
    renamed = sv.Hierarchy.from_paths([["a", "X", "*"], ["b", "X", "*"], ["c", "C", "*"]])
    series.add({"cid": ["b"], "dee": ["b"]}, name="q2", out=tmp_path / "q2b", hierarchy=renamed)
    assert series.verify()["holds"]


def test_greedy_labels_come_with_a_bound_on_request(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    exact = {one["way"]: one for one in series.plan(SECOND, hierarchy=TREE)["ways"]}
    ways = {
        one["way"]: one for one in series.plan(SECOND, hierarchy=TREE, algorithm="greedy", bound=True)["ways"]
    }
    plain = {one["way"]: one for one in series.plan(SECOND, hierarchy=TREE, algorithm="greedy")["ways"]}
    rough = series.plan(SECOND, hierarchy=TREE, algorithm="greedy", refine=False)["ways"]
    for way, one in ways.items():
        if "lm" not in one or one["lm"] == 0:
            continue
        least = one["lm"] * (1 - one["gap"])
        assert least <= exact[way]["lm"] + 1e-9
        assert plain[way]["gap"] == 1 or way == "hold back: returners"
    assert all(one["lm"] >= plain[one["way"]]["lm"] - 1e-9 for one in rough if "lm" in one)
    hows: list[dict[str, Any]] = [{"bound": True}, {"refine": False}]
    for how in hows:
        refused(
            tmp_path, sv.RequestError,
            partial(series.add, SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE, **how), "greedy",
        )  # fmt: skip


def test_a_plan_that_is_not_proven_says_how_far_it_may_be_off() -> None:
    from setveil.methods.histories.found import Plan

    assert Plan((), 0.5, 0.4, False, 1.0).gap == pytest.approx(0.2)
    assert Plan((), 0.0, 0.0, True, 1.0).gap == 0


def test_a_way_that_cannot_be_says_why_and_others_are_priced(tmp_path: Path) -> None:
    """Check one new row, which is too few by itself, but does no harm in a register."""
    series = with_first(tmp_path)
    ways = {one["way"]: one for one in series.plan({"eva": ["b"]}, hierarchy=TREE)["ways"]}
    assert ways["register"]["lm"] == 0
    for way in ("append", "hold back: found", "hold back: returners"):
        assert ways[way]["exposed_before"] is None
        assert "lm" not in ways[way]
    assert "nobody is left" in ways["append"]["why"]
    assert "fewer than k = 2 rows" in ways["hold back: found"]["why"]


def together(series: sv.Series, folder: Path, names: tuple[str, ...] = ("q1", "q2"), **how: Any) -> object:
    outs = how.pop("out", [folder / "q1", folder / "q2"])
    return series.add_together(
        [FIRST, how.pop("second", SECOND)], names=names, out=outs, hierarchy=TREE, **how
    )


@pytest.mark.parametrize("where", ["second run", "hashes", "entry", "second move"])
def test_several_releases_are_written_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    series = begun(tmp_path)
    calls: list[int] = []
    real: Any = getattr(publish, "write_json" if where == "second run" else "hashes_of")
    moved = Path.replace

    def second(*args: Any, **more: Any) -> Any:
        calls.append(1)
        return real(*args, **more) if len(calls) < 2 else full()

    def moves(self: Path, to: Path) -> Path:
        return full() if Path(to) == tmp_path / "q1" else moved(self, to)

    with monkeypatch.context() as patched:
        if where == "second run":
            patched.setattr(publish, "write_json", second)
        elif where == "hashes":
            patched.setattr(publish, "hashes_of", second)
        elif where == "entry":
            patched.setattr(ledger, "_written", full)
        else:
            patched.setattr(Path, "replace", moves)
        refused(tmp_path, sv.OutputError, lambda: together(series, tmp_path))
    assert not (tmp_path / "q1").exists()
    assert not (tmp_path / "q2").exists()
    assert series.releases == ()
    together(series, tmp_path)
    assert series.verify()["holds"]


def test_names_and_folders_of_several_releases_are_their_own(tmp_path: Path) -> None:
    series = begun(tmp_path)
    q1 = tmp_path / "q1"
    refused(tmp_path, sv.RequestError, lambda: together(series, tmp_path, ("q1", "q1")), "called q1")
    refused(tmp_path, sv.RequestError, lambda: together(series, tmp_path, out=[q1, q1]), "overlap")
    refused(tmp_path, sv.RequestError, lambda: together(series, tmp_path, out=[q1, q1 / "x"]), "overlap")
    refused(tmp_path, sv.RequestError, lambda: together(series, tmp_path, ("q1",)), "as many of each")
    series = sv.Series.create(tmp_path / "register", k=2, m=1, kind="register")
    refused(tmp_path, sv.DataError, lambda: together(series, tmp_path), "of q1 is missing")
    together(series, tmp_path, second=SO_FAR)
    assert [entry.counts for entry in series.releases] == [True, False]
    assert series.warnings[0].startswith("q1: counts.csv was published with a release of a register")
    verdict = series.verify(counts_are_out=True)
    assert (verdict["holds"], verdict["people"]) == (True, len(SO_FAR))


def test_somebody_is_forgotten_in_all_releases_or_in_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = with_first(tmp_path)
    series.add(SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE)
    real: Any = getattr(ledger, "write_part")  # noqa: B009  (it imports it)
    calls: list[int] = []

    def second(*args: Any) -> Any:
        calls.append(1)
        return real(*args) if len(calls) < 2 else full()

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "write_part", second)
        refused(tmp_path, sv.OutputError, lambda: series.forget("ann"), "Nothing was changed")
    assert series.verify()["people"] == 7
    assert series.forget("ann") == 2
    assert {path.name for path in (tmp_path / "ward").iterdir() if path.is_dir()} == {"q1~1", "q2~1"}
    assert series.forget("bob") == 2
    assert series.verify()["holds"]
    series.drop("q2", not_shared=True)
    assert {path.name for path in (tmp_path / "ward").iterdir() if path.is_dir()} == {"q1~2"}


def test_what_a_killed_command_left_in_the_ledger_goes_with_the_next(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    code = coded(bytes.fromhex((tmp_path / "ward.key").read_text()))
    (tmp_path / "ward" / "q1").rename(tmp_path / "ward" / "q1~9")  # killed before its files were named
    (tmp_path / "ward" / "mine").mkdir()
    with pytest.raises(sv.DataError):
        series.verify()
    (tmp_path / "ward" / "q1~9").rename(tmp_path / "ward" / "q1")
    left = tmp_path / "ward" / "q2"
    left.mkdir()
    for name, content in everything(tmp_path / "ward" / "q1").items():
        (left / name).write_bytes(content)
    series.forget("ann")
    assert not left.exists()
    assert (tmp_path / "ward" / "mine").exists()
    assert code("ann").encode() not in b"".join(everything(tmp_path / "ward").values())


@pytest.mark.parametrize("way", ["add", "together", "published"])
def test_rows_come_into_the_ledger_after_the_runs_are_written(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that is ended while it writes and checks a release leaves nothing in the ledger."""
    series = begun(tmp_path)
    held: list[list[str]] = []

    def noting(run: Path) -> dict[str, str]:
        held.append([path.name for path in (tmp_path / "ward").rglob("*") if path.name.endswith(".zst")])
        return hashes_of(run)

    monkeypatch.setattr(publish, "hashes_of", noting)
    monkeypatch.setattr(earlier, "hashes_of", noting)
    if way == "add":
        series.add(FIRST, name="q1", out=tmp_path / "q1", hierarchy=TREE)
    elif way == "together":
        together(series, tmp_path)
    else:
        rows = [*FIRST.values()]
        sv.anonymize(rows, k=2, m=1, hierarchy=TREE, details=False).write(tmp_path / "q1")
        series.add(FIRST, name="q1", published=tmp_path / "q1")
    assert held == [[]] * (2 if way == "together" else 1)
    assert (tmp_path / "ward" / "q1").is_dir()


def test_options_of_the_command_line(tmp_path: Path) -> None:
    for name, rows in (("spring", FIRST), ("summer", SECOND)):
        lines = ["patient,code", *(f"{who},{code}" for who, codes in rows.items() for code in codes)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "tree.csv").write_text(LINES)
    read = ("--id-column", "patient", "--item-column", "code")
    setveil("series", "init", "ward", "-k", "2", "-m", "1", cwd=tmp_path).ok()
    setveil(
        "series",
        "add",
        "ward",
        "spring.csv",
        "--name",
        "q1",
        "-o",
        "q1",
        "-H",
        "tree.csv",
        *read,
        cwd=tmp_path,
    ).ok()
    how = ("--algorithm", "greedy", "--no-refine", "--bound")
    found = setveil(
        "series", "plan", "ward", "summer.csv", *read, *how, "--json", "-o", "plan.html", cwd=tmp_path
    ).ok()
    assert "Cost of publishing again" in (tmp_path / "plan.html").read_text()
    again = setveil("series", "plan", "ward", "summer.csv", *read, "-o", "plan.html", cwd=tmp_path)
    assert (again.code, "--force" in again.err) == (2, True)
    assert len(json.loads(found.out)["ways"]) == 4
    done = setveil(
        "series", "add", "ward", "summer.csv", "--name", "q2", "-o", "q2", *read, "--bound", cwd=tmp_path
    )
    assert (done.code, "--bound is of the greedy search" in done.err) == (2, True)
    setveil(
        "series", "add", "ward", "summer.csv", "--name", "q2", "-o", "q2", *read, *how, "--ways", cwd=tmp_path
    ).ok()
    report = json.loads((tmp_path / "q2" / "internal" / "report.json").read_text())
    assert [one["way"] for one in report["series"]["ways"]] == [
        "register", "append", "hold back: found", "hold back: returners"
    ]  # fmt: skip
    settings = report["algorithm"]["parameters"]
    assert (settings["refine"], settings["bound"], settings["algorithm"]) == (False, True, "greedy")
    assert "ways" not in json.dumps(json.loads((tmp_path / "q2" / "published" / "about.json").read_text()))


def test_the_ways_are_drawn_on_the_report_page_and_on_a_page_of_the_plan(tmp_path: Path) -> None:
    series = with_first(tmp_path)
    report = series.add(
        SECOND, name="q2", out=tmp_path / "q2", hierarchy=TREE, ways=True, writing={"external": True}
    )
    page = (tmp_path / "q2" / "internal" / "report.html").read_text()
    plan = SeriesRecord(series.plan({"zoe": ["b"], "tom": ["b"], "ida": ["a"]}, hierarchy=TREE), "")
    for shown in (page, plan_html({**report["series"], "people": 6, "returning": 4}), plan_html(plan)):
        assert "hold back: returners" in shown
        assert "LM as a bar" in shown
        assert shown.count('<svg viewBox="0 0 1000 14"') >= 4
    assert "Appending this period as it is loses 0.429" in page
    assert 'width="1000.00" height="14" fill=' in page  # the longest: returners lose everything
    assert "Cost of other ways" not in (tmp_path / "q2" / "published" / "report.html").read_text()
    plain = series.add(SECOND, name="q3", out=tmp_path / "q3", hierarchy=TREE)
    assert "ways" not in plain["series"]
    assert "What other ways" not in (tmp_path / "q3" / "internal" / "report.html").read_text()
