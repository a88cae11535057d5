"""Links that lead out of docs/: to pages made of files beside it, or to their address."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ADDRESS = "https://github.com/setveil/setveil/blob/main/"
PAGES = {
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(#[^)\s]*)?(?=\))")


def setup(app: Any) -> dict[str, Any]:
    """Make the pages, and turn the links as pages are read."""
    app.add_config_value("site_project", True, "env")
    app.connect("config-inited", _make)  # before Sphinx lists its pages
    app.connect("source-read", _turn)
    return {"parallel_read_safe": True}


def _make(app: Any, config: Any) -> None:
    if not config.site_project:
        return
    docs = Path(app.srcdir)
    for file, page in PAGES.items():
        if page.startswith("project/"):
            text = (docs.parent / file).read_text(encoding="utf-8")
            write_if_new(docs / page, turned(text, "", posixpath.dirname(page)))


def _turn(app: Any, page: str, source: list[str]) -> None:
    if page.startswith("project/"):
        return
    folder = posixpath.dirname(page)
    source[0] = turned(source[0], posixpath.join("docs", folder), folder)


def turned(text: str, lies_in: str, page_in: str) -> str:
    """Turn the links of a text that lead out of docs/.

    Parameters
    ----------
    text : str
        Markdown.
    lies_in : str
        The folder where the links start, as seen from the root of the project.
    page_in : str
        The folder of the page, as seen from docs/.
    """

    def turn(found: re.Match[str]) -> str:
        link, anchor = found[1], found[2] or ""
        target = posixpath.normpath(posixpath.join(lies_in, link))
        if target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif target in PAGES:
            target = PAGES[target]
        elif target.startswith(".."):
            return found[0]
        else:
            return f"{ADDRESS}{target}{anchor}"
        return posixpath.relpath(target, page_in or ".") + anchor

    return _LINK.sub(turn, text)


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it holds this already: Sphinx reads again what is younger."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def keep_only(folder: Path, pages: set[str]) -> None:
    """Remove the pages that were made of what is no longer there: no list would name them."""
    for path in folder.glob("*.rst"):
        if path.stem not in pages | {"index"}:
            path.unlink()
