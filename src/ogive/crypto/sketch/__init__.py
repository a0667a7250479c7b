"""Servers find out together whether each client's shares are those of one record, and learn nothing else."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
