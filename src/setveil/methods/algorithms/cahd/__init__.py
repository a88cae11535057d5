"""CAHD, and its own loops."""
