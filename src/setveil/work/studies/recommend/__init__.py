"""Recommendations: `candidates.py` lists methods for a guarantee, `recommend.py` runs and ranks them."""
