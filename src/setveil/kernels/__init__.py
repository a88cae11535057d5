"""Compiled loops on plain arrays. Nothing here knows of labels, hierarchies or guarantees."""
