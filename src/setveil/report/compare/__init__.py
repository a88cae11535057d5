"""The report of a study: who loses least, figures and fronts, from its table and nothing else.

`table.py` reads the table, whose columns `columns.py` lists; `figures.py`, `fronts.py` and `releases.py`
find what it can show, `repeats.py` and `repeated.py` what repetitions tell, `charts.py` and `gallery.py` draw
it, `words.py` and `html_tables.py` say it, `page.py` is the page. `sheets.py` makes tables of it for other
programs, `paper.py` and `paper_figures.py` what a paper takes.
"""
