"""What is published: one file per kind of release."""
