"""``setveil compare`` as a process."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cli_helpers import (
    COMMAND,
    HIERARCHY,
    children,
    dump,
    environment,
    files_under,
    hearing,
    posix_only,
    refused,
    sample_rows,
    setveil,
    stopped_if,
    together,
    until_gone,
    write,
)
from setveil.base.errors import RequestError
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import Layout
from setveil.rows.data.sample import grocery_sample
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "rows.dat", dump(sample_rows(), "fimi"))
    write(tmp_path / "tree.csv", HIERARCHY)
    return tmp_path


STUDY = """
name = "All that can happen"
data = [{path = "rows.dat", hierarchy = "tree.csv"}]
queries = 50
memory_limit = 4000
time_limit = 1000

[[runs]]
algorithms = ["aa", "exact"]
k = [2, 4]
m = 1

[[runs]]  # more than there are rows
algorithms = ["aa"]
k = 4000
m = 1

[[runs]]  # nothing may be suppressed, of that so much
algorithms = ["exact"]
k = 2
m = 2
suppress = false
max_suppressed = 0.1

[[runs]]  # an item that there is not
algorithms = ["mm"]
h = 0.5
k = 2
p = 2
private = "nonsense"

[[runs]]
algorithms = ["aa"]
k = 5
m = 1
time_limit = 0.01

[[runs]]
algorithms = ["aa"]
k = 6
m = 1
memory_limit = 5
"""
ENDED = {
    ("aa", 2): "done",
    ("exact", 2): "done",
    ("aa", 4): "done",
    ("exact", 4): "done",
    ("aa", 4000): "infeasible",
    ("exact suppress=false max_suppressed=0.1", 2): "refused",
    ("mm", 2): "refused",
    ("aa", 5): "timeout",
    ("aa", 6): "memory",
}


def records(out: Path) -> dict[str, tuple[int, int]]:
    return {
        path.stem: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (out / "runs").glob("*.json")
    }


def interrupted(folder: Path, out: Path, enough: int, how: signal.Signals) -> tuple[int, str]:
    """Start the study, and end it when there are enough records."""
    process = subprocess.Popen(
        [*COMMAND, "compare", "study.toml", "--out", str(out), "--jobs", "2"],
        cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True,
        preexec_fn=hearing,  # noqa: PLW1509  (the tests start no threads)
    )  # fmt: skip
    assert stopped_if(process, lambda: len(records(out)) >= enough)
    workers = children(process.pid)
    process.send_signal(how)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate()
    until_gone(workers)
    return process.returncode, said


@pytest.mark.exhaustive
@posix_only
def test_a_study_that_is_killed_interrupted_and_completed(folder: Path) -> None:
    write(folder / "study.toml", STUDY)
    out = folder / "out"
    code, _ = interrupted(folder, out, 2, signal.SIGKILL)
    assert code == -signal.SIGKILL
    first = records(out)
    code, said = interrupted(folder, out, 4, signal.SIGINT)
    assert code == 130
    assert said.splitlines()[-1] == "Interrupted."  # perhaps after how far it was
    second = records(out)
    assert {run: second[run] for run in first} == first
    assert not (out / "results.csv").exists()

    done = setveil("compare", "study.toml", "--out", out, "--json", cwd=folder).ok()
    last = records(out)
    assert {run: last[run] for run in second} == second  # nothing lost, nothing done twice
    assert len(last) == len(ENDED) + 2  # the risk of the original rows, also with a private item
    record = done.json()
    assert record["runs"] == len(ENDED)
    assert record["status"] == {"done": 4, "infeasible": 1, "refused": 2, "timeout": 1, "memory": 1}
    assert record["results"] == str(out / "results.csv")
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], int(row["k"])): row["status"] for row in rows} == ENDED
    assert [row["method"] for row in rows][:5] == ["aa", "aa", "exact", "exact", "aa"]  # as in the file
    for row in rows:
        assert bool(row["error"]) == (row["status"] != "done")
        assert bool(row["ncp"]) == (row["status"] == "done")
        assert row["data"] == "rows"
    by_status = {row["status"]: row for row in rows}
    assert by_status["timeout"]["error"] == "Took more than the 0.01 s of its limit."
    assert by_status["memory"]["error"] == "Took more than the 5 MB of its limit."
    best = next(row for row in rows if row["method"] == "exact")
    assert 20 < float(best["peak_memory_mb"]) < 1000
    assert 0 < float(best["seconds_anonymize"]) < float(best["seconds"])
    assert int(best["risk_before_5"]) >= int(best["risk_below_5"])
    assert all(row["risk_before_2"] for row in rows if row["method"] != "mm")

    names = files_under(out)
    assert {name for name in names if not name.startswith(("runs/", "figures/"))} == {
        "study.toml", "results.csv", "results.parquet", "report.html", "references.bib", ".lock"
    }  # fmt: skip
    assert all(name.endswith(".svg") for name in names if name.startswith("figures/"))
    assert (out / "study.toml").read_text() == STUDY
    written = "".join((out / name).read_text() for name in names if name.startswith("runs/"))
    assert "small" not in written  # a label of the hierarchy

    again, listed, other, occupied, more = together(
        [
            ["compare", "study.toml", "--out", out, "--retry"],
            ["compare", "study.toml", "--out", out, "--dry-run", "--json"],
            ["compare", "study.toml", "--out", folder],
            ["compare", "study.toml", "--out", folder / "study.toml"],
            ["compare", "study.toml", "--out", folder / "never", "--data", folder / "gone"],
        ],
        cwd=folder,
    )
    assert again.code == 0, again
    assert "9 runs: 4 done, 1 infeasible, 2 refused, 1 timeout, 1 memory." in again.err
    final = records(out)
    assert sum(final[run] != last[run] for run in last) == 2  # the late one and the big one
    assert [run["status"] for run in listed.json()["runs"]] == [row["status"] for row in rows]
    assert [run["run"] for run in listed.json()["runs"]] == [row["run"] for row in rows]
    refused(other, 2, "contains something else than a study")
    refused(occupied, 2, "is a file, expected a folder")
    refused(more, 4, "study.toml: data[1]: There is no file", "--data", out=folder / "never")


def test_data_that_could_be_read_in_several_ways_are_refused_once_and_first(tmp_path: Path) -> None:
    """Check a table of three columns: setveil must not guess which of them are items."""
    table = {"patient": [1, 1, 2], "code": ["I10", "E11", "I10"], "ward": ["a", "b", "a"]}
    pl.DataFrame(table).write_parquet(tmp_path / "visits.parquet")
    text = (
        'name = "s"\nalgorithms = ["lg", "aa"]\nk = [2, 3, 4]\nm = 1\ndata = [{path = "visits.parquet"%s}]\n'
    )
    write(tmp_path / "study.toml", text % ', name = "visits to the ward"')
    write(tmp_path / "said.toml", text % ', id_column = "patient", item_column = "code"')
    whole, dry, said = together(
        [
            ["compare", "study.toml", "--out", "out"],
            ["compare", "study.toml", "--out", "out", "--dry-run"],
            ["compare", "said.toml", "--out", "other", "--dry-run"],
        ],
        tmp_path,
    )
    for one in (whole, dry):
        refused(one, 4, "Data set visits to the ward: ", out=tmp_path / "out")
        assert one.err.count("visits to the ward") == 1
    assert said.code == 0, said

    # The keys in the message are those that a study accepts.
    write(tmp_path / "table.csv", "pat,icd,sex\n1,I10,m\n1,E11,m\n2,I10,f\n3,I10,f\n")
    text = 'name = "s"\nalgorithms = ["lg"]\nk = 2\ndata = [{path = "table.csv"%s}]\n'
    write(tmp_path / "guess.toml", text % "")
    guess = setveil("compare", "guess.toml", "--out", "out", "--dry-run", cwd=tmp_path)
    refused(guess, 4, "Data set table: ", "may be a table", out=tmp_path / "out")
    keys = [line.strip() for line in guess.err.splitlines() if " = " in line]
    assert keys[0] == 'id_column = "pat", item_column = "icd"'
    for place, line in enumerate(keys):
        write(tmp_path / f"keys-{place}.toml", text % f", {line}")
    tried = [["compare", f"keys-{place}.toml", "--out", "x", "--dry-run"] for place in range(len(keys))]
    assert [one.code for one in together(tried, tmp_path)] == [0] * len(keys)


def test_a_hierarchy_that_cannot_be_read_is_refused_first(folder: Path) -> None:
    """Check that such a hierarchy stops the command early if a missing run uses it, also with --dry-run."""
    write(folder / "bad.csv", "1;a;all\n1;b;all\n")
    text = 'name = "s"\ndata = [{path = "rows.dat", hierarchy = "bad.csv"}]\nk = 2\n'
    write(folder / "cut.toml", text + 'algorithms = ["aa"]\nm = 1\n')
    write(folder / "flat.toml", text + 'algorithms = ["mm"]\nh = 0.5\np = 2\nprivate = "1"\n')
    whole, dry, flat = together(
        [
            ["compare", "cut.toml", "--out", "out"],
            ["compare", "cut.toml", "--out", "out", "--dry-run"],
            ["compare", "flat.toml", "--out", "flat", "--dry-run"],
        ],
        folder,
    )
    for one in (whole, dry):
        refused(one, 4, "Data set rows: ", "bad.csv", out=folder / "out")
    assert flat.code == 0, flat


@pytest.mark.exhaustive
def test_the_demo_study_runs_from_a_checkout(tmp_path: Path) -> None:
    """And its data are what `setveil demo` makes."""
    studies = Path(__file__).parents[2] / "studies"
    done = setveil("compare", studies / "demo.toml", "--out", tmp_path / "out", "--json").ok()
    assert done.json()["status"] == {"done": 33}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "exact and mhghs" in page
    assert "3 seeds. Tables and figures show medians" in page
    assert f"setveil compare {studies / 'demo.toml'} --out {tmp_path / 'out'} --json" not in page
    assert f"setveil compare {studies / 'demo.toml'} --out {tmp_path / 'out'}" in page
    baskets, paths = grocery_sample(1000, 0)
    save(baskets, tmp_path / "baskets.csv", Layout("basket"))
    write_hierarchy(Hierarchy.from_paths(paths), tmp_path / "products.csv")
    for name in ("baskets.csv", "products.csv"):
        assert (studies / "demo" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_a_dry_run_does_nothing(folder: Path) -> None:
    write(folder / "study.toml", STUDY)
    done = setveil("compare", "study.toml", "--out", "out", "--dry-run", cwd=folder).ok()
    *listed, summary = done.out.splitlines()
    assert len(listed) == len(ENDED)
    assert all("missing" in line for line in listed)
    assert summary == "9 runs: 9 missing."
    assert not (folder / "out").exists()
    assert {path.name for path in folder.iterdir()} == {"rows.dat", "tree.csv", "study.toml"}


REPEATED = """
name = "Repeated"
data = [{path = "rows.dat", hierarchy = "tree.csv"}]
algorithms = ["aa", "exact"]
queries = 20
k = [2, 4]
m = 1
repeat = 6
[[runs]]
label = "{algorithm}, ours"
"""


@pytest.mark.exhaustive
def test_repetition_and_a_paper(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    write(folder / "study.toml", REPEATED)
    done = setveil("compare", "study.toml", "--out", "s", "--latex", cwd=folder).ok()
    assert "Paper      s/paper" in done.out
    found = pl.read_csv(folder / "s/results.csv")
    assert found["sample"].to_list() == [0.8] * 24
    assert set(found["label"]) == {"aa, ours", "exact, ours"}
    assert set(found["method"]) == {"aa", "exact"}
    assert found["data_sha256"].n_unique() == 1
    summary = pl.read_csv(folder / "s/summary.csv")
    one = summary.filter(method="aa, ours", k=2, measure="loss_lm").row(0, named=True)
    values = found.filter(method="aa", k=2)["lm"]
    assert one["repeats"] == 6
    assert one["median"] == pytest.approx(values.median(), rel=1e-8)
    assert (one["low_95"], one["high_95"]) == pytest.approx((values.min(), values.max()), rel=1e-8)
    tests = pl.read_csv(folder / "s/tests.csv").filter(measure="seconds")
    assert tests["repeats"].to_list() == [6, 6]
    assert tests["setting"].to_list() == ["k = 2", "k = 4"]
    assert (folder / "s/references.bib").read_text().count("@") == 2
    assert {path.name for path in (folder / "s/paper").iterdir()} == {
        "figures", "figures.tex", "references.bib", "tables.tex",
    }  # fmt: skip
    assert "aa, ours" in (folder / "s/paper/tables.tex").read_text()
    page = (folder / "s/report.html").read_text()
    assert "6 draws of 80% of the rows" in page
    assert "BibTeX of 2 works" in page
    assert "--latex" in page  # the command that makes it again
    write(folder / "study.toml", REPEATED.replace("repeat = 6", "").replace("k = [2, 4]", "k = 2"))
    setveil("compare", "study.toml", "--out", "s", cwd=folder).ok()
    assert not (folder / "s/summary.csv").exists()
    assert not (folder / "s/tests.csv").exists()


def test_a_paper_from_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import setveil as sv

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write(folder / "study.toml", REPEATED)
    with pytest.raises(RequestError, match="need the library matplotlib"):
        sv.compare(folder / "study.toml", folder / "s", latex=True)
    assert not (folder / "s").exists()  # nothing is run for figures that cannot be drawn


def test_a_promise_of_nothing_is_refused_by_the_dry_run_too(folder: Path) -> None:
    write(folder / "study.toml", REPEATED.replace("[2, 4]", "[1, 2]"))
    for more in ((), ("--dry-run",)):
        done = setveil("compare", "study.toml", "--out", "s", *more, cwd=folder)
        assert done.code == 2
        assert "aa for km-anonymity: k must be an integer of at least 2, got 1." in done.err
    assert not (folder / "s").exists()
