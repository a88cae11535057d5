"""The command line: thin, and quick to answer ``--help``; what is heavy is imported when a command runs."""
