"""Everything ogive raises on purpose.

    OgiveError
    ├── ParameterError      an argument is wrong (also a ValueError)         command line: exit 2
    │   └── ScaleError          a guarantee needs more noise than can be drawn
    ├── DataError           the records cannot be used (also a ValueError)   command line: exit 2
    └── RefusalError        the request was understood and is declined       command line: exit 1
        ├── UnsupportedError    this trust model cannot answer this query
        ├── BudgetError         the price is above what was granted
        ├── LedgerError         the ledger cannot be read or written, or is for something else
        ├── ReleaseMismatchError    a release is resumed on other data, scale or grid
        ├── CopyError           a stream would go on in two places with the same noise
        └── PeerError           what somebody else sent is malformed, or does not belong here

A message is one line: what was wrong, and what would be right.
"""

from __future__ import annotations

from fractions import Fraction

_LONGEST_QUOTED = 80


def quoted(value: object) -> str:
    """Show a value in a message: as `repr` does, on one line and cut short, whatever it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # Python writes no number of more than 4300 digits, nor what nests deeply
        return f"{'an' if type(value).__name__[:1] in 'aeiou' else 'a'} {type(value).__name__} too long to show"
    line = " ".join(shown.split())
    return line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}..."


class OgiveError(Exception):
    """Base of every error that ogive raises on purpose."""


class ParameterError(OgiveError, ValueError):
    """An argument is outside its range or of the wrong kind."""


class ScaleError(ParameterError):
    """A guarantee needs noise of a scale above the largest that can be drawn.

    Args:
        message: One line.
        excess: Factor by which the loss (epsilon or rho) must grow.
    """

    def __init__(self, message: str, excess: Fraction = Fraction(1)) -> None:
        super().__init__(message)
        self.excess = excess


class DataError(OgiveError, ValueError):
    """The records cannot be read, or hold what the release does not allow."""


class RefusalError(OgiveError):
    """The request was understood and is declined; nothing was released."""


class UnsupportedError(RefusalError):
    """The trust model cannot answer the query."""


class BudgetError(RefusalError):
    """The queries of a statistic cost more than the privacy that was granted, or than an account has left."""


class LedgerError(RefusalError):
    """The ledger is locked, unreadable, read-only, full, of a newer version, or for another privacy unit."""


class ReleaseMismatchError(RefusalError):
    """Stored noise belongs to another release: other data, scale, grid or adjacency."""


class AccountWarning(UserWarning):
    """What whoever opens an account has to know of it, in one line; nothing is refused."""


class CopyError(RefusalError):
    """A running total would go on in two places, whose totals differ by the elements alone."""


class PeerError(RefusalError):
    """What somebody else sent, a description or a partial state say, is malformed or does not belong here."""
