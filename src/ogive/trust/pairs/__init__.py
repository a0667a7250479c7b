"""Pairs of people who compute noisy values together."""
