"""The command line: thin, and quick to answer ``--help``; a run imports what is heavy, in a thread."""
