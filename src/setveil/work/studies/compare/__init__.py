"""Studies: many runs, each in a process of its own, and their table."""
