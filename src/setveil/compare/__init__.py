"""Whole runs: read, anonymize, verify, measure, record."""
