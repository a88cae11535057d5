"""Files of transactions: read them, write them, detect their format.

`rows.py` reads rows and their IDs: `request.py` is what was said of how, `one_file.py` and `several_files.py`
read, `further.py` reads more files about the same people, and `undeclared.py` asks when nothing says which
lines and columns are items. `source.py` opens files, `lines.py` skips lines that are no data, `sniff.py`
detects formats, `streams.py` reads a piece at a time. The other files read or write one format each.
"""

from setveil.data.io.rows import read, read_ids, read_with_ids
from setveil.data.io.sniff import detect_format, sniff_content
from setveil.data.io.write import save
from setveil.data.layout import FORMATS, Layout, writable_layout

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
