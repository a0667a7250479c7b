"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
