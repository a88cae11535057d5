"""The pages of the studio, a module each."""
