"""The release that loses least, as `setveil recommend` reports it.

`kinds.py` has the types of the answer and the words and columns for each kind of data, `text.py` the answer
on the terminal, and `page.py` the page.
"""
