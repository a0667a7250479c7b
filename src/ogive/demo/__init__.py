"""The story that `ogive demo` tells: a bank's customers and a model of them, on one budget."""
