"""Privacy and utility constraints: files, checks, and constraints made from data or a hierarchy."""
