"""PCTA, and its own loops."""
