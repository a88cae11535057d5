"""The worker of an open project, which holds its data and its tree: ``python -m setveil.studio.desk``."""
