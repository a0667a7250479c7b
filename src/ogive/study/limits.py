"""Limits that everybody keeps to who moves frames; carriers take a copy of this file."""

LONGEST = 1 << 28
"""Bytes of a frame; a question carries the opened sums of the queries before it, of which one of 2^20 bins has 8 MB."""
