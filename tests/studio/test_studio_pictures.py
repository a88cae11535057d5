"""The pictures of the studio in the documentation show the pages of today."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import studio_browser
from studio_browser import Screen
from test_docs import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        bool(studio_browser.lacking_browser()),
        reason=studio_browser.lacking_browser() or "there is a browser",
    ),
]
LOOKS = ("", "-dark", "-narrow")


def test_pictures_show_the_words_of_the_pages(screen: Screen, tmp_path: Path) -> None:
    """Go through the pages again: `python benchmarks/studio_pictures.py` makes pictures of them."""
    from studio_pictures import stored_words, walk, words, write_report

    page = screen.enter()
    page.set_default_timeout(600_000)
    found: dict[str, str] = {}

    def note(name: str) -> None:
        found[name] = words(page)

    walk(page, note)
    pictures = ROOT / "docs" / "pictures"
    write_report(tmp_path)
    page.set_content((tmp_path / "release" / "internal" / "report.html").read_text("utf-8"))
    assert stored_words(pictures / "report.png") == words(page), "report.png is stale"
    for name, shown in found.items():
        for look in LOOKS:
            assert stored_words(pictures / f"studio-{name}{look}.png") == shown, (
                f"studio-{name}{look}.png is stale"
            )
