"""The studio: the commands as pages in the browser of this computer, for this computer alone.

The server computes nothing: `jobs.py` runs setveil's own commands (`commands.py` words them from the settings
of a project), and `desks.py` asks a worker that has the data and the tree, `desk/`. `guard.py` decides who
gets an answer.
"""
