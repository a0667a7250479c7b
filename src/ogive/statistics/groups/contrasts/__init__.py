"""Differences and ratios of a number of two groups, and what people see of them."""
