"""Exact choices of several bins at once, with probabilities proportional to exp(-cost / scale)."""
