"""What guarantees cost: a grid (`promises.py`) of rows or a table, and the record of all (`record.py`)."""
