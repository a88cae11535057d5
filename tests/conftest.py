"""What holds for all tests, and runs that several files of tests look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cli_helpers import Done, together, write
from model_runs import INPUTS, RUNS, anonymizing
from setveil.threads import use_threads

# How long an example takes says more about the machine, and about what else it does, than about setveil.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def as_many_threads_as_usual() -> Iterator[None]:
    """Forget how many threads a test has asked for."""
    yield
    use_threads(None)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    """Return a folder with all inputs and a run's folder for each promise, not to be changed, and answers."""
    folder = tmp_path_factory.mktemp("models")
    for name, content in INPUTS.items():
        write(folder / name, content)
    done = together([anonymizing(name, name) for name in RUNS], folder)
    return folder, dict(zip(RUNS, done, strict=True))
