"""The report of a study: who loses least, figures and fronts, from its table and nothing else.

`table.py` reads the table, whose columns `columns.py` lists; `figures.py`, `fronts.py` and `releases.py`
find what it can show, `charts.py` and `gallery.py` draw it, `words.py` and `html_tables.py` say it,
`page.py` is the page.
"""
