"""A few coefficients of orthogonal functions, with noise shaped to what one record changes."""
