"""Tables: rows that have a set of items and values of further columns, each with a role.

`roles.py` has the roles, `questions.py` asks for missing ones, `whose.py` finds whose lines they are.
Published tables are in `published/`.
"""
