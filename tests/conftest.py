"""Settings for all tests, and runs that several test files read."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import spark_session
import studio_forks
from cli_helpers import COMMAND, COMPILED, SHARED, Done, environment, interpreter, together, write
from model_runs import INPUTS, RUNS, anonymizing
from setveil.base.errors import on_command_line
from setveil.base.threads import usable_cpus, use_threads
from setveil.work.studies.compare import sweep
from studio_browser import chrome, lacking_browser, screen, screens, studio_server  # noqa: F401  (fixtures)
from warm import CAN_FORK

# As the command line does. Most of the processes that tests start have nothing to compute with matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# How long an example takes says more about the machine, and about what else it does, than about setveil.
# Tests that do not say how many examples they draw draw them all where those marked exhaustive run too.
slow = [HealthCheck.too_slow]
settings.register_profile("all", deadline=None, suppress_health_check=slow)
settings.register_profile("some", deadline=None, suppress_health_check=slow, max_examples=40)


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples are drawn before the first test file is imported."""
    settings.load_profile("some" if config.option.markexpr else "all")


@pytest.fixture(autouse=True)
def as_many_threads_as_usual() -> Iterator[None]:
    """Forget the number of threads that a test has requested."""
    yield
    use_threads(None)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Do once, before all tests run in several processes, the work that each of these would do for itself."""
    config = session.config
    all_of_them = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if all_of_them and config.option.numprocesses and not config.option.collectonly:
        if COMPILED:
            subprocess.run([*COMMAND, "warm", "--all"], env=environment(), check=True)
        if CAN_FORK:
            os.environ[SHARED] = interpreter().address


def pytest_xdist_auto_num_workers() -> int | None:
    """Test in one process more than there are processors: tests wait for commands and pages."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    return usable_cpus() + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude imported and collected objects from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import this process's share of the test files before all of them.

    What pytest makes of a file, so that its assertions explain themselves, takes longer than to import it
    and is kept. Processes that all went through the files in the same order would each make it.
    """
    one_of = getattr(session.config, "workerinput", None)
    if one_of is None:
        return
    files = sorted(file for folder in session.config.args for file in Path(folder).rglob("test_*.py"))
    number = int(one_of["workerid"].removeprefix("gw"))
    for file in files[number :: one_of["workercount"]]:
        if str(file.parent) not in sys.path:
            sys.path.insert(0, str(file.parent))
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting it reports its errors
            importlib.import_module(file.stem)


# Files that take more than 20 seconds, compiled or not, the longest first: what begins first is not waited
# for in the end.
LONGEST = (
    "test_docs.py", "test_cli_interrupt.py", "test_exchange.py", "test_breaches.py", "test_exact.py",
    "test_studio_kinds.py", "test_studio_hierarchy.py", "test_jit.py", "test_exact_rho.py",
    "test_studio_facts.py", "test_studio_foreign.py", "test_shipped.py", "test_source.py",
    "test_studio_data.py", "test_python.py", "test_studio_run.py", "test_studio_release_table.py",
    "test_estimates.py", "test_strict.py", "test_corpus.py", "test_cases.py", "test_algorithms_km.py",
    "test_examples.py", "test_cli_compare.py", "test_studio_compare.py", "test_sweep.py", "test_cli.py",
    "test_class_worlds.py", "test_recommend.py", "test_studio_way.py", "test_risk.py",
    "test_reconstruction.py", "test_compiling.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest; skip, or fail, the tests of Spark and in a browser that cannot run."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))
    _skip(items, "spark", spark_session.lacking, "SETVEIL_TEST_SPARK", "required")
    _skip(items, "browser", lacking_browser, "CI", "true")


def _skip(items: list[pytest.Item], marker: str, lacking: Callable[[], str], switch: str, must: str) -> None:
    ours = [item for item in items if item.get_closest_marker(marker)]
    reason = lacking() if ours else ""
    if reason and os.environ.get(switch) == must:
        raise pytest.UsageError(f"{switch}={must}, but {reason}.")
    for item in ours if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def command_line() -> Iterator[None]:
    """Let errors name options as the command line does."""
    with on_command_line():
        yield


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let studies of this process fork each worker, for tests of something else than its start."""
    worker = (studio_forks.python(), *sweep.WORKER[1:])
    for study in (sweep.run_all, sweep.sweep):
        defaults = study.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "worker", worker)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    """Return a read-only folder with all inputs and a run for each guarantee, and the answers."""
    folder = tmp_path_factory.mktemp("models")
    for name, content in INPUTS.items():
        write(folder / name, content)
    done = together([anonymizing(name, name) for name in RUNS], folder)
    return folder, dict(zip(RUNS, done, strict=True))
