"""Verifiers, one per privacy model: from published rows to a verdict, by no algorithm's code."""
