"""U-statistics from a curator who sees the records."""
