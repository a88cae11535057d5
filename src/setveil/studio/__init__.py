"""The studio: the commands as pages in the browser of this computer, for this computer alone."""
