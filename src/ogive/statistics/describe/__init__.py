"""The first table of a report: every variable described, of all records or of each of several groups."""
