"""Algorithms for tables: rows of quasi-identifiers and one set of items."""
