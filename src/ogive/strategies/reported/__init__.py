"""Curves of the local model, from reports of the owners."""
