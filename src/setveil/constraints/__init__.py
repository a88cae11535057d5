"""Privacy and utility constraints.

`pgen.py` and `utility.py` make them from data or a hierarchy, `io.py` reads and writes them, `check.py`
judges.
"""
