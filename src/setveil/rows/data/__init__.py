"""Transaction data: rows that are sets of items, their labels, and the files they come in.

`transactions.py` has the rows, `vocabulary.py` the labels, `layout.py` the formats, `io/` the files.
`readings.py`, `evidence.py` and `ids.py` decide what to ask before rows are made, so that no ID is published
without a question.
"""
