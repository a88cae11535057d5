"""Several releases about the same people, with one guarantee over all of them."""
