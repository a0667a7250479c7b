"""A durable list of what was spent on which data: reserve before noise is drawn, then record."""

from ogive.ledger.account import Account, Reservation
from ogive.ledger.entries import Entry
from ogive.ledger.ledger import Ledger

__all__ = ["Account", "Entry", "Ledger", "Reservation"]
