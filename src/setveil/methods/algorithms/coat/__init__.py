"""COAT."""
