"""Tables that lie in a database: an engine counts cells, and no row leaves it.

`address` reads how such a table is named, and `opening` connects to it by ibis, which is imported nowhere else before a
table is opened. `table` answers aggregates. It has the engine turn every value into a small code (`numbers`, `bins`,
`conditions`), count the combinations of codes, and reads these counts as the rows of a file are read (`cells`).
"""
