"""What algorithms ask of all rows together, wherever these lie.

`rows.py` says what that is, and answers in memory; `parts.py` on disk, `spark.py` on Spark. `content.py`
yields rows on disk in the order of their content, `files.py` reads them again for each look, `tabled.py`
counts their pairs for measures and risk; `counting.py` counts pieces of rows, by all threads; `partial.py`
and `publish.py` are what Spark's workers do.
"""
