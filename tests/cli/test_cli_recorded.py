"""Commands that compare a run with its original read the original as the run did."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_helpers import setveil, write

ROWS = "".join(f"{i},{20 + i % 3},{'a;b' if i % 2 else 'a;c'}\n" for i in range(12))
EVENTS = "".join(f"{i},2024-01-1{i % 3},I50\n{i},2024-02-11,J18\n" for i in range(12))
LISTS = "".join(f"{i},{'a;b' if i % 2 else 'a;c'}\n" for i in range(12))
FILES = {"people.csv": "id,age,dx\n" + ROWS, "log.csv": "id,on,dx\n" + EVENTS, "lists.csv": "id,dx\n" + LISTS}
HOW = {
    "people.csv": ["--qi", "age", "--set", "dx", "--drop", "id", "--numeric", "age"],
    "log.csv": ["--id-column", "id", "--set", "dx:m=1", "--when", "on:month"],
    "lists.csv": ["--id-column", "id", "--item-column", "dx", "--delimiter", ";"],
}
READ = {
    "people.csv": ["--qi", "age", "--set", "dx"],
    "log.csv": ["--id-column", "id", "--set", "dx", "--when", "on:month"],
    "lists.csv": HOW["lists.csv"],
}
PROMISE = {
    "people.csv": ["--k", 2, "--m", 1, "--model", "kkm"],
    "log.csv": ["--k", 2],
    "lists.csv": ["--k", 2, "--m", 1],
}


@pytest.mark.parametrize("name", FILES)
def test_the_original_is_read_as_the_run_says(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, FILES[name])
    (tmp_path / "others").mkdir()
    write(tmp_path / "others" / name, FILES[name].replace("12,", "13,").replace("11,", "14,"))
    setveil("anonymize", name, *HOW[name], *PROMISE[name], "--out", "release", cwd=tmp_path).ok()
    for command in (["measure", name, "release"], ["risk", "release", "--original", name]):
        plain = setveil(*command, "--json", cwd=tmp_path).ok()
        assert plain.json() == setveil(*command, *READ[name], "--json", cwd=tmp_path).ok().json()
        assert f"{name}: read as release says" in plain.err
        elsewhere = [f"others/{name}" if word == name else word for word in command]
        assert "read as release says" not in setveil(*elsewhere, cwd=tmp_path).err  # another file
        published = ["release/published" if word == "release" else word for word in command]
        assert "says, from which" not in setveil(*published, cwd=tmp_path).err  # nothing says how it was read
