"""Algorithms for tables: rows of quasi-identifiers and one set of items.

`rt.py` (classes: `_classes.py`, `_mondrian.py`, `_splits.py`; the items of a class: `_item_optimum.py`),
`forest.py` (one recoding for all: `_forest_*.py`, on the program of `exact`) and `bounding.py`
(`_clustering.py`, `_incognito.py`, `_specialization.py`, `_merging.py`).
"""
