"""Slow, obvious twins of the package's definitions and algorithms. They import nothing from setveil."""
