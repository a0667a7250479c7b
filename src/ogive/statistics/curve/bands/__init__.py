"""Simultaneous bands of a distribution function."""
