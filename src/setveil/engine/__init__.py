"""What algorithms ask of all rows together, wherever these lie."""
