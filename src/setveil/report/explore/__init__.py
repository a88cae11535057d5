"""The cost of guarantees, as `setveil explore` reports it.

`cells.py` has the types of the answer, `kinds.py` the words and columns for each kind of data, `text.py` the
answer on the terminal, and `page.py` the page.
"""
