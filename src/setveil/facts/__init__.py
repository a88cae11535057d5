"""Facts: items with further parts, such as a date and an amount.

`request` says which columns are codes, dates and amounts, `read` makes rows of facts, and `generalizing` says
which of their parts is dropped first, and at what loss.
"""

CODES_ALONE = "codes alone"  # what an attacker sees who knows no dates and amounts
