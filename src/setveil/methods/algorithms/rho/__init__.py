"""Algorithms that bound what can be concluded about sensitive items, and their loops."""
