"""One data set, one budget: the friendly face of releases that are paid from an account."""

from ogive.session.opening import default_adjacency, ledger_file
from ogive.session.session import Session
from ogive.session.statement import disclosure, hidden, left, statement

__all__ = ["Session", "default_adjacency", "disclosure", "hidden", "ledger_file", "left", "statement"]
