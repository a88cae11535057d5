"""The pages of the studio, a module each.

The page Release has two more: `release_figures.py`, what it says of a record, and `release_handout.py`, what
is shared.
"""
