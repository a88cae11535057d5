"""Systems of codes: which group a code is in, by its form and by ranges alone.

`ranges.py` holds the tables, `code.py` what a system and a code are, `icd.py` and `digits.py` say how codes
of each system are read, `known.py` lists the systems, `reading.py` reads all codes of a file together.
"""
