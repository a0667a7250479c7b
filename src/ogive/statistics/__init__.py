"""What can be asked of records. A statistic is one folder and one line in `kinds`."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
