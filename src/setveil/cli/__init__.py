"""The command line: thin, and quick to answer ``--help``; what is heavy is imported when a command runs.

A command is a file: a function that takes `progress` and options, and returns an `Answer`. `app.py` lists
them. `options.py` makes options of declarations, `tables.py`, `publishing.py` and `engines.py` hold those
that several share; `config.py` takes options from files and records them; `files.py` turns arguments into
data. `session.py` runs the work in a thread, so that Ctrl-C and the progress bar answer at once, and turns
errors into exit codes; `drawing.py` shows work under way, `ctrlc.py` answers signals from the first line to
the last, `printing.py` tells when standard output cannot be written, `watched.py` serves a program that
watches.
"""
