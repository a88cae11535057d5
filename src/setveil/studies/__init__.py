"""Studies: many runs over data and parameters, their table, and the release that loses least."""
