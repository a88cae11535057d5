"""Hierarchies over the items.

`tree.py` is one, `forms.py` makes one of what people have in memory, `io.py` and `outline.py` read and write
its files, `check.py` and `doubts.py` say what is wrong with them, `build.py` makes trees from data, `edit.py`
and `history.py` change them, and undo it.
"""
