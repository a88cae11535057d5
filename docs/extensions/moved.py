"""Former addresses of pages: each leads to where its words are now, as docs/moved.toml says."""

from __future__ import annotations

import json
import posixpath
import tomllib
from pathlib import Path
from typing import Any

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title><meta name="robots" content="noindex">
<script>
const moved = {moved};
location.replace(!location.hash ? {target} : moved[location.hash.slice(1)] || {page} + location.hash);
</script>
<noscript><meta http-equiv="refresh" content="0; url={plain}"></noscript></head>
<body><p>This page has moved: <a href="{plain}">{plain}</a></p></body></html>
"""


def setup(app: Any) -> dict[str, Any]:
    """Write a page for each former address, once the others are written."""
    app.add_config_value("site_moved", "", "env")
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def homes(file: Path) -> dict[str, str]:
    """Read where each former page or heading is now: ``page.md`` or ``page.md#heading``."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _write(app: Any, error: Exception | None) -> None:
    if error or not app.config.site_moved:
        return
    moved = homes(Path(app.srcdir) / app.config.site_moved)
    for page in (one for one in moved if "#" not in one):
        path = Path(app.outdir) / _address(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        headings = {
            former.partition("#")[2]: _from(page, home)
            for former, home in moved.items()
            if former.startswith(f"{page}#")
        }
        target = _from(page, moved[page])
        text = _PAGE.format(
            moved=json.dumps(headings),
            page=json.dumps(target.partition("#")[0]),
            target=json.dumps(target),
            plain=target,
        )
        path.write_text(text, encoding="utf-8")


def _from(page: str, home: str) -> str:
    """Return the address of a page or heading, as seen from another page."""
    path, _, anchor = home.partition("#")
    address = posixpath.relpath(_address(path), posixpath.dirname(page) or ".")
    return f"{address}#{anchor}" if anchor else address


def _address(page: str) -> str:
    return page.removesuffix(".md") + ".html"
