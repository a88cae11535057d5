"""COAT, and its own loops."""
