"""Reports for people: text and HTML from the record of a run, nothing else."""
