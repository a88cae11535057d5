"""The studio: the commands as pages in the browser of this computer, for this computer alone.

`enter.py` starts it, `guard.py` says who is answered, `app.py` has the routes, `pages/` a file for each
page, with `templates/` and `static/`. The server computes nothing: `jobs.py` runs setveil's own commands
(`commands.py` words them from the settings of a project, `projects.py`), and `desks.py` asks a worker that
holds the data and the tree, `desk/`.
"""
