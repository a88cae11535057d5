"""Two small programs for those who are given a release, and how they come beside it.

``check.py`` and ``check.html`` share nothing with setveil, which reads them as bytes: whoever distrusts setveil can
read them in its place.
"""

from __future__ import annotations

from pathlib import Path

CHECK, PAGE = (Path(__file__).with_name(name) for name in ("check.py", "check.html"))


def put_checker(folder: Path) -> tuple[str, ...]:
    """Copy both programs into a folder of published files, and return their names."""
    for program in (CHECK, PAGE):
        (folder / program.name).write_bytes(program.read_bytes())
    return CHECK.name, PAGE.name
