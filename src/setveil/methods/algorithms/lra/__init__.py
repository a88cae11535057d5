"""LRA, and the order and the parts that it makes of the rows."""
