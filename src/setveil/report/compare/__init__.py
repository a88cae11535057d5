"""The report of a study: who loses least, figures and fronts, from its table and nothing else."""
