"""Bounds of a column whose range nobody knows."""
