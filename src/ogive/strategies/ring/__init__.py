"""A square root of prefix sums on a ring, in integers: columns that are shifts of one another."""
