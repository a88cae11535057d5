"""What the site needs beyond Sphinx: a file for each thing that is made of the pages, or of the program."""
