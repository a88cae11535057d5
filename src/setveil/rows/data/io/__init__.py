"""Files of transactions: read them, write them, detect their format, ask what nothing says."""

from setveil.rows.data.io.rows import read, read_ids, read_with_ids
from setveil.rows.data.io.sniff import detect_format, sniff_content
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import FORMATS, Layout, writable_layout

__all__ = [
    "FORMATS",
    "Layout",
    "detect_format",
    "read",
    "read_ids",
    "read_with_ids",
    "save",
    "sniff_content",
    "writable_layout",
]
