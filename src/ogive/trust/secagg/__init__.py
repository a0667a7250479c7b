"""Secure aggregation: several parties, of whose answers only the sum is seen."""

from ogive.trust.secagg.model import SecAgg

__all__ = ["SecAgg"]
