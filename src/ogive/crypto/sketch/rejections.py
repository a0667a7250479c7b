"""What becomes of clients that fail a verification.

A client that fails is left out of every later answer and its number is logged: honest clients never fail, so whoever
fails made its upload otherwise than the study says, or the upload was damaged. The noise of the answers stays the same.

Servers are trusted to follow the protocol. One that changed its own shares of a client could learn from the verdict
whether it guessed that client's cell; such attempts show as rejections. So above a stated share of rejections the study
stops, before anything is answered, and its operators are told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError, UnsupportedError

DEFAULT_TOLERATED = 0.01
"""Share of clients that may fail before the study stops."""


def rejected(accepted: NDArray[np.bool_], *, tolerated: float = DEFAULT_TOLERATED) -> NDArray[np.int64]:
    """The numbers of the clients that failed, to be logged and left out.

    Args:
        accepted: Verdicts, shape (n,).
        tolerated: The share of clients that may fail, from 0 to 1; one client always may.

    Raises:
        ParameterError: the share is not from 0 to 1.
        UnsupportedError: more failed; nothing may be answered.
    """
    if not 0.0 <= tolerated <= 1.0:
        raise ParameterError(f"tolerated must be from 0 to 1, got {tolerated!r}")
    found = np.flatnonzero(~accepted)
    most = max(1, int(tolerated * accepted.size))
    if found.size > most:
        raise UnsupportedError(
            f"{found.size} of {accepted.size} clients failed the verification of their uploads, more than the {most} "
            "that may; find out why before the study goes on"
        )
    return found
