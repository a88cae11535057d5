"""Reports for people: text and HTML from the record of a run, nothing else.

`record.py` has the types of report.json and its one reader. `run/` is the report of a run, `compare/` of a
study, `explore/` and `recommend/` of these commands; `evidence/` is the page by the headings of standards;
`drawing/` holds what pages are drawn of. The other files say one thing each in words, for several of these.
"""
