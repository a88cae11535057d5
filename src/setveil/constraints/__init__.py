"""Privacy and utility constraints.

`pgen.py` and `utility.py` make them from data or a hierarchy, `io.py` is for files, `check.py` for checks.
"""
