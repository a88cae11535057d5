"""The officer's file: what a record says of questions that standards and laws ask, and what not.

`frames.py` has the questions, a section each, and which of them are open; `page.py` writes them as a page.
"""
