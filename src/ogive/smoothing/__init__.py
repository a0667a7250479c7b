"""Estimates made valid curves: what strategies share; post-processing."""
