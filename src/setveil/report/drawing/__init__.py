"""Building blocks of pages: HTML, axes, small plots, matrices; independent of their content."""
