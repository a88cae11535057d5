"""Privacy and utility constraints: make them, read and write them, check them before a run."""
