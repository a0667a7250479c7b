"""Quantiles with simultaneous intervals."""
