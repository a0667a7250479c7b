"""A smooth density with a few atoms, fitted to noisy sums of bins, and what it leaves."""
