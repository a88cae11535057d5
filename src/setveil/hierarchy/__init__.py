"""Hierarchies over the items: the tree, its files, their checks, and trees built from the data."""
