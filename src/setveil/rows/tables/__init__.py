"""Tables: rows that have a set of items and values of further columns, each with a role."""
