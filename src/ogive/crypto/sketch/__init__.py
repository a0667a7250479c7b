"""Servers find out together whether each client's shares are those of one record, and learn nothing else."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
