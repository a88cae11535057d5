"""Studies: many runs, each in a process of its own, and their table.

`study.py` and `settings.py` read the file of a study, `plan.py` says what a run is, `sweep.py` starts and
limits the processes, `worker.py` is one of them, `files.py` reads its data, `measured.py` measures it, and
`results.py` makes the table.
"""
