"""The number of records whose value counts."""
