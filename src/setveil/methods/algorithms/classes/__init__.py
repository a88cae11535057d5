"""Rows in classes, each with its own proven recoding: cutting rows, solving classes, judging answers."""
