"""LG, and its own loops."""
