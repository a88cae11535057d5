"""The algorithms for (h, k, p)-coherence: what they share is in the files with an underscore."""
