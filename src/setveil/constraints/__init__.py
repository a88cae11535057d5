"""Privacy and utility constraints.

`pgen.py` and `utility.py` make them from data or a hierarchy, `io.py` reads and writes them, and `check.py`
says what can be said of them before a run.
"""
