"""Facts: items with further parts, such as a date and an amount."""

CODES_ALONE = "codes alone"  # what an attacker sees who knows no dates and amounts
