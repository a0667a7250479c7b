"""The share of the records whose value is positive."""
