"""From texts and names of files to guarantees, parameters and other inputs.

`reading.py` and `columns.py` declare how rows and columns are read. `guarantees.py` makes the guarantee,
`models.py` chooses its model, `decode.py` reads values that depend on the rows, `inputs.py` and `itemsets.py`
the files that options name.
"""
