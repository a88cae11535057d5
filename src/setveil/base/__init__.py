"""What all rooms share and that knows nothing of rows: errors, files, parameters, texts, time."""
