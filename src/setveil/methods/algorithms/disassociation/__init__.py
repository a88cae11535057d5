"""Disassociation: rows in clusters, and in each the items in chunks that are published apart."""
