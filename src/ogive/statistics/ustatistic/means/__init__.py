"""Means of kernels over pairs of records from noisy vectors, with exact variances."""
