"""Transaction data: rows that are sets of items, their labels, and the files they come in."""
