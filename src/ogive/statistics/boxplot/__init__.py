"""Boxplots, of all records or one for each group."""
