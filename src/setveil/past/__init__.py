"""What is done with a run after it was made.

`run.py` reads its folder: what it recorded, and the label of each item. `inputs.py` finds its rows,
hierarchy and promise again for `why.py`, which publishes items otherwise (`_naming.py`, `_attempts.py`) and
looks for the cause (`_blame.py`). `tables.py` finds the table of a run again, for `why_tables.py`.
`apply.py` publishes other rows under its labels (`terms.py`: under which promise; `people.py`: whose rows
these are). `union.py` verifies two releases together.

Not here: how a run is made and written (`setveil.runs`), and what strangers read of a release, who have no
more than the folder `published/` (`setveil.published`).
"""
