"""Pictures of the studio show the words of its pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

ROOT = Path(__file__).resolve().parents[2]


def test_pictures_show_the_words_of_their_pages() -> None:
    """Walk the pages as the script that draws them does, and compare headings, labels and buttons."""
    script = ROOT / "benchmarks" / "studio_pictures.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
