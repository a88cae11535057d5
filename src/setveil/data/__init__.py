"""Transaction data: rows that are sets of items, their labels, and the files they come in.

`transactions.py` holds rows, `vocabulary.py` labels and their order, `sums.py` says the request about rows
of which only sums are known. `layout.py` has the table of formats, which `io/` reads and writes.
`frames.py` takes data frames, `framed.py` makes them; `columns.py`, `rows_of_columns.py` and `set_fields.py`
make rows of columns, and `readings.py`, `evidence.py` and `ids.py` say what to ask before that is done, so
that no id is published unasked. `sample.py` and `ward.py` make up baskets, stays in a hospital and a log.
"""
