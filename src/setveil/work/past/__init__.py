"""What is done with a run after it was made."""
