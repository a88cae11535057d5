"""Which release loses least: `candidates.py` lists what keeps a promise, `recommend.py` runs and ranks it."""
