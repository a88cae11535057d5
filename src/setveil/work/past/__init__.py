"""What is done with a run after it was made.

`run.py` reads its folder, `inputs.py` and `tables.py` find its rows, hierarchy and guarantee again, `why.py`
tries other labels and looks for the cause, `apply.py` publishes other rows under its labels, `union.py`
verifies two releases together. Making a run is in `setveil.runs`, reading a release from ``published/`` alone
in `setveil.releases.published`.
"""
