"""Tables: rows that have a set of items and values of further columns, each with a role.

`table.py` is one in memory, `quasi_identifiers.py` a column that someone may know and `ranges.py` its
hierarchy of ranges. `columns.py` reads the columns of a file; `roles.py` says what each is, `questions.py`
what to ask where nobody said it, `whose.py` whose lines they are, and `read.py` makes the table. `files.py`
writes one for other processes. What a table looks like when it is published is in `published/`.
"""
