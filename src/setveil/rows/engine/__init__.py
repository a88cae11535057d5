"""What algorithms ask of all rows together: in memory, in parts on disk, or on Spark."""
