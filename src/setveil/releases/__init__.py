"""What is published, a file for each kind, and the programs with which recipients check it."""
