"""The labels of the next release of a series, and who is held back."""
