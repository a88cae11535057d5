"""Where the real data are: not in the repository, and tests that want them are skipped without."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("SETVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
