"""The square-root factorization of prefix sums, in integers."""
