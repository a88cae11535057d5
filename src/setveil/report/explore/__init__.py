"""What promises cost, as `setveil explore` says it.

`cells.py` has the types of the answer, `kinds.py` the words and columns for each kind of data, `text.py` the
answer on the terminal, and `page.py` the page.
"""
