"""The report of a run, from its record: a file for each part of the page."""
