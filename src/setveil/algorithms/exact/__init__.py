"""The proven optimum: `exact.py` next to docs/exact.md.

`_search.py` cuts the tree and suppresses, `_rho_search.py` hides sensitive items, `_mole_search.py` does
without a hierarchy. `_program.py` is the integer program, `_branch.py` and `_clauses.py` what it learns.
"""
