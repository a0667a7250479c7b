"""A service that takes the reports of a collection in the local model."""
