"""Files of transactions."""
