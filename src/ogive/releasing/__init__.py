"""Releases: what is asked and charged, cautions, and what follows from a release for its records."""
