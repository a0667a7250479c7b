"""Least-squares hats: noisy bin counts and overlapping triangles."""
