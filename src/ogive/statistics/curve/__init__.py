"""A released distribution function, which several statistics return or are made of."""
