"""Reports for people: text and HTML from the record of a run, nothing else.

`record.py` has the types of report.json and its one reader, `run/`, `compare/`, `explore/`, `recommend/` and
`evidence/` the pages, `drawing/` what they are drawn with. The other files each say one thing in words, for
several pages.
"""
