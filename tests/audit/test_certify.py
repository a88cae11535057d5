"""The certificate of a run: how to request it, where it is written, and runs without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from audit_cases import audit_module, audited
from cli_helpers import refused, setveil
from setveil.base.errors import DataError, RequestError, SetveilError
from setveil.releases.recipients import AUDIT
from strategies import seeded

ROWS = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
TREE = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("".join(",".join(row) + "\n" for row in ROWS))
    (tmp_path / "tree.csv").write_text("a1;A;ALL\na2;A;ALL\nb1;B;ALL\nb2;B;ALL\n")
    return tmp_path


def made(files: Path, **more: Any) -> Path:
    data = more.pop("data", None) or sv.read(files / "rows.csv", format="basket")
    guarantee = more.pop("guarantee", sv.KmAnonymity(2, 2))
    release = sv.anonymize(data, guarantee, hierarchy=more.pop("hierarchy", files / "tree.csv"), **more)
    release.write(files / "run", force=True)
    return files / "run"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_with_a_certificate_is_audited_from_its_files(files: Path) -> None:
    run = made(files, algorithm=sv.Exact(certificate=True))
    report = json.loads((run / "internal" / "report.json").read_text())
    assert report["certificate"] == {"loss": 5, "bound": 5, "clauses": 1, "branches": 1}
    assert (run / "internal" / "audit.py").read_bytes() == AUDIT.read_bytes()
    assert {path.name for path in (run / "published").iterdir()} == {"about.json", "counts.csv", "data.csv"}
    assert (run / "internal" / "certificate.json").stat().st_mode & 0o077 == 0
    words = [run / "internal" / "audit.py", run, files / "rows.csv", files / "tree.csv"]
    done = subprocess.run([sys.executable, "-I", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith("no other of its model less than 5: it is optimal.")
    made(files)  # --force replaces such a folder
    assert not (run / "internal" / "audit.py").exists()


def test_certify_writes_inside_only_and_leaves_the_record(files: Path) -> None:
    run = made(files)
    before = everything(run)
    certificate = sv.certify(run)
    after = everything(run)
    assert {name for name in after if name not in before} == {
        "internal/certificate.json",
        "internal/audit.py",
    }
    assert {name: after[name] for name in before} == before
    assert (certificate["loss"], certificate["bound"], certificate["share"], certificate["clauses"]) == (
        5,
        5,
        0.0,
        1,
    )
    assert certificate["text"].startswith("Proven: ")
    assert everything(run) == after == (sv.certify(run), everything(run))[1]


def facts_of(run: Path) -> dict[str, Any]:
    """The facts of the compliance record that name a certificate, by their source."""
    found = [fact for section in sv.evidence(run)["sections"] for fact in section["facts"]]
    return {fact["source"]: fact["value"] for fact in found if "Certificate" in fact["what"]}


def test_the_compliance_record_finds_a_certificate_that_was_made_later(files: Path) -> None:
    run = made(files)
    assert not facts_of(run)
    sv.certify(run)
    later = {"internal/certificate.json: loss": 5, "internal/certificate.json: bound": 5}
    assert facts_of(run) == later
    file = run / "internal" / "certificate.json"
    whole = json.loads(file.read_text())
    for wrong in ("", "[]", "{}", json.dumps(whole | {"k": 3}), json.dumps(whole | {"bound": "5"})):
        file.write_text(wrong)
        refused(setveil("evidence", run, "--out", files / "e.html"), 4, "certificate", out=files / "e.html")
    run = made(files, algorithm=sv.Exact(certificate=True))
    assert facts_of(run) == {"certificate.loss": 5, "certificate.bound": 5}


def test_rows_and_hierarchy_that_came_from_no_file(files: Path) -> None:
    sv.anonymize(ROWS, sv.KmAnonymity(2, 2), hierarchy=TREE, algorithm=sv.Exact(keep=["b1"])).write(
        files / "run"
    )
    certificate = sv.certify(files / "run", data=ROWS, hierarchy=TREE)
    assert [Path(file).name for file in certificate["files"]] == [
        "certificate.json",
        "audit.py",
        "hierarchy.csv",
    ]
    (files / "run" / "original.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (files / "run" / "tree.csv").write_bytes((files / "run" / "internal" / "hierarchy.csv").read_bytes())
    assert audited(audit_module(), files / "run")[0] == 0


def test_a_certificate_has_the_labels_of_a_computed_hierarchy(tmp_path: Path) -> None:
    rng = seeded(5)
    for turn in range(6):
        rows = [
            rng.choices(range(24), [1 / (1 + i) for i in range(24)], k=rng.randint(1, 3)) for _ in range(120)
        ]
        data = [sorted({f"item {number}" for number in row}) for row in rows]
        run = tmp_path / str(turn)
        sv.anonymize(data, k=4, m=2, algorithm="exact", certificate=True).write(run)
        (run / "original.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
        (run / "tree.csv").write_bytes((run / "internal" / "hierarchy.csv").read_bytes())
        assert audited(audit_module(), run)[0] == 0


def test_time_that_is_too_short_gives_the_bound_there_is(files: Path) -> None:
    certificate = sv.certify(made(files), time_limit=1e-9)
    assert 0 <= certificate["bound"] <= certificate["loss"] == 5
    assert "More time" in certificate["text"] or certificate["bound"] == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"algorithm": "aa"}, "a run of aa"),
        ({"guarantee": sv.KmRho(2, 1, rho=0.5, sensitive=["b1"])}, "km-rho"),
        ({"guarantee": sv.TransactionalKAnonymity(2)}, "a run of lg"),
    ],
)
def test_runs_that_have_no_certificate(files: Path, more: dict[str, Any], words: str) -> None:
    run = made(files, **more)
    before = everything(run)
    with pytest.raises(RequestError, match=words):
        sv.certify(run)
    assert everything(run) == before


def test_algorithms_without_certificates_name_the_one_that_has_them(files: Path) -> None:
    rows, out = files / "rows.csv", files / "none"
    words = ["anonymize", rows, "--format", "basket", "--k", "2", "--certificate", "--out", out]
    done = setveil(*words, "-a", "lg")
    refused(done, 2, "lg has no parameter certificate", "--certificate is of exact.", out=out)
    with pytest.raises(RequestError, match="lg has no parameter certificate") as caught:
        sv.anonymize(ROWS, k=2, algorithm="lg", certificate=True)
    assert caught.value.hint == "certificate is of exact."


def test_a_certificate_is_refused_where_there_is_none(files: Path) -> None:
    with pytest.raises(RequestError, match=r"Certificates are of k\^m-anonymity"):
        made(files, guarantee=sv.KmRho(2, 1, rho=0.5, sensitive=["b1"]), algorithm=sv.Exact(certificate=True))
    with pytest.raises(SetveilError, match="certificate"):
        made(files, algorithm="aa", certificate=True)
    assert not (files / "run").exists()


def test_what_was_changed_since_is_refused(files: Path) -> None:
    run = made(files)
    before = everything(run)
    (files / "rows.csv").write_text("a1\na1\n")
    with pytest.raises(DataError, match="is not what the run read"):
        sv.certify(run)
    with pytest.raises(DataError, match="not the folder of a run"):
        sv.certify(files)
    with pytest.raises(RequestError, match="must be a path"):
        sv.certify(3)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="time limit"):
        sv.certify(run, time_limit=-1)
    assert everything(run) == before


@pytest.mark.parametrize("form", ["spmf", "onehot"])
def test_published_formats_that_the_program_does_not_read(files: Path, form: str) -> None:
    rows = sv.anonymize(sv.read(files / "rows.csv", format="basket"), k=2, m=2, hierarchy=files / "tree.csv")
    rows.write(files / "run", format=form)
    with pytest.raises(RequestError, match=f"does not read the format {form}"):
        sv.certify(files / "run")
    with pytest.raises(RequestError, match=f"does not read the format {form}"):
        sv.anonymize(
            sv.read(files / "rows.csv", format="basket"), k=2, m=2, hierarchy=files / "tree.csv",
            algorithm=sv.Exact(certificate=True),
        ).write(files / "other", format=form)  # fmt: skip
    assert not (files / "other").exists()


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("o.csv", {"format": "basket", "separator": " "}),
        ("o.dat", {"format": "fimi"}),
        ("o.csv", {"format": "long", "id_column": "row_id", "item_column": "item"}),
        ("o.jsonl", {"format": "jsonl"}),
    ],
)
def test_originals_of_every_format_that_it_reads(
    files: Path, name: str, reading: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = {"a1": "1", "a2": "2", "b1": "3", "b2": "4"}
    rows = [[numbers[x] for x in row] for row in ROWS]
    original = files / name
    if reading["format"] == "long":
        lines = [f"{at},{item}" for at, row in enumerate(rows, 101) for item in row]  # an ID is no item
        original.write_text("\n".join(["row_id,item", *lines]) + "\n")
    elif reading["format"] == "jsonl":
        original.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        original.write_text("".join(" ".join(row) + "\n" for row in rows))
    (files / "numbers.csv").write_text("1;A;ALL\n2;A;ALL\n3;B;ALL\n4;B;ALL\n")
    run = made(
        files, data=sv.read(original, **reading), hierarchy=files / "numbers.csv",
        algorithm=sv.Exact(certificate=True),
    )  # fmt: skip
    audit_module().audit(run, original, files / "numbers.csv", run / "internal" / "certificate.json")
    assert "it is optimal" in capsys.readouterr().out


def test_a_certificate_of_a_sample_is_refused(files: Path) -> None:
    options = ["-k", "2", "-m", "2", "--certificate", "--sample", "2", "-o", "out"]
    refused(
        setveil("anonymize", "rows.csv", *options, cwd=files), 2, "--sample takes some", out=files / "out"
    )


def test_other_promises_say_which_one_has_a_certificate(tmp_path: Path) -> None:
    """Check that the message does not name parameters of an algorithm that nobody named."""
    table, out = tmp_path / "t.csv", tmp_path / "none"
    table.write_text("sex;items\nF;a\nF;a\n", encoding="utf-8")
    words = ["--model", "kkm", "--k", "2", "--m", "1", "--qi", "sex", "--set", "items", "--separator", ";"]
    done = setveil("anonymize", table, *words, "--certificate", "--out", out)
    refused(done, 2, "only k^m-anonymity by exact has one", "--certificate is of exact.", out=out)
    assert "it has" not in done.err
