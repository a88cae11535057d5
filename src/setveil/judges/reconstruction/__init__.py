"""Rows of items drawn from what is shared of a release."""
