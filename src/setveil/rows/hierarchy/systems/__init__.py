"""Systems of codes: which group a code is in, by its form and by ranges alone."""
