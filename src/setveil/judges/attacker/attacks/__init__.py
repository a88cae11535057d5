"""Attacks on published rows, each tried on people who are in the data and on others who are not."""
