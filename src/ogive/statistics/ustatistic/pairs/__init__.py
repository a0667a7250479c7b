"""U-statistics from pairs of people who compute their kernel in a circuit."""
