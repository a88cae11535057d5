"""The compliance record: the facts of a release once, the questions that only people answer, and standards.

`facts.py` reads the record of a run, `questions.py` has the questions, `standards.py` says which facts and
questions answer each section of a standard, and `page.py` writes the page.
"""
