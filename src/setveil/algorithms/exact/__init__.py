"""The proven optimum."""
