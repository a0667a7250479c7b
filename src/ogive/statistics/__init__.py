"""What can be asked of records. A statistic is one folder and one line in `kinds`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
