"""U-statistics from one randomized report of every record's owner."""
