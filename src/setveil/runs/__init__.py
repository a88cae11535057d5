"""One run, from rows to a verified release and its folder.

`request.py` checks the request; `steps.py` has the steps, and asks a place for what differs: `run.py` in
memory, `in_parts.py` on disk (`by_sums.py`: shared with Spark). `check.py` has the verifiers, `details.py`
the record.
"""
