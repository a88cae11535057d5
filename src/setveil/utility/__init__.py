"""What a release lost: one file per measure, from original and published rows and what labels mean."""
