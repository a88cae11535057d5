"""The reference of `import setveil`: a page for each name, and links to them from docstrings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

from extensions.outside import keep_only, write_if_new

_TITLES = {
    "commands": "Functions",
    "guarantees": "Promises",
    "algorithms": "Algorithms",
    "": "Data, hierarchies, releases",
    "errors": "Errors",
}


def setup(app: Any) -> dict[str, Any]:
    """Make the list of names before autosummary looks for it."""
    app.add_config_value("site_names", True, "env")
    app.add_role("setveil", _name)
    app.connect("config-inited", _make)  # before Sphinx lists its pages
    return {"parallel_read_safe": True}


def kinds() -> dict[str, list[str]]:
    """List the public names by what they are."""
    import setveil

    found: dict[str, list[str]] = {title: [] for title in _TITLES.values()}
    for name in setveil.__all__:
        inside = [
            part for part in setveil._HOMES[name].split(".") if part not in {"base", "judges", "methods"}
        ]
        room = inside[0]
        if room not in _TITLES or inside[1:] == ["verify"] or name in {"Reconstruction", "KeyError"}:
            room = ""
        found[_TITLES[room]].append(name)
    return found


def _make(app: Any, config: Any) -> None:
    if not config.site_names:
        return
    lines = [
        "Names in Python",
        "===============",
        "",
        "What ``import setveil as sv`` offers. :doc:`/python` shows how it is used.",
        "",
    ]
    for title, names in kinds().items():
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
        lines += [*(f"   ~setveil.{name}" for name in names), ""]
    keep_only(Path(app.srcdir) / "api", {f"setveil.{name}" for names in kinds().values() for name in names})
    write_if_new(Path(app.srcdir) / "api" / "index.rst", "\n".join(lines))


def _name(
    role: str, raw: str, text: str, line: int, inliner: Any, options: Any = None, content: Any = ()
) -> Any:
    """Show what stands between single backticks: a public name as a link, anything else as code."""
    import setveil

    shown = nodes.literal(raw, text, classes=["py"])
    name = text.removeprefix("setveil.").removeprefix("sv.").removesuffix("()")
    if name not in setveil.__all__:
        return [shown], []
    link = pending_xref(
        raw, shown, refdomain="py", reftype="obj", reftarget=f"setveil.{name}", refexplicit=True,
        refdoc=inliner.document.settings.env.docname, refwarn=True,
    )  # fmt: skip
    return [link], []
