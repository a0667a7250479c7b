"""Numbers that are read off noisy sums: how far off they are, as JSON, and as people see them."""
