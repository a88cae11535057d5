"""Hierarchies over the items."""
