"""Exact answers without privacy."""
