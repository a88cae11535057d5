"""What takes many runs, or a run that was made before: studies, series of releases, later uses of a run."""
