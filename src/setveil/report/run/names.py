"""Names next to codes: what the items and labels of a report mean, where its record says so."""

from __future__ import annotations

from setveil.report.drawing import blocks
from setveil.report.record import Record


def shown(report: Record, code: str) -> str:
    """Show an item or a label, with its name where there is one, as HTML."""
    name = (report.get("names") or {}).get(code, "")
    return blocks.data(code, "" if name == code else name)
