"""What becomes of clients that fail a verification.

A client that fails is left out of every answer and its number is kept: honest clients never fail, so whoever fails made
its upload otherwise than the study says. Damage on the way is found before, by hashes.

Servers are trusted to follow the protocol. One that changed its own shares of a client could learn from the verdict
whether it guessed that client's cell; such attempts show as rejections. So above a stated share of rejections the study
stops, before anything is answered, and its operators are told.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.errors import ParameterError, quoted

DEFAULT_TOLERATED = 0.01
"""Share of clients that may fail before the study stops."""


def most_rejected(clients: int, *, tolerated: float = DEFAULT_TOLERATED) -> int:
    """How many of so many clients may fail before nothing may be answered any more.

    Args:
        clients: How many there are in the set.
        tolerated: The share of clients that may fail, from 0 to 1; one client always may.

    Raises:
        ParameterError: the share is not from 0 to 1.
    """
    if not 0.0 <= tolerated <= 1.0:
        raise ParameterError(f"`tolerated` must be from 0 to 1, got {quoted(tolerated)}")
    # the share as it is written: the nearest float may be a little less, and one client with it
    return max(1, int(Fraction(str(float(tolerated))) * clients))
