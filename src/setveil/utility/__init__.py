"""Measures of what a release lost, one file each, from the original, the published rows and what labels mean."""
