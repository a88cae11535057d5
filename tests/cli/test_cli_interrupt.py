"""Killed at any moment, a run leaves a whole folder or none; Ctrl-C is answered at once, with none left.

No test here waits for some time and then expects something to be under way, or to be over: machines differ,
and are busy with other tests. Each waits for a sign of what the process does. That Ctrl-C is answered at once
shows in that it is answered at all: what is interrupted would go on for minutes or hours, and end otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest

from cli_helpers import (
    COMMAND,
    COMPILED,
    FILES_OF_A_RUN,
    children,
    environment,
    files_under,
    hearing,
    leftovers,
    needs_compiled,
    needs_proc,
    posix_only,
    processor_seconds,
    setveil,
    stopped_if,
    together,
    until_gone,
    write,
)
from strategies import many

pytestmark = posix_only

INTERRUPTED = 130
STOPPING = "Stopping with the best release so far; Ctrl-C again leaves at once.\n"
ATTEMPTS = 400  # to catch a process at what it does only for a moment; most need 10, on a busy machine more
KILLS = many(8)
INTERRUPTS = many(6)

# The command line, but it says when its own first line has been run: from there on Ctrl-C is ours to answer.
LISTENING = """
import os, sys
def hook(event, args):
    if event == "import" and args[0] == "setveil.cli.app":
        os.write(2, b"listening\\n")
sys.addaudithook(hook)
from setveil.__main__ import main
main()
"""

# The command line, but it lists its imports in a file, and Ctrl-C is pressed at one of the imports.
PRESSED_AT_AN_IMPORT = """
import os, signal, sys
log, chosen = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND), sys.argv.pop(1)
def hook(event, args):
    if event == "import":
        os.write(log, args[0].encode() + b"\\n")
        if args[0] == chosen:
            signal.raise_signal(signal.SIGINT)
sys.addaudithook(hook)
from setveil.__main__ import main
main()
"""

# The command line, but Ctrl-C is pressed after all work and output.
PRESSED_AT_THE_END = """
import os, signal
leave = os._exit
def last(code):
    os._exit = leave
    signal.raise_signal(signal.SIGINT)
    leave(code)
os._exit = last
from setveil.__main__ import main
main()
"""


def deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def start(
    *arguments: object,
    cwd: Path,
    env: dict[str, str] | None = None,
    command: Sequence[str] = COMMAND,
    stdout: int = subprocess.DEVNULL,
    before: Callable[[], None] = hearing,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=before,  # noqa: PLW1509  (the tests start no threads)
    )


@contextlib.contextmanager
def running(
    *arguments: object,
    cwd: Path,
    env: dict[str, str] | None = None,
    command: Sequence[str] = COMMAND,
    stdout: int = subprocess.DEVNULL,
    before: Callable[[], None] = hearing,
) -> Iterator[subprocess.Popen[bytes]]:
    with start(*arguments, cwd=cwd, env=env, command=command, stdout=stdout, before=before) as process:
        try:
            yield process
        finally:
            process.kill()  # a process that was stopped would be waited for for ever


@contextlib.contextmanager
def listening(*arguments: object, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command, and wait until its first line has been run."""
    with running(*arguments, cwd=cwd, command=[sys.executable, "-c", LISTENING]) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"listening\n", process.stderr.read()
        yield process


def open_to_all() -> None:
    """Let whatever is made be read and written by all, unless it says otherwise."""
    hearing()
    os.umask(0)


def interrupt(process: subprocess.Popen[bytes], number: int = signal.SIGINT) -> tuple[int, str]:
    """Press Ctrl-C, or ask otherwise, also if the process was stopped; tell exit code and what was said."""
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    code = process.wait()
    assert process.stderr is not None
    said = process.stderr.read().decode()
    assert "Traceback" not in said, said
    return code, said


def go_on(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Let a stopped process run for a moment; where it then is does not matter."""
    if seconds:
        process.send_signal(signal.SIGCONT)
        time.sleep(seconds)


def cost(*arguments: object, cwd: Path) -> float:
    """Return the seconds of processors that a command takes in all (more if it has to compile)."""
    before = os.times()
    setveil(*arguments, cwd=cwd).ok()
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])  # of children


def until_spent(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until the process has used this many seconds of processor time, however long that takes."""
    while processor_seconds(process.pid) < seconds:
        assert process.poll() is None, "it must take longer"
        time.sleep(0.01)


def complete(out: Path) -> bool:
    """Return whether a folder exists, after checking that an existing one is complete."""
    if not out.exists():
        return False
    assert files_under(out) == FILES_OF_A_RUN | {"published/data.csv", "internal/members.json"}
    report = json.loads((out / "internal" / "report.json").read_text(encoding="utf-8"))
    assert (out / "published" / "data.csv").read_bytes().count(b"\n") == report["input"]["rows"]
    assert (out / "internal" / "rows.csv").read_bytes().count(b"\n") == report["input"]["rows"] + 1
    assert (out / "internal" / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert json.loads((out / "published" / "about.json").read_text(encoding="utf-8"))["rows"] > 0
    return True


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], float]:
    """Return a folder with data, a command that anonymizes them, and the seconds it takes once compiled."""
    folder = tmp_path_factory.mktemp("job")
    rng = Random(1)
    labels = [f"p{i}" for i in range(60)]
    weights = [1 / (i + 1) for i in range(60)]
    rows = 120_000 if COMPILED else 1500
    lines = (",".join(rng.choices(labels, weights, k=rng.randint(1, 4))) + "\n" for _ in range(rows))
    write(folder / "in.csv", "".join(lines))
    command = ["anonymize", "in.csv", "--k", "5", "--m", "2"]
    setveil(*command, "--out", "warm", cwd=folder).ok()
    begun = time.perf_counter()
    setveil(*command, "--out", "timed", cwd=folder).ok()
    seconds = time.perf_counter() - begun
    assert complete(folder / "warm")
    for name in ("warm", "timed"):
        shutil.rmtree(folder / name)
    return folder, command, seconds


def check_finished(folder: Path, outs: list[str]) -> None:
    for done in together([["verify", out, "--k", "5", "--m", "2"] for out in outs], folder) if outs else []:
        done.ok()


def test_killed_at_any_moment(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    folder, command, seconds = job
    finished = []
    for i in range(KILLS):
        out = tmp_path / f"out{i}"
        with running(*command, "--out", out, cwd=folder) as process:
            time.sleep(1.1 * seconds * i / (KILLS - 1))
            process.kill()
        if complete(out):
            finished.append(str(out))
    assert len(finished) < KILLS
    check_finished(folder, finished)


@pytest.mark.exhaustive
@needs_compiled
def test_killed_while_writing(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    """Also when an earlier run is being replaced: then the old folder or the new one is there."""
    folder, command, _ = job
    caught = 0
    earlier = tmp_path / "earlier"
    setveil(*command, "--out", earlier, cwd=folder).ok()
    for i in range(ATTEMPTS):
        out = tmp_path / f"out{i}"
        if i % 2:
            shutil.copytree(earlier, out)
        with running(*command, "--out", out, "--force", cwd=folder) as process:
            caught += stopped_if(process, partial(leftovers, out))
            go_on(process, 0.02 * (i % 5))
            process.kill()
        there = complete(out)
        assert there or not i % 2 or sys.platform != "linux"  # elsewhere perhaps none: it takes two moves
        if i >= 4 and caught >= 4:
            break
    assert caught >= 4
    # Hidden files of a killed run next to its folder do not prevent the next run.
    setveil(*command, "--out", tmp_path / "out0", "--force", cwd=folder).ok()
    assert complete(tmp_path / "out0")


def test_ctrl_c_at_any_moment(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    folder, command, seconds = job
    answered = 0
    for i in range(INTERRUPTS + ATTEMPTS):
        out = tmp_path / f"out{i}"
        with listening(*command, "--out", out, cwd=folder) as process:
            time.sleep(seconds * i / INTERRUPTS if i < INTERRUPTS else 0)
            code, said = interrupt(process)
        assert leftovers(out) == []
        if code == 0:
            assert complete(out)  # it came too late
        else:
            assert code == INTERRUPTED, (i, code, said)
            assert said.endswith("Interrupted.\n")
            complete(out)
            answered += 1
        if i >= INTERRUPTS - 1 and answered:
            break
    assert answered


@pytest.mark.exhaustive
def test_ctrl_c_at_the_start(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    """While modules are being imported, by the main thread or by the one that works."""
    folder, _, _ = job
    write(folder / "few.csv", "a,b\nb,c\na,b,c\n" * 3)
    command = [sys.executable, "-c", PRESSED_AT_AN_IMPORT]

    def pressed_at(module: str) -> tuple[int, str]:
        arguments = [log, module, "anonymize", folder / "few.csv", "--k", "2", "--m", "2", "--out", out]
        with running(*arguments, cwd=tmp_path, command=command) as process:
            _, said = process.communicate()
        return process.returncode, said.decode()

    log, out = tmp_path / "log", tmp_path / "out"
    for _ in range(2):  # what is imported in order to compile is imported only once
        log.unlink(missing_ok=True)
        shutil.rmtree(out, ignore_errors=True)
        assert pressed_at("")[0] == 0
    modules = list(dict.fromkeys(log.read_text().split()))
    modules = modules[modules.index("setveil.cli.app") :]
    for module in modules[:: max(len(modules) // many(8), 1)]:
        shutil.rmtree(out, ignore_errors=True)
        code, said = pressed_at(module)
        if STOPPING in said:  # imported by a search that may end early: then the first press asks it to
            assert code == 0, (module, said)
            assert complete(out), (module, said)
            continue
        assert code == INTERRUPTED, (module, said)
        assert said.endswith("Interrupted.\n"), (module, said)
        assert "Traceback" not in said, (module, said)
        assert "Exception" not in said, (module, said)
        assert leftovers(out) == [], module
        assert not out.exists() or (out / "internal" / "report.html").exists(), module


@pytest.mark.exhaustive
def test_ctrl_c_at_the_end(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    """All is printed, and the process is only leaving."""
    folder, command, _ = job
    last = [sys.executable, "-c", PRESSED_AT_THE_END]
    for arguments in (["--version"], ["--help"], ["algorithms"], ["verify", "missing.csv", "--k", "2"]):
        plain = setveil(*arguments, cwd=folder)
        with running(*arguments, cwd=folder, command=last, stdout=subprocess.PIPE) as process:
            out, err = process.communicate()
        assert process.returncode == INTERRUPTED, err
        assert out.decode() == plain.out
        assert err.decode() == plain.err + "Interrupted.\n"
    with running(*command, "--out", tmp_path / "out", cwd=folder, command=last) as process:
        _, err = process.communicate()
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in err.decode()
    assert complete(tmp_path / "out")


def test_ctrl_c_when_the_answer_is_there(tmp_path: Path) -> None:
    """It may be too late, but never an error."""
    last = setveil("algorithms", cwd=tmp_path).ok().out.encode().splitlines(keepends=True)[-1]
    for _ in range(6):
        with running("algorithms", cwd=tmp_path, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while (line := process.stdout.readline()) != last:
                assert line
            code, said = interrupt(process)
        assert (code, said) in {(INTERRUPTED, "Interrupted.\n"), (0, "")}


def test_ctrl_c_while_the_answer_is_printed(tmp_path: Path) -> None:
    """Check a reader that stops after the first byte, while the rest is more than the pipe can buffer."""
    rows = "".join(f"a rather long item of row {i}\n" for i in range(20_000 if COMPILED else 3000))
    write(tmp_path / "in.csv", rows)
    command = ["verify", "in.csv", "--k", 2, "--m", 1, "--show", 20_000, "--json"]
    whole = len(setveil(*command, cwd=tmp_path).out)
    assert whole > 200_000
    with running(*command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 1) == b"{"
        code, said = interrupt(process)
        assert (code, said.splitlines()[1:]) == (INTERRUPTED, ["Interrupted."])  # after how the file is read


def test_a_job_in_the_background_of_a_shell_stays_deaf(tmp_path: Path) -> None:
    with running("verify", "-", "--k", 2, "--m", 2, cwd=tmp_path, before=deaf) as process:
        assert process.stdin is not None
        process.stdin.write(b"a,b\n" * 50_000)  # more than fits in between: it is at work
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 0, said


# The actions of `work`, and the end of the command. Ctrl-C may be pressed at the end of `work`, too.
WORK = """
import os, signal, sys, threading, time
from pathlib import Path
from setveil.cli.ctrlc import leave_on_signal
from setveil.cli.session import answer, run
from setveil.base.staging import scratch_folder, staged_file
def press():
    signal.raise_signal(signal.SIGINT)
def wait_for(condition):
    while not condition():
        time.sleep(0.001)
def never(phase):
    press()
    threading.Event().wait()
def unfinished(phase):
    with staged_file(Path("file")) as beside:
        beside.write_text("half")
        never(phase)
def ended_by(name, phase):
    phase.stoppable = True  # for Ctrl-C alone
    with staged_file(Path("file")) as beside, scratch_folder(Path.cwd()) as folder:
        beside.write_text("half")
        (folder / "rows").write_text("a secret")
        signal.raise_signal(getattr(signal, name))
        threading.Event().wait()
def term(phase):
    ended_by("SIGTERM", phase)
def hup(phase):
    ended_by("SIGHUP", phase)
def deaf_to_hup(phase):
    signal.raise_signal(signal.SIGHUP)
    return "done"
def stoppable(phase):
    phase.stoppable = True
    press()
    wait_for(phase.stop_requested)
    phase.stoppable = False
    return "best so far"
def twice(phase):
    phase.stoppable = True
    press()
    wait_for(phase.stop_requested)
    never(phase)
def stopped_then_pressed(phase):
    stoppable(phase)
    never(phase)
def at_its_end(phase):
    press()
    return "too late"
def quiet(phase):
    return "done"
if sys.argv[1] == "deaf_to_hup":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
leave_on_signal()
if sys.argv[1] == "alone":
    with scratch_folder(Path.cwd()):
        signal.raise_signal(signal.SIGTERM)
answer(run(globals()[sys.argv[1]]))
if sys.argv[2:]:
    press()
"""


@pytest.mark.parametrize(
    ("work", "code", "out", "said"),
    [
        (["quiet"], 0, "done\n", ""),
        (["quiet", "and then"], INTERRUPTED, "done\n", "Interrupted.\n"),
        (["never"], INTERRUPTED, "", "Interrupted.\n"),
        (["unfinished"], INTERRUPTED, "", "Interrupted.\n"),
        (["at_its_end"], INTERRUPTED, "", "Interrupted.\n"),
        (["term"], 128 + signal.SIGTERM, "", "Ended by SIGTERM.\n"),
        (["hup"], 128 + signal.SIGHUP, "", "Ended by SIGHUP.\n"),
        (["alone"], 128 + signal.SIGTERM, "", "Ended by SIGTERM.\n"),
        (["deaf_to_hup"], 0, "done\n", ""),
        (["stoppable"], 0, "best so far\n", "STOPPING"),
        (["stoppable", "and then"], INTERRUPTED, "best so far\n", "STOPPINGInterrupted.\n"),
        (["twice"], INTERRUPTED, "", "STOPPINGInterrupted.\n"),
        (["stopped_then_pressed"], INTERRUPTED, "", "STOPPINGInterrupted.\n"),
    ],
)
def test_what_a_press_does(work: list[str], code: int, out: str, said: str, tmp_path: Path) -> None:
    """Before, in and after the work of a command; here the work itself presses, or asks to end otherwise."""
    with running(
        *work, cwd=tmp_path, command=[sys.executable, "-c", WORK], stdout=subprocess.PIPE
    ) as process:
        printed, err = process.communicate()
    assert err.decode() == said.replace("STOPPING", STOPPING)
    assert (process.returncode, printed.decode()) == (code, out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
@needs_compiled
def test_ctrl_c_just_before_the_rename(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    """Check that clearing away does not remove the files just put in place."""

    def page(out: Path) -> list[Path]:  # the last file to be written
        return list(out.parent.glob(f".{out.name}.*/{out.name}/internal/report.html"))

    folder, command, _ = job
    caught = 0
    for i in range(ATTEMPTS):
        out = tmp_path / f"out{i}"
        with running(*command, "--out", out, cwd=folder) as process:
            if not stopped_if(process, partial(page, out)):
                continue
            go_on(process, 0.0005 * caught)
            code, said = interrupt(process)
        assert leftovers(out) == [], (i, code)
        if not complete(out):
            assert code == INTERRUPTED, (i, said)
        caught += 1
        if caught == 8:
            break
    assert caught == 8


@pytest.mark.exhaustive
@needs_compiled
@pytest.mark.parametrize("replacing", [False, True])
def test_ctrl_c_while_writing(replacing: bool, job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    folder, command, _ = job
    caught = 0
    out = tmp_path / "out"
    if replacing:
        setveil(*command, "--out", out, "--seed", 9, cwd=folder).ok()
    for i in range(ATTEMPTS):
        with running(*command, "--out", out, "--force", cwd=folder) as process:
            if not stopped_if(process, partial(leftovers, out)):
                continue
            go_on(process, 0.015 * caught)
            code, said = interrupt(process)
        assert leftovers(out) == [], (i, code)
        if not complete(out):
            assert code == INTERRUPTED, (i, said)
            assert not replacing, "the earlier run is gone"
        if not replacing:  # once the folder is in place, Ctrl-C comes too late to matter
            shutil.rmtree(out, ignore_errors=True)
        caught += 1
        if caught == 6:
            break
    assert caught == 6


def test_ctrl_c_while_reading(tmp_path: Path) -> None:
    """Standard input that never ends."""
    for command in (["anonymize", "-", "--out", "out"], ["verify", "-"]):
        with running(*command, "--k", 2, "--m", 2, cwd=tmp_path) as process:
            assert process.stdin is not None
            process.stdin.write(b"a,b\n" * 100_000)  # more than fits in between: it is reading
            process.stdin.flush()
            assert process.poll() is None
            code, said = interrupt(process)
        assert code == INTERRUPTED
        assert said.endswith("Interrupted.\n")
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with rows so long that their itemsets of eight keep compiled code busy for hours.

    At least five rows hold each of them: no search ends early because it has found a rare one.
    """
    folder = tmp_path_factory.mktemp("dense")
    rng = Random(2)
    rows = (" ".join(map(str, rng.sample(range(64), 40))) + "\n" for _ in range(3000))
    write(folder / "in.dat", "".join(rows))
    return folder


@needs_compiled
@needs_proc
@pytest.mark.parametrize(
    "command",
    [
        ["verify", "in.dat"],
        ["anonymize", "in.dat", "--format", "fimi", "--algorithm", "da", "--out", "out"],
        ["anonymize", "in.dat", "--format", "fimi", "--algorithm", "aa", "--out", "out"],
    ],
    ids=["verify", "da", "aa"],
)
def test_ctrl_c_inside_compiled_code(command: list[str], dense: Path) -> None:
    """It has taken more than all but the itemsets of more than one item does: it is in their loops."""
    seconds = cost(*command, "--k", 5, "--m", 1, cwd=dense)
    shutil.rmtree(dense / "out", ignore_errors=True)
    with running(*command, "--k", 5, "--m", 8, cwd=dense) as process:
        until_spent(process, seconds + 0.5)
        code, said = interrupt(process)
    assert code == INTERRUPTED
    assert said.endswith("Interrupted.\n")
    assert not (dense / "out").exists()
    assert leftovers(dense / "out") == []


@pytest.mark.exhaustive
@needs_compiled
@needs_proc
def test_ctrl_c_while_building_a_hierarchy(tmp_path: Path) -> None:
    """From rows so long that their pairs of items take minutes."""
    rng = Random(3)
    items = [str(i) for i in range(25_000)]
    write(tmp_path / "in.dat", "".join(" ".join(rng.sample(items, 10_000)) + "\n" for _ in range(300)))
    write(tmp_path / "small.dat", "1 2 3\n2 3\n1 3\n")
    build = ["hierarchy", "build", "in.dat", "--format", "fimi", "--out", "h.csv"]
    setveil("hierarchy", "build", "small.dat", "--out", "small.csv", cwd=tmp_path).ok()  # compiles
    seconds = cost(*build, "--by", "balanced", cwd=tmp_path)
    (tmp_path / "h.csv").unlink()
    for more in (0.5, 1.5):
        with running(*build, cwd=tmp_path) as process:
            until_spent(process, seconds + more)
            code, said = interrupt(process)
        assert code == INTERRUPTED
        assert said.endswith("Interrupted.\n")
        assert not (tmp_path / "h.csv").exists()
        assert leftovers(tmp_path / "h.csv") == []


@pytest.mark.exhaustive
@needs_compiled
def test_ctrl_c_while_compiling(tmp_path: Path) -> None:
    """The first run of all: one function is compiled, the next one is not yet."""
    write(tmp_path / "in.csv", "a,b\nb\na\n" * 4)
    command = ["verify", "in.csv", "--k", 2, "--m", 2]

    def compiled(cache: Path) -> set[str]:
        return {path.name for path in cache.rglob("*.kernel")}

    def holds(cache: Path, enough: int) -> bool:
        return len(compiled(cache)) >= enough

    def kept_in(cache: Path) -> dict[str, str]:
        return {"NUMBA_CACHE_DIR": str(cache)}

    whole = tmp_path / "whole"
    # By itself, the command compiles what it needs. Processes that help go on with more of their list.
    setveil(*command, "--threads", 1, cwd=tmp_path, env=kept_in(whole)).ok()
    needed = compiled(whole)
    assert len(needed) > 2
    for enough in (1, 2):
        cache = tmp_path / f"cache-{enough}"  # an empty one, so that the command is at work
        with running(*command, cwd=tmp_path, env=kept_in(cache)) as process:
            assert stopped_if(process, partial(holds, cache, enough))
            assert not compiled(cache) >= needed
            code, said = interrupt(process)
        assert code == INTERRUPTED
        assert said.endswith("Interrupted.\n")
        setveil(*command, cwd=tmp_path, env=kept_in(cache)).ok()  # what was kept of interrupted runs is sound
        assert compiled(cache) >= needed


ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


def closed_to_others(paths: Iterable[Path]) -> bool:
    return all(path.stat().st_mode & 0o077 == 0 for path in paths)


@pytest.mark.exhaustive
@needs_compiled
@needs_proc
@pytest.mark.parametrize("number", ENDING)
def test_no_rows_and_no_process_stay(number: int, tmp_path: Path) -> None:
    """The processes that `recommend` starts read a table from the temporary files."""
    rng, temporary = Random(4), tmp_path / "temporary"
    lines = (f"{rng.randint(20, 80)},{';'.join(rng.sample('abcdefgh', 3))}\n" for _ in range(60))
    write(tmp_path / "in.csv", "age,secrets\n" + "".join(lines))
    temporary.mkdir()
    command = ["recommend", "in.csv", "--qi", "age", "--set", "secrets", "--k", 2, "--m", 1, "--jobs", 1]
    with running(*command, cwd=tmp_path, env={"TMPDIR": str(temporary)}, before=open_to_all) as process:
        while not (list(temporary.glob("*/table.jsonl")) and (workers := children(process.pid))):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        assert closed_to_others(temporary.rglob("*"))
        code, _ = interrupt(process, number)
    until_gone(workers)
    if number == signal.SIGKILL:
        assert list(temporary.glob("*/table.jsonl"))
        setveil("algorithms", cwd=tmp_path, env={"TMPDIR": str(temporary)}).ok()  # any other command
    else:
        assert code == 128 + number
    assert list(temporary.iterdir()) == []


@pytest.mark.exhaustive
@needs_compiled
@pytest.mark.parametrize("number", ENDING)
def test_no_parts_stay(number: int, job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    folder, command, _ = job
    out = tmp_path / "out"
    tree = write(tmp_path / "tree.csv", "".join(f"p{i};{'ab'[i % 2]};*\n" for i in range(60)))
    command = [*command, "--hierarchy", str(tree), "--engine", "parts", "--out", str(out)]

    def parts() -> list[Path]:
        return list(tmp_path.glob(".out.*/out/.parts/*/*"))

    for _ in range(ATTEMPTS):
        with running(*command, cwd=folder, before=open_to_all) as process:
            if not stopped_if(process, parts):
                shutil.rmtree(out)
                continue
            assert closed_to_others(tmp_path.glob(".out.*"))
            assert closed_to_others(tmp_path.glob(".out.*/out/.parts/**/*"))
            code, said = interrupt(process, number)
        break
    assert code == (-number if number == signal.SIGKILL else 128 + number), said
    assert not out.exists()
    if number == signal.SIGKILL:
        assert leftovers(out)
        setveil("convert", folder / "in.csv", tmp_path / "rows.jsonl", cwd=folder).ok()
    assert leftovers(out) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command", [["--version"], ["--help"], ["verify", "in.csv", "--k", "2", "--m", "1", "--json"]]
)
def test_an_answer_that_cannot_be_printed(command: list[str], tmp_path: Path) -> None:
    """`setveil --help > /dev/full`: one line, and it does not pass for done."""
    write(tmp_path / "in.csv", "a,b\na,b\n")
    with (
        Path("/dev/full").open("w") as full,
        running(*command, cwd=tmp_path, stdout=full.fileno()) as process,
    ):
        _, err = process.communicate()
    assert process.returncode == 1
    assert err.decode().splitlines()[-1] == "Error: The answer cannot be printed: No space left on device."
    assert b"Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_note_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", "a,b\na,b\n")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "verify", "in.csv", "--k", "2", "--m", "1"],
            cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=full, check=True,
        )  # fmt: skip
    assert done.stdout.startswith(b"Yes")


@pytest.mark.exhaustive
def test_two_runs_into_one_folder(job: tuple[Path, list[str], float], tmp_path: Path) -> None:
    """Started together, one of them wins; the folder is whole, and what the other says is clear."""
    folder, command, _ = job
    out = tmp_path / "out"
    both = [start(*command, "--seed", seed, "--out", out, cwd=folder) for seed in (1, 2)]
    said = []
    for process in both:
        _, err = process.communicate()
        said.append(err.decode())
    codes = sorted(process.returncode for process in both)
    assert complete(out)
    assert leftovers(out) == []
    assert codes in ([0, 0], [0, 2]), said
    assert not any("Traceback" in text for text in said), said


def test_a_reader_that_leaves_early(job: tuple[Path, list[str], float]) -> None:
    """`setveil algorithms | head -1` ends in silence, as other programs do."""
    folder, _, _ = job
    read, wrote = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "algorithms"], cwd=folder, env=environment(), stdout=wrote, stderr=subprocess.PIPE
    )
    os.close(wrote)
    os.close(read)
    _, err = process.communicate()
    assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize("closed", [1, 2])
def test_streams_that_nobody_opened(closed: int, tmp_path: Path) -> None:
    """`setveil algorithms >&-` says so, too, and what is closed is not mistaken for a file."""
    with running(
        "algorithms", cwd=tmp_path, stdout=subprocess.PIPE, before=partial(os.close, closed)
    ) as process:
        out, err = process.communicate()
    assert process.returncode == (closed == 1)
    assert (out == b"") == (closed == 1)
    lost = b"Error: The answer cannot be printed: Bad file descriptor.\n"
    assert err == (lost if closed == 1 else b"")
    code = PRESSED_AT_THE_END.replace("main()", "f = open('file', 'w'); main()")
    with running(
        "--version", cwd=tmp_path, command=[sys.executable, "-c", code], before=partial(os.close, closed)
    ) as process:
        _, err = process.communicate()
    assert process.returncode == INTERRUPTED
    assert err == (b"" if closed == 2 else lost + b"Interrupted.\n")
    assert (tmp_path / "file").read_bytes() == b""
