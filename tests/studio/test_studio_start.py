"""The start of the studio: its requirements, its options, and the messages if something is missing."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from cli_helpers import environment, needs_proc, posix_only, setveil, write
from setveil.base.errors import DataError
from setveil.studio.guard import COOKIE
from setveil.studio.projects import Projects
from setveil.studio.running import ask_running
from studio_browser import serve

HEAVY = ("numpy", "numba", "polars", "pyarrow", "highspy", "llvmlite")


@needs_proc
def test_the_server_is_light(tmp_path: Path) -> None:
    """After pages, the sample and its rows: no library of the kernels, and less than 80 MB."""
    server = serve(tmp_path)
    try:
        headers = {"origin": server.origin, "sec-fetch-site": "same-origin"}
        with httpx.Client(base_url=server.origin, headers=headers, timeout=120) as client:
            answer = client.post("/enter", content=server.first.partition("#")[2])
            go = answer.json()["go"]
            headers["cookie"] = f"{COOKIE}={answer.cookies[COOKIE]}"
            client.cookies.clear()
            assert client.get(go, headers=headers).status_code == 200
            made = client.post(f"{go}try", headers=headers)
            assert made.status_code == 303
            data = made.headers["location"]
            assert client.get(data, headers=headers).status_code == 200
            rows = client.get(f"{data}/rows?first=4990&count=50", headers=headers).json()
            assert (rows["total"], len(rows["rows"])) == (5000, 10)
            for step in ("hierarchy", "promise", "run", "compare"):
                assert client.get(data.replace("/data", f"/{step}"), headers=headers).status_code == 200
        maps = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert [name for name in HEAVY if f"/{name}" in maps] == []
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        peak = int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) / 1000
        assert peak < 80, peak
    finally:
        server.stop()


def test_the_server_imports_nothing_heavy() -> None:
    script = (
        "import sys, json\nimport setveil.studio.enter\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "missing").mkdir()
    write(tmp_path / "missing" / "uvicorn.py", "raise ModuleNotFoundError('no', name='uvicorn')\n")
    done = setveil(
        "studio", "--no-browser", env={"PYTHONPATH": ":".join([str(tmp_path / "missing"), *sys.path])}
    )
    assert done.code == 2
    assert "Error: The studio needs the package uvicorn, which is not installed." in done.err
    hint = re.search(r"Hint: pip install (.*)", done.err)
    assert hint is not None
    assert "'uvicorn>=" in hint[1]


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = setveil("studio", "--no-browser", "--port", port, env={"HOME": str(tmp_path)})
    assert done.code == 2
    assert f"Error: Port {port} cannot be used" in done.err
    for port in ("-1", "x", "99999"):
        done = setveil("studio", "--no-browser", "--port", port, env={"HOME": str(tmp_path)})
        assert done.code == 2, done
        assert "Traceback" not in done.err
    assert not list(tmp_path.rglob("studio-*.json"))


def test_a_port_that_is_named_is_taken(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = serve(tmp_path, "--port", str(port))
    server.stop()
    assert server.origin == f"http://127.0.0.1:{port}"


@posix_only
def test_a_studio_that_is_deaf_to_a_closed_terminal_stays_so(tmp_path: Path) -> None:
    """As `nohup` makes it; otherwise it ends as at any other signal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        deaf = serve(tmp_path)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may have been started so
        deaf.process.send_signal(signal.SIGHUP)
        assert ask_running(deaf.projects.root, deaf.word.parent) is not None
        deaf.stop()
        assert deaf.process.returncode == 0
        other = serve(tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    with other.process:
        other.process.send_signal(signal.SIGHUP)
    assert other.process.returncode == 0
    assert not (other.projects.root / ".studio.json").exists()


def test_a_project_is_named(tmp_path: Path) -> None:
    server = serve(tmp_path, "--project", str(tmp_path / "work" / "Pharmacy 2026"))
    server.stop()
    assert [one.title for one in Projects(tmp_path / "work").all()] == ["Pharmacy 2026"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    write(tmp_path / "setveil", "a file")
    done = setveil("studio", "--no-browser", env={"HOME": str(tmp_path)})
    assert done.code == 2
    assert "cannot be made" in done.err


# --- a project's settings


def test_settings_are_what_the_command_takes(tmp_path: Path) -> None:
    """The file of a project runs as it is; what only the studio keeps is passed over."""
    rows = write(tmp_path / "rows.dat", "1 2\n1 2\n1 3\n1 3\n")
    project = Projects(tmp_path / "projects").create("Pharmacy")
    project.save(
        input=str(rows),
        format="fimi",
        k=2,
        m=1,
        algorithm="aa",
        studio={"title": 'Ü \x7f\n"', "sensitive": ["a,b", "'"]},
    )
    done = setveil("anonymize", "--config", project.toml, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert report["guarantee"]["k"] == 2
    assert project.title == 'Ü \x7f\n"'
    assert project.studio["sensitive"] == ["a,b", "'"]


def test_settings_are_changed_one_by_one(tmp_path: Path) -> None:
    project = Projects(tmp_path).create("Pharmacy")
    project.save(id_column="a", k=5, suppress=True, max_suppressed=0.01, ranges=["age=5"])
    project.save(k=None, studio={"row": "visit"})
    assert project.settings() == {
        "id-column": "a", "suppress": True, "max-suppressed": 0.01, "ranges": ["age=5"],
        "studio": {"title": "Pharmacy", "row": "visit"},
    }  # fmt: skip
    project.save(studio={"row": None})
    assert project.studio == {"title": "Pharmacy"}
    project.toml.write_text("k = ")
    with pytest.raises(DataError, match="cannot be read"):
        project.save(k=2)


def test_two_windows_do_not_lose_each_others_changes(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    project = Projects(tmp_path).create("Pharmacy")
    other = Projects(tmp_path).find(project.name)  # as another process has it
    with ThreadPoolExecutor(8) as pool:
        for number in range(100):
            pool.submit((project, other)[number % 2].save, studio={f"key-{number}": number})
    assert len(project.studio) == 101
