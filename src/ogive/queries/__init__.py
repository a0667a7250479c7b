"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
