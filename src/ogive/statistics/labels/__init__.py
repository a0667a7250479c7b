"""Labels by a noisy vote of teachers."""
