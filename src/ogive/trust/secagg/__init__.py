"""Secure aggregation: several parties, of whose answers only the sum is seen."""
