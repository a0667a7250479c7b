"""Random bits of an owner's own device."""

from __future__ import annotations

import os

import numpy as np

from ogive.arrays import UInt32


class OwnerSource:
    """Words straight from the operating system, with nothing kept between calls."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, shape (count,)."""
        return np.frombuffer(os.urandom(4 * count), np.uint32)
