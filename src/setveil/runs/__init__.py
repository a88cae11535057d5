"""One run, from rows to a verified release and its folder.

`request.py` is what was asked for, with all its errors; `steps.py` has the steps, wherever the rows lie,
and asks a place for what differs: `run.py` is the place in memory, `in_parts.py` the one on disk
(`by_sums.py`: what it shares with Spark's). `check.py` has the verifiers of rows and counts together,
`distance.py` the distance from the optimum, `details.py` the record, `folder.py` the folder that is
written, `memory.py` what a run may take.
"""
