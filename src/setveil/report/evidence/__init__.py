"""The compliance record: facts of a release, questions that only people answer, and standards."""
