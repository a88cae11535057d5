"""Several releases about the same people, with one promise over all of them."""
