"""Tables that lie in a database: an engine counts cells, and no row leaves it.

`connections` reads how such a table is named and connects to it by ibis, which nothing else imports before a table is
opened. `table` answers aggregates. It has the engine turn every value into a small code (`values`), choose which rows
count (`choosing`), count the combinations of codes, and reads these counts as the rows of a file are read (`cells`).
"""
