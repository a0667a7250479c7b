"""The command `ogive pate`: labels from an ensemble of teachers."""
