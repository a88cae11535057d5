"""The proven optimum (docs/exact.md): searches, the integer program, and what it learns."""
