"""Hierarchies over the items.

`tree.py` has the class, `forms.py` reads objects in memory, `io.py` and `outline.py` read and write files.
`build.py` makes hierarchies from data, `check.py` and `doubts.py` find problems, `edit.py` and `history.py`
change and undo.
"""
