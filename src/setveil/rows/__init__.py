"""Rows, their columns, facts and hierarchies: from files to data."""
