"""What promises cost: a grid of them, of rows (`rows.py`) or a table (`tables.py`), in one process.

`promises.py` is the grid, `record.py` what is published of all.
"""
