"""Limits that everybody keeps to who moves frames; carriers take a copy of this file."""

LONGEST = 1 << 31
"""Bytes of a frame; a question carries the opened sums of the queries before it."""
