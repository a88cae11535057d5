"""Facts: items with what belongs to them, such as a date and an amount.

`request` says which columns are codes, dates and amounts; `dates` and `bands` make periods and bands of
values, and the trees above them; `read` goes from the lines of a table to `facts`, rows of facts in memory;
`generalizing` says which of their parts is dropped first, and what that costs.
"""

CODES_ALONE = "codes alone"  # what an attacker sees who knows no dates and amounts
