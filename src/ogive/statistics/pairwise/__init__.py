"""Means of kernels over pairs of records, unbiased, from randomized reports."""
