"""The report of a run, from its record."""
