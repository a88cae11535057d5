"""The algorithms for (h, k, p)-coherence: what they share stands in the files with an underscore."""
