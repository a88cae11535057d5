"""Keys of files: each gets an anchor in the section that describes it, and a key without one is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints, is_typeddict

from docutils import nodes
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def setup(app: Any) -> dict[str, Any]:
    """Look at the sections of `site_keys` as their pages are read."""
    app.add_config_value("site_keys", [], "env")
    app.connect("doctree-read", _anchor)
    return {"parallel_read_safe": True}


def _anchor(app: Any, doctree: nodes.document) -> None:
    for page, title, prefix in app.config.site_keys:
        if page != app.env.docname:
            continue
        sections = [one for one in doctree.findall(nodes.section) if one[0].astext() == title]
        if not sections:
            _LOG.warning("no section %r describes the keys of %s", title, prefix, location=page, type="site")
            continue
        found = dict(_described(sections[0], prefix))
        wanted = WANTED[prefix]() if prefix in WANTED else _first_column(sections[0])
        for key in wanted:
            if key in found:
                found[key]["ids"].append(f"{prefix}-{key}")
            else:
                _LOG.warning("%s: no entry for the key %s", title, key, location=page, type="site")


def _described(section: nodes.section, prefix: str) -> Iterator[tuple[str, nodes.literal]]:
    """List the keys of a section, the last first: the first place is where a key is described."""
    found = [(literal.astext().strip("[]"), literal) for literal in section.findall(nodes.literal)]
    if prefix == "report":
        for row in section.findall(nodes.row):
            parts = [literal.astext() for literal in row[0].findall(nodes.literal)]
            last = row[-1]
            found += [
                (f"{parts[0]}.{literal.astext()}", literal)
                for literal in last.findall(nodes.literal)
                if parts
            ]
            found += [
                (f"{part}.{literal.astext()}", literal)
                for part in parts[1:]
                for literal in last.findall(nodes.literal)
            ]
    yield from reversed(found)


def _first_column(section: nodes.section) -> list[str]:
    rows = [row for body in section.findall(nodes.tbody) for row in body.findall(nodes.row)]
    return [literal.astext() for row in rows for literal in row[0].findall(nodes.literal)]


def _report() -> list[str]:
    from setveil.report.record import Record

    return list(dict.fromkeys(_keys_of(Record, "")))


def _keys_of(kind: Any, where: str) -> Iterator[str]:
    if is_typeddict(kind):
        for name, part in get_type_hints(kind).items():
            yield f"{where}{name}"
            yield from _keys_of(part, f"{where}{name}.")
    for part in get_args(kind):
        yield from _keys_of(part, where)


def _study() -> list[str]:
    from setveil.work.studies.compare import settings, study

    return [*study._TOP, *study._GRID, *settings.MEASURING, *settings.LIMITS]


def _parameters() -> list[str]:
    from setveil.methods import algorithms
    from setveil.work.studies.compare import settings

    return [*settings.own_options(algorithms.names()), *settings.promise_options()]


def _project() -> list[str]:
    from setveil.studio.projects import _KEPT

    return [*_KEPT]


# What a file must have; of others, what the first column of the section has: a test looks at such files.
WANTED = {"report": _report, "study": _study, "parameter": _parameters, "project": _project}
