"""Verifiers: one per privacy model, from published rows to a verdict. They share no code with any algorithm."""
