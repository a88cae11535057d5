"""The cost of guarantees, as `setveil explore` reports it."""
