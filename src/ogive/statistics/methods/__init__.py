"""How a curve is released: the methods, their expected errors, and the choice among them."""
