"""Kernels of pairwise statistics, and the measures that are asked for by name."""
