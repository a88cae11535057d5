"""How labels and groups are chosen: algorithms, searches over several releases, constraints."""
