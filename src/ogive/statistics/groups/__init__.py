"""Any statistic of the records that satisfy a condition, or of each of several groups."""
