"""Releases of every kind are read only in the bytes that setveil writes, also in parts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.releases.published import kind_at
from setveil.releases.published.shared import counts_beside
from strategies import many

ITEMS = ("tea", "milk", "a,b", "rum", "soap", "é", " x", "10", "9")


def rows_of(rng: Random, n: int = 40) -> list[list[str]]:
    return [[item for item in ITEMS if rng.random() < 0.35] for _ in range(n)]


def tree_of() -> sv.Hierarchy:
    return sv.Hierarchy.from_paths([[item, "L" if item < "m" else "R", "*"] for item in ITEMS])


def classes(rng: Random, folder: Path) -> None:
    rows = rows_of(rng, 80)
    sv.anonymize(rows, k=2, m=2, hierarchy=tree_of(), algorithm=sv.Classes(class_size=8)).write(folder)


def groups(rng: Random, folder: Path) -> None:
    rows = [[*row, *(["rum"] if at % 9 == 0 else [])] for at, row in enumerate(rows_of(rng))]
    rows = [[x for x in row if x != "rum" or at % 9 == 0] for at, row in enumerate(rows)]
    sv.anonymize(rows, sv.PrivacyDegree(2, ["rum"]), algorithm="cahd").write(folder)


def chunks(rng: Random, folder: Path) -> None:
    sv.anonymize(
        rows_of(rng), sv.Disassociated(k=2, m=2), algorithm="disassociation", seed=rng.randrange(9)
    ).write(folder, rare_names=True)


def blocks(rng: Random, folder: Path) -> None:
    pytest.importorskip("opendp")
    own = sv.DPBlocks(universe=list(ITEMS))
    sv.anonymize(rows_of(rng), sv.DifferentialPrivacy(epsilon=1), algorithm=own).write(folder)


KINDS: dict[str, Callable[[Random, Path], None]] = {
    "classes": classes, "groups": groups, "chunks": chunks, "blocks": blocks
}  # fmt: skip
EDITS: dict[str, Callable[[str], str]] = {
    "byte order mark": lambda text: "\ufeff" + text,
    "all line ends": lambda text: text.replace("\n", "\r\n"),
    "no last line end": lambda text: text[:-1],
    "a blank before a line end": lambda text: text.replace("\n", " \n", 1),
    "a blank after a separator": lambda text: text.replace(",tea", ", tea", 1),
    "a quoted field": lambda text: text.replace("tea", '"tea"', 1),
    "an escape": lambda text: text.replace('"tea"', '"\\u0074ea"', 1),
}


def refused(folder: Path) -> bool:
    """Read all that is published, and say whether the bytes were refused."""
    try:
        kind_at(str(folder)).read(str(folder), sv.read)
        counts_beside(str(folder))
    except sv.DataError:
        return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_other_bytes_are_refused(kind: str, tmp_path: Path) -> None:
    tried = 0
    for seed in range(many(3)):
        folder = tmp_path / str(seed)
        try:
            KINDS[kind](Random(seed), folder)
        except sv.InfeasibleError:
            continue
        assert not refused(folder)
        for file in sorted((folder / "published").glob("*.*")):
            whole = file.read_bytes()
            for name, edit in EDITS.items() if file.name != "about.json" else ():
                changed = edit(whole.decode()).encode()
                if changed in (whole, whole + b" "):
                    continue
                file.write_bytes(changed)
                assert refused(folder), (file.name, name)
                tried += 1
            file.write_bytes(whole)
    assert tried


@pytest.mark.parametrize("form", ["basket", "fimi"])
def test_parts_refuse_what_others_refuse(form: str, tmp_path: Path) -> None:
    items = ("1", "2", "10", "9") if form == "fimi" else ITEMS
    rng = Random(5)
    rows = [[x for x in items if rng.random() < 0.6] for _ in range(60)]
    sv.anonymize(rows, k=2, m=2, algorithm="exact", details=False).write(tmp_path / "r", format=form)
    (file,) = (tmp_path / "r" / "published").glob("data.*")
    whole = file.read_bytes()
    assert setveil("verify", tmp_path / "r", "--engine", "parts").ok()
    line = next(line for line in whole.split(b"\n") if len(line) > 4 and b'"' not in line)
    sign = b" " if form == "fimi" else b","
    turned = sign.join(reversed(line.split(sign)))
    edits = [
        b"\xef\xbb\xbf" + whole, whole.replace(b"\n", b"\r\n"), whole[:-1], whole.replace(b"\n", b" \n", 1),
        whole.replace(line, turned, 1), whole.replace(line, line + sign + line.split(sign)[0], 1),
    ]  # fmt: skip
    for changed in edits:
        assert changed != whole
        file.write_bytes(changed)
        for engine in ((), ("--engine", "parts")):
            done = setveil("verify", tmp_path / "r", *engine)
            alone = changed == edits[4] and not engine and whole.count(line + b"\n") == 1
            assert done.code == 4 or alone, (changed[:40], engine, done)
    file.write_bytes(whole)
    shutil.rmtree(tmp_path / "r")


def test_rows_of_blocks_are_as_many_as_stated(tmp_path: Path) -> None:
    """Check that a last row without items is missed, and that a label NA is one."""
    pytest.importorskip("opendp")
    own = sv.DPBlocks(universe=["NA", "tea"])
    rows = [["NA", "tea"], ["tea"], ["NA"], []] * 50
    sv.anonymize(rows, sv.DifferentialPrivacy(epsilon=50), algorithm=own).write(tmp_path / "out")
    file = tmp_path / "out/published/synthetic.csv"
    release = kind_at(str(tmp_path / "out")).read(str(tmp_path / "out"), sv.read)
    assert "NA" in set(release.rows.vocabulary.labels)
    file.write_bytes(file.read_bytes() + b"\n")
    assert refused(tmp_path / "out")
