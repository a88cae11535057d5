"""One run, from rows to a verified release and its folder."""
