"""The symmetric square root of prefix sums, in integers, with columns of equal norm."""
