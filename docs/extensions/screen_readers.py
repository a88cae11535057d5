"""What the theme and tables leave without a name, for those who do not see the pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_UNFOLDS = re.compile(
    r'(<a [^>]*class="[^"]*reference internal[^"]*" href="[^"]*">)([^<]*)(</a><details[^>]*><summary)>'
)
_NO_HEAD = re.compile(r'<th class="head[^"]*">\s*(?:<p></p>)?\s*</th>')


def setup(app: Any) -> dict[str, Any]:
    """Name them as pages are written, when the theme has added its own."""
    app.connect("html-page-context", _name, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _name(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = _named(context["generate_toctree_html"])
    if "body" in context:
        context["body"] = _NO_HEAD.sub("<td></td>", context["body"])


def _named(made: Callable[..., Any]) -> Callable[..., str]:
    def listed(*how: Any, **else_how: Any) -> str:
        return _UNFOLDS.sub(r'\1\2\3 aria-label="Below \2">', str(made(*how, **else_how)))

    return listed
