"""How scripts of the gallery run, and what their small pictures are called."""

from __future__ import annotations

import posixpath
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes

_KEPT: list[Any] = []


def setup(app: Any) -> dict[str, Any]:
    """Name the small pictures as their pages are, for those who do not see them."""
    app.connect("doctree-resolved", _name)
    return {"parallel_read_safe": True}


def _name(app: Any, doctree: nodes.document, page: str) -> None:
    for image in doctree.findall(nodes.image):
        found = re.fullmatch(r"sphx_glr_(.+)_thumb\.\w+", posixpath.basename(image["uri"]))
        title = app.env.titles.get(f"gallery/{found[1]}") if found else None
        if title is not None:
            image["alt"] = f"Figure of: {title.astext()}"


def alone(conf: Any, script: str, when: str) -> None:
    """Let a script fail that warns, remove what it has written beside itself, let Sphinx go on as before."""
    folder = Path(conf["src_dir"]) / "examples"
    if when == "before":
        _KEPT.append((warnings.catch_warnings(), {*folder.iterdir()}))
        _KEPT[-1][0].__enter__()
        warnings.simplefilter("error")
    elif _KEPT:
        filters, there = _KEPT.pop()
        filters.__exit__(None, None, None)
        for path in {*folder.iterdir()} - there:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
