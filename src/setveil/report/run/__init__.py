"""The report of a run, from its record: a file for each part of the page.

`page.py` puts them together, `summary.py` is the short text. `external.py` decides which parts may be
shared; `kinds/` holds what is said of one kind of release.
"""
