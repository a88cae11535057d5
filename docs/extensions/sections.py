"""Which page stands under which: the lists of `site_sections`, so that no page needs a directive for it."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any


def setup(app: Any) -> dict[str, Any]:
    """Append to each page the list of those that stand under it."""
    app.add_config_value("site_sections", {}, "env")
    app.connect("source-read", _append)
    return {"parallel_read_safe": True}


def _append(app: Any, page: str, source: list[str]) -> None:
    below = app.config.site_sections.get(page)
    if below:
        lines = [
            "",
            "```{toctree}",
            ":hidden:",
            ":glob:",
            "",
            *(_rooted(entry) for entry in below if not _is_empty(app, page, entry)),
            "```",
            "",
        ]
        source[0] += "\n".join(lines)


def _is_empty(app: Any, page: str, entry: str) -> bool:
    """Whether this is the pattern of a folder that has no pages yet."""
    return "*" in entry and not any(fnmatch(one, entry) for one in app.env.found_docs if one != page)


def _rooted(entry: str) -> str:
    title, start, page = entry.partition("<")
    if entry == "genindex":  # no page, but Sphinx knows it
        return f"All options and names <{entry}>"
    return f"{title}</{page}" if start else f"/{entry}"
