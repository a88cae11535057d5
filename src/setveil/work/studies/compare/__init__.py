"""Studies: many runs, each in a process of its own, and their table.

`study.py` and `settings.py` read the file of a study, `plan.py` defines a run, `sweep.py` starts and limits
the processes, `worker.py` is one of them, and `results.py` makes the table.
"""
