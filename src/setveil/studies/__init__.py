"""Many runs, a room for each command that makes them: `explore/`, `recommend/` and `compare/`.

`worth.py` is what they measure of a release, `machine.py` says what they were done on.
"""
