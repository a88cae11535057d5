"""From texts and names of files to guarantees, parameters and other inputs.

`reading.py` and `columns.py` declare how rows are read and what the columns of a table are. `guarantees.py`
makes the promise, `models.py` settles which one is meant, `decode.py` reads values that take the rows;
`inputs.py` and `itemsets.py` read the files that options name.
"""
