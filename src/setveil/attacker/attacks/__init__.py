"""Attacks on published rows, each tried on people who are in the data and on others who are not.

`attacks.py` tries them and says which is a leak; `kinds.py` has one function for each kind of attack,
`shown.py` what the attacker has in hand, `chances.py` intervals and tests, `_loops.py` the compiled loops.
"""
