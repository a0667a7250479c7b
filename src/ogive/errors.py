"""Everything ogive raises on purpose.

    OgiveError
    ├── ParameterError      an argument is wrong (also a ValueError)         command line: exit 2
    ├── DataError           the records cannot be used (also a ValueError)   command line: exit 2
    └── RefusalError        the request was understood and is declined       command line: exit 1
        ├── UnsupportedError    this trust model cannot answer this query
        ├── BudgetError         the price is above what was granted
        └── ReleaseMismatchError    a release is resumed on other data, scale or grid

A message is one line: what was wrong, and what would be right.
"""


class OgiveError(Exception):
    """Base of every error that ogive raises on purpose."""


class ParameterError(OgiveError, ValueError):
    """An argument is outside its range or of the wrong kind."""


class DataError(OgiveError, ValueError):
    """The records cannot be read, or hold what the release does not allow."""


class RefusalError(OgiveError):
    """The request was understood and is declined; nothing was released."""


class UnsupportedError(RefusalError):
    """The trust model cannot answer the query."""


class BudgetError(RefusalError):
    """The queries of a statistic cost more than the privacy that was granted."""


class ReleaseMismatchError(RefusalError):
    """Stored noise belongs to another release: other data, scale, grid or adjacency."""
