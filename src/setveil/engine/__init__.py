"""What algorithms ask of all rows together, wherever these are.

`rows.py` defines it, and answers in memory; `parts.py` on disk, `spark.py` on Spark. `tabled.py` counts pairs
for measures and risk; `partial.py` and `publish.py` are the work of Spark's workers.
"""
