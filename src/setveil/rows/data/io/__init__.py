"""Files of rows: read them, write them, detect their format, ask what nothing says."""
