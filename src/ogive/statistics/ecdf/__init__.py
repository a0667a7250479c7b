"""The empirical distribution function of a column."""
