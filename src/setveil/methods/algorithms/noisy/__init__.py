"""Releases whose counts have noise: differential privacy, as a yardstick for the other guarantees."""
