"""The labels of the next release of a series, and who is held back.

`exact.py` and `greedy.py` find labels of the next release, `together.py` those of several, `hold_back.py` who has to
stay out, `exposed.py` who is found as it is; `found.py` is what they answer. All stand on `_joined.py`, one row for
each person, `_forest.py`, the trees whose cuts are free, and `_walk.py`, which finds what too few people fit.
`_clauses.py` and `_search.py` are the program, `_repair.py` coarsens labels until they hold.
"""
