"""The local model: every record is randomized by its owner."""
