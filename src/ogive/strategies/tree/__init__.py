"""Least-squares trees: noisy counts of nested blocks."""
